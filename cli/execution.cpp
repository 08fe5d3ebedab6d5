#include "cli/execution.h"

#include <algorithm>

#include "cli/console.h"
#include "cli/emission.h"
#include "cli/memory.h"
#include "cli/messages.h"
#include "codegen/emit.h"
#include "codegen/run/execute.h"
#include "derive/tile_program.h"
#include "derive/work.h"

namespace napkin::cli {
namespace {

// Above this many visited elements a run on the CPU takes minutes, so it only counts.
constexpr double kMostWork = 3e8;
constexpr double kMostEmulatedWork = 3e7;
// Bytes of what is held: inputs as they are given, by the names of the derived diagram and on the
// device; results there, with how often each was written, by the names of the plain diagram, and of
// a run before with other inputs.
constexpr double kBytesOfInput = 3 * sizeof(double);
constexpr double kBytesOfResult = 3 * sizeof(double) + sizeof(std::uint32_t);

Result<RunReport> on_cpu(const State& state, const TileProgram& program, const Tensors& inputs,
                         RunReport report) {
    if (report.work > kMostWork) {
        report.executed = false;
        return report;
    }
    Result<Interpretation> result = interpret(state.diagram, program, inputs);
    if (!result) return result.error();
    report.outputs = std::move(result->outputs);
    report.counted = traffic_of(result->counters);
    report.written_twice = result->written_twice;
    report.never_written = result->never_written;
    return report;
}

Result<RunReport> on_kernels(Context& context, const State& state, const TileProgram& program,
                             const Tensors& inputs, const ExecutionOptions& run, RunReport report) {
    const Arguments& arguments = context.arguments;
    const bool emulated = run.device == "emulator";
    if (emulated && report.work > kMostEmulatedWork) return too_large_to_emulate(report.work);
    const Result<EmitOptions> options =
        emulated ? emit_options(context) : emit_options_for_device(context);
    if (!options) return options.error();
    const Result<EmittedProgram> emission = emit_chosen(context, state, program, *options);
    if (!emission) return emission.error();
    if (run.scale == 1) tell_target(context, *emission);
    const EmittedProgram& kernels = *emission;
    report.target = kernels.target;
    add_work(program, kernels, *options, report.cost);
    report.refusals = refusals_of(kernels);
    ExecuteOptions how;
    how.seed = arguments.seed;
    how.repeats = emulated ? 1 : 3;
    how.repetitions = run.repetitions;
    Result<Execution> result = emulated ? execute_emulated(state.diagram, kernels, inputs, how)
                                        : execute_cuda(state.diagram, kernels, inputs, how);
    if (!result) return result.error();
    report.device = result->device;
    report.precision = precision_of(state, kernels);
    report.outputs = std::move(result->outputs);
    report.never_written = result->never_written;
    report.canaries_broken = result->canaries_broken;
    report.repeatable = result->repeatable;
    report.times = std::move(result->times);
    report.compiled = std::move(result->compiled);
    return report;
}

/// The design's ladder: what this run has shown.
std::vector<std::string> rungs_of(const std::string& device, const RunReport& report) {
    std::vector<std::string> rungs{"0", "1"};
    if (!report.executed || report.verdict() != Verdict::Right) return rungs;
    rungs.emplace_back(device == "cpu" ? "3t" : device == "emulator" ? "3k" : "5");
    return rungs;
}

}  // namespace

std::optional<Diagnostic> excess_memory(const Loaded& loaded, const std::string& device) {
    const Result<TileProgram> program = expand(loaded.state);
    if (!program) return std::nullopt;  // `execute` says why
    const Held held = held_by_run(loaded.state.diagram, *program);
    const bool computes = device != "cpu" || work_of(loaded.state.diagram).places <= kMostWork;
    const double inputs = held.inputs * kBytesOfInput;
    const double results = computes ? held.results * kBytesOfResult : 0;
    const double tiles = computes && device == "cpu" ? held.tiles * sizeof(double) : 0;
    const double left = memory_left();
    if (inputs + results + tiles <= left) return std::nullopt;
    return too_much_memory(inputs, results, tiles, left);
}

bool RunReport::ok() const {
    const bool as_modelled = counted.size() == modelled.size() &&
                             std::all_of(counted.begin(), counted.end(), [&](const auto& each) {
                                 return is_as_modelled(each.first);
                             });
    return validation.ok() && as_modelled && written_twice == 0 && never_written == 0 &&
           canaries_broken == 0 && repeatable;
}

Verdict RunReport::verdict() const {
    if (!ok()) return Verdict::Wrong;
    return executed ? validation.verdict() : Verdict::Unchecked;
}

int RunReport::exit_code() const {
    switch (verdict()) {
    case Verdict::Wrong: return kWrongResult;
    case Verdict::Unchecked:
    case Verdict::Undecided: return kNotProved;
    case Verdict::Right: return kOk;
    }
    throw InternalError("unknown verdict");
}

bool RunReport::is_as_modelled(Level level) const {
    const auto one = counted.find(level);
    const auto other = modelled.find(level);
    if (one == counted.end() || other == modelled.end()) return false;
    if (one->second == other->second) return true;
    return skips_all && one->second.transferred == other->second.transferred &&
           one->second.peak < other->second.peak;
}

LevelTraffic traffic_of(const std::vector<Counters>& counters) {
    LevelTraffic traffic;
    for (const Counters& region : counters) {
        for (const auto& [level, values] : region.transferred) traffic[level].transferred += values;
        for (const auto& [level, values] : region.peak)
            traffic[level].peak = std::max(traffic[level].peak, values);
    }
    return traffic;
}

LevelTraffic traffic_of(const Cost& cost) {
    LevelTraffic traffic;
    for (const RegionCost& region : cost.regions)
        for (const auto& [level, costs] : region.levels) {
            traffic[level].transferred += costs.transferred.values;
            traffic[level].peak = std::max(traffic[level].peak, costs.allocated.values);
        }
    return traffic;
}

Result<RunReport> execute(Context& context, const Loaded& loaded, const Tensors& given,
                          const ExecutionOptions& options) {
    const auto tell = [&](std::size_t done, const std::string& what) {
        if (options.progress != nullptr) options.progress->tell(done, 2, "done, " + what);
    };
    const State& state = loaded.state;
    const Tensors inputs = tensors_in(state.diagram, loaded.plain, given);
    const std::string& device = options.device;
    tell(0, "computing" + (options.scale < 1 ? " with smaller inputs" : std::string()));
    const Result<TileProgram> program = expand(state);
    if (!program) return program.error();
    Result<Cost> cost = cost_of(*program);
    if (!cost) return cost.error();
    RunReport start;
    start.device = device;
    start.work = work_of(state.diagram).places;
    const std::vector<Counters> counters = count(*program);
    start.counted = traffic_of(counters);
    start.skips_all = std::any_of(counters.begin(), counters.end(),
                                  [](const Counters& region) { return region.skips_all; });
    start.modelled = traffic_of(*cost);
    start.cost = std::move(cost).value();
    Result<RunReport> report =
        device == "cpu" ? on_cpu(state, *program, inputs, std::move(start))
                        : on_kernels(context, state, *program, inputs, options, std::move(start));
    if (!report) return report;
    if (report->executed) {
        tell(1, "comparing with the reference");
        report->outputs = tensors_in(loaded.plain, state.diagram, report->outputs);
        report->validation =
            !options.compares
                ? left_unchecked(loaded.plain)
                : validate(loaded.plain, state, given, report->outputs, report->precision,
                           context.arguments.seed, options.check_seconds);
        for (Comparison& output : report->validation.outputs) output.scale = options.scale;
    }
    report->rungs = rungs_of(device, *report);
    return report;
}

Result<RunReport> execute_random(Context& context, const Loaded& loaded, ExecutionOptions options) {
    std::optional<RunReport> first;
    for (const double scale : kInputScales) {
        options.scale = scale;
        const Tensors inputs = random_inputs(loaded.plain, context.arguments.seed, scale);
        Result<RunReport> report = execute(context, loaded, inputs, options);
        if (!report || !report->ok()) return report;
        if (first)
            first->validation.take_judged(report->validation);
        else
            first = std::move(report).value();
        if (!first->validation.undecided()) break;
        options.repetitions = 0;
    }
    first->rungs = rungs_of(options.device, *first);
    return *std::move(first);
}

}  // namespace napkin::cli
