#include "cli/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/console.h"
#include "cli/emission.h"
#include "cli/execution.h"
#include "cli/interrupt.h"
#include "cli/measure_messages.h"
#include "cli/measured_ranking.h"
#include "cli/messages.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "codegen/prelude/prelude.h"
#include "codegen/run/compile_ahead.h"
#include "codegen/run/execute.h"
#include "codegen/run/messages.h"
#include "derive/proof/proof.h"
#include "derive/proof/sha256.h"
#include "derive/tile_program.h"

namespace napkin::cli {
namespace {

/// Candidates are many, and each is compared with the reference.
constexpr double kCandidateCheckSeconds = 2;

/// A hash of all that decides what a program's kernels do, but sizes.
std::string hash_of(const EmittedProgram& program) {
    std::string text;
    const auto add = [&](const std::string& part) {
        text += std::to_string(part.size()) + "\n" + part;
    };
    for (const PreludeFile& file : prelude_files()) add(file.text);
    for (const EmittedKernel& kernel : program.kernels) add(kernel.target + "\n" + kernel.source);
    return proof::sha256(text);
}

std::string sizes_text(const Diagram& plain) {
    std::string text;
    for (const auto& [axis, size] : proof::own_sizes(plain))
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis, size);
    return text;
}

/// Options of kernels for the device that is there, or else for the machine.
Result<EmitOptions> options_for(const Context& context, const Machine& machine) {
    if (device_status().missing.empty()) return emit_options_for_device(context);
    Result<EmitOptions> options = emit_options(context);
    if (const auto bytes = machine.shared_memory(); options && bytes)
        options->shared_memory = *bytes;
    return options;
}

/// `sm_90` of a machine whose target is `sm_90a`.
std::string architecture_of(const Machine& machine, const std::string& otherwise) {
    const std::string& target = machine.target;
    return target.empty() ? otherwise : target.substr(0, target.find_last_of("0123456789") + 1);
}

/// The arguments of the commands that emit and run, for candidates.
Arguments arguments_of_candidates(const Context& context, const Machine& machine) {
    Arguments arguments = context.arguments;
    arguments.target = arguments.only_target;
    arguments.arch = architecture_of(machine, arguments.arch);
    arguments.json = true;  // whose talk is not wanted a candidate
    return arguments;
}

/// Whether a machine file may be of a device: both have the name of the same built-in machine, or
/// one has the other's.
bool is_of_device(const Machine& machine, const std::string& device) {
    const auto has = [](const std::string& text, const std::string& name) {
        return text.find(name) != std::string::npos;
    };
    const std::vector<std::string> names = machine_names();
    return has(device, machine.name) ||
           std::any_of(names.begin(), names.end(), [&](const std::string& name) {
               return has(device, name) && has(machine.name, name);
           });
}

std::vector<TimedProgram> timed(const std::vector<EmittedCandidate>& candidates) {
    std::vector<TimedProgram> programs;
    for (const EmittedCandidate& each : candidates) programs.push_back(each.timed);
    return programs;
}

/// From what was measured elsewhere: on the latest of the benches with this machine's device on
/// which all was.
Result<int> from_recorded(const Context& context, const Loaded& loaded, const Machine& machine,
                          const std::vector<EmittedCandidate>& candidates, const Measurements& kept,
                          const std::string& why_no_device) {
    const Result<std::vector<TestBench>> benches = kept.benches();
    if (!benches) return benches.error();
    std::vector<std::string> missing;
    for (const EmittedCandidate& each : candidates) missing.push_back(each.timed.derivation);
    std::string where = "in `" + kept.path().string() + "`";
    for (const TestBench& bench : *benches) {
        if (!is_of_device(machine, bench.device)) continue;
        const Result<Kept> found = find_measured(kept, bench, timed(candidates));
        if (!found) return found.error();
        std::vector<std::string> lacks;
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (!(*found)[i]) lacks.push_back(candidates[i].timed.derivation);
        if (lacks.empty()) {
            print_talk("no GPU here: times are those in " + kept.path().string() + "\n");
            return print_ranking(context.arguments, {loaded, machine, bench},
                                 rank_measured(candidates, *found));
        }
        if (lacks.size() < missing.size()) {
            missing = lacks;
            where = "of " + bench.text() + " in `" + kept.path().string() + "`";
        }
    }
    return nothing_to_measure_on(why_no_device, missing, candidates.size(), where);
}

/// Kernels of the programs that are not kept, compiled side by side; false where it was stopped.
bool compile_missing(const std::vector<EmittedCandidate>& candidates, const Kept& kept,
                     const std::string& architecture, Progress& progress) {
    std::vector<const EmittedKernel*> kernels;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (!kept[i])
            for (const EmittedKernel& kernel : candidates[i].program.kernels)
                kernels.push_back(&kernel);
    CompileOptions options;
    options.architecture = architecture;
    compile_ahead(kernels, options, std::thread::hardware_concurrency(), [&](std::size_t done) {
        progress.tell(done, kernels.size(), "kernels compiled");
        return !Interrupt::noted();
    });
    return !Interrupt::noted();
}

Measurement measurement_of(const RunReport& report) {
    invariant(!report.times.empty() && report.times.front().kernel.empty(),
              "a timed run has no time of the whole");
    const Timing& whole = report.times.front();
    return {name_of(report.verdict()), whole.median, whole.least, whole.most, whole.repetitions};
}

/// One candidate run, judged and timed; a driver that fails is an answer about that candidate.
Result<Measurement> time_on_device(Context& quiet, const Loaded& loaded, const Candidate& candidate,
                                   const Tensors& inputs) {
    const Loaded derived{loaded.text, loaded.plain, candidate.state, loaded.settings, {}};
    const ExecutionOptions options{
        .device = "cuda", .repetitions = kRepetitions, .check_seconds = kCandidateCheckSeconds};
    Result<RunReport> report = execute(quiet, derived, inputs, options);
    if (report && report->verdict() == Verdict::Undecided)
        report = execute_random(quiet, derived, options);
    if (report) return measurement_of(*report);
    if (!messages::is_failure_of_device(report.error())) return report.error();
    return Measurement{.verdict = "failed: " + report.error().list.front().message};
}

Result<int> on_device(Context& context, const Loaded& loaded, const Machine& machine,
                      const std::vector<EmittedCandidate>& candidates, const Measurements& database,
                      const DeviceStatus& device) {
    const TestBench bench{device.name, device.driver, nvrtc_status().version};
    if (!is_of_device(machine, device.name))
        print_diagnostics({{other_device(device.name, machine.name)}}, context.sources);
    const Result<Kept> before = find_measured(database, bench, timed(candidates));
    if (!before) return before.error();
    const Arguments arguments = arguments_of_candidates(context, machine);
    Context quiet{arguments, context.sources};
    const Interrupt interrupt;
    Result<Kept> kept = *before;
    {
        Progress progress;
        if (compile_missing(candidates, *before, device.architecture, progress)) {
            std::optional<Tensors> inputs;
            kept = measure_missing(
                database, bench, timed(candidates),
                [&](std::size_t i) {
                    if (!inputs) inputs = random_inputs(loaded.plain, arguments.seed);
                    return time_on_device(quiet, loaded, *candidates[i].candidate, *inputs);
                },
                [&](std::size_t done, std::size_t all, double best) {
                    progress.tell(done, all,
                                  "timed" + (best > 0 ? ", best " + time_text(best) : ""));
                    return !Interrupt::noted();
                });
        }
    }
    if (!kept) return kept.error();
    const std::vector<RankedCandidate> ranked = rank_measured(candidates, *kept);
    if (ranked.size() == candidates.size())
        return print_ranking(context.arguments, {loaded, machine, bench}, ranked);
    const bool has_failed = !ranked.empty() && ranked.back().measurement.failed();
    print_talk(fmt::format(
        "stopped{}: {} of {} candidates are timed, and kept in {}; the same command goes on from "
        "there\n",
        has_failed ? " where one " + ranked.back().measurement.verdict : "", ranked.size(),
        candidates.size(), database.path().string()));
    if (!Interrupt::noted()) return kMissing;
    return kInterrupted;
}

}  // namespace

