// A derivation with what each of its steps did: the one source of its text, its JSON and its page.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/session.h"
#include "cli/step_report.h"

namespace napkin::cli {

/// Where a derivation stands after a step; the first is the plain diagram.
struct DerivedStep {
    State state;
    Cost cost;
    Figures figures;
    std::vector<std::string> reasons;  ///< why the figures changed
    /// The command without its comment; empty of the plain diagram.
    [[nodiscard]] std::string typed() const;
    /// Null of the plain diagram.
    [[nodiscard]] const Step* step() const {
        return state.steps.empty() ? nullptr : &state.steps.back();
    }
};
[[nodiscard]] Result<std::vector<DerivedStep>> steps_of(const Loaded& loaded,
                                                        const Machine& machine);

/// What `derive --json` prints: `{ok, diagram, machine, axes, figures, steps}`, each step with its
/// model.
[[nodiscard]] Json derivation_json(const Diagram& plain, const std::vector<DerivedStep>& steps,
                                   const Machine& machine);
/// A step's costs as formulas: `{H, bound, to_bound, to_best, time_us, fits, regions}`.
[[nodiscard]] Json model_json(const Diagram& plain, const DerivedStep& step,
                              const Machine& machine);
/// `{axes, initial, body, ...}`: the lines of `explain`.
[[nodiscard]] Json accumulator_json(const Diagram& diagram, const Accumulator& accumulator);

}  // namespace napkin::cli
