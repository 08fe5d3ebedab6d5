// The rotation of a program's loops (schedule/rotate.h).
#pragma once

#include <algorithm>
#include <variant>

#include "schedule/deadline.h"
#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Orders every loop's body, copies first, and gives its operations their leads. Only what is
/// published in shared memory may lead: results in registers stay in their turn, since a warp goes
/// through its products in order and has no registers to keep two chunks in. A loop around others
/// keeps its order. Leads, and which products fetch their first operands, are as `wanted` where it
/// says so; of what it leaves open nothing leads and none fetches unless `leads`. Past the deadline
/// it is the first order that is found.
[[nodiscard]] std::variant<Program, Refusal> rotate_loops(Program program,
                                                          const RegionSchedule& wanted, bool leads,
                                                          const Deadline& deadline = {});

/// Calls visit(loop) for every loop whose body is rotated.
template <class Visit>
void for_rotated(const Body& body, const Visit& visit) {
    for (const Item& item : body) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        for_rotated(loop->body, visit);
        const bool innermost = std::none_of(
            loop->body.begin(), loop->body.end(),
            [](const Item& inner) { return std::holds_alternative<ChunkLoop>(inner.node); });
        if (innermost) visit(*loop);
    }
}

}  // namespace napkin::schedule
