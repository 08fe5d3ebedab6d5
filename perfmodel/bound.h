// Two figures beside every cost, never mixed. `bound` is proved for every schedule of the diagram;
// `best` is the least H of any relabelling of a known kind at a capacity, from its closed form.
#pragma once

#include <optional>
#include <string>

#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

/// Compulsory traffic: inputs are read at least once, outputs written once. Counted are arrays that
/// are certainly read in whole: by plain distinct axes, under no mask and by no gather.
struct TransferBound {
    Amount amount;
    std::string citation;
};
[[nodiscard]] std::optional<TransferBound> bound_of(const Diagram& diagram);

/// The continuous optimum of a two-level transfer cost.
struct BestTransfers {
    double values = 0;
    std::string formula;  ///< `2qd + 4xq·d^2/M`
    std::string validity;
};
/// For one region at block level with H and M of its ideal forms: the least H over group and
/// stream sizes with M at most `capacity` values, in closed form where the region is a matmul
/// (H ~ 2abc/sqrt(M)) or loads what one group size divides (attention); nullopt otherwise, and
/// where masks skip chunks.
[[nodiscard]] std::optional<BestTransfers> best_of(const RegionCost& cost, std::int64_t capacity);

}  // namespace napkin
