// The fast reference: whole arrays in double precision, with products of matrices where the slow
// one (diagrams/evaluate.h) adds products one by one. It means the same, but for the order of
// summation, and is held against the slow one by tests.
#pragma once

#include <optional>
#include <vector>

#include "diagrams/evaluate.h"

namespace napkin {

/// How the arrays are computed; the defaults are for speed.
struct WholeOptions {
    int threads = 0;               ///< as many as the machine has, where it is not positive
    double most_values = 0x1p40;   ///< held at once
    double block_values = 0x1p23;  ///< of all arrays of a block
    double gain = 4;  ///< how much smaller operands of a product of matrices are than its space
};
/// What computing some arrays takes.
struct WholeWork {
    double multiplications = 0;  ///< in products of matrices
    double steps = 0;            ///< parts of expressions evaluated for an element
    double values = 0;           ///< held at once, without the inputs
    double seconds = 0;          ///< about, on this machine's threads
};
/// Nullopt where what must be held exceeds the options' limit.
[[nodiscard]] std::optional<WholeWork> whole_work(const Diagram& diagram,
                                                  const std::vector<ArrayId>& arrays,
                                                  const WholeOptions& options = {});
/// The arrays, which statements define; there must be a `whole_work` of them. Throws ContractError
/// as Evaluator does.
[[nodiscard]] Tensors evaluate_whole(const Diagram& diagram, const Tensors& inputs,
                                     const std::vector<ArrayId>& arrays,
                                     const WholeOptions& options = {});

}  // namespace napkin
