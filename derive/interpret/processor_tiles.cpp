#include "derive/interpret/processor_tiles.h"

#include <algorithm>
#include <limits>

#include "derive/liveness.h"

namespace napkin {

ProcessorTiles::ProcessorTiles(const RegionProgram& region)
    : region_(region),
      tiles_(region.variables.size()),
      owners_(region.variables.size()),
      parked_(region.variables.size()) {}

void ProcessorTiles::focus(const TileStatement& statement) {
    for (VariableId id : variables_touched(region_, statement)) {
        const Variable& variable = region_.variables[id.index()];
        if (!variable.persists) continue;
        Processor processor;
        for (const auto& [level, start] : open_)
            if (level <= variable.level) processor.push_back(start);
        if (owners_[id.index()] == processor) continue;
        std::map<Processor, Tile>& parked = parked_[id.index()];
        parked[owners_[id.index()]] = std::move(tiles_[id.index()]);
        tiles_[id.index()] = std::move(parked[processor]);
        owners_[id.index()] = std::move(processor);
    }
}

void ProcessorTiles::allocate(VariableId id, const std::vector<Interval>& box) {
    Tile& tile = tiles_[id.index()];
    std::vector<std::int64_t> low;
    std::vector<std::int64_t> extent;
    for (const Interval& range : box) {
        low.push_back(range.low);
        extent.push_back(std::max<std::int64_t>(range.high - range.low + 1, 0));
    }
    if (region_.variables[id.index()].persists && !tile.values.empty() && tile.low == low &&
        tile.extent == extent)
        return;
    tile.low = std::move(low);
    tile.extent = std::move(extent);
    tile.values.assign(static_cast<std::size_t>(tile.size()),
                       std::numeric_limits<double>::quiet_NaN());
}

}  // namespace napkin
