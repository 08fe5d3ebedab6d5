// The tiles that processors hold. What persists is kept by each processor for itself; the
// interpreter visits one processor at a time.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "derive/interpret/memory.h"
#include "derive/liveness.h"
#include "derive/region_program.h"

namespace napkin {

template <class Value>
class ProcessorTiles {
public:
    ProcessorTiles(const RegionProgram& region, Value poison)
        : region_(region),
          poison_(std::move(poison)),
          tiles_(region.variables.size()),
          owners_(region.variables.size()),
          parked_(region.variables.size()) {}

    /// Enters and leaves a group below the block level, named by where it starts.
    void enter(Level level, std::int64_t start) { open_.emplace_back(level, start); }
    void leave() { open_.pop_back(); }
    /// Brings forward what the processor in turn keeps of the variables that a statement touches.
    void focus(const TileStatement& statement);
    /// Gives a variable poisoned storage; one that persists keeps what it has while its box is the
    /// same.
    void allocate(VariableId id, const std::vector<Interval>& ranges);

    [[nodiscard]] Tile<Value>& operator[](VariableId id) { return tiles_[id.index()]; }
    /// Those of the processor in turn, by variable.
    [[nodiscard]] std::vector<Tile<Value>>& current() { return tiles_; }

private:
    /// One processor below the block level: where its groups start.
    using Processor = std::vector<std::int64_t>;

    const RegionProgram& region_;
    Value poison_;
    std::vector<Tile<Value>> tiles_;  // of the processor in turn; those of the others are parked
    std::vector<Processor> owners_;
    std::vector<std::map<Processor, Tile<Value>>> parked_;
    std::vector<std::pair<Level, std::int64_t>> open_;  // groups that are being visited
};

template <class Value>
void ProcessorTiles<Value>::focus(const TileStatement& statement) {
    for (VariableId id : variables_touched(region_, statement)) {
        const Variable& variable = region_.variables[id.index()];
        if (!variable.persists) continue;
        Processor processor;
        for (const auto& [level, start] : open_)
            if (level <= variable.level) processor.push_back(start);
        if (owners_[id.index()] == processor) continue;
        std::map<Processor, Tile<Value>>& parked = parked_[id.index()];
        parked[owners_[id.index()]] = std::move(tiles_[id.index()]);
        tiles_[id.index()] = std::move(parked[processor]);
        owners_[id.index()] = std::move(processor);
    }
}

template <class Value>
void ProcessorTiles<Value>::allocate(VariableId id, const std::vector<Interval>& ranges) {
    Tile<Value>& tile = tiles_[id.index()];
    IndexBox box = index_box(ranges);
    if (region_.variables[id.index()].persists && !tile.values.empty() &&
        static_cast<const IndexBox&>(tile) == box)
        return;
    static_cast<IndexBox&>(tile) = std::move(box);
    tile.values.assign(static_cast<std::size_t>(tile.size()), poison_);
}

}  // namespace napkin
