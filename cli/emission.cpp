#include "cli/emission.h"

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/session.h"
#include "codegen/run/execute.h"
#include "perfmodel/kernel_work.h"

namespace napkin::cli {

Result<EmitOptions> emit_options(const Context& context, const std::string& hash) {
    const Arguments& arguments = context.arguments;
    const std::string target = arguments.target.empty() ? target_names().front() : arguments.target;
    Result<EmitOptions> options = emit_options_for(target, arguments.arch);
    if (!options) return options;
    options->threads = arguments.threads;
    if (!arguments.schedule.empty()) {
        const Result<std::uint32_t> file = load_text(context.sources, arguments.schedule);
        if (!file) return file.error();
        Result<std::vector<schedule::Request>> schedules =
            schedule::read_schedule(context.sources, *file);
        if (!schedules) return schedules.error();
        options->schedules = std::move(schedules).value();
    }
    options->derivation = hash;
    options->sources = &context.sources;
    return options;
}

Result<EmitOptions> emit_options_for_device(const Context& context) {
    Result<EmitOptions> options = emit_options(context);
    const DeviceStatus device = device_status();
    if (!options || !device.missing.empty()) return options;
    options->architecture = device.architecture;
    options->shared_memory = device.shared_memory;
    return options;
}

Result<BestEmission> emit_chosen(const Context& context, const State& state,
                                 const TileProgram& program, const EmitOptions& options) {
    if (context.arguments.target.empty()) return emit_best(state, program, options);
    Result<EmittedProgram> emitted = emit(state, program, options);
    if (!emitted) return emitted.error();
    return BestEmission{std::move(emitted).value(), {}};
}

void add_work(const TileProgram& program, const EmittedProgram& kernels,
              const schedule::Limits& limits, Cost& cost) {
    for (std::size_t i = 0; i < program.regions.size(); ++i)
        add_work(program.regions[i], {kernels.target, kernels.kernels[i].choices, limits},
                 cost.regions[i]);
}

void tell_target(const Context& context, const BestEmission& emission) {
    if (!context.arguments.target.empty() || context.arguments.json) return;
    std::string line = "target: " + emission.program.target;
    for (const Diagnostic& refusal : emission.refusals) line += ", since " + refusal.message;
    print_talk(line + "\n");
}

Json to_json(const BestEmission& emission) {
    Json json{{"target", emission.program.target}};
    for (const Diagnostic& refusal : emission.refusals) json["refused"].push_back(refusal.message);
    return json;
}

Json to_json(const schedule::RegionSchedule& choices) {
    Json json = Json::object();
    for (const schedule::Setting& setting : schedule::settings_of(choices)) {
        const Json value = std::visit([](auto each) { return Json(each); }, setting.value);
        if (schedule::find_field(setting.name.field)->of.empty())
            json[setting.name.field] = value;
        else
            json[setting.name.field][setting.name.of] = value;
    }
    return json;
}

}  // namespace napkin::cli
