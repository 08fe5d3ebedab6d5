// How long a body takes where several agents run it on one processor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/program.h"

namespace napkin::schedule {

/// Clocks until the first operands of a product are there.
inline constexpr double kFetch = 60;
/// Clocks that warps lose where they meet.
inline constexpr double kBarrier = 60;

/// One step of a body, in the order in which an agent takes it.
struct Step {
    Cost cost;
    /// Whether the agent goes on at once, and readers wait: products, in the order of their issue,
    /// and reads of shared memory, which take their time but nobody's unit.
    bool asynchronous = false;
    std::int64_t lead = 0;
    /// Results that must be there before it begins: of which step, and of how many chunks before
    /// this step's own.
    struct Wait {
        std::size_t step = 0;
        std::int64_t chunks_before = 0;
    };
    std::vector<Wait> waits;
};

/// How agents share the processor.
struct Sharing {
    int agents = 2;
    /// Whether the tensor core serves whole products in the order of their issue; otherwise all
    /// agents' at once, equally.
    bool turns = false;
    /// Work that is not asynchronous takes so much longer than its busiest unit, alone.
    double latency = 1.2;
    auto operator<=>(const Sharing&) const = default;
};

/// What an agent did: one step for one chunk, in clocks. A product begins when the tensor core
/// does.
struct Activity {
    std::size_t agent = 0;
    std::size_t step = 0;
    std::int64_t chunk = 0;
    double begin = 0;
    double end = 0;
};

/// Clocks from one chunk to the next in the steady state, all agents doing one each; none where
/// they wait for each other for ever. Units are shared as fluids; every agent goes in order. All
/// that was done is noted where somebody asks for it.
[[nodiscard]] std::optional<double> simulate(const std::vector<Step>& steps, const Sharing& sharing,
                                             std::vector<Activity>* noted = nullptr);

}  // namespace napkin::schedule
