// The order of a loop's operations, and how far ahead of it each runs: a modulo schedule, exact
// because bodies are small.
//
// Chunk c of an operation with lead l runs in turn c - l. Operations depend on each other through
// what they read and write, within a chunk and from one chunk to the next; every order and all
// leads that respect this are tried (with leads up to each operation's own limit), what needs more
// registers than there are is dropped, and the rest is simulated. Costs, registers and dependences
// are all that is known: no body is recognised.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/deadline.h"
#include "schedule/program.h"
#include "schedule/simulate.h"

namespace napkin::schedule {

/// An operation as the rotation sees it.
struct RotationStep {
    Cost cost;
    bool asynchronous = false;
    std::vector<BufferId> reads;
    std::vector<BufferId> writes;
    std::int64_t most_lead = 1;
    std::int64_t least_lead = 0;
    std::optional<std::int64_t> place = std::nullopt;  ///< wanted in the turn, among others' places
    /// Whether it begins only when no product is on its way: the assembler keeps products of warp
    /// groups apart from other work on their results while any of them is.
    bool alone = false;
    /// Whether what it writes takes the registers of what it reads for the last time.
    bool in_place = false;
    double start = 0;  ///< clocks of shared memory until its unit has what it begins with
};
struct RotationBuffer {
    std::int64_t registers = 0;  ///< of a thread, while it holds a chunk's content
    std::int64_t slots = 1;      ///< chunks whose contents it may hold at once
    /// Whether all warps read what each of them writes, so that a barrier must stand between.
    bool shared = false;
    std::int64_t bytes = 0;  ///< of shared memory, that a chunk's content takes
};
struct RotationLimits {
    Sharing sharing;
    double barrier = 0;            ///< clocks that a barrier costs an agent
    std::int64_t registers = 224;  ///< that buffers may take of a thread
    std::int64_t trials = 20000;   ///< simulations after which the search stops
    Deadline deadline = {};        ///< likewise, once there is an order
};
struct Rotation {
    std::vector<std::size_t> order;   ///< steps, in the order of a turn
    std::vector<std::int64_t> leads;  ///< by step
    double interval = 0;              ///< clocks from chunk to chunk
    double bound = 0;                 ///< that no schedule of these steps goes below
    std::optional<Unit> binds;        ///< the unit that sets the bound; none: a recurrence does
    bool turns = false;               ///< whether agents take the tensor core in turn
    std::int64_t registers = 0;       ///< held at the worst place
    bool complete = false;            ///< whether everything was tried
};

/// The fastest rotation of steps that stand in a right order; of those as fast, the one with the
/// least shared memory, if what no step writes is copied two chunks deep, then the least lead, then
/// the fewest registers, then nearest to the given order. That order itself is always allowed,
/// whatever registers it takes, unless some step has to lead or has a place. Without an order where
/// there is none.
[[nodiscard]] Rotation rotate(const std::vector<RotationStep>& steps,
                              const std::vector<RotationBuffer>& buffers,
                              const RotationLimits& limits);

/// The interval of one rotation, without turns, whether or not it respects what steps depend on.
[[nodiscard]] std::optional<double> interval_of(const std::vector<RotationStep>& steps,
                                                const std::vector<RotationBuffer>& buffers,
                                                const std::vector<std::size_t>& order,
                                                const std::vector<std::int64_t>& leads,
                                                const RotationLimits& limits);

}  // namespace napkin::schedule
