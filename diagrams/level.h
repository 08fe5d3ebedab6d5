// Places where data lives.
#pragma once

#include <optional>
#include <string_view>

namespace napkin {

/// From far to near.
enum class Level { Device, Cache, Cluster, Block, Warps, Thread };
[[nodiscard]] std::string_view name_of(Level level);
/// By name or alias (l0 device, l1 block, l2 warps).
[[nodiscard]] std::optional<Level> level_named(std::string_view name);

}  // namespace napkin
