#include "perfmodel/moved.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/memory_order.h"
#include "perfmodel/affine.h"

namespace napkin {
namespace {

std::size_t innermost(const Array& array) {
    return array.axes.empty() ? 0 : innermost_dimension(array);
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
    Moved moved{load.array, target.level,        target.type,
                false,      footprints_of(axes), innermost(array)};
    for (std::size_t k = 0; load.gather.empty() && k < axes.size(); ++k) {
        moved.dimensions[k].index = load.index[k];
        moved.dimensions[k].limit = region.axes[axes[k].index()].extent;
        moved.dimensions[k].limit_formula = size_formula(region.axes, axes[k]);
    }
    return moved;
}

Moved moved_by(const RegionProgram& region, const Save& save) {
    const Variable& source = region.variables[save.source.index()];
    const auto stored = region.stored.find(save.array);
    const bool is_inner = save.target || stored == region.stored.end();
    const Array& array = region.arrays[save.array.index()];
    return {save.array,
            source.level,
            is_inner ? source.type : stored->second,
            true,
            footprints_of(array.axes),
            innermost(array)};
}

std::optional<AxisId> axis_along(const Moved& moved) {
    if (moved.dimensions.empty()) return std::nullopt;
    const std::vector<Expression>& index = moved.dimensions[moved.innermost].index;
    if (index.size() != 1) return std::nullopt;
    const std::set<AxisId> used = axes_used(index.front());
    return used.size() == 1 ? std::optional(*used.begin()) : std::nullopt;
}

double sector_share(double piece, double bits) {
    constexpr double kSector = 32 * 8;
    const double asked = piece * bits;
    return asked > 0 ? std::ceil(asked / kSector) * kSector / asked : 1;
}

double apart_share(double piece, double row, double bits) {
    constexpr double kLong = 512;  // bytes
    constexpr double kShort = 32;  // a sector
    constexpr double kOfHalf = 0.07;
    if (piece <= 0 || piece >= row) return 0;
    return kOfHalf * std::log2(kLong / std::clamp(piece * bits / 8, kShort, kLong));
}

}  // namespace napkin