Result<Kept> find_measured(const Measurements& kept, const TestBench& bench,
                           const std::vector<TimedProgram>& programs) {
    Kept found;
    for (const TimedProgram& program : programs) {
        Result<std::optional<Measurement>> one = kept.find(bench, program);
        if (!one) return one.error();
        found.push_back(std::move(one).value());
    }
    return found;
}

Result<Kept> measure_missing(const Measurements& kept, const TestBench& bench,
                             const std::vector<TimedProgram>& programs, const TimeProgram& time,
                             const MeasureProceed& proceed) {
    const Result<Kept> before = find_measured(kept, bench, programs);
    if (!before) return before;
    const auto all =
        static_cast<std::size_t>(std::count(before->begin(), before->end(), std::nullopt));
    std::size_t done = 0;
    double best = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        if ((*before)[i]) continue;
        if (!proceed(done, all, best)) break;
        const Result<Measurement> one = time(i);
        if (!one) return one.error();
        if (auto failure = kept.keep(bench, programs[i], *one)) return *failure;
        if (one->counts() && (best == 0 || one->median < best)) best = one->median;
        ++done;
        if (one->failed()) break;
    }
    if (done == all) proceed(done, all, best);
    return find_measured(kept, bench, programs);
}

Result<std::vector<EmittedCandidate>> emit_candidates(Context& context, const Diagram& plain,
                                                      const Machine& machine,
                                                      const SearchResult& found) {
    const Arguments arguments = arguments_of_candidates(context, machine);
    const Context quiet{arguments, context.sources};
    const Result<EmitOptions> options = options_for(quiet, machine);
    if (!options) return options.error();
    const auto wanted = static_cast<std::size_t>(arguments.measure);
    std::vector<EmittedCandidate> candidates;
    for (const Candidate& candidate : found.ranked) {
        if (candidates.size() == wanted) break;
        const Result<TileProgram> tiles = expand(candidate.state);
        if (!tiles) return tiles.error();
        Result<EmittedProgram> program = emit_chosen(quiet, candidate.state, *tiles, *options);
        if (!program) return program.error();
        TimedProgram timed{hash_of(*program), sizes_text(plain), commands_text(candidate.commands)};
        candidates.push_back({&candidate, std::move(program).value(), std::move(timed)});
    }
    return candidates;
}

Result<int> measure_found(Context& context, const Loaded& loaded, const Machine& machine,
                          const SearchResult& found) {
    if (!has_values(loaded.plain)) return opaque_has_no_values();
    const Result<std::vector<EmittedCandidate>> candidates =
        emit_candidates(context, loaded.plain, machine, found);
    if (!candidates) return candidates.error();
    const std::filesystem::path path = context.arguments.measurements.empty()
                                           ? Measurements::usual_path()
                                           : std::filesystem::path(context.arguments.measurements);
    const DeviceStatus device = device_status();
    const bool has_device = device.missing.empty();
    const Result<Measurements> database =
        has_device ? Measurements::open(path) : Measurements::open_to_read(path);
    if (!database) return database.error();
    if (!has_device)
        return from_recorded(context, loaded, machine, *candidates, *database, device.missing);
    if (auto excess = excess_memory(loaded, "cuda")) return *excess;
    return on_device(context, loaded, machine, *candidates, *database, device);
}

}  // namespace napkin::cli
