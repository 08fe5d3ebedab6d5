#include "codegen/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/architecture.h"

namespace napkin::messages {

Diagnostic unknown_target(const std::string& target) {
    std::string known;
    for (const std::string& name : target_names())
        known += (known.empty() ? "`" : ", `") + name + "`";
    return plain_error("E0901", fmt::format("there is no target `{}`", target),
                       "targets are " + known);
}

Diagnostic shared_memory_exceeded(const EmittedKernel& kernel, const EmitOptions& options,
                                  const std::string& fix) {
    std::vector<SharedTile> tiles = kernel.shared;
    std::stable_sort(tiles.begin(), tiles.end(),
                     [](const SharedTile& a, const SharedTile& b) { return a.bytes > b.bytes; });
    std::string list;
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(tiles.size(), kShown); ++i)
        list += fmt::format("{}`{}` {}", i > 0 ? ", " : "", tiles[i].name, tiles[i].bytes);
    return plain_error(
        "E0902",
        fmt::format("region `{}` needs {} bytes of shared memory a block, and {} has {}",
                    kernel.region, kernel.shared_bytes, options.architecture,
                    options.shared_memory),
        fmt::format("{}; the largest tiles are {}", fix, list));
}

Diagnostic unknown_architecture(const std::string& architecture) {
    std::string known;
    for (const std::string& name : architecture_names())
        known += (known.empty() ? "`" : ", `") + name + "`";
    return plain_error("E0906",
                       fmt::format("nothing is known of the architecture `{}`", architecture),
                       "architectures are " + known);
}

Diagnostic architecture_unfit(const std::string& target, const std::string& architecture) {
    const bool alone = runs_there_alone(target);
    return plain_error(
        "E0907", fmt::format("kernels of target `{}` do not run on {}", target, architecture),
        alone ? fmt::format("use `--target sm_80`, or the architecture `{}`", target)
              : fmt::format("use `--target simt`, or an architecture from `{}` on", target));
}

Diagnostic axis_too_long(const std::string& region, const std::string& axis, std::int64_t size) {
    return plain_error(
        "E0908",
        fmt::format("region `{}`: `{}` is {} long, and kernels compute indices in 32 "
                    "bits, up to {}",
                    region, axis, size, kMostSize),
        fmt::format("split it in the diagram into two axes, of which neither is "
                    "longer, or choose a smaller `{}`",
                    axis));
}

Diagnostic bad_thread_count(int threads) {
    return plain_error("E0903", fmt::format("a block cannot have {} threads", threads),
                       "choose a multiple of 32 up to 1024");
}

Diagnostic unfit_region(const std::string& region, const std::string& target,
                        const schedule::Refusal& why, const std::vector<Command>& moves) {
    std::string help =
        why.help.empty() ? "use `--target simt`, which takes every region" : why.help;
    for (std::size_t i = 0; i < moves.size(); ++i)
        help = (i == 0 ? "" : help + ", then ") + "`" + print(moves[i]) + "`";
    if (!moves.empty()) help += ", or use `--target simt`";
    return plain_error(
        "E0905",
        fmt::format("region `{}` does not fit target `{}`: {}", region, target, why.reason), help);
}

Diagnostic unsupported_save(const std::string& array, std::string_view type) {
    return plain_error("E0904",
                       fmt::format("`{}` of type `{}` cannot be written to device memory by a "
                                   "kernel: two values share a byte",
                                   array, type),
                       "store it as `i8`");
}

}  // namespace napkin::messages
