// What one might do next at a state: every move that a rule may allow, before any rule is asked.
//
// Nothing here knows which moves are legal; it names places (regions, axes, arrays) and sizes. A
// change that no single rule makes, such as another size of a group, is several commands.
#pragma once

#include <vector>

#include "derive/state.h"

namespace napkin {

/// Commands that are taken one after the other.
using Move = std::vector<Command>;

/// Moves that differ in a size alone: of each family the best is worth telling.
struct MoveFamily {
    std::vector<Move> variants;
    bool must_help = false;      ///< worth telling only where the model says that it helps
    bool tells_why_not = false;  ///< a refusal is worth telling
};

/// Fusions, groups and streams at block level and within them, other sizes of those that are there,
/// their inverses, and rewritings of the diagram, all of them about these regions (by their places
/// in the relabelling).
[[nodiscard]] std::vector<MoveFamily> moves_from(const State& state,
                                                 const std::vector<std::size_t>& regions);

/// A larger size of one group or stream of these regions against a smaller one of another.
[[nodiscard]] std::vector<MoveFamily> trades_from(const State& state,
                                                  const std::vector<std::size_t>& regions);

/// `ungroup q; group q by 64 at l1`, as it is typed.
[[nodiscard]] std::string print(const Move& move);

}  // namespace napkin
