// Blocks that take one tile after another: what is filled once a tile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace napkin::schedule {

/// The buffers that an agent fills for others once a tile, where blocks take several.
[[nodiscard]] std::vector<BufferId> tile_rings(const Program& program);

/// Gives them their stages: those that are chosen by name, otherwise so many; with two, the next
/// tile's content comes while this one's is in use.
void set_tile_stages(Program& program, std::int64_t stages,
                     const std::map<std::string, std::int64_t>& chosen);

}  // namespace napkin::schedule
