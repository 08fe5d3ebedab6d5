// What a block of several tiles keeps of the data that decides which chunks a tile visits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/statements.h"

namespace napkin::schedule {

/// The least and the greatest of what data masks read of the chunks of a loop: of chunk k, where
/// the tile is in group i of the first groups, j of the next and so on, those of a read stand at
/// first + (i * count of the next + j) * chunks + k.
struct KeptEnds {
    struct OfRead {
        Read read;
        std::int64_t first = 0;
        std::int64_t chunks = 0;
        std::vector<BlockGroups> groups;  ///< what it is of beside the chunk
        [[nodiscard]] std::int64_t entries() const;
    };
    std::vector<OfRead> reads;
    [[nodiscard]] std::int64_t entries() const;
};

/// Nothing where they are too many to keep, or sizes are known at run time alone.
[[nodiscard]] std::optional<KeptEnds> ends_to_keep(const RegionProgram& region, const Loop& loop,
                                                   bool any_size);

}  // namespace napkin::schedule
