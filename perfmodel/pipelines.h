// What each unit of a machine has to do for a region whatever the schedule, as numbers and
// formulas: the roofs under which its time lies. How long it takes is perfmodel/time.h's to say.
#pragma once

#include <string>
#include <vector>

#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

struct Pipeline {
    std::string name;
    std::string unit;  ///< of the work: `B`, `op`
    double least = 0;
    double most = 0;
    double rate = 0;     ///< so many units a second, of the data sheet
    std::string figure;  ///< the machine's, that the rate is from: `device.bandwidth`
    Formula least_formula;
    Formula most_formula;
};
/// Of a cost with formulas; those without work are left out.
[[nodiscard]] std::vector<Pipeline> pipelines_of(const RegionCost& cost, const Machine& machine);

/// What the units of all blocks of a kernel do.
[[nodiscard]] UnitWork all_of(const KernelWork& work);
inline constexpr double kTurn = 128;  ///< bytes of shared memory in a clock
/// To and from shared memory: operands and copies, and a turn's worth for each turn of elements.
[[nodiscard]] inline Bytes shared_traffic(const UnitWork& work) {
    return Bytes{work.shared + work.turns * kTurn};
}

}  // namespace napkin
