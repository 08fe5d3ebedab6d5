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

std::string text_of(const Ratios& ratios, const std::string& machine) {
    std::string text;
    if (ratios.bound)
        text += "bound  " +
                (ratios.bound->values > 0 ? grouped(ratios.bound->values) + " values, " : "") +
                bytes_text(static_cast<double>(ratios.bound->bytes())) + ": " +
                ratios.bound->citation + "\n";
    if (ratios.to_bound)
        text += "       this derivation transfers " + three_digits(*ratios.to_bound) +
                " times as many\n";
    if (ratios.to_best)
        text += "best   " + bytes_text(ratios.best->bits / 8) + " in a block of " + machine + ": " +
                ratios.best->formula + ", " + ratios.best->validity +
                "\n       this derivation transfers " + three_digits(*ratios.to_best) +
                " times as many\n";
    else
        text += "best   none known of this derivation: " + ratios.why_no_best + "\n";
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
    const Ratios ratios = ratios_of({loaded->plain, loaded->state, *cost, &*machine});
    if (!arguments.json) {
        print_data(text_of(ratios, machine->name));
        return kOk;
    }
    Json json{{"ok", true}, {"machine", machine->name}};
    if (ratios.bound)
        json["bound"] =
            Json{{"bytes", ratios.bound->bytes()}, {"citation", ratios.bound->citation}};
    if (ratios.bound && ratios.bound->values > 0) json["bound"]["values"] = ratios.bound->values;
    if (ratios.to_bound) json["to_bound"] = *ratios.to_bound;
    if (ratios.to_best)
        json["best"] = Json{{"bytes", ratios.best->bits / 8},
                            {"formula", ratios.best->formula},
                            {"validity", ratios.best->validity},
                            {"ratio", *ratios.to_best}};
    else
        json["none_known"] = ratios.why_no_best;
    print_data(text_of(json));
    return kOk;
}

}  // namespace napkin::cli
