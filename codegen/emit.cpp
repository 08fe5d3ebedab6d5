#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/kernel_program.h"
#include "codegen/messages.h"
#include "codegen/simt/simt_lowering.h"
#include "codegen/tensor/plan.h"
#include "codegen/tensor/tensor_lowering.h"

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
    lines.emplace_back("Derivation:");
    for (const Step& step : state.steps) lines.push_back("  " + print(step.command));
    if (state.steps.empty()) lines.emplace_back("  (the plain diagram)");
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
    kernel.source = kernel::print(program);
    kernel.parameters = program.parameters;
    kernel.grid = std::move(lowered.grid);
    kernel.threads = program.threads;
    kernel.shared_bytes = program.shared_bytes;
    for (const kernel::Tile& tile : program.tiles)
        kernel.shared.push_back(
            {tile.name, tile.offset, tile.elements * kernel::element_bytes(tile.type)});
    kernel.fixed = std::move(lowered.fixed);
    kernel.at_most = std::move(lowered.at_most);
    return kernel;
}

Result<lowering::LoweredRegion> lower(const State& state, const RegionProgram& region,
                                      const EmitOptions& options) {
    if (options.target == "simt") return lowering::SimtLowering(state, region, options).run();
    std::variant<tensor::Plan, NotApplicable> plan = tensor::make_plan(region, options);
    if (const NotApplicable* why = std::get_if<NotApplicable>(&plan))
        return messages::unfit_region(region.name, options.target, *why);
    return lowering::TensorLowering(state, region, options, std::get<tensor::Plan>(std::move(plan)))
        .run();
}

}  // namespace

std::vector<std::string> target_names() {
    return {"simt", "sm_80"};
}

Result<EmittedProgram> emit(const State& state, const TileProgram& program,
                            const EmitOptions& options) {
    const std::vector<std::string> targets = target_names();
    if (std::find(targets.begin(), targets.end(), options.target) == targets.end())
        return messages::unknown_target(options.target);
    if (options.threads < 0 || options.threads % 32 != 0 || options.threads > 1024)
        return messages::bad_thread_count(options.threads);
    EmittedProgram result;
    result.name = program.name;
    result.target = options.target;
    for (const RegionProgram& region : program.regions) {
        for (const auto& [array, type] : region.stored)
            if (type == ElementType::I4)
                return messages::unsupported_save(region.arrays[array.index()].name, name_of(type));
        Result<lowering::LoweredRegion> made = lower(state, region, options);
        if (!made) return made.error();
        lowering::LoweredRegion lowered = std::move(made).value();
        lowered.program.header = header_of(state, region, options);
        for (const DeviceArray& array : lowered.arrays) {
            const auto known =
                std::find_if(result.arrays.begin(), result.arrays.end(),
                             [&](const DeviceArray& a) { return a.array == array.array; });
            if (known == result.arrays.end()) result.arrays.push_back(array);
        }
        result.operands.insert(lowered.operands.begin(), lowered.operands.end());
        EmittedKernel kernel = finish(std::move(lowered), region);
        if (kernel.shared_bytes > options.shared_memory)
            return messages::shared_memory_exceeded(kernel, options.shared_memory);
        result.kernels.push_back(std::move(kernel));
    }
    return result;
}

}  // namespace napkin
