// The cost of a derivation as a table and as JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/json.h"
#include "derive/state.h"
#include "perfmodel/bound.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"

namespace napkin::cli {

/// A costed state; with a machine also times and capacities.
struct Costed {
    const Diagram& plain;  ///< where its derivation starts
    const State& state;
    const Cost& cost;
    const Machine* machine = nullptr;
};

/// How far transfers are from what is proved and from the best known of their kind.
struct Ratios {
    std::optional<TransferBound> bound;
    std::optional<double>
        to_bound;  ///< total H over it, in bytes, unless it is less and does not fit
    std::optional<BestTransfers> best;  ///< of a single region that fits the machine
    std::optional<double> to_best;      ///< likewise
    std::string why_no_best;
};
[[nodiscard]] Ratios ratios_of(const Costed& costed);
/// Of transfers so many times the bound: `at the bound`, or how many times.
[[nodiscard]] std::string beside_bound(double ratio);
/// One warning for every region that needs more than a level of the machine has.
[[nodiscard]] Diagnostics capacity_warnings(const Costed& costed);

/// In lines of so many columns.
[[nodiscard]] std::string cost_table(const Costed& costed, std::size_t columns);
[[nodiscard]] Json cost_json(const Costed& costed);
/// `{low, high}` in microseconds.
[[nodiscard]] Json time_json(const TimeEstimate& time);
/// What binds, a unit or `waiting`, and the target of a region's kernel; null where there is no
/// time, no kernel.
[[nodiscard]] Json binds_json(const TimeEstimate& time);
[[nodiscard]] Json target_json(const RegionCost& region);

}  // namespace napkin::cli
