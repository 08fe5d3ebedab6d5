// Factors that a sum computes: drawn as boxes of their own, whose outputs meet in its cup.
#pragma once

#include "diagrams/relabelling.h"

namespace napkin::drawing {

struct Shown {
    Diagram diagram;
    Relabelling relabelling;
};

/// The diagram with a map of its own, in the same box and just before it, for every factor that a
/// sum of products computes: `sum(k) relu(X[k] + s[k]) * W[k, i]` sums products of arrays. What had
/// an id keeps it. Sums that a name stands for stay as they are.
[[nodiscard]] Shown with_factors_apart(const Diagram& diagram, const Relabelling& relabelling);

}  // namespace napkin::drawing
