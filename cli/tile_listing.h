// Tile programs as pseudocode diagrams: the plain structs that the drawing lays out.
#pragma once

#include <vector>

#include "derive/tile_program.h"
#include "diagrams/drawing/listing.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// One listing a region, its costs above it.
[[nodiscard]] std::vector<drawing::Listing> listings_of(const TileProgram& program,
                                                        const Cost& cost, const SourceMap& sources);

}  // namespace napkin::cli
