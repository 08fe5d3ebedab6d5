#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "codegen/run/arguments.h"
#include "codegen/run/buffers.h"
#include "codegen/run/emulator.h"
#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"

namespace napkin {
namespace {

using nk::emulator::Argument;

std::string fault_text(const EmittedKernel& kernel, const EmulatorFault& fault) {
    const auto line = [](const char* before, const KernelPlace& place) {
        const std::optional<int> known = line_of(place);
        return known ? fmt::format("{}line {}", before, *known) : std::string();
    };
    return fmt::format("the emulator found a fault in kernel {} (block {}, thread {}{}): {}{}",
                       kernel.name, fault.block, fault.thread, line(", ", fault.place),
                       fault.message, line("; the other was in ", fault.other));
}

nk::emulator::TensorMap map_for(const KernelParameter& parameter, Buffer& buffer) {
    nk::emulator::TensorMap map;
    map.base = buffer.bytes.data() + kGuardBytes;
    map.name = parameter.name.c_str();
    map.rank = static_cast<int>(parameter.map.dimensions.size());
    map.element_bytes = static_cast<int>(bytes_for(buffer.type, 1));
    map.swizzle = static_cast<int>(parameter.map.swizzle);
    for (std::size_t d = 0; d < parameter.map.dimensions.size(); ++d) {
        const std::uint32_t dimension = parameter.map.dimensions[d];
        const std::int64_t extent = buffer.extents[dimension];
        const std::int64_t stride = buffer.strides[dimension];
        map.extents[d] = d == 0 ? map_elements(buffer.type, extent) : extent;
        map.strides[d] = (d == 0 ? stride : map_elements(buffer.type, stride)) * map.element_bytes;
        map.box[d] = static_cast<int>(parameter.map.box[d]);
    }
    return map;
}

/// What arguments point to; lists, so that places stay.
struct Pointed {
    std::list<nk::emulator::TensorMap> maps;
    std::list<int> counters;
};

Argument argument_for(const Diagram& diagram, const KernelParameter& parameter,
                      std::vector<Buffer>& buffers, const Tensors& inputs, Pointed& pointed) {
    Argument argument;
    argument.name = parameter.name.c_str();
    if (parameter.kind == KernelParameter::Kind::Counter) {
        pointed.counters.push_back(0);
        argument.data = &pointed.counters.back();
        argument.integer = 1;
        return argument;
    }
    if (parameter.kind == KernelParameter::Kind::TensorMap) {
        pointed.maps.push_back(map_for(parameter, buffer_of(buffers, parameter.array)));
        argument.data = &pointed.maps.back();
        return argument;
    }
    if (parameter.kind == KernelParameter::Kind::Buffer) {
        Buffer& buffer = buffer_of(buffers, parameter.array);
        unsigned char* values = buffer.bytes.data() + kGuardBytes;
        invariant(reinterpret_cast<std::uintptr_t>(values) %
                          static_cast<std::uintptr_t>(parameter.multiple) ==
                      0,
                  "a buffer is not aligned as its kernel needs it");
        argument.data = values;
        argument.integer = buffer.type == ElementType::I4 ? bytes_for(buffer.type, buffer.elements)
                                                          : buffer.elements;
        return argument;
    }
    const ScalarArgument value = scalar_argument(diagram, parameter, inputs);
    argument.integer = value.integer;
    argument.real = value.real;
    return argument;
}

}  // namespace

Result<Execution> execute_emulated(const Diagram& diagram, const EmittedProgram& program,
                                   const Tensors& inputs, const ExecuteOptions& options) {
    for (const EmittedKernel& kernel : program.kernels)
        if (std::optional<Diagnostic> refused = check_contract(diagram, kernel)) return *refused;
    std::vector<HostKernel> compiled;
    for (const EmittedKernel& kernel : program.kernels) {
        Result<HostKernel> made = compile_for_host(kernel, options.emulator_cache, options.fuses);
        if (!made) return made.error();
        compiled.push_back(*std::move(made));
    }
    std::vector<Buffer> buffers = make_buffers(diagram, program, inputs);
    const std::vector<Buffer> before = buffers;
    Execution execution;
    execution.device = "emulator";
    const auto run = [&](std::vector<Buffer>& on) {
        for (std::size_t i = 0; i < compiled.size(); ++i) {
            const EmittedKernel& kernel = program.kernels[i];
            EmulatedLaunch launch;
            launch.entry = compiled[i].entry;
            Pointed pointed;
            for (const KernelParameter& parameter : kernel.parameters)
                launch.arguments.push_back(argument_for(diagram, parameter, on, inputs, pointed));
            launch.blocks = grid_of(kernel, extents_of(diagram), options.resident_blocks);
            launch.threads = kernel.threads;
            launch.resident = static_cast<int>(kernel.choices.resident.value_or(1));
            launch.shared_bytes = kernel.shared_bytes;
            launch.seed = options.seed;
            launch.count_accesses = options.count_bank_conflicts;
            launch.check_order = options.check_order;
            const EmulatedRun made = run_emulated(launch);
            invariant(!made.fault, made.fault ? fault_text(kernel, *made.fault) : std::string());
            for (const int counter : pointed.counters)
                invariant(counter == 0, "kernel ", kernel.name, " leaves a counter of tiles at ",
                          std::to_string(counter));
            for (std::size_t kind = 0; kind < made.traffic.size(); ++kind) {
                execution.traffic[kind].accesses += made.traffic[kind].accesses;
                execution.traffic[kind].conflicts += made.traffic[kind].conflicts;
            }
        }
    };
    run(buffers);
    collect_results(diagram, before, buffers, execution);
    if (execution.never_written > 0)
        execution.never_written = never_written(diagram, before, buffers, run);
    return execution;
}

}  // namespace napkin
