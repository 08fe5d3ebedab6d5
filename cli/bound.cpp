// bound: what no schedule can go below, and the best of a derivation's kind.
#include "perfmodel/bound.h"

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/session.h"

namespace napkin::cli {
namespace {

std::string text_of(const Ratios& ratios, const std::optional<TransferBound>& bound,
                    const std::string& machine) {
    std::string text;
    if (bound)
        text += "bound  " + grouped(bound->amount.values) + " values, " +
                bytes_text(static_cast<double>(bound->amount.bytes())) + ": " + bound->citation +
                "\n";
    if (ratios.to_bound)
        text += "       this derivation transfers " + three_digits(*ratios.to_bound) +
                " times as many bytes\n";
    if (ratios.to_best)
        text += "best   " + ratios.best_formula + " at the capacity of a block of " + machine +
                " (" + ratios.best_validity + ")\n       this derivation transfers " +
                three_digits(*ratios.to_best) + " times as many values\n";
    else
        text += "best   no closed form is known for this derivation: fuse it into one region\n";
    return text;
}

}  // namespace

Result<int> run_bound(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Machine> machine = load_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<Cost> cost = cost_of_state(loaded->state);
    if (!cost) return cost.error();
    const Ratios ratios = ratios_of({loaded->state, *cost, &*machine});
    const std::optional<TransferBound> bound = bound_of(loaded->state.diagram);
    if (!arguments.json) {
        print_data(text_of(ratios, bound, machine->name));
        return kOk;
    }
    Json json{{"ok", true}, {"machine", machine->name}};
    if (bound)
        json["bound"] = Json{{"values", bound->amount.values},
                             {"bytes", bound->amount.bytes()},
                             {"citation", bound->citation}};
    if (ratios.to_bound) json["to_bound"] = *ratios.to_bound;
    if (ratios.to_best)
        json["best"] = Json{{"formula", ratios.best_formula},
                            {"validity", ratios.best_validity},
                            {"ratio", *ratios.to_best}};
    print_data(text_of(json));
    return kOk;
}

}  // namespace napkin::cli
