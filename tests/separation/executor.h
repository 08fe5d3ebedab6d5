// Runs an accumulator chunk by chunk, exactly as written, in double precision. It knows nothing of
// how the accumulator was derived: statements in order, the streamed axis restricted to the chunk,
// everything outside the chunk poisoned.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/evaluate.h"

namespace napkin::test {

struct Executed {
    Tensors saved;                     ///< every array of the region that is used beyond it
    double largest_exponent = -1e300;  ///< of every exponential that the body evaluated
};

/// Lengths of the chunks; they add up to the axis.
using Chunks = std::vector<std::int64_t>;

/// Runs `region` with the accumulator over the given chunks.
[[nodiscard]] Executed execute(const Diagram& diagram, const Region& region,
                               const Accumulator& accumulator, const Tensors& inputs,
                               const Chunks& chunks);

}  // namespace napkin::test
