#include "cli/derivation_steps.h"

#include "cli/picture.h"
#include "cli/reasons.h"
#include "cli/workbench.h"

namespace napkin::cli {

namespace {

/// A size enters the checker: it is the plain diagram's, wherever the derivation sets it.
std::string reason_of_set(const Diagram& plain, const Command& command) {
    const Sizes sizes = sizes_in({&command, 1});
    const auto& [name, size] = *sizes.begin();
    const std::int64_t extent = plain[*find_axis(plain, name)].extent;
    return extent == size ? "a size holds from the plain diagram on, before this step too"
                          : "`--set " + name + "=" + std::to_string(extent) +
                                "` replaces it, from the plain diagram on";
}

}  // namespace

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
            step.reasons =
                step.step()->command.rule == "set"
                    ? std::vector{reason_of_set(loaded.plain, step.step()->command)}
                    : reasons_of(steps.back().state, step.state, steps.back().cost, step.cost);
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace napkin::cli
