// calibrate: measures the figures of a machine file on the GPU that is there.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/calibration.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/machines.h"
#include "cli/measure_messages.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "codegen/run/compile_ahead.h"

namespace napkin::cli {
namespace {

/// More than any cache holds.
constexpr std::int64_t kBuffer = std::int64_t{1} << 31;

/// The machine that was named, or the built-in one of a device.
Result<Machine> base_machine(SourceMap& sources, const std::string& named,
                             const std::string& device) {
    if (!named.empty()) return take_machine(sources, named);
    for (const std::string& name : machine_names())
        if (device.find(name) != std::string::npos) return load_machine(sources, name);
    return no_machine_of_device(device);
}

std::string sources_text(const std::string& architecture) {
    std::string text;
    for (const Microbenchmark& each : microbenchmarks(architecture))
        text += "// " + each.name + ": " + each.what + ". Blocks of " +
                std::to_string(each.kernel.threads) + " threads, " +
                std::to_string(each.kernel.shared_bytes) + " bytes of shared memory, " +
                each.kernel.target + ".\n" + each.kernel.source + "\n";
    return text;
}

std::string readings_text(const Calibration& calibration) {
    std::string text;
    for (const Reading& reading : calibration.readings)
        text += "# " + padded(reading.name, 44) + padded_left(reading.text, 16) + "  " +
                reading.how + "\n";
    for (const std::string& missing : calibration.missing)
        text += "# not measured: " + missing + "\n";
    return text;
}

/// What the file keeps from its base, beside what was measured.
std::string kept_text(const Machine& base, const Machine& measured) {
    std::string text;
    for (const auto& [key, figure] : base.figures)
        if (measured.figures.at(key) == figure) text += (text.empty() ? "" : ", ") + key;
    return text.empty() ? "" : "# kept as in " + base.name + ": " + text + "\n";
}

Json json_of(const Calibration& calibration, const Machine& machine, const DeviceStatus& device) {
    Json json{{"ok", true},
              {"device", device.name},
              {"driver", device.driver},
              {"machine", machine.name},
              {"readings", Json::array()},
              {"missing", calibration.missing}};
    for (const Reading& reading : calibration.readings)
        json["readings"].push_back(Json{{"figure", reading.figure},
                                        {"name", reading.name},
                                        {"value", reading.value},
                                        {"text", reading.text},
                                        {"how", reading.how}});
    return json;
}

/// Compiles side by side what will run.
void compile_all(const std::string& architecture, Progress& progress) {
    const std::vector<Microbenchmark> all = microbenchmarks(architecture);
    std::vector<const EmittedKernel*> kernels;
    for (const Microbenchmark& each : all) kernels.push_back(&each.kernel);
    CompileOptions options;
    options.architecture = architecture;
    compile_ahead(kernels, options, std::thread::hardware_concurrency(), [&](std::size_t done) {
        progress.tell(done, kernels.size(), "kernels compiled");
        return !Interrupt::noted();
    });
}

Result<Calibration> calibrate_watched(MicrobenchmarkDevice& device, const Machine& base) {
    const Interrupt interrupt;
    Progress progress;
    compile_all(device.status().architecture, progress);
    return calibrate(device, base, [&](std::size_t done, const std::string& what) {
        progress.tell(done, kCalibrationSteps, "measured, now " + what);
        return !Interrupt::noted();
    });
}

}  // namespace

Result<int> run_calibrate(Context& context) {
    const Arguments& arguments = context.arguments;
    if (arguments.print) {
        if (const auto failure = write_data(arguments.output, sources_text(arguments.arch)))
            return *failure;
        return kOk;
    }
    Result<MicrobenchmarkDevice> device = MicrobenchmarkDevice::open(kBuffer);
    if (!device) {
        Diagnostics missing = device.error();
        missing.list.front().help = "`--print` writes what would be measured; that needs no GPU";
        return missing;
    }
    const Result<Machine> base =
        base_machine(context.sources, arguments.topic, device->status().name);
    if (!base) return base.error();
    const Result<Calibration> calibration = calibrate_watched(*device, *base);
    if (!calibration) return calibration.error();
    Machine machine = machine_with(*base, *calibration, device->status());
    const std::string kept = kept_text(*base, machine);
    const std::string measured = "-measured";
    if (!machine.name.ends_with(measured)) machine.name += measured;
    const std::string readings = fmt::format("# {}, driver {}, {}\n", device->status().name,
                                             device->status().driver, kMeasuredBy) +
                                 readings_text(*calibration) + kept;
    const bool to_file = !arguments.output.empty() && arguments.output != "-";
    const std::string file = readings + machine_file_text(machine);
    if (to_file)
        if (const auto failure = write_data(arguments.output, file)) return *failure;
    if (arguments.json)
        print_data(text_of(json_of(*calibration, machine, device->status())));
    else
        print_data(to_file ? readings : file);
    return kOk;
}

}  // namespace napkin::cli
