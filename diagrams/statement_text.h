// A statement in the language's own notation, without types: what a picture says of its boxes.
#pragma once

#include <string>

#include "diagrams/diagram.h"

namespace napkin {

/// `S[q, x] = sum(d) Q[q, d] * K[x, d]`.
[[nodiscard]] std::string statement_text(const Diagram& diagram, const Statement& statement);

}  // namespace napkin
