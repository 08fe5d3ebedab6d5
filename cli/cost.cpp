#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/picture.h"
#include "cli/session.h"

namespace napkin::cli {

Result<int> run_cost(Context& context) {
    const Arguments& arguments = context.arguments;
    std::optional<Machine> machine;
    if (!arguments.machine.empty()) {
        Result<Machine> loaded = load_machine(context.sources, arguments.machine);
        if (!loaded) return loaded.error();
        machine = std::move(loaded).value();
    }
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<Cost> cost = cost_of_state(loaded->state);
    if (!cost) return cost.error();
    const Costed costed{loaded->plain, loaded->state, *cost, machine ? &*machine : nullptr};
    print_diagnostics(capacity_warnings(costed), context.sources);
    print_data(arguments.json ? text_of(cost_json(costed)) : cost_table(costed));
    return kOk;
}

}  // namespace napkin::cli
