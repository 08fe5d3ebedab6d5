// Lines of generated code that are too long for one, broken as clang-format breaks them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/expression_text.h"
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
/// `head`, an expression and `tail`, the expression broken at its loosest operators and aligned
/// with itself.
void print_filled(SourceWriter& writer, const std::string& head, const Text& text,
                  const std::string& tail);
/// A statement that is a call, broken between arguments.
void print_call(SourceWriter& writer, const Text& text);
/// `head value;`, broken where it does not fit.
void print_assignment(SourceWriter& writer, const std::string& head, const Text& value);

}  // namespace napkin::kernel
