#include "codegen/export/images.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/architecture.h"
#include "codegen/export/messages.h"
#include "codegen/messages.h"

namespace napkin {
namespace {

/// The kernel that limits where the others run: of the newest target.
const EmittedKernel& most_demanding(const EmittedProgram& program) {
    return *std::max_element(program.kernels.begin(), program.kernels.end(),
                             [](const EmittedKernel& a, const EmittedKernel& b) {
                                 return least_capability(a.target) < least_capability(b.target);
                             });
}

}  // namespace

Result<ExportedImages> compile_images(const EmittedProgram& program, const std::string& source,
                                      const std::vector<std::string>& architectures) {
    EmittedKernel whole = most_demanding(program);
    whole.name = program.name;
    whole.source = source;
    ExportedImages images;
    const auto add = [&](const std::string& architecture,
                         KernelImage kind) -> std::optional<Diagnostics> {
        const Result<Architecture> known = find_architecture(architecture);
        if (!known) return known.error();
        if (!runs_on(whole.target, *known))
            return Diagnostics{{messages::architecture_unfit(whole.target, architecture)}};
        const Result<CompiledKernel> compiled =
            compile(whole, {.architecture = architecture, .image = kind, .cache = {}});
        if (!compiled) return compiled.error();
        if (compiled->image != kind)
            return Diagnostics{{messages::no_image(architecture, compiled->compiler)}};
        images.compiler = compiled->compiler;
        images.list.push_back({compiled->bytes, kind, known->capability,
                               std::isalpha(compiled->architecture.back()) != 0});
        return std::nullopt;
    };
    for (const std::string& architecture : std::set(architectures.begin(), architectures.end()))
        if (const auto wrong = add(architecture, KernelImage::Cubin)) return *wrong;
    std::stable_sort(
        images.list.begin(), images.list.end(),
        [](const ExportedImage& a, const ExportedImage& b) { return a.capability > b.capability; });
    if (!images.empty() && !runs_there_alone(whole.target))
        if (const auto wrong = add(least_compiled(whole.target), KernelImage::Ptx)) return *wrong;
    return images;
}

}  // namespace napkin
