// Walks a region's statements under ranges and counts. What happens to values is the business of an
// executor; counting alone has none and, along axes whose position nothing depends on, visits one
// full group and the ragged last one and multiplies.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "derive/interpret.h"
#include "derive/interpret/lifetimes.h"
#include "derive/interpret/memory.h"

namespace napkin {

/// Moves and computes values as the walk comes by. Boxes are of global indices.
class Executor {
public:
    virtual ~Executor() = default;
    /// The walk comes to a statement, or enters and leaves a processor below the block level.
    virtual void focus(const TileStatement& statement) = 0;
    virtual void enter(Level level, std::int64_t start) = 0;
    virtual void leave() = 0;
    /// Whether the chunk that the loop is at is left to those who count.
    [[nodiscard]] virtual bool leaves_out(const Loop& loop, const LevelRanges& ranges) = 0;
    virtual void load(const Load& load, const std::vector<Interval>& box) = 0;
    virtual void gather(const Load& load, const std::vector<Interval>& box) = 0;
    virtual void compute(const Compute& compute, const LevelRanges& ranges) = 0;
    virtual void save(const Save& save, const std::vector<Interval>& box,
                      const LevelRanges& ranges) = 0;
};

/// Runs one region and counts what it moves and holds; counts only when `executor` is null.
[[nodiscard]] Counters walk_region(const RegionProgram& region,
                                   const std::map<ArrayId, ElementType>& storage,
                                   Executor* executor);

}  // namespace napkin
