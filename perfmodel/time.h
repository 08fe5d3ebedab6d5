// A first estimate of the time: the slowest of the machine's pipelines, with waves counted.
//
// Device memory is an interval: from every array once (a cache serves all re-reads) to every
// transfer (it serves none); a machine without a cache has no such freedom. Arithmetic runs on as
// many processors as there are blocks, so it grows by the unevenness of the last wave.
#pragma once

#include <string>
#include <vector>

#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

/// One pipeline: how long its work alone would take, at the least and at the most.
struct TimeTerm {
    std::string name;
    Seconds low;
    Seconds high;
    std::string from;  ///< the numbers it was made of: `69.2 MB at 4.8 TB/s`
};

struct TimeEstimate {
    std::vector<TimeTerm> terms;
    Seconds low;  ///< launch included
    Seconds high;
    std::string binds;          ///< the slowest pipeline, by the middle of its interval
    std::int64_t resident = 1;  ///< blocks that one processor holds at once
    std::int64_t waves = 1;
    [[nodiscard]] Seconds middle() const { return 0.5 * (low + high); }
};

[[nodiscard]] TimeEstimate time_of(const RegionCost& cost, const Machine& machine);
/// All regions one after the other; the terms are those of the slowest.
[[nodiscard]] TimeEstimate time_of(const Cost& cost, const Machine& machine);

/// A level whose capacity a region exceeds.
struct Excess {
    std::string region;
    Level level = Level::Block;
    Bytes needed;
    Bytes available;
};
[[nodiscard]] std::vector<Excess> excesses_of(const RegionCost& cost, const Machine& machine);
[[nodiscard]] std::string describe(const Excess& excess);

/// `69.2 MB`, `1.5 KiB` never: powers of ten, three digits.
[[nodiscard]] std::string text_of(Bytes amount);
[[nodiscard]] std::string text_of(Seconds time);
[[nodiscard]] std::string text_of(Operations amount);

}  // namespace napkin
