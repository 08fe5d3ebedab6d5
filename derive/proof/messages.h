// The catalogue of diagnostics of proofs: E095x.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagnostic.h"

namespace napkin::proof::messages {

/// No small sizes were found at which the diagram checks and every step applies; why not the first.
[[nodiscard]] Diagnostic no_small_sizes(const std::string& refusal);
/// Sizes at which a proof takes `more than 10000000 operations`.
[[nodiscard]] Diagnostic too_much_work(const std::string& excess);
/// A derivation of which a rung failed, with what stands in the way.
[[nodiscard]] Diagnostic not_proved(const std::string& diagram,
                                    const std::vector<std::string>& failures);
/// A derivation that computes something else than its diagram, and where that was seen.
[[nodiscard]] Diagnostic refuted(const std::string& diagram,
                                 const std::vector<std::string>& failures);
/// A text that is no certificate, and what is wrong with it.
[[nodiscard]] Diagnostic no_certificate(const std::string& reason);
/// A certificate that does not hold, and why not.
[[nodiscard]] Diagnostic not_verified(const std::vector<std::string>& failures);

}  // namespace napkin::proof::messages
