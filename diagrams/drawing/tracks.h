// Small steps that the stages of contractions, triangles and boxes share.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "diagrams/drawing/stage_builder.h"

#include "diagrams/contains.h"

namespace napkin::drawing {

inline Key key_of(const Slot& slot, std::size_t wire) {
    return {slot.id, static_cast<int>(wire)};
}

/// The axis by which a wire of an input is read.
inline std::optional<AxisId> read_as(const UnitInput& input, const Slot::Wire& wire) {
    if (!wire.axis || wire.dimension >= input.index.size()) return std::nullopt;
    return input.index[wire.dimension];
}

inline bool contains(const std::vector<AxisId>& axes, std::optional<AxisId> axis) {
    return axis && contains(axes, *axis);
}

inline Block block_at(const Stage& stage, double gap) {
    Block block;
    block.first = stage.tracks.size();
    block.gap = gap;
    return block;
}

inline void close_block(Stage& stage, Block block) {
    block.count = stage.tracks.size() - block.first;
    if (block.count > 0 && !block.is_box) block.height = stage.tracks.back().offset;
    stage.blocks.push_back(block);
}

}  // namespace napkin::drawing
