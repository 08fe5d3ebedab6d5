#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/emission.h"
#include "cli/machines.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/session.h"

namespace napkin::cli {
namespace {

constexpr int kWarp = 32;

/// What kernels take of a block, as `emit` prints them.
std::string kernels_text(const EmittedProgram& program) {
    std::string text = "kernels for " + program.target + "\n";
    for (const EmittedKernel& kernel : program.kernels)
        text += "  " + padded(kernel.region, 20) + std::to_string(kernel.threads / kWarp) +
                " warps, " + grouped(kernel.shared_bytes) + " bytes of shared memory" +
                (kernel.target == program.target ? "" : ", for " + kernel.target) + "\n";
    return text;
}

Json kernels_json(const EmittedProgram& program) {
    Json json = Json::array();
    for (const EmittedKernel& kernel : program.kernels)
        json.push_back(Json{{"region", kernel.region},
                            {"target", kernel.target},
                            {"warps", kernel.threads / kWarp},
                            {"threads", kernel.threads},
                            {"shared_bytes", kernel.shared_bytes},
                            {"choices", to_json(kernel.choices)}});
    return json;
}

/// The kernels, where a target or a schedule is asked for; their work goes to the cost.
Result<std::optional<EmittedProgram>> emission_of(const Context& context, const Loaded& loaded,
                                                  const Machine* machine, Cost& cost) {
    if (context.arguments.target.empty() && context.arguments.schedule.empty() &&
        context.arguments.threads == 0)
        return std::optional<EmittedProgram>();
    const Result<TileProgram> tiles = expand(loaded.state);
    if (!tiles) return tiles.error();
    Result<EmitOptions> options = emit_options(context, loaded.hash);
    if (!options) return options.error();
    if (const auto bytes = machine ? machine->shared_memory() : std::nullopt)
        options->shared_memory = *bytes;
    Result<EmittedProgram> emission = emit_chosen(context, loaded.state, *tiles, *options);
    if (!emission) return emission.error();
    add_work(*tiles, *emission, *options, cost);
    return std::optional(std::move(emission).value());
}

}  // namespace

Result<int> run_cost(Context& context) {
    const Arguments& arguments = context.arguments;
    std::optional<Machine> machine;
    if (!arguments.machine.empty()) {
        Result<Machine> loaded = take_machine(context.sources, arguments.machine);
        if (!loaded) return loaded.error();
        machine = std::move(loaded).value();
        if (!arguments.target.empty())
            if (const auto wrong = check_target(arguments.target, machine->target)) return *wrong;
    }
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    Result<Cost> cost = cost_of_state(loaded->state, machine ? &*machine : nullptr);
    if (!cost) return cost.error();
    const Result<std::optional<EmittedProgram>> emission =
        emission_of(context, *loaded, machine ? &*machine : nullptr, *cost);
    if (!emission) return emission.error();
    const Costed costed{loaded->plain, loaded->state, *cost, machine ? &*machine : nullptr};
    print_diagnostics(capacity_warnings(costed), context.sources);
    Json json = cost_json(costed);
    std::string text = cost_table(costed, static_cast<std::size_t>(terminal_width()));
    if (const std::optional<EmittedProgram>& kernels = *emission) {
        json.update(to_json(*kernels));
        json["kernels"] = kernels_json(*kernels);
        text += kernels_text(*kernels);
        tell_target(context, *kernels);
    }
    print_data(arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace napkin::cli
