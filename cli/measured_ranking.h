// Candidates in the order of their measured times, beside what the model said of them.
#pragma once

#include <vector>

#include "cli/arguments.h"
#include "cli/measure.h"

namespace napkin::cli {

struct RankedCandidate {
    const EmittedCandidate* emitted = nullptr;
    std::size_t predicted_rank = 0;  ///< from 1
    Measurement measurement;
};

/// Those of which something is kept, the fastest first and what does not count last.
[[nodiscard]] std::vector<RankedCandidate> rank_measured(
    const std::vector<EmittedCandidate>& candidates, const Kept& kept);

/// What was measured where, for what.
struct Ranking {
    const Loaded& loaded;
    const Machine& machine;
    const TestBench& bench;
};
/// Prints the ranking as comments, and the best derivation after it, so that all of it is a `.drv`,
/// to the output too where one is named. The exit code says whether some were wrong or failed.
[[nodiscard]] Result<int> print_ranking(const Arguments& arguments, const Ranking& ranking,
                                        const std::vector<RankedCandidate>& ranked);

}  // namespace napkin::cli
