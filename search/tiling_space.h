// The sizes that a region's tiles may have, each axis by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"
#include "perfmodel/prepared_cost.h"

namespace napkin {

/// An axis whose size is searched.
struct SizeChoice {
    AxisId axis;
    bool is_stream = false;
    bool regroups = false;  ///< a woven axis, grouped by 1 so far
    std::vector<std::int64_t> sizes;
    [[nodiscard]] Symbol symbol() const {
        return is_stream ? stream_size(axis, Level::Block) : group_size(axis, Level::Block);
    }
    /// How many commands choose a size.
    [[nodiscard]] std::size_t commands(const Diagram& diagram, std::size_t pick) const;
};

/// A region with every axis grouped that may be, and one streamed or none, at block level; around
/// that stream others may stand.
struct TilingSpace {
    RegionProgram program;            ///< at some sizes
    std::vector<SizeChoice> choices;  ///< the stream first, then those around it
    [[nodiscard]] std::vector<SizeList> lists() const;
};

/// Sizes to try of an axis with this extent, the extent itself last.
using SizesOf = std::vector<std::int64_t> (*)(std::int64_t extent);

/// A stream around another, and the sizes that its chunks may have.
struct Around {
    AxisId axis;
    std::vector<std::int64_t> sizes;
};

/// Nothing where the rules refuse a stream. Groups that the region has already keep their sizes,
/// but those by 1 of woven axes that some loaded array lacks.
[[nodiscard]] std::optional<TilingSpace> tiling_space(const State& state, const std::string& region,
                                                      std::optional<AxisId> streamed,
                                                      SizesOf group_sizes, SizesOf stream_sizes,
                                                      const std::vector<Around>& around = {});

/// What a person types for a choice of sizes; a group of the whole axis is none. `in` is empty
/// where the region is the only one.
[[nodiscard]] std::vector<Command> commands_of(const Diagram& diagram, const std::string& in,
                                               const std::vector<SizeChoice>& choices, Picks picks);

/// Every axis of a region's statements.
[[nodiscard]] std::vector<AxisId> axes_of(const State& state, const Region& region);
/// The region with this name; there must be one.
[[nodiscard]] const Region& region_named(const State& state, const std::string& name);

}  // namespace napkin
