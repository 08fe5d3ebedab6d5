#include "cli/derivation_steps.h"

#include "cli/picture.h"
#include "cli/reasons.h"
#include "cli/workbench.h"

namespace napkin::cli {

std::string DerivedStep::typed() const {
    return step() == nullptr ? "" : typed_text(step()->command);
}

Result<std::vector<DerivedStep>> steps_of(const Loaded& loaded, const Machine& machine) {
    std::vector<DerivedStep> steps;
    Workbench bench(loaded.plain, loaded.state.steps);
    CostOfSteps cost_of_step(machine);
    for (std::size_t i = 0; i <= bench.last_step(); ++i) {
        bench.go_to(i);
        DerivedStep step;
        step.state = bench.current();
        Result<Cost> cost = cost_of_step(step.state);
        if (!cost) return cost.error();
        step.cost = std::move(*cost);
        step.figures = figures_of(step.cost, machine);
        if (i > 0)
            step.reasons = reasons_of(steps.back().state, step.state, steps.back().cost, step.cost);
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace napkin::cli
