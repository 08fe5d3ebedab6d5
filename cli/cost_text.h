// The cost of a derivation as a table and as JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/json.h"
#include "derive/state.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"

namespace napkin::cli {

/// A costed state; with a machine also times and capacities.
struct Costed {
    const State& state;
    const Cost& cost;
    const Machine* machine = nullptr;
};

/// How far transfers are from what is proved and from the best known of their kind.
struct Ratios {
    std::optional<double> to_bound;  ///< total H in bytes over compulsory traffic
    std::optional<double> to_best;   ///< of a single region that fits, at the machine's capacity
    std::string bound_citation;
    std::string best_formula;
    std::string best_validity;
};
[[nodiscard]] Ratios ratios_of(const Costed& costed);
/// One warning for every region that needs more than a level of the machine has.
[[nodiscard]] Diagnostics capacity_warnings(const Costed& costed);

[[nodiscard]] std::string cost_table(const Costed& costed);
[[nodiscard]] Json cost_json(const Costed& costed);

}  // namespace napkin::cli
