// In how many boxes a condition holds (diagrams/index/mask.h), without visiting them.
//
// Axes are cut into tiles, and a box is one tile of each. Over a block of tile numbers every linear
// form of the condition lies between two ends: where they decide it, the block counts as a whole or
// not at all, else it is halved. What a block's count depends on are the forms that its ends leave
// open, by the values that they have in its corner, and the remainders of their divisions; blocks
// that agree in these are counted once. A band along a diagonal, a comb of residues and a staircase
// look alike wherever they go on, so that the time grows with the logarithm of the number of tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "diagrams/index/mask.h"

namespace napkin::index {

/// An axis cut into tiles of so many indices, the last of what is left.
struct Tiling {
    AxisId axis;
    std::int64_t size = 1;
    bool operator==(const Tiling&) const = default;
};

class BoxCounter {
public:
    /// Of `where_met` or `where_covered` of a mask over these axes.
    BoxCounter(const std::vector<Axis>& axes, const Mask& mask, const BoxCondition& where,
               const std::vector<Tiling>& tilings);
    BoxCounter(BoxCounter&&) noexcept;
    ~BoxCounter();

    /// The number of boxes, with every other axis in its range or whole; nullopt where the
    /// condition depends on products of indices, or there is no end to counting.
    [[nodiscard]] std::optional<std::int64_t> count(const Ranges& others);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace napkin::index
