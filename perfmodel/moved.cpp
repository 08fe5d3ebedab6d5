#include "perfmodel/moved.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/memory_order.h"
#include "perfmodel/affine.h"

namespace napkin {
namespace {

std::vector<Expression> innermost_of(const Array& memory,
                                     const std::vector<Footprint>& dimensions) {
    if (memory.axes.empty()) return {};
    return dimensions[innermost_dimension(memory)].index;
}

}  // namespace

std::vector<Footprint> footprints_of(const std::vector<AxisId>& axes) {
    std::vector<Footprint> dimensions;
    for (const AxisId axis : axes) dimensions.push_back(footprint_of(axis));
    return dimensions;
}

Moved moved_by(const RegionProgram& region, const Load& load) {
    const Variable& target = region.variables[load.target.index()];
    const Array& array = region.arrays[target.array.index()];
    const std::vector<AxisId>& axes = array.axes;
    Moved moved{load.array, target.level, target.type, false, footprints_of(axes), {}};
    for (std::size_t k = 0; load.gather.empty() && k < axes.size(); ++k) {
        moved.dimensions[k].index = load.index[k];
        moved.dimensions[k].limit = region.axes[axes[k].index()].extent;
        moved.dimensions[k].limit_formula = size_formula(region.axes, axes[k]);
    }
    // A gather's tile has its axes in whatever order, and the array its own.
    if (load.gather.empty())
        moved.innermost = innermost_of(array, moved.dimensions);
    else
        moved.innermost = {load.gather[innermost_dimension(region.arrays[load.array.index()])]};
    return moved;
}

Moved moved_by(const RegionProgram& region, const Save& save) {
    const Variable& source = region.variables[save.source.index()];
    const auto stored = region.stored.find(save.array);
    const bool is_inner = save.target || stored == region.stored.end();
    const Array& array = region.arrays[save.array.index()];
    std::vector<Footprint> dimensions = footprints_of(array.axes);
    std::vector<Expression> innermost = innermost_of(array, dimensions);
    return {save.array, source.level,          is_inner ? source.type : stored->second,
            true,       std::move(dimensions), std::move(innermost)};
}

std::optional<AxisId> axis_along(const Moved& moved) {
    if (moved.innermost.size() != 1) return std::nullopt;
    const Expression& index = moved.innermost.front();
    if (!arrays_read(index).empty()) return std::nullopt;
    const std::set<AxisId> used = axes_used(index);
    return used.size() == 1 ? std::optional(*used.begin()) : std::nullopt;
}

double sector_share(double piece, double bits) {
    constexpr double kSector = 32 * 8;
    const double asked = piece * bits;
    return asked > 0 ? std::ceil(asked / kSector) * kSector / asked : 1;
}

double apart_share(double piece, double row, double bits, bool in_chunks) {
    constexpr double kLong = 512;  // bytes
    constexpr double kShort = 32;  // a sector
    constexpr double kOfHalf = 0.07;
    constexpr double kOpened = 90;
    constexpr double kPage = 8192;
    if (piece <= 0 || piece >= row) return 0;
    const double bytes = std::max(piece * bits / 8, kShort);
    if (in_chunks)
        return std::max(0.0, kOpened / bytes - kOpened / kLong) /
               std::max(1.0, kPage / (row * bits / 8));
    return kOfHalf * std::log2(kLong / std::min(bytes, kLong));
}

}  // namespace napkin
