// Tilings of a region as the kernels that are made of them: each is costed from its scheduled
// program, and sizes are changed one at a time from the best; where these have few blocks, their
// streams are taken into parts (parts.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/machine.h"
#include "search/tilings.h"

namespace napkin {

/// Whether a kernel can be made of a region of a state.
using Serves = std::function<bool(const State&, const RegionProgram&)>;

/// For what kernels are made, until the request's deadline.
struct KernelSearch {
    const Machine& machine;
    KernelRequest request;
    const Serves& serves;    ///< asked of the best alone; any region where it is not given
    std::size_t starts = 3;  ///< from so many of the best sizes are changed
};

/// Sizes of a group or a chunk worth trying beside one: half and twice, a step down and up, and
/// powers of two beside it, of which some may be equal; none is larger than the axis.
[[nodiscard]] std::vector<std::int64_t> sizes_beside(std::int64_t size, std::int64_t extent);

/// A tiling that the scheduler made wrong, and noticed: a bug of ours.
struct Fault {
    std::vector<Command> commands;  ///< that show it, from the plain diagram
    std::string what;
};

struct KernelCounts {
    std::int64_t evaluated = 0;
    std::int64_t not_served = 0;
    std::vector<Fault> faults;  ///< commands from the state that is tiled
};

/// The best tilings of a region of a state, found from rough ones, fastest first and at most `top`;
/// past the deadline of those that were looked at, of which there is one.
/// Plain kernels only where the tensor core's way of working takes none, or the target makes none
/// of those.
[[nodiscard]] std::vector<Tiling> best_kernels(const State& state, const std::string& region,
                                               const std::vector<Tiling>& rough,
                                               const KernelSearch& search, std::size_t top,
                                               KernelCounts& counts);

/// The state after some commands; nothing where one does not apply.
[[nodiscard]] std::optional<State> after(State state, const std::vector<Command>& commands);

}  // namespace napkin
