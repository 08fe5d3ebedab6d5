// Wording of what can be wrong with explanations, sweeps and hypotheses (E9040 and on).
#pragma once

#include <string>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagnostic.h"

namespace napkin::cli {

/// Of a derivation whose kernels the model does not know.
[[nodiscard]] Diagnostic no_prediction(const NotApplicable& why);
/// Of `--sweep`.
[[nodiscard]] Diagnostic malformed_sweep(const std::string& text, const std::string& reason);
[[nodiscard]] Diagnostic against_without_sweep();

}  // namespace napkin::cli
