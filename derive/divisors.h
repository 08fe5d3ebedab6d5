// Divisors: what a place or a nesting demands of group and stream sizes. Each keeps its cause;
// together they combine by least common multiple.
#pragma once

#include <vector>

#include "derive/step.h"

namespace napkin {

/// A constraint that a target or a type puts on a size, with its cause: `16: m of mma.sync`.
struct Divisor {
    std::int64_t value = 1;
    std::string cause;
    bool operator==(const Divisor&) const = default;
};

/// Everything that constrains the group and stream sizes of an axis in a region: boxes on the
/// tensor core (m16 n8, k by operand type). Sizes of at least the whole axis are free of them.
[[nodiscard]] std::vector<Divisor> divisors_of(const State& state, const Region& region,
                                               AxisId axis);
/// Their least common multiple, 1 for none.
[[nodiscard]] std::int64_t combined(const std::vector<Divisor>& divisors);
/// Why a size of the axis is not allowed in the region; nullopt when it is.
[[nodiscard]] std::optional<NotApplicable> why_not_divided(const State& state, const Region& region,
                                                           AxisId axis, std::int64_t size);

}  // namespace napkin
