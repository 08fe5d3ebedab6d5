// The catalogue of diagnostics of proofs: E095x.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::proof::messages {

/// No small sizes were found at which the diagram checks and every step applies.
[[nodiscard]] Diagnostic no_small_sizes();

}  // namespace napkin::proof::messages
