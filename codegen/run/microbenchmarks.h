// Kernels that measure one unit of a device each, for machine files.
//
// Every one is a function `measure_...(times, memory, bytes, rounds)`: each block writes the clocks
// and the nanoseconds between its threads' common begin and end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"

namespace napkin {

struct Microbenchmark {
    std::string name;  ///< `wgmma m64n256k16 bf16`
    std::string what;  ///< one round: `eight products of a warp group`
    EmittedKernel kernel;
    /// What a thread, a warp, a warp group or a block does in one round, in bytes or operations (of
    /// products a multiply-add counts as two); 0 where the buffer's bytes are what counts.
    double work = 0;
    int threads_of_work = 1;  ///< that do this work together
};

/// Those that an architecture such as `sm_90` runs.
[[nodiscard]] std::vector<Microbenchmark> microbenchmarks(const std::string& architecture);
/// The one of a name; null where the architecture has none.
[[nodiscard]] const Microbenchmark* find_microbenchmark(const std::vector<Microbenchmark>& all,
                                                        const std::string& name);

}  // namespace napkin
