// What the steps of a rotated body need of each other, through the buffers that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/rotate.h"

namespace napkin::schedule {

[[nodiscard]] bool has(const std::vector<BufferId>& buffers, std::size_t buffer);

/// Who touches a buffer, in the order of a chunk.
struct Use {
    std::vector<std::size_t> steps;
    bool carried = false;  ///< a chunk reads what the one before left
};
[[nodiscard]] Use use_of(const std::vector<RotationStep>& steps, std::size_t buffer);

/// `to`, for a chunk, comes after `from` for the chunk so many before.
struct Dependence {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t distance = 0;
    bool shared = false;  ///< through memory that a block shares
};
[[nodiscard]] std::vector<Dependence> dependences_of(const std::vector<RotationStep>& steps,
                                                     const std::vector<RotationBuffer>& buffers);

/// The largest time around a cycle of dependences, by the chunks that the cycle goes back.
[[nodiscard]] double recurrence_bound(const std::vector<RotationStep>& steps,
                                      const std::vector<Dependence>& dependences);

}  // namespace napkin::schedule
