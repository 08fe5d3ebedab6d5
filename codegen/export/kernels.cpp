#include "codegen/export/kernels.h"

#include <algorithm>
#include <numeric>

namespace napkin {
namespace {

/// How many strides of arrays that it reads a kernel takes. Those of a result alone cost nothing
/// that was measured: a tile of it is saved after all loops.
auto strides_read(const EmittedKernel& kernel) {
    const auto is_read = [&](ArrayId array) {
        return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                           [&](const KernelParameter& parameter) {
                               return parameter.kind == KernelParameter::Kind::Buffer &&
                                      parameter.array == array && !parameter.written;
                           });
    };
    return std::count_if(
        kernel.parameters.begin(), kernel.parameters.end(), [&](const KernelParameter& parameter) {
            return parameter.kind == KernelParameter::Kind::Stride && is_read(parameter.array);
        });
}

/// What a kernel is given for the same thing as another is; null where it is given nothing.
const KernelParameter* same_of(const EmittedKernel& kernel, const KernelParameter& asked) {
    const auto found = std::find_if(
        kernel.parameters.begin(), kernel.parameters.end(), [&](const KernelParameter& known) {
            return known.kind == asked.kind && known.array == asked.array &&
                   known.axis == asked.axis && known.dimension == asked.dimension;
        });
    return found == kernel.parameters.end() ? nullptr : &*found;
}

/// Whether what will do for one kernel does for another, addresses aside: the contract is made of
/// the first.
bool asks_no_more(const EmittedKernel& other, const EmittedKernel& kernel) {
    return std::all_of(
        other.parameters.begin(), other.parameters.end(), [&](const KernelParameter& asked) {
            const KernelParameter* known = same_of(kernel, asked);
            return known != nullptr && (asked.kind == KernelParameter::Kind::Buffer ||
                                        known->multiple % asked.multiple == 0);
        });
}

/// Endings that no kernel's name has yet.
std::string ending_for(const EmittedProgram& program) {
    std::string ending = "_contiguous";
    const auto ends = [&](const EmittedKernel& kernel) { return kernel.name.ends_with(ending); };
    while (std::any_of(program.kernels.begin(), program.kernels.end(), ends)) ending += "_";
    return ending;
}

}  // namespace

std::vector<const EmittedKernel*> ExportKernels::numbered() const {
    std::vector<const EmittedKernel*> all;
    for (const EmittedKernel& kernel : program.kernels) all.push_back(&kernel);
    for (const std::optional<EmittedKernel>& kernel : contiguous)
        if (kernel) all.push_back(&*kernel);
    return all;
}

std::size_t ExportKernels::contiguous_number(std::size_t kernel) const {
    const auto others =
        std::count_if(contiguous.begin(), contiguous.begin() + static_cast<std::ptrdiff_t>(kernel),
                      [](const auto& other) { return other.has_value(); });
    return program.kernels.size() + static_cast<std::size_t>(others);
}

bool ExportKernels::differ() const {
    return std::any_of(contiguous.begin(), contiguous.end(),
                       [](const auto& other) { return other.has_value(); });
}

bool ExportKernels::count_tiles() const {
    const std::vector<const EmittedKernel*> all = numbered();
    return std::any_of(all.begin(), all.end(), [](const EmittedKernel* kernel) {
        return std::any_of(kernel->parameters.begin(), kernel->parameters.end(),
                           [](const KernelParameter& parameter) {
                               return parameter.kind == KernelParameter::Kind::Counter;
                           });
    });
}

std::int64_t ExportKernels::contiguous_alignment() const {
    std::int64_t alignment = 1;
    for (std::size_t at = 0; at < contiguous.size(); ++at) {
        if (!contiguous[at]) continue;
        for (const KernelParameter& asked : contiguous[at]->parameters) {
            if (asked.kind != KernelParameter::Kind::Buffer) continue;
            const std::int64_t known = same_of(program.kernels[at], asked)->multiple;
            if (known % asked.multiple != 0) alignment = std::lcm(alignment, asked.multiple);
        }
    }
    return alignment;
}

Result<ExportKernels> emit_for_export(
    const EmitOptions& options,
    const std::function<Result<EmittedProgram>(const EmitOptions&)>& emit) {
    EmitOptions how = options;
    how.free_strides = true;
    Result<EmittedProgram> strided = emit(how);
    if (!strided) return strided.error();
    ExportKernels kernels{std::move(strided).value(), {}};
    const EmittedProgram& program = kernels.program;
    kernels.contiguous.resize(program.kernels.size());
    how.free_strides = false;
    how.ending = ending_for(program);
    Result<EmittedProgram> others = emit(how);
    if (!others) return others.error();
    for (std::size_t at = 0; at < program.kernels.size(); ++at) {
        const EmittedKernel& kernel = program.kernels[at];
        EmittedKernel& other = others->kernels[at];
        invariant(kernel.grid == other.grid && kernel.persistent == other.persistent, "kernel ",
                  kernel.name, " has other tiles where arrays are contiguous");
        if (strides_read(other) < strides_read(kernel) && asks_no_more(other, kernel))
            kernels.contiguous[at] = std::move(other);
    }
    return kernels;
}

}  // namespace napkin
