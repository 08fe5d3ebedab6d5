// What must hold of every text that a user can hand in, however broken. Each function gives what
// went wrong, empty where the text behaves; a bug may also show as an exception or a crash.
#pragma once

#include <string>

#include "diagrams/diagram.h"

namespace napkin::test {

/// A diagram's text: read or refused with messages that can be shown; what is well formed prints as
/// a text that means the same, and can be expanded and costed.
[[nodiscard]] std::string diagram_failure(const std::string& text);
/// A derivation's text: likewise, replayed on the diagram.
[[nodiscard]] std::string derivation_failure(const std::string& text, const Diagram& diagram);
/// A schedule file's text: read or refused; what is read prints as a text that means the same, and
/// is of the diagram's regions or refused.
[[nodiscard]] std::string schedule_failure(const std::string& text, const Diagram& diagram);
/// A machine file's text: read or refused.
[[nodiscard]] std::string machine_failure(const std::string& text);

}  // namespace napkin::test
