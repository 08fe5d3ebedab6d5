// How many boxes of tiles whoever asks a mask visits, and in how many of them nothing is tested,
// without asking about each.
//
// Which boxes a mask meets and covers it says by conditions on the ends of a box. Ends of tiles are
// forms of the tiles' numbers, `x.low = s * k`, so that these conditions are conditions on points,
// the numbers, and are counted as such (diagrams/index/counted_forms.h). That is what kernels do
// where they know no closed form of a mask too; diagrams/index/box_count.h counts what there is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "diagrams/index/box_count.h"
#include "diagrams/index/mask.h"

namespace napkin::index {

class VisitCounter {
public:
    /// Axes in no tiling are whole in every box. The mask has to outlive it.
    VisitCounter(const std::vector<Axis>& axes, const Mask& mask,
                 const std::vector<Tiling>& tilings);
    VisitCounter(VisitCounter&&) noexcept;
    ~VisitCounter();

    /// Boxes that are met in the part in `within`, which begins and ends where tiles do. Nullopt
    /// where an end is no form of tiles' numbers, or there is no end to counting.
    [[nodiscard]] std::optional<std::int64_t> met(const Ranges& within = {});
    /// Likewise those that are covered.
    [[nodiscard]] std::optional<std::int64_t> covered(const Ranges& within = {});

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace napkin::index
