#include "cli/emission.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/session.h"
#include "codegen/run/execute.h"
#include "perfmodel/kernel_choice.h"

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

Result<EmittedProgram> emit_chosen(const Context& context, const State& state,
                                   const TileProgram& program, const EmitOptions& options) {
    return context.arguments.target.empty() ? emit_best(state, program, options)
                                            : emit(state, program, options);
}

void add_work(const TileProgram& program, const EmittedProgram& kernels, const EmitOptions& options,
              Cost& cost) {
    EmitOptions own = options;
    for (std::size_t i = 0; i < program.regions.size(); ++i) {
        const EmittedKernel& kernel = kernels.kernels[i];
        own.target = kernel.target;
        napkin::add_work(program.regions[i], {kernel.target, kernel.choices, own.limits()},
                         cost.regions[i]);
    }
}

namespace {

std::string since(const std::vector<std::string>& reasons) {
    return reasons.empty() ? "" : fmt::format(", since {}", fmt::join(reasons, "; "));
}

}  // namespace

void tell_target(const Context& context, const EmittedProgram& program) {
    const auto all_of = [&](const std::string& target) {
        return std::all_of(program.kernels.begin(), program.kernels.end(),
                           [&](const EmittedKernel& kernel) { return kernel.target == target; });
    };
    if (context.arguments.json || all_of(context.arguments.target)) return;
    std::string text = "target: " + program.target;
    if (all_of(program.target)) return print_talk(text + since(refusals_of(program)) + "\n");
    for (const EmittedKernel& kernel : program.kernels) {
        if (kernel.target == program.target) continue;
        text +=
            fmt::format("\n  of {}: {}", kernel.region, kernel.target) + since(kernel.not_newer);
    }
    print_talk(text + "\n");
}

std::vector<std::string> refusals_of(const EmittedProgram& program) {
    std::vector<std::string> all;
    for (const EmittedKernel& kernel : program.kernels)
        for (const std::string& reason : kernel.not_newer)
            if (std::find(all.begin(), all.end(), reason) == all.end()) all.push_back(reason);
    return all;
}

Json to_json(const EmittedProgram& program) {
    Json json{{"target", program.target}};
    for (const std::string& reason : refusals_of(program)) json["refused"].push_back(reason);
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
