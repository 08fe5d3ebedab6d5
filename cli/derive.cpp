// derive: replays a derivation and tells of each step, or opens a prompt.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/derivation_steps.h"
#include "cli/files.h"
#include "cli/interactive.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

/// What was done, step after step.
std::string log_text(const Diagram& plain, const std::vector<DerivedStep>& steps,
                     const Machine& machine) {
    std::string text = "0. the plain diagram\n";
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const DerivedStep& step = steps[i];
        if (i > 0) {
            text += std::to_string(i) + ". " + step.typed() + "\n  law: " + step.step()->law + "\n";
            text += checked_text(*step.step());
            for (const std::string& reason : step.reasons) text += "  " + reason + "\n";
        }
        text +=
            figures_text(i == 0 ? std::nullopt : std::optional(steps[i - 1].figures), step.figures);
    }
    const DerivedStep& last = steps.back();
    return text + standing_text(plain, last.state, last.cost, machine) +
           accumulators_text(last.state);
}

}  // namespace

Result<int> run_derive(Context& context) {
    const Arguments& arguments = context.arguments;
    Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (arguments.interactive) return run_interactive(context, std::move(loaded).value());
    const Result<Machine> machine = take_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<std::vector<DerivedStep>> steps = steps_of(*loaded, *machine);
    if (!steps) return steps.error();
    if (!arguments.output.empty())
        if (const auto failure = write_data(
                arguments.output, derivation_text(loaded->plain, loaded->state, loaded->settings)))
            return *failure;
    if (arguments.json)
        print_data(text_of(derivation_json(loaded->plain, *steps, *machine)));
    else if (arguments.output != "-")
        print_lines(loaded->plain.name + " on " + machine->name + "\n" +
                    log_text(loaded->plain, *steps, *machine));
    return kOk;
}

}  // namespace napkin::cli
