// Where a search may begin: the diagram as it is given, taken apart, and as laws of rings rewrite
// it.
#pragma once

#include <optional>
#include <vector>

#include "derive/state.h"

namespace napkin {

struct Start {
    std::vector<Command> commands;  ///< from the plain diagram
    State state;                    ///< in which nothing is tiled
    bool by_flow = false;           ///< regions hang together by data flow alone
    std::vector<std::string> apart =
        {};  ///< arrays that no region computes and reads: others' start
};
/// The plain diagram first, then one whose axes are split where parts or remainders of their
/// indices by a number are asked for (`split-axis`), and one in which the arrays of products whose
/// innermost axis all sides have are laid out with it outermost (`layout`), and one in which what
/// products compute of their inputs' elements is computed once (`extract`), and one in which
/// statements that reduce over several axes are taken apart (`unfuse`), sums of products among
/// them, and factors of sums are summed first where that is less work (`reassociate`). In others
/// one product with a sum is multiplied out (`distribute`), where that leaves a sum over the same
/// axes which lacks an axis of the result, so that it need be computed once: of a norm's bias and a
/// linear layer's weights. Where the terms cancel, as those of squares of distances, all such are
/// multiplied out in one, where that leaves much less to sum and a product of matrices rounds no
/// operand.
[[nodiscard]] std::vector<Start> starts_of(const Diagram& diagram);

/// The plain diagram with every box apart from what it reduces on the way to its result, where some
/// box does: of rows that are longer than a block can hold, these can be streamed.
[[nodiscard]] std::optional<Start> start_of_parts(const Diagram& diagram);

}  // namespace napkin
