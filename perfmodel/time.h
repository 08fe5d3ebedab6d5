// The time of a kernel: its blocks one by one on the slots of the processors.
//
// How long blocks take is block_time.h's to say.
//
// Device memory delivers every array once, and again what the cache cannot keep for blocks that are
// there at a time; the cache delivers the rest. The kernel takes the longer of the two times, after
// the launch and the first misses.
//
// Constants that no data sheet gives are figures of the machine, found by fitting recorded
// measurements (tests/judged); there is none for a kernel or a workload.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

/// One pipeline: how long its work alone would take, on all processors alike.
struct TimeTerm {
    std::string name;
    Seconds low;
    Seconds high;
    std::string from;  ///< the numbers it was made of: `69.2 MB at 4.8 TB/s`
};

/// What is drawn, in joules.
struct Energy {
    double low = 0;
    double high = 0;      ///< at most what the board's limit of power allows; 0 where nothing does
    std::string unknown;  ///< the first figure that is lacking; the limit is all there is then
};

/// What a kernel waits for once, however much it computes.
struct Latency {
    std::vector<TimeTerm> parts;  ///< launch, start and the device memory's
    std::vector<std::string>
        unknown;             ///< figures that the kernel's time lacks, waits within it too
    bool any_known = false;  ///< of the latencies that the kernel takes
};

struct TimeEstimate {
    std::vector<TimeTerm> terms;
    Latency latency;
    Seconds low;  ///< launch included
    Seconds high;
    std::string busiest;  ///< the pipeline that is busy longest
    std::string second;   ///< the one after it; empty where there is none
    /// What no pipeline hides beside launch and start, where that is longer than any is busy.
    Seconds waiting;
    Energy energy;
    std::int64_t resident = 1;  ///< blocks that one processor holds at once
    std::int64_t waves = 1;
    [[nodiscard]] bool is_waiting() const { return waiting.value > 0; }
    /// What the time is of: `waiting`, or the pipeline that is busy longest.
    [[nodiscard]] std::string bound_by() const { return is_waiting() ? "waiting" : busiest; }
    /// What would bound it next; empty where there is nothing.
    [[nodiscard]] const std::string& bound_next() const { return is_waiting() ? busiest : second; }
    [[nodiscard]] Seconds middle() const { return 0.5 * (low + high); }
    /// Whether there is one: it is endless where there is none (block_time.h).
    [[nodiscard]] bool is_known() const { return std::isfinite(high.value); }
};

/// Of the kernel that the cost knows, or of one that a good schedule would make.
[[nodiscard]] TimeEstimate time_of(const RegionCost& cost, const Machine& machine);
[[nodiscard]] TimeEstimate time_of(const KernelWork& work, const Machine& machine);
/// All regions one after the other; the terms are those of the slowest.
[[nodiscard]] TimeEstimate time_of(const Cost& cost, const Machine& machine);

/// A level whose capacity a region exceeds, or a processor that is too small for one of its blocks.
struct Excess {
    std::string what;  ///< ``A of `O` is``
    std::string region;
    Level level = Level::Block;
    std::string needed;     ///< `69.2 MB at block`
    std::string available;  ///< `232 kB`
};
[[nodiscard]] std::vector<Excess> excesses_of(const RegionCost& cost, const Machine& machine);
[[nodiscard]] std::string describe(const Excess& excess);

/// `69.2 MB`, `1.5 KiB` never: powers of ten, three digits.
[[nodiscard]] std::string text_of(Bytes amount);
[[nodiscard]] std::string text_of(Seconds time);
/// `12.3 mJ to 14 mJ`, `not known, at most 539 mJ`, or `not known`.
[[nodiscard]] std::string text_of(const Energy& energy);
[[nodiscard]] std::string text_of(Operations amount);

}  // namespace napkin
