// bench: measures the kernels of a derivation on a GPU, and compares with the prediction.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/execution.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/numbers.h"
#include "cli/session.h"
#include "cli/tensor_files.h"
#include "codegen/run/execute.h"
#include "perfmodel/time.h"

namespace napkin::cli {
namespace {

/// The machine file of a device, by its name: `NVIDIA H200` is H200.
std::optional<Machine> machine_of(SourceMap& sources, const std::string& device) {
    for (const std::string& name : machine_names())
        if (device.find(name) != std::string::npos)
            if (Result<Machine> machine = load_machine(sources, name))
                return std::move(machine).value();
    return std::nullopt;
}

std::string line_of(const Timing& timing) {
    return "  " + padded(timing.kernel.empty() ? "all" : timing.kernel, 20) +
           padded_left(time_text(timing.median), 10) + "  (" +
           interval_text(timing.least, timing.most) + ", median of " +
           std::to_string(timing.repetitions) + ")\n";
}

Json json_of(const Timing& timing) {
    return Json{{"kernel", timing.kernel},
                {"median_us", timing.median * kMicroseconds},
                {"least_us", timing.least * kMicroseconds},
                {"most_us", timing.most * kMicroseconds},
                {"repetitions", timing.repetitions}};
}

/// What the assembler said; nothing where it was not asked.
Json json_of(const CompiledKernel& compiled) {
    Json json{{"kernel", compiled.name}};
    if (compiled.registers) json["registers"] = *compiled.registers;
    if (compiled.spill_stores)
        json["spills"] = *compiled.spill_stores + compiled.spill_loads.value_or(0);
    return json;
}

}  // namespace

Result<int> run_bench(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (!has_values(loaded->plain)) return opaque_has_no_values();
    if (const DeviceStatus status = device_status(); !status.missing.empty())
        return plain_error("E9012", status.missing, "`napkin doctor` says what works without it",
                           Failure::Missing);
    if (const auto excess = excess_memory(*loaded, "cuda")) return *excess;
    const Result<RunReport> report = execute_given(context, *loaded,
                                                   {.device = "cuda",
                                                    .repetitions = kRepetitions,
                                                    .compares = !arguments.no_check,
                                                    .check_seconds = kCheckSeconds});
    if (!report) return report.error();
    const std::optional<Machine> machine = machine_of(context.sources, report->device);
    Json json = to_json(*report);
    std::string text = text_of(*report);
    for (const Timing& timing : report->times) {
        json["times"].push_back(json_of(timing));
        text += line_of(timing);
    }
    for (const CompiledKernel& compiled : report->compiled)
        json["compiled"].push_back(json_of(compiled));
    if (machine) {
        const TimeEstimate predicted = time_of(report->cost, *machine);
        json["predicted_us"] = Json{{"low", predicted.low.value * kMicroseconds},
                                    {"high", predicted.high.value * kMicroseconds}};
        text += "  predicted " + interval_text(predicted.low.value, predicted.high.value) + ", " +
                predicted.bound_by() + " binds\n";
    }
    print_data(arguments.json ? text_of(json) : text);
    return report->exit_code();
}

}  // namespace napkin::cli
