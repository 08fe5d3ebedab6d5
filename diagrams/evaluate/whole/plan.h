// In which stages whole arrays are computed.
//
// A stage computes arrays of equal axes, its roots, block by block. What a block of them needs of
// another array is a block too, where every read follows a root's axis as it is; it is computed
// with the block and forgotten. What is needed whole has a stage of its own before. So the scores
// of attention exist for some rows of one head at a time, and so does all that is about them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "diagrams/evaluate/whole/products.h"
#include "diagrams/evaluate_whole.h"

namespace napkin::evaluation {

/// A statement of a stage.
struct Part {
    StatementId statement;
    std::map<AxisId, std::size_t> tied;  ///< its axes that are dimensions of the roots
    std::optional<SumOfProducts> sum;    ///< where products of matrices compute it
};
struct Stage {
    std::vector<ArrayId> roots;
    std::vector<std::int64_t> extents;  ///< of the roots' dimensions
    std::vector<std::int64_t> block;    ///< of them that are computed at once
    std::vector<Part> parts;            ///< in order
    [[nodiscard]] std::int64_t blocks() const;
};
struct Plan {
    std::vector<Stage> stages;
    double multiplications = 0;  ///< in products of matrices
    double steps = 0;            ///< parts of expressions evaluated for an element
    double values = 0;           ///< of all roots, and of a block of every thread
};

/// The indices of an axis that a block of a part's targets takes.
[[nodiscard]] std::int64_t count_of(const Diagram& diagram, const Stage& stage, const Part& part,
                                    AxisId axis);
/// Nullopt where more than `options.most_values` must be held; `options.threads` is positive.
[[nodiscard]] std::optional<Plan> plan_stages(const Diagram& diagram,
                                              const std::vector<ArrayId>& roots,
                                              const WholeOptions& options);

}  // namespace napkin::evaluation
