// Group and stream sizes of one region, ranked by predicted time.
#pragma once

#include <map>
#include <vector>

#include "derive/state.h"
#include "perfmodel/machine.h"
#include "schedule/deadline.h"
#include "schedule/region_schedule.h"

namespace napkin {

/// Block-level sizes of a region: the commands that set them and the time they are predicted.
struct Tiling {
    std::vector<Command> commands;
    Seconds time;
    std::int64_t transferred_bits = 0;
    std::int64_t allocated_bits = 0;
    schedule::RegionSchedule schedule = {};  ///< what is chosen of its kernel
};

/// What enumeration did, summed over regions.
struct TilingCounts {
    std::int64_t evaluated = 0;
    std::int64_t too_large = 0;
};

/// The best tilings of a region of a state without streams, at most `top`; past the deadline of
/// those that were looked at, of which there is one.
[[nodiscard]] std::vector<Tiling> best_tilings(const State& state, const std::string& region,
                                               const Machine& machine, std::size_t top,
                                               TilingCounts& counts, const Deadline& deadline = {});
/// Few of a region's tilings, from which a search that may be stopped begins: sizes far apart,
/// which no deadline cuts short.
[[nodiscard]] std::vector<Tiling> first_tilings(const State& state, const std::string& region,
                                                const Machine& machine, std::size_t top,
                                                TilingCounts& counts);
/// The best with the stream in parts that run side by side (`split-stream`), where there are fewer
/// blocks than would keep the machine busy; ranked without what puts the parts together, of
/// which a block takes a row.
[[nodiscard]] std::vector<Tiling> best_splits(const State& state, const std::string& region,
                                              const Machine& machine, std::size_t top,
                                              TilingCounts& counts, const Deadline& deadline = {});

}  // namespace napkin
