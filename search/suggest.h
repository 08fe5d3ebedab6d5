// Suggestions: the moves that are legal at a state, ranked by the best that may follow them, and
// the refused ones with the reason.
//
// What may follow a fusion, a group or a stream is found as a whole (completions.h), for kernels as
// a good schedule would make them. Another size, an inverse or a rewriting is compared as it
// stands, as the kernels are made for the best target that the machine runs; so is what ends a
// derivation. Following the first suggestion again and again ends near what search finds.
//
// Asking the model for everything at every move would be slow. What a move leaves as it was is
// costed once; and memory in the paper's sense is worked out for the moves that are shown. Of many
// regions those that take longest are looked at.
#pragma once

#include <string>

#include "perfmodel/machine.h"
#include "search/moves.h"

namespace napkin {

/// What moves are compared by.
struct MoveFigures {
    double transferred = 0;  ///< H at block level, bytes
    double memory = 0;       ///< M, bytes: the most of any region
    double time_low = 0;     ///< seconds
    double time_high = 0;
    bool fits = true;  ///< within the machine's capacities
};

struct Suggestion {
    Move move;
    MoveFigures figures;
    /// How many times faster than now the best is that may follow; 0 where nothing is known to fit.
    double gain = 0;
};
struct Refusal {
    Move move;
    std::string reason;
};
struct Suggestions {
    MoveFigures now;
    std::string target;  ///< of the kernels that times are of, where they are made and fit
    std::vector<Suggestion> legal;  ///< furthest first; of each rule and axis the best size
    std::vector<Refusal> refused;
    std::size_t unshown = 0;  ///< legal ones beyond those listed
};

/// The `top` moves that lead furthest from a state; a diagnostic where the state itself cannot be
/// costed.
[[nodiscard]] Result<Suggestions> suggest(const State& state, const Machine& machine,
                                          std::size_t top);

}  // namespace napkin
