// Lines of generated code that are too long for one, broken as clang-format breaks them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/source_writer.h"

namespace napkin::kernel {

inline constexpr std::size_t kColumns = 100;

/// A comment of any length, broken at spaces.
void print_comment(SourceWriter& writer, std::string text);
/// Lines of `head` and parts, packed and aligned after the head. Each part ends with what stands
/// behind it.
[[nodiscard]] std::vector<std::string> packed(const std::string& head,
                                              const std::vector<std::string>& parts,
                                              std::size_t indent);
/// `head` and `text`, the text broken at its operators and aligned with itself.
[[nodiscard]] std::vector<std::string> filled(const std::string& head, const std::string& text,
                                              std::size_t indent);
/// A statement that is a call or a return, broken between arguments or at operators.
void print_call(SourceWriter& writer, const std::string& text);
/// `head = value;`, broken where it does not fit.
void print_assignment(SourceWriter& writer, const std::string& head, const std::string& value);

}  // namespace napkin::kernel
