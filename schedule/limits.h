// What a kernel must keep to.
#pragma once

#include <cstdint>

#include "schedule/deadline.h"

namespace napkin {

/// No axis may be longer: kernels count along axes, and a tile more, in 32 bits. What is computed
/// from indices, and places in arrays, take 64 bits where 32 may not hold them.
inline constexpr std::int64_t kMostSize = std::int64_t{1} << 30;
/// No axis whose size a kernel learns at run time may be longer, so that a sum of an index and the
/// difference of two sizes is one of 32 bits.
inline constexpr std::int64_t kMostRunTimeSize = std::int64_t{1} << 29;

namespace schedule {

/// What one block may have.
struct Limits {
    std::int64_t shared_memory = 232448;  ///< bytes
    int threads = 0;                      ///< a multiple of 32; chosen from the tiles when 0
    /// Every axis that no tile holds whole has its size at run time.
    bool dynamic_sizes = false;
    /// Whether strides of arrays are arguments, and not those of arrays without gaps.
    bool free_strides = false;
    /// Whether warp groups carry out products, from panels in shared memory that an agent of its
    /// own fills.
    bool warp_groups = false;
    /// When no more is looked for that is better than what there is.
    Deadline deadline = {};
};

}  // namespace schedule
}  // namespace napkin
