// How the threads of a plain kernel's block share its work: kernels are lowered by it, and costs
// read it.
#pragma once

#include <cstdint>

#include "derive/region_program.h"

namespace napkin::schedule {

/// As many threads as the largest tile of the region has use for.
[[nodiscard]] std::int64_t plain_threads(const RegionProgram& region);

/// How they share a result of rows x columns, each with a micro-tile of it in registers.
struct ThreadGrid {
    std::int64_t threads_across = 1;
    std::int64_t threads_down = 1;
    std::int64_t rows = 1;     ///< of a thread's micro-tile
    std::int64_t columns = 1;  ///< of a thread's micro-tile
    /// Micro-tiles that each thread computes one after the other.
    [[nodiscard]] std::int64_t row_passes(std::int64_t of_result) const;
    [[nodiscard]] std::int64_t column_passes(std::int64_t of_result) const;
};
/// The grid with the least estimated time.
[[nodiscard]] ThreadGrid thread_grid(std::int64_t rows, std::int64_t columns, std::int64_t threads);

/// Whether a warp folds each of so many results, every lane a part; otherwise a thread does.
[[nodiscard]] bool folds_by_warps(std::int64_t results, std::int64_t folded, std::int64_t threads);

}  // namespace napkin::schedule
