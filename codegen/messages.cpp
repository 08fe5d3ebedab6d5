#include "codegen/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/architecture.h"

namespace napkin::messages {
namespace {

constexpr const char* kTooLarge = "E0902";
constexpr const char* kUnfit = "E0905";

}  // namespace

Diagnostic unknown_target(const std::string& target) {
    std::string known;
    for (const std::string& name : target_names())
        known += (known.empty() ? "`" : ", `") + name + "`";
    return plain_error("E0901", fmt::format("there is no target `{}`", target),
                       "targets are " + known);
}

Diagnostic shared_memory_exceeded(const EmittedKernel& kernel, const EmitOptions& options) {
    std::vector<SharedTile> tiles = kernel.shared;
    std::stable_sort(tiles.begin(), tiles.end(),
                     [](const SharedTile& a, const SharedTile& b) { return a.bytes > b.bytes; });
    std::string list;
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(tiles.size(), kShown); ++i)
        list += fmt::format("{}`{}` {}", i > 0 ? ", " : "", tiles[i].name, tiles[i].bytes);
    const Result<Architecture> known = find_architecture(options.architecture);
    const bool is_its = known && known->shared_memory == options.shared_memory;
    return plain_error(
        kTooLarge,
        fmt::format("region `{}` needs {} bytes of shared memory a block, and {} has {}",
                    kernel.region, kernel.shared_bytes,
                    is_its ? options.architecture : "the machine", options.shared_memory),
        "the largest tiles are " + list);
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
        alone ? fmt::format("use `--target sm_80`, or a machine of the architecture `{}`", target)
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
                        const schedule::Refusal& why) {
    return plain_error(
        kUnfit, fmt::format("region `{}` does not fit target `{}`: {}", region, target, why.reason),
        why.help);
}

bool is_unfit(const Diagnostic& diagnostic) {
    return diagnostic.code == kTooLarge || diagnostic.code == kUnfit;
}

Diagnostic mended(Diagnostic unfit, const Mending& mending) {
    std::string moves;
    for (const Command& move : mending.moves)
        moves += (moves.empty() ? "`" : ", then `") + print(move) + "`";
    const bool too_large = unfit.code == kTooLarge;
    std::vector<std::string> ways;
    if (mending.any_threads) ways.emplace_back("leave out `--threads`");
    if (!moves.empty()) ways.push_back(moves);
    if (ways.empty() && !too_large && !unfit.help.empty()) ways.push_back(unfit.help);
    if (mending.without_schedule == "simt")
        ways.emplace_back("leave out what `schedule` asks for, with `--target simt`");
    else if (!mending.without_schedule.empty())
        ways.emplace_back("leave out what `schedule` asks for");
    if (mending.simt) ways.emplace_back("use `--target simt`");
    if (ways.empty() && too_large) ways.emplace_back("group or stream in smaller tiles");
    const std::string fix = fmt::format("{}", fmt::join(ways, ", or "));
    unfit.help = too_large ? fix + "; " + unfit.help : fix;
    return unfit;
}

Diagnostic unsupported_save(const std::string& array, std::string_view type) {
    return plain_error("E0904",
                       fmt::format("`{}` of type `{}` cannot be written to device memory by a "
                                   "kernel: two values share a byte",
                                   array, type),
                       "store it as `i8`");
}

Diagnostic grid_exceeded(const EmittedKernel& kernel, std::int64_t tiles) {
    return plain_error(
        "E0909",
        fmt::format("region `{}` has {} {}, and a launch has at most {}", kernel.region, tiles,
                    kernel.persistent ? "tiles" : "blocks", most_tiles(kernel)),
        "group by more");
}

}  // namespace napkin::messages
