// M and A of a region: what is held, statement by statement.
#pragma once

#include "derive/liveness.h"
#include "perfmodel/cost.h"

namespace napkin {

/// What a set of variables of one level takes together.
[[nodiscard]] std::optional<Amount> held_by(const RegionProgram& region,
                                            const std::vector<VariableId>& variables, Level level);
/// The most of several columns: numbers of the largest, formula the maximum of all, ideal forms the
/// leading terms where these are most.
[[nodiscard]] Amount leading_most_of(const std::vector<Amount>& columns, const SymbolValues& sizes);
/// An ideal form in bits, of values of one type.
[[nodiscard]] std::optional<Polynomial> in_bits(const std::optional<Polynomial>& values,
                                                ElementType type);
/// Sets A (during statements) and M (between them) of every level; false on overflow.
[[nodiscard]] bool add_memory(const RegionProgram& region, const std::vector<Moment>& moments,
                              RegionCost& cost);
/// A at a level in bits, in numbers alone; nullopt on overflow.
[[nodiscard]] std::optional<std::int64_t> allocated_bits(const RegionProgram& region, Level level);
/// Likewise M.
[[nodiscard]] std::optional<std::int64_t> memory_bits(const RegionProgram& region, Level level);

}  // namespace napkin
