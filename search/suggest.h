// Suggestions: the moves that are legal at a state, ranked by what they save, and the refused ones
// with the reason.
//
// Asking the model for everything at every move would be slow. What a move leaves as it was is
// costed once; moves are ranked by numbers alone; and memory in the paper's sense is worked out for
// the moves that are shown. Of many regions those that take longest are looked at.
#pragma once

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
};
struct Refusal {
    Move move;
    std::string reason;
};
struct Suggestions {
    MoveFigures now;
    std::vector<Suggestion> legal;  ///< best first; of each rule and axis the best size
    std::vector<Refusal> refused;
    std::size_t unshown = 0;  ///< legal ones beyond those listed
};

/// The best `top` moves from a state; a diagnostic where the state itself cannot be costed.
[[nodiscard]] Result<Suggestions> suggest(const State& state, const Machine& machine,
                                          std::size_t top);

}  // namespace napkin
