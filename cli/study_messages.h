// Wording of what can be wrong with explanations, sweeps and hypotheses (E9040 and on).
#pragma once

#include <string>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagnostic.h"

namespace napkin::cli {

/// Of a derivation whose kernels the model does not know.
[[nodiscard]] Diagnostic no_prediction(const NotApplicable& why);
/// Of `trace`.
[[nodiscard]] Diagnostic no_timeline(const NotApplicable& why);
/// Of `--sweep`.
[[nodiscard]] Diagnostic malformed_sweep(const std::string& text, const std::string& reason);
[[nodiscard]] Diagnostic sweep_of_parameter(const std::string& text, const std::string& name,
                                            const std::vector<std::string>& axes);
[[nodiscard]] Diagnostic against_without_sweep();
/// Of files of hypotheses.
[[nodiscard]] Diagnostic hypothesis_syntax(Span place, const std::string& reason);
[[nodiscard]] Diagnostic hypothesis_key(Span place, const std::string& key,
                                        const std::vector<std::string>& known);
[[nodiscard]] Diagnostic hypothesis_value(Span place, const std::string& key,
                                          const std::string& want);
[[nodiscard]] Diagnostic hypothesis_lacks(Span place, const std::string& key);
[[nodiscard]] Diagnostic unknown_pipeline(Span place, const std::string& name,
                                          const std::vector<std::string>& known);
[[nodiscard]] Diagnostic not_measured(Span place, const std::string& workload,
                                      const std::string& why);
[[nodiscard]] Diagnostic recorded_unreadable(const std::string& path, std::size_t line,
                                             const std::string& reason);
[[nodiscard]] Diagnostic measured_wrong(Span place, const std::string& workload);

}  // namespace napkin::cli
