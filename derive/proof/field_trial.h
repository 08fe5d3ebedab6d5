// One trial of rung 2: the plain diagram and the tile program at one random point of the field
// pair.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "derive/proof/field_domain.h"
#include "derive/region_program.h"

namespace napkin::proof {

/// How the elements of one output compare.
struct OutputTrial {
    std::int64_t equal = 0;
    std::int64_t different = 0;
    std::int64_t unclaimed = 0;     ///< nothing is visible there, or the plain value is undefined
    std::int64_t inconclusive = 0;  ///< different, where a root of no square was taken
    std::vector<bool> decided;      ///< by element: equal, or unclaimed
    /// The first element that differs.
    std::vector<std::int64_t> where;
};

struct FieldTrial {
    std::map<std::string, OutputTrial> outputs;  ///< by name
    FieldUses uses;
    double degree = 0;  ///< of the difference of any two compared elements
    /// Of the plain diagram's outputs; the same on every machine.
    std::uint64_t digest = 0;
    /// Why there is no result: an index depends on what the settings leave unknown, or the program
    /// reads what is not there.
    std::string failure;
};

/// What the expressions of a diagram and a program need to be computed with.
[[nodiscard]] FieldNeeds needs_of(const Diagram& diagram, const TileProgram& program);

/// `plain` is the diagram as written, `derived` the one whose program it is: the same inputs and
/// outputs by name, the same elements in row-major order.
[[nodiscard]] FieldTrial run_field_trial(const Diagram& plain, const Diagram& derived,
                                         const TileProgram& program, std::uint64_t seed,
                                         FieldSettings settings, FieldNeeds needs);

}  // namespace napkin::proof
