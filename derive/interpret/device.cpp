#include "derive/interpret/device.h"

namespace napkin {

std::map<ArrayId, ElementType> storage_types(const TileProgram& program) {
    std::map<ArrayId, ElementType> types;
    for (const RegionProgram& region : program.regions)
        for (const auto& [array, type] : region.stored) types[array] = type;
    return types;
}

std::vector<std::int64_t> extents_of(const Diagram& diagram, ArrayId array) {
    std::vector<std::int64_t> extents;
    for (const AxisId axis : diagram[array].axes) extents.push_back(diagram[axis].extent);
    return extents;
}

WritesAmiss writes_amiss(const std::map<ArrayId, std::vector<std::uint32_t>>& writes) {
    WritesAmiss amiss;
    for (const auto& [array, counts] : writes)
        for (std::uint32_t count : counts) {
            if (count == 0) ++amiss.never;
            if (count > 1) amiss.twice += count - 1;
        }
    return amiss;
}

}  // namespace napkin
