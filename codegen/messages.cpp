#include "codegen/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::messages {

Diagnostic unknown_target(const std::string& target) {
    std::string known;
    for (const std::string& name : target_names())
        known += (known.empty() ? "`" : ", `") + name + "`";
    return plain_error("E0901", fmt::format("there is no target `{}`", target),
                       "targets are " + known);
}

Diagnostic shared_memory_exceeded(const EmittedKernel& kernel, std::int64_t available) {
    std::vector<SharedTile> tiles = kernel.shared;
    std::stable_sort(tiles.begin(), tiles.end(),
                     [](const SharedTile& a, const SharedTile& b) { return a.bytes > b.bytes; });
    std::string list;
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(tiles.size(), kShown); ++i)
        list += fmt::format("{}`{}` {}", i > 0 ? ", " : "", tiles[i].name, tiles[i].bytes);
    return plain_error(
        "E0902",
        fmt::format("region `{}` needs {} bytes of shared memory a block, and there are {}",
                    kernel.region, kernel.shared_bytes, available),
        fmt::format("choose smaller groups or chunks; the largest tiles are {}", list));
}

Diagnostic bad_thread_count(int threads) {
    return plain_error("E0903", fmt::format("a block cannot have {} threads", threads),
                       "choose a multiple of 32 up to 1024");
}

Diagnostic unfit_region(const std::string& region, const std::string& target,
                        const NotApplicable& why) {
    return plain_error(
        "E0905",
        fmt::format("region `{}` does not fit target `{}`: {}", region, target, why.reason),
        why.help.empty() ? "use `--target simt`, which takes every region" : why.help);
}

Diagnostic unsupported_save(const std::string& array, std::string_view type) {
    return plain_error("E0904",
                       fmt::format("`{}` of type `{}` cannot be written to device memory by a "
                                   "kernel: two values share a byte",
                                   array, type),
                       "store it as `i8`");
}

}  // namespace napkin::messages
