// A scheduled loop in time: which agent keeps which unit busy with what, chunk after chunk, once
// the loop is under way.
//
// The simulation is the one that chose the order (simulate.h): agents go through the body in order,
// products of warp groups go on beside other work, units are shared. Copies take none of these
// units and are no part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace napkin::schedule {

/// One operation on one chunk, in clocks.
struct Bar {
    std::size_t agent = 0;
    Unit unit = Unit::Issue;  ///< that it keeps busy longest
    std::string text;         ///< `multiply S`
    std::string what;         ///< `S`
    std::int64_t chunk = 0;
    double begin = 0;
    double end = 0;
};
struct Timeline {
    std::string region;
    AxisId axis;  ///< of the chunks
    std::int64_t size = 1;
    std::vector<std::string> agents;  ///< `warp group 1`, `all warps`
    std::vector<Bar> bars;            ///< in the order of their beginning, from clock 0
    double interval = 0;              ///< from chunk to chunk
    std::optional<Unit> binds;
};
/// Every innermost loop of a program, for so many chunks of each agent; a loop whose agents would
/// wait for ever is left out.
[[nodiscard]] std::vector<Timeline> timelines_of(const Program& program, std::int64_t chunks);

}  // namespace napkin::schedule
