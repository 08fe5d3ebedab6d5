// Tile programs as JSON, for certificates: what a checker needs to run them, and no more.
#pragma once

#include <nlohmann/json.hpp>

#include "derive/region_program.h"

namespace napkin::proof {

using Json = nlohmann::ordered_json;

/// Axes with extents, arrays, variables and statements; expressions are nested lists, such as
/// `["+", ["read", "S", ["axis", "q"]], 1]`.
[[nodiscard]] Json program_json(const TileProgram& program);
/// An expression over the scope of a region.
[[nodiscard]] Json expression_json(const RegionProgram& region, const Expression& expression);

}  // namespace napkin::proof
