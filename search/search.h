// Derivations found by the model: which boxes to fuse, which axes to group and stream, by how much.
//
// Fusions come first: nothing, everything, and (for up to five boxes) every way of cutting the
// sequence of boxes. For each, a region's legal moves are found by asking the rules, so nothing
// here knows which axes may be grouped or streamed. A region is expanded once for each choice of
// streamed axis; group and chunk sizes are then evaluated on the expanded program. Candidates that
// exceed the machine's capacity are dropped, the rest ranked by predicted time. The winners are
// derived again, command by command, and costed from their own tile programs.
#pragma once

#include <functional>
#include <vector>

#include "derive/state.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"

namespace napkin {

/// A derivation with what the model says of it.
struct Candidate {
    std::vector<Command> commands;  ///< from the plain diagram
    State state;
    Cost cost;
    TimeEstimate time;
};

struct SearchResult {
    std::vector<Candidate> ranked;  ///< fastest first; all fit the machine
    std::int64_t evaluated = 0;     ///< tilings costed
    std::int64_t too_large = 0;     ///< tilings that exceed a capacity
    std::int64_t not_served = 0;    ///< derivations that fit, and of which no kernels are made
};

/// Whether kernels can be made of a state.
using Serves = std::function<bool(const State&)>;

/// The best `top` derivations of a diagram for a machine, of those that `serves` takes where it is
/// given; a diagnostic where none fits.
[[nodiscard]] Result<SearchResult> search(const Diagram& diagram, const Machine& machine,
                                          std::size_t top = 5, const Serves& serves = {});
/// The commands as a `.drv` text, headed by what the model predicts.
[[nodiscard]] std::string print(const Candidate& candidate, const Machine& machine);

}  // namespace napkin
