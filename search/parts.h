// Streams in parts that run side by side (`split-stream`), for machines that blocks are too few
// for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"

namespace napkin {

/// A tiling of a region of a state with an axis in parts of a size, or of one beside it that
/// divides the axis where parts have to be whole. Where they are put together a block has a row of
/// the results. Nothing where the rules refuse it.
[[nodiscard]] std::optional<std::vector<Command>> in_parts(const State& plain,
                                                           const std::string& region,
                                                           std::vector<Command> tiling, AxisId axis,
                                                           std::int64_t part);

/// A tiling in one piece with streams in as many parts as give each of so many processors a block,
/// each axis that the region folds by itself.
[[nodiscard]] std::vector<std::vector<Command>> ways_in_parts(const State& plain,
                                                              const std::string& region,
                                                              const std::vector<Command>& tiling,
                                                              std::int64_t blocks,
                                                              std::int64_t processors);

}  // namespace napkin
