// What each unit of a machine has to do for a chunk, at the rates of the machine's own file and
// nothing lost: the paper's clocks, and what would bind if all overlapped.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin::cli {

/// One unit, for one region.
struct Balance {
    std::string unit;    ///< `tensor core f16`; device memory for arrays once, and for all loads
    double total = 0;    ///< seconds of the whole device
    double chunk = 0;    ///< seconds of a processor for a chunk of one block
    double clocks = 0;   ///< the same; 0 where the machine has no clock
    std::string amount;  ///< in all: `17.2 GB`
};
/// Of a cost with formulas; of shared memory where the work of its kernel is known.
[[nodiscard]] std::vector<Balance> balance_of(const RegionCost& cost, const Machine& machine);
[[nodiscard]] std::string balance_text(const Cost& cost, const Machine& machine);
[[nodiscard]] Json balance_json(const Cost& cost, const Machine& machine);

}  // namespace napkin::cli
