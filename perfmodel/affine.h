// Index expressions as affine forms over axes with symbolic coefficients, and axes' ranges over
// the tiles of a program as formulas of the tile indices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin {

/// A coefficient with its value at the present sizes, which decides signs and orders.
struct Coefficient {
    Formula formula;
    std::int64_t value = 0;
};

/// constant + sum of factor * axis.
struct Affine {
    std::map<AxisId, Coefficient> factors;
    Coefficient constant;
};

/// The size of an axis as a formula over base axes; its own symbol where an override broke the
/// relation.
[[nodiscard]] Formula size_formula(const std::vector<Axis>& axes, AxisId axis);

/// The affine form of an integer expression; nullopt where it has none.
[[nodiscard]] std::optional<Affine> affine_form(const std::vector<Axis>& axes,
                                                const Expression& expression);
[[nodiscard]] Affine difference(const Affine& a, const Affine& b);

/// The part of an axis that a tile covers, as formulas over tile indices.
struct SymbolicRange {
    Formula low;
    Formula width;
};
using SymbolicRanges = std::map<AxisId, SymbolicRange>;

/// Bounds of an affine form over a tile; an axis without a range is whole.
[[nodiscard]] Formula lowest(const std::vector<Axis>& axes, const Affine& form,
                             const SymbolicRanges& ranges);
[[nodiscard]] Formula highest(const std::vector<Axis>& axes, const Affine& form,
                              const SymbolicRanges& ranges);

}  // namespace napkin
