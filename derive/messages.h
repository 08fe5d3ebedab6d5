// The catalogue of diagnostics of derivation files and of expansion: E06xx.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic unexpected_character(Span place, char character);
[[nodiscard]] Diagnostic unexpected_word(Span place, const std::string& word);
[[nodiscard]] Diagnostic missing_name(Span after, const std::string& word);
[[nodiscard]] Diagnostic missing_size(Span after);
[[nodiscard]] Diagnostic bracket_left_open(Span place);
[[nodiscard]] Diagnostic bad_size(Span place, const std::string& text);
/// A step of a derivation that does not apply, with the rule's own reason.
[[nodiscard]] Diagnostic step_refused(Span place, const std::string& command,
                                      const std::string& reason, const std::string& help);
/// A box that has no meaning to execute.
[[nodiscard]] Diagnostic opaque_box(Span place, const std::string& name);

}  // namespace napkin::messages
