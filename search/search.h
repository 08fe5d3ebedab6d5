// Derivations found by the model: which boxes to fuse, which axes to group and stream, by how much.
//
// Regions come first: convex sets of boxes (regions.h), of which those that are alike are tiled
// once. The fastest partition of the diagram into regions is found exactly (partition.h). A region
// is tiled only when it stands in the fastest partition that is left, given the least time that
// any kernel of it may take (least_time.h), so that most are ruled out without a look at their
// tilings.
//
// A search that may be stopped begins with a few tilings of every statement by itself, whatever the
// deadline: from then on it has a derivation, and what it finds later is kept where it is faster.
//
// Searches begin from the diagram as it is, with statements taken apart that reduce over several
// axes, as laws of rings rewrite it (starts.h), and with large arrays computed again by what reads
// them (recomputations.h); regions that are alike in several of these are tiled once.
//
// A region's legal moves are found by asking the rules, so nothing here knows which axes may be
// grouped or streamed. It is expanded once for each choice of streamed axis; group and chunk sizes
// are then numbers in a prepared cost (perfmodel/prepared_cost.h). Candidates that exceed the
// machine's capacity are dropped, the rest ranked by what a good schedule would take; where they
// leave processors idle, so are those whose streams run in parts (`split-stream`). Kernels of
// the best are scheduled for the machine's target and costed as they would be printed, and sizes
// are changed from there one at a time (kernels.h). The winners are derived again, command by
// command, and costed from their own tile programs.
#pragma once

#include <functional>
#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"
#include "schedule/deadline.h"
#include "search/kernels.h"

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
    std::size_t regions = 0;        ///< that may be kernels, alike ones once
    std::size_t searched = 0;       ///< of these, tiled or ruled out; fewer where it was stopped
    bool stopped = false;           ///< by the deadline
    std::size_t tiled = 0;          ///< of these
    std::size_t most_boxes = 0;     ///< in a region but the whole, where larger ones are left out
    std::int64_t evaluated = 0;     ///< tilings costed
    std::int64_t too_large = 0;     ///< tilings that exceed a capacity
    std::int64_t kernels = 0;       ///< tilings whose kernels were scheduled and costed
    std::int64_t not_served = 0;    ///< the best of them, of which no kernel is made after all
    std::vector<Fault> faults;      ///< tilings that the scheduler got wrong, and noticed
};

/// Told how many regions are tiled, of how many at most.
using Told = std::function<void(std::size_t done, std::size_t all)>;

struct SearchOptions {
    std::size_t top = 5;      ///< how many are wanted; what is searched does not depend on it
    std::string target = {};  ///< of the kernels; the best that the machine runs where empty
    Serves serves = {};       ///< any region where it is not given
    Told told = {};
    Deadline deadline = {};  ///< past it the best is given that was found, however roughly
};

/// The best derivations of a diagram for a machine, of those that are served; a diagnostic where
/// none fits.
[[nodiscard]] Result<SearchResult> search(const Diagram& diagram, const Machine& machine,
                                          const SearchOptions& options = {});
/// The commands as a `.drv` text, headed by what the model predicts, and for which target where one
/// was asked for.
[[nodiscard]] std::string print(const Candidate& candidate, const Machine& machine,
                                const std::string& target = "");

}  // namespace napkin
