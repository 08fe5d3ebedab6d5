// Statements that only join wires: products of arrays and numbers, summed over some axes.
#pragma once

#include <optional>
#include <vector>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

/// A number that a product is multiplied or divided by.
struct Scale {
    Function function = Function::Multiply;
    Expression number;
};

struct Contraction {
    std::vector<UnitInput> inputs;  ///< one a factor, in order; an array may come twice
    std::vector<AxisId> folded;
    std::vector<Scale> scales;
};
[[nodiscard]] std::optional<Contraction> as_contraction(const Diagram& diagram,
                                                        const std::vector<StatementId>& statements);

}  // namespace napkin::drawing
