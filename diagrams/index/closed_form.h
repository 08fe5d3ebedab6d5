// What isl's sets say, as plain inequalities.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagrams/index/isl.h"
#include "diagrams/index/mask.h"

namespace napkin::index {

/// Parameters of a set: the value of a coordinate, its ends, the number of a chunk.
[[nodiscard]] std::string value_name(std::size_t coordinate);
[[nodiscard]] std::string low_name(std::size_t coordinate);
[[nodiscard]] std::string high_name(std::size_t coordinate);
inline constexpr const char* kChunkName = "k";

/// The clauses that make up a set over so many coordinates; nullopt where it could not be computed.
[[nodiscard]] std::optional<std::vector<Clause>> closed_form(const Set& set,
                                                             std::size_t coordinates);
/// The numbers of chunks in a set; nullopt also where they are no progressions.
[[nodiscard]] std::optional<std::vector<ChunkRun>> chunk_runs(const Set& set,
                                                              std::size_t coordinates);
/// `quotients` is room for those of a clause.
[[nodiscard]] bool holds(const BoxCondition& condition, std::span<const Interval> box,
                         std::vector<std::int64_t>& quotients);

}  // namespace napkin::index
