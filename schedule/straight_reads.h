// Reads at an offset from an axis, `A[a, part * 64 + in]` where a block holds one index of `part`,
// and at an index that is data, `W[which[b], n, k]` where it holds one index of `b`.
#pragma once

#include <optional>

#include "derive/tile_program.h"

namespace napkin::schedule {

/// Gives every array that a block reads along an axis from some place on a view along that axis:
/// `A[a, part * 64 + in]` becomes a load that gathers it as `A[a, in]`, which readers read at plain
/// indices, and `W[which[b], n, k]` one of `W[b, n, k]`. What the loads bring and the readers mean
/// stays the same.
[[nodiscard]] RegionProgram with_straight_reads(RegionProgram region);

/// Whether a load is one of those: every dimension of its array has an axis of its own.
[[nodiscard]] bool is_view(const Load& load);

/// e, if the expression is `min(e, size(dimension) - 1)`: past the end the last index is meant.
[[nodiscard]] std::optional<Expression> clamped(const Expression& expression, AxisId dimension);

/// Where the elements that such a load reads are in its array: `e < size(dimension)`, if it is
/// clamped along one dimension.
[[nodiscard]] std::optional<Expression> inside_of(const RegionProgram& region, const Load& load);

}  // namespace napkin::schedule
