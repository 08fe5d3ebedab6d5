// Which part of a sum is a sum of products of two factors that lack axes of each other: what a
// product of matrices computes.
#pragma once

#include <optional>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::evaluation {

/// sum over the folded axes of left * right.
struct ProductTerm {
    Expression left;
    Expression right;
    std::vector<AxisId> batch;    ///< of both
    std::vector<AxisId> rows;     ///< of the left alone
    std::vector<AxisId> columns;  ///< of the right alone
};
struct SumOfProducts {
    std::vector<ProductTerm> terms;
    std::optional<Expression> rest;  ///< summed as it is
};
/// What a sum over `folded` for each index of `kept` is made of. Where all values are finite and no
/// product of them overflows, the parts add up to it but for rounding. Operands are `gain` times
/// smaller than the space of the sum.
[[nodiscard]] SumOfProducts products_of(const Diagram& diagram, const Expression& value,
                                        const std::vector<AxisId>& kept,
                                        const std::vector<AxisId>& folded, double gain);

}  // namespace napkin::evaluation
