// Pieces of wording that messages share.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic make_error(std::string code, Span place, std::string message,
                                    std::string remark = "", std::string help = "");
[[nodiscard]] Diagnostic make_warning(std::string code, Span place, std::string message,
                                      std::string remark = "", std::string help = "");
/// The text in backquotes.
[[nodiscard]] std::string quoted(std::string_view text);
/// For strings, of which `std::quoted` would be the nearer match.
[[nodiscard]] inline std::string quoted(const std::string& text) {
    return quoted(std::string_view(text));
}
/// The question, or `otherwise` where nothing near is known.
[[nodiscard]] std::string did_you_mean(std::string_view meant, std::string otherwise = "");
[[nodiscard]] std::string join(std::initializer_list<std::string_view> parts);
/// `3 axes`: the number with the right form of the noun.
[[nodiscard]] std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace napkin::messages
