// The tiles that processors hold. What persists is kept by each processor for itself; the
// interpreter visits one processor at a time.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "derive/interpret/memory.h"
#include "derive/tile_program.h"

namespace napkin {

class ProcessorTiles {
public:
    explicit ProcessorTiles(const RegionProgram& region);

    /// Enters and leaves a group below the block level, named by where it starts.
    void enter(Level level, std::int64_t start) { open_.emplace_back(level, start); }
    void leave() { open_.pop_back(); }
    /// Brings forward what the processor in turn keeps of the variables that a statement touches.
    void focus(const TileStatement& statement);
    /// Gives a variable poisoned storage; one that persists keeps what it has while its box is the
    /// same.
    void allocate(VariableId id, const std::vector<Interval>& box);

    [[nodiscard]] Tile& operator[](VariableId id) { return tiles_[id.index()]; }
    /// Those of the processor in turn, by variable.
    [[nodiscard]] std::vector<Tile>& current() { return tiles_; }

private:
    /// One processor below the block level: where its groups start.
    using Processor = std::vector<std::int64_t>;

    const RegionProgram& region_;
    std::vector<Tile> tiles_;  // of the processor in turn; those of the others are parked
    std::vector<Processor> owners_;
    std::vector<std::map<Processor, Tile>> parked_;
    std::vector<std::pair<Level, std::int64_t>> open_;  // groups that are being visited
};

}  // namespace napkin
