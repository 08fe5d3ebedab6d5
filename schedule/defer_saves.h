// Results that a block saves while it computes its next tile, where it takes several.
//
// What stands behind a tile's loop leaves the tensor core idle. Where all that a loop does is to
// add products, results fit beside the next tile's sums: rounded to the type that they are saved in
// they take half of the registers. They are held, and every turn of the loop saves a slice of them
// under its products. What is left where a loop has fewer turns is saved right behind it, so that
// the registers are free for what computes the next results, and behind the last tile.
#pragma once

#include <map>
#include <variant>

#include "schedule/plan.h"
#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Holds the results of a program whose loops are rotated: those that are chosen, and of others
/// those whose saves are a share of a tile's time and find turns enough, as far as registers go.
[[nodiscard]] std::variant<Program, Refusal> defer_saves(Program program,
                                                         const RegionProgram& region,
                                                         const Plan& plan,
                                                         const RegionSchedule& wanted);

/// Results that could be held each, in a program whose loops are rotated.
[[nodiscard]] std::vector<ArrayId> deferrable(const Program& program, const RegionProgram& region,
                                              const Plan& plan);
[[nodiscard]] bool is_deferred(const Program& program, const RegionProgram& region, ArrayId array);
/// Whether it saves results of the tile before.
[[nodiscard]] bool is_deferred(const Program& program, const Op& op);

}  // namespace napkin::schedule
