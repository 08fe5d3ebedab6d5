// Rows of progressions: affine-compressed columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace napkin {

/// Columns that follow one another.
struct ColumnRun {
    std::int64_t first = 0;
    std::int64_t count = 0;
    bool operator==(const ColumnRun&) const = default;
};
/// Adds a run behind all others, to the last one where that ends just before it.
void add_run(std::vector<ColumnRun>& runs, const ColumnRun& run);

/// first, first + stride, ..., `count` of them.
struct Progression {
    std::int64_t stride = 1;
    std::int64_t first = 0;
    std::int64_t count = 0;
    bool operator==(const Progression&) const = default;
};
/// A progression of progressions: `inner` comes `count` times, each beyond the one before.
struct NestedProgression {
    Progression inner;
    std::int64_t stride = 0;
    std::int64_t count = 1;
    bool operator==(const NestedProgression&) const = default;
};
/// A row is a union of no more of them.
inline constexpr std::size_t kMostProgressions = 3;
/// Affine-compressed columns of one row, which rise: nothing for no column, a progression, one of
/// progressions, or a union of these, which may have a column twice where none is found that has
/// each once; nullopt for columns that are none of it, as far as a short search tells.
[[nodiscard]] std::optional<std::vector<NestedProgression>> compressed(
    const std::vector<std::int64_t>& columns);
/// The same of the columns of runs, in a time that does not grow with a single one.
[[nodiscard]] std::optional<std::vector<NestedProgression>> compressed_runs(
    const std::vector<ColumnRun>& runs);

}  // namespace napkin
