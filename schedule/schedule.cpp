#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/result.h"
#include "schedule/form.h"
#include "schedule/place.h"
#include "schedule/rotate_loops.h"
#include "schedule/stages.h"
#include "schedule/synchronise.h"
#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// Stages of the rings that copies fill: what hides a copy's latency, or fewer where they do not
/// fit; where a product's result is the operand of the next, work enough lies between two chunks.
std::int64_t most_stages(const tensor::Plan& plan) {
    const bool chained =
        std::any_of(plan.products.begin(), plan.products.end(), [&](const auto& entry) {
            const auto& left = entry.second.left.direct;
            return left && plan.tiles.at(*left).home == tensor::Home::Fragment;
        });
    return chained ? 2 : 4;
}

Program staged(Program program, std::int64_t stages) {
    set_stages(program, stages);
    place(program);
    return program;
}

/// As many stages as fit: of blocks with few warps, into half of the memory, so that two of them
/// hide each other's latencies.
Program with_stages(const Program& program, const tensor::Plan& plan, const Limits& limits) {
    constexpr int kFewThreads = 128;
    constexpr std::int64_t kReserved = 1024;  // bytes of every block, by the hardware
    const std::int64_t half = limits.shared_memory / 2 - kReserved;
    std::int64_t stages = most_stages(plan);
    Program made = staged(program, stages);
    while (stages > 2 && plan.threads() <= kFewThreads && made.shared_bytes > half)
        made = staged(program, --stages);
    while (stages > 1 && made.shared_bytes > limits.shared_memory) made = staged(program, --stages);
    return made;
}

}  // namespace

Program schedule(const RegionProgram& region, const tensor::Plan& plan, const Limits& limits) {
    tensor::Plan plain = plan;
    plain.staged.clear();
    Program program;
    // What costs least to do without goes first: turns that lead, then saves in whole vectors.
    for (const auto& [choice, leads] : {std::pair(&plan, true), {&plan, false}, {&plain, false}}) {
        program = with_stages(rotate_loops(form(region, *choice, limits), leads), *choice, limits);
        if (program.shared_bytes <= limits.shared_memory) break;
    }
    synchronise(program);
    const std::vector<std::string> faults = verify(program);
    if (!faults.empty())
        throw InternalError(
            fmt::format("the schedule of {} is wrong: {}", region.name, faults.front()));
    return program;
}

}  // namespace napkin::schedule
