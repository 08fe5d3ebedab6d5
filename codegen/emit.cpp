#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/architecture.h"
#include "codegen/drop_unused.h"
#include "codegen/fold_constants.h"
#include "codegen/helpful_moves.h"
#include "codegen/kernel_program.h"
#include "codegen/lowering/size_limits.h"
#include "codegen/messages.h"
#include "codegen/simt/simt_lowering.h"
#include "codegen/takes.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/verify_kernel.h"
#include "perfmodel/kernel_choice.h"
#include "schedule/messages.h"
#include "schedule/schedule.h"

namespace napkin {
namespace {

/// `diagram attention: O[b, h, q, d] bf16`, and how the kernel came about.
std::vector<std::string> header_of(const State& state, const RegionProgram& region,
                                   const EmitOptions& options,
                                   const std::vector<std::string>& not_newer) {
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
    lines.push_back(fmt::format("Target {}, for {}.", options.target, options.architecture));
    for (const std::string& reason : not_newer) lines.push_back("Since " + reason + ".");
    const auto remarks = options.remarks.find(region.name);
    if (remarks != options.remarks.end())
        lines.insert(lines.end(), remarks->second.begin(), remarks->second.end());
    return lines;
}

EmittedKernel finish(lowering::LoweredRegion& lowered, const RegionProgram& region) {
    EmittedKernel kernel;
    kernel::Program& program = lowered.program;
    kernel.name = program.name;
    kernel.region = region.name;
    kernel::fold_constants(program.body);
    kernel::drop_unused(program.body);
    kernel::verify(program);
    for (const auto& [axis, most] : lowered.at_most)
        if (most < kMostRunTimeSize)
            program.header.push_back(fmt::format("At run time {} is at most {}.", axis, most));
    kernel.source = kernel::print(program);
    kernel.choices = std::move(lowered.choices);
    kernel.persistent = kernel.choices.persistent.value_or(false);
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
    for (const auto& [leaf, product] : scheduled.plan.products)
        if (!product.widened.empty())
            lines.push_back(
                fmt::format("Operands of 8 bits are widened, since {}.", product.widened));
    return lines;
}

Result<lowering::LoweredRegion> lower_tensor(const State& state, const RegionProgram& region,
                                             const schedule::Request& request,
                                             const EmitOptions& options) {
    const RegionProgram simpler = schedule::simplified(region);
    std::variant<schedule::Scheduled, schedule::Refusal> made =
        schedule::schedule(simpler, request.schedule, options.limits());
    if (const schedule::Refusal* why = std::get_if<schedule::Refusal>(&made))
        return why->setting ? messages::choice_refused(request, *why)
                            : messages::unfit_region(region.name, options.target, *why);
    schedule::Scheduled scheduled = std::get<schedule::Scheduled>(std::move(made));
    const RegionProgram& tiled = scheduled.region;
    std::vector<std::string> summary = schedule_lines(scheduled, tiled);
    std::vector<std::pair<std::string, std::string>> passes;
    for (const auto& [pass, program] : scheduled.passes)
        passes.emplace_back(pass, schedule::print(program, tiled.axes));
    lowering::LoweredRegion lowered =
        lowering::TensorLowering(state, tiled, options, std::move(scheduled.plan),
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

/// Whether the target's kernels run there; of an architecture by another name nothing is known.
bool runs_on_architecture(const EmitOptions& options) {
    const Result<Architecture> made_for = find_architecture(options.architecture);
    return !made_for || runs_on(options.target, *made_for);
}

/// A region's kernel, and what the program needs to know of it besides.
struct Made {
    EmittedKernel kernel;
    lowering::LoweredRegion lowered;
};

Result<Made> make_kernel(const State& state, const RegionProgram& region,
                         const schedule::Request& request, const EmitOptions& options,
                         std::vector<std::string> not_newer) {
    Result<lowering::LoweredRegion> lowered =
        runs_on_architecture(options)
            ? lower(state, region, request, options)
            : messages::architecture_unfit(options.target, options.architecture);
    if (!lowered) return lowered.error();
    std::vector<std::string>& header = lowered->program.header;
    header = header_of(state, region, options, not_newer);
    header.insert(header.end(), lowered->summary.begin(), lowered->summary.end());
    Made made{finish(*lowered, region), *std::move(lowered)};
    made.kernel.target = options.target;
    made.kernel.not_newer = std::move(not_newer);
    return made;
}

/// Why no launch of a kernel can be, whatever sizes it learns at run time.
std::optional<Diagnostic> why_no_launch(const State& state, const EmittedKernel& kernel,
                                        const EmitOptions& options) {
    if (kernel.shared_bytes > options.shared_memory)
        return messages::shared_memory_exceeded(kernel, options);
    std::vector<std::int64_t> least;
    for (const Axis& axis : state.diagram.axes)
        least.push_back(kernel.fixed.contains(axis.name) ? axis.extent : 1);
    if (const std::int64_t tiles = blocks_of(kernel, least); tiles > most_tiles(kernel))
        return messages::grid_exceeded(kernel, tiles);
    return std::nullopt;
}

/// The refusal with what helps, which takes long to find.
Diagnostic with_help(Diagnostic refusal, const State& state, const RegionProgram& region,
                     schedule::Request request, EmitOptions options,
                     const std::vector<std::string>& targets) {
    if (!messages::is_unfit(refusal)) return refusal;
    const Need need = [&](const State& at) -> std::optional<std::int64_t> {
        const Result<TileProgram> program = expand(at);
        if (!program) return std::nullopt;
        for (const RegionProgram& each : program->regions) {
            if (each.name != region.name) continue;
            const Result<Made> made = make_kernel(at, each, request, options, {});
            if (made) return made->kernel.shared_bytes;
        }
        return std::nullopt;
    };
    const auto is_taken = [&] {
        const std::optional<std::int64_t> bytes = need(state);
        return bytes && *bytes <= options.shared_memory;
    };
    messages::Mending mending;
    for (const std::string& target : targets) {
        options.target = target;
        mending.moves = helpful_moves(state, region.name, options, need);
        if (!mending.moves.empty()) break;
    }
    options.target = targets.front();
    const int threads = std::exchange(options.threads, 0);
    mending.any_threads = threads > 0 && is_taken();
    options.threads = threads;
    mending.simt = std::exchange(options.target, "simt") != "simt" && is_taken();
    if (!mending.simt && request != schedule::Request{}) {
        request = {};
        std::vector<std::string> others = targets;
        others.emplace_back("simt");
        const auto taken = std::find_if(others.begin(), others.end(), [&](const auto& target) {
            options.target = target;
            return is_taken();
        });
        if (taken != others.end()) mending.without_schedule = *taken;
    }
    return messages::mended(std::move(refusal), mending);
}

/// Targets to try, the best one last.
struct Targets {
    std::vector<std::string> names;
    /// Whether the best one is wanted, rather than the last where that takes a region.
    bool best = false;
    /// Whether a refusal says what helps.
    bool helps = true;
};

/// The targets in the order in which they are tried for a region, and why not from the newest on.
struct Order {
    std::vector<std::string> names;
    std::vector<std::string> not_newer;
};
Order order_of(const RegionProgram& region, const schedule::Request& request,
               const EmitOptions& options, const Targets& targets) {
    Order order{{targets.names.rbegin(), targets.names.rend()}, {}};
    const std::string newest = order.names.front();
    if (!targets.best || !runs_there_alone(newest)) return order;
    KernelRequest kernel = best_request(newest, options.limits());
    kernel.schedule = request.schedule;
    if (!is_faster_alone(region, kernel)) return order;
    std::swap(order.names[0], order.names[1]);
    order.not_newer.push_back(
        fmt::format("region `{}` is slower for `{}`, by the model", region.name, newest));
    return order;
}

/// The kernel of a region for the best of the targets that take it.
Result<Made> choose_kernel(const State& state, const RegionProgram& region,
                           const schedule::Request& request, EmitOptions options,
                           const Targets& targets) {
    Order order = order_of(region, request, options, targets);
    std::vector<Diagnostic> refusals;
    for (const std::string& target : order.names) {
        options.target = target;
        Result<Made> made = make_kernel(state, region, request, options, order.not_newer);
        std::optional<Diagnostic> refusal =
            made ? why_no_launch(state, made->kernel, options) : made.error().list.front();
        if (!refusal) return made;
        refusals.push_back(*std::move(refusal));
        // What was asked for is not put aside by another target.
        if (messages::refuses_choice(refusals.back())) return Diagnostics{refusals};
        order.not_newer.push_back(refusals.back().message);
    }
    if (messages::is_unknown_choice(refusals.back()) || !targets.helps)
        return Diagnostics{refusals};
    if (targets.best) order.names = {order.names.back()};
    return with_help(targets.best ? refusals.back() : refusals.front(), state, region, request,
                     options, order.names);
}

/// What keeps every target from making a region's kernel.
std::optional<Diagnostic> check_region(const RegionProgram& region) {
    for (const auto& [array, type] : region.stored)
        if (type == ElementType::I4)
            return messages::unsupported_save(region.arrays[array.index()].name, name_of(type));
    for (const Axis& axis : region.axes)
        if (axis.extent > kMostSize)
            return messages::axis_too_long(region.name, axis.name, axis.extent);
    return std::nullopt;
}

void add(Made made, EmittedProgram& program) {
    for (const DeviceArray& array : made.lowered.arrays) {
        const auto known =
            std::find_if(program.arrays.begin(), program.arrays.end(),
                         [&](const DeviceArray& a) { return a.array == array.array; });
        if (known == program.arrays.end()) program.arrays.push_back(array);
    }
    program.operands.insert(made.lowered.operands.begin(), made.lowered.operands.end());
    program.narrow.insert(made.lowered.narrow.begin(), made.lowered.narrow.end());
    program.kernels.push_back(std::move(made.kernel));
}

Result<EmittedProgram> emit_by(const State& state, const TileProgram& program,
                               const EmitOptions& options, const Targets& targets) {
    if (options.threads < 0 || options.threads % 32 != 0 || options.threads > 1024)
        return messages::bad_thread_count(options.threads);
    const Result<std::map<std::string, schedule::Request>> requests =
        schedule::requests_of(state, options.schedules);
    if (!requests) return requests.error();
    EmittedProgram result;
    result.name = program.name;
    for (const RegionProgram& region : program.regions) {
        if (std::optional<Diagnostic> wrong = check_region(region)) return *wrong;
        const auto asked = requests->find(region.name);
        const schedule::Request request =
            asked == requests->end() ? schedule::Request{} : asked->second;
        Targets own = targets;
        // What the last target does not take is made for the one before it, where nobody asked for
        // what only one of them knows.
        if (!own.best && own.names.back() == "sm_90a" &&
            !schedule::unknown_to(request.schedule, "sm_90a") &&
            !schedule::unknown_to(request.schedule, "sm_80"))
            own.names = {"sm_80", "sm_90a"};
        Result<Made> made = choose_kernel(state, region, request, options, own);
        if (!made) return made.error();
        add(std::move(made).value(), result);
    }
    // That of the newest kernel.
    for (const std::string& target : target_names())
        if (result.kernels.empty() ||
            std::any_of(result.kernels.begin(), result.kernels.end(),
                        [&](const EmittedKernel& kernel) { return kernel.target == target; }))
            result.target = target;
    return result;
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

std::optional<Diagnostic> check_target(const std::string& target, const std::string& architecture) {
    if (std::optional<Diagnostic> wrong = check_target(target)) return wrong;
    if (architecture.empty()) return std::nullopt;
    const Result<Architecture> known = find_architecture(architecture);
    if (!known) return known.error().list.front();
    if (!runs_on(target, *known)) return messages::architecture_unfit(target, architecture);
    return std::nullopt;
}

Precision precision_of(const State& state, const EmittedProgram& program) {
    Precision precision = precision_of(state.diagram, state.relabelling);
    precision.operands = program.operands;
    precision.narrow = program.narrow;
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
    return emit_by(state, program, options, {{options.target}, false});
}

bool takes(const State& state, const RegionProgram& region, const EmitOptions& options) {
    Targets targets{{options.target}};
    targets.helps = false;
    return emit_by(state, {state.diagram.name, {region}}, options, targets).has_value();
}

Result<EmittedProgram> emit_best(const State& state, const TileProgram& program,
                                 const EmitOptions& options) {
    Targets targets{target_names(), true};
    const Result<Architecture> made_for = find_architecture(options.architecture);
    std::erase_if(targets.names, [&](const std::string& target) {
        return made_for && runs_there_alone(target) && !runs_on(target, *made_for);
    });
    return emit_by(state, program, options, targets);
}

}  // namespace napkin
