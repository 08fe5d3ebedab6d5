#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/architecture.h"
#include "codegen/drop_unused.h"
#include "codegen/fold_constants.h"
#include "codegen/helpful_moves.h"
#include "codegen/kernel_program.h"
#include "codegen/messages.h"
#include "codegen/simt/simt_lowering.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/verify_kernel.h"
#include "schedule/idle_folds.h"
#include "schedule/messages.h"
#include "schedule/schedule.h"
#include "schedule/straight_reads.h"

namespace napkin {
namespace {

/// `diagram attention: O[b, h, q, d] bf16`, and how the kernel came about.
std::vector<std::string> header_of(const State& state, const RegionProgram& region,
                                   const EmitOptions& options) {
    std::vector<std::string> lines = {
        fmt::format("Diagram {}, region {}.", state.diagram.name, region.name)};
    const auto signature = [&](ArrayId array) {
        const Array& info = region.arrays[array.index()];
        std::string text = "  " + info.name + "[";
        for (std::size_t i = 0; i < info.axes.size(); ++i) {
            const Axis& axis = region.axes[info.axes[i].index()];
            text += fmt::format("{}{} = {}", i > 0 ? ", " : "", axis.name, axis.extent);
        }
        return text + "]";
    };
    for (const auto& [array, type] : region.stored)
        lines.push_back(fmt::format("{} : {}", signature(array), name_of(type)));
    lines.push_back(options.derivation.empty() ? "Derivation:"
                                               : "Derivation " + options.derivation + ":");
    for (const Step& step : state.steps) lines.push_back("  " + print(step.command));
    if (state.steps.empty()) lines.emplace_back("  (the plain diagram)");
    if (!options.reservation.empty()) lines.push_back("NOT PROVED: " + options.reservation);
    const auto remarks = options.remarks.find(region.name);
    if (remarks != options.remarks.end())
        lines.insert(lines.end(), remarks->second.begin(), remarks->second.end());
    return lines;
}

EmittedKernel finish(lowering::LoweredRegion lowered, const RegionProgram& region) {
    EmittedKernel kernel;
    kernel::Program& program = lowered.program;
    kernel.name = program.name;
    kernel.region = region.name;
    kernel::fold_constants(program.body);
    kernel::drop_unused(program.body);
    kernel::verify(program);
    kernel.source = kernel::print(program);
    kernel.choices = std::move(lowered.choices);
    kernel.passes = std::move(lowered.passes);
    kernel.parameters = program.parameters;
    kernel.grid = std::move(lowered.grid);
    kernel.threads = program.threads + program.other_threads;
    kernel.shared_bytes = program.shared_bytes;
    for (const kernel::Tile& tile : program.tiles)
        kernel.shared.push_back(
            {tile.name, tile.offset, tile.elements * kernel::element_bytes(tile.type)});
    kernel.fixed = std::move(lowered.fixed);
    kernel.at_most = std::move(lowered.at_most);
    return kernel;
}

/// The header's lines on how a kernel is carried out, which `--schedule` reads.
std::vector<std::string> schedule_lines(const schedule::Scheduled& scheduled,
                                        const RegionProgram& region) {
    std::vector<std::string> lines = {"Schedule:"};
    for (const std::string& line : schedule::print(scheduled.choices, region.name))
        lines.push_back("  " + line);
    for (std::string& line : schedule::summary(scheduled.program(), region.axes))
        lines.push_back(std::move(line));
    return lines;
}

Result<lowering::LoweredRegion> lower_tensor(const State& state, const RegionProgram& region,
                                             const schedule::Request& request,
                                             const EmitOptions& options) {
    const RegionProgram simpler =
        schedule::with_straight_reads(schedule::without_idle_folds(region));
    std::variant<schedule::Scheduled, schedule::Refusal> made =
        schedule::schedule(simpler, request.schedule, options.limits());
    if (const schedule::Refusal* why = std::get_if<schedule::Refusal>(&made))
        return why->setting ? messages::choice_refused(request, *why)
                            : messages::unfit_region(region.name, options.target, *why,
                                                     helpful_moves(state, region.name, options));
    schedule::Scheduled scheduled = std::get<schedule::Scheduled>(std::move(made));
    std::vector<std::string> summary = schedule_lines(scheduled, simpler);
    std::vector<std::pair<std::string, std::string>> passes;
    for (const auto& [pass, program] : scheduled.passes)
        passes.emplace_back(pass, schedule::print(program, simpler.axes));
    lowering::LoweredRegion lowered =
        lowering::TensorLowering(state, simpler, options, std::move(scheduled.plan),
                                 scheduled.program())
            .run();
    lowered.summary = std::move(summary);
    lowered.choices = std::move(scheduled.choices);
    lowered.passes = std::move(passes);
    return lowered;
}

Result<lowering::LoweredRegion> lower_simt(const State& state, const RegionProgram& region,
                                           const schedule::Request& request, EmitOptions options) {
    constexpr int kWarp = 32;
    if (const std::optional<std::int64_t> warps = request.schedule.warps) {
        if (*warps > 1024 / kWarp)
            return messages::choice_refused(
                request, {"a block has at most 32 warps", "", schedule::SettingName{"warps", ""}});
        options.threads = kWarp * static_cast<int>(*warps);
    }
    lowering::LoweredRegion lowered = lowering::SimtLowering(state, region, options).run();
    lowered.choices.warps = lowered.program.threads / kWarp;
    return lowered;
}

Result<lowering::LoweredRegion> lower(const State& state, const RegionProgram& region,
                                      const schedule::Request& request,
                                      const EmitOptions& options) {
    if (const auto unknown = schedule::unknown_to(request.schedule, options.target))
        return messages::choice_unknown(request, *unknown, options.target);
    if (options.target == "simt") return lower_simt(state, region, request, options);
    return lower_tensor(state, region, request, options);
}

/// A region, by the next older target too where a newer one does not take it and nobody asked for
/// what only the newer one knows; the header says why.
Result<lowering::LoweredRegion> lower_or_fall_back(const State& state, const RegionProgram& region,
                                                   const schedule::Request& request,
                                                   EmitOptions& options) {
    Result<lowering::LoweredRegion> made = lower(state, region, request, options);
    if (made || options.target != "sm_90a" || request.schedule != schedule::RegionSchedule{})
        return made;
    const std::string why = made.error().list.front().message;
    options.target = "sm_80";
    Result<lowering::LoweredRegion> older = lower(state, region, request, options);
    if (!older) return made;
    lowering::LoweredRegion lowered = std::move(older).value();
    lowered.summary.insert(lowered.summary.begin(), "For sm_80: " + why);
    return lowered;
}

/// What makes a region's tiles smaller.
std::string fix_for(const State& state, const RegionProgram& program) {
    std::string fix;
    const auto add = [&](const char* rule, AxisId axis, std::int64_t size) {
        if (size > 1)
            fix += fmt::format("{}{} `{}` by less than {}", fix.empty() ? "" : " or ", rule,
                               state.diagram[axis].name, size);
    };
    for (const Region& region : state.relabelling.regions) {
        if (region_name(state.diagram, region) != program.name) continue;
        for (const Group& group : region.groups)
            if (group.level <= Level::Block) add("group", group.axis, group.size);
        for (const Stream& stream : region.streams)
            if (stream.level <= Level::Block) add("stream", stream.axis, stream.size);
    }
    return fix.empty() ? "group or stream an axis that a block holds whole" : fix;
}

}  // namespace

std::vector<std::string> target_names() {
    return {"simt", "sm_80", "sm_90a"};
}

std::optional<Diagnostic> check_target(const std::string& target) {
    const std::vector<std::string> targets = target_names();
    if (std::find(targets.begin(), targets.end(), target) != targets.end()) return std::nullopt;
    return messages::unknown_target(target);
}

Precision precision_of(const State& state, const EmittedProgram& program) {
    Precision precision = precision_of(state.diagram, state.relabelling);
    precision.operands = program.operands;
    precision.truncates = program.target != "simt";
    return precision;
}

Result<EmitOptions> emit_options_for(const std::string& target, const std::string& architecture) {
    const Result<Architecture> made_for = find_architecture(architecture);
    if (!made_for) return made_for.error();
    if (!runs_on(target, *made_for)) return messages::architecture_unfit(target, architecture);
    EmitOptions options;
    options.target = target;
    options.architecture = made_for->name;
    options.shared_memory = made_for->shared_memory;
    return options;
}

Result<EmittedProgram> emit(const State& state, const TileProgram& program,
                            const EmitOptions& options) {
    if (std::optional<Diagnostic> wrong = check_target(options.target)) return *wrong;
    if (options.threads < 0 || options.threads % 32 != 0 || options.threads > 1024)
        return messages::bad_thread_count(options.threads);
    const Result<std::map<std::string, schedule::Request>> requests =
        schedule::requests_of(state, options.schedules);
    if (!requests) return requests.error();
    EmittedProgram result;
    result.name = program.name;
    result.target = options.target;
    for (const RegionProgram& region : program.regions) {
        for (const auto& [array, type] : region.stored)
            if (type == ElementType::I4)
                return messages::unsupported_save(region.arrays[array.index()].name, name_of(type));
        for (const Axis& axis : region.axes)
            if (axis.extent > kMostSize)
                return messages::axis_too_long(region.name, axis.name, axis.extent);
        const auto asked = requests->find(region.name);
        EmitOptions own = options;
        Result<lowering::LoweredRegion> made = lower_or_fall_back(
            state, region, asked == requests->end() ? schedule::Request{} : asked->second, own);
        if (!made) return made.error();
        lowering::LoweredRegion lowered = std::move(made).value();
        lowered.program.header = header_of(state, region, options);
        lowered.program.header.insert(lowered.program.header.end(), lowered.summary.begin(),
                                      lowered.summary.end());
        for (const DeviceArray& array : lowered.arrays) {
            const auto known =
                std::find_if(result.arrays.begin(), result.arrays.end(),
                             [&](const DeviceArray& a) { return a.array == array.array; });
            if (known == result.arrays.end()) result.arrays.push_back(array);
        }
        result.operands.insert(lowered.operands.begin(), lowered.operands.end());
        EmittedKernel kernel = finish(std::move(lowered), region);
        kernel.target = own.target;
        if (kernel.shared_bytes > options.shared_memory)
            return messages::shared_memory_exceeded(kernel, options, fix_for(state, region));
        result.kernels.push_back(std::move(kernel));
    }
    return result;
}

Result<BestEmission> emit_best(const State& state, const TileProgram& program,
                               EmitOptions options) {
    BestEmission best;
    // What runs on a CPU too, and can be exported.
    std::vector<std::string> targets = {"simt", "sm_80"};
    for (; !targets.empty(); targets.pop_back()) {
        options.target = targets.back();
        const Result<Architecture> made_for = find_architecture(options.architecture);
        const bool unfit = made_for && !runs_on(options.target, *made_for);
        Result<EmittedProgram> emitted =
            unfit ? messages::architecture_unfit(options.target, options.architecture)
                  : emit(state, program, options);
        if (emitted) {
            best.program = std::move(emitted).value();
            return best;
        }
        best.refusals.push_back(emitted.error().list.front());
        // What was asked for is not put aside by another target.
        if (messages::refuses_choice(best.refusals.back())) return Diagnostics{best.refusals};
    }
    if (messages::is_unknown_choice(best.refusals.back())) return Diagnostics{best.refusals};
    return best.refusals.back();
}

}  // namespace napkin
