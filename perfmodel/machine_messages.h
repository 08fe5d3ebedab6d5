// Wording of everything that can be wrong with a machine file or an override.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic unknown_machine(Span place, const std::string& name,
                                         const std::vector<std::string>& known);
[[nodiscard]] Diagnostic machine_without_times(const std::string& name, const std::string& key);
Diagnostic machine_syntax(Span place, const std::string& reason);
[[nodiscard]] Diagnostic unknown_figure(Span place, const std::string& key,
                                        const std::string& nearest);
[[nodiscard]] Diagnostic wrong_figure(Span place, const std::string& key,
                                      const std::string& reason);
[[nodiscard]] Diagnostic figure_without_source(Span place, const std::string& key);
[[nodiscard]] Diagnostic wrong_type(Span place, const std::string& key, const std::string& want);
[[nodiscard]] Diagnostic malformed_override(Span place);
[[nodiscard]] Diagnostic level_missing(Span place, const std::string& key,
                                       const std::string& level);
[[nodiscard]] Diagnostic machine_lacks(Span place, const std::string& what);
[[nodiscard]] Diagnostic base_too_deep(Span place, const std::string& base);

}  // namespace napkin::messages
