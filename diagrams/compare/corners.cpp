#include "diagrams/compare/corners.h"

#include <algorithm>
#include <vector>

#include "diagrams/index/mask.h"
#include "diagrams/rounding.h"

namespace napkin {
namespace {

// A strided mask changes at every index: the first changes are enough.
constexpr std::size_t kMostChanges = 4;

std::set<std::int64_t> tile_corners(const Diagram& diagram, AxisId axis, const TileSizes& tiles) {
    const std::int64_t extent = diagram[axis].extent;
    std::set<std::int64_t> found = {0, extent - 1};
    const auto sizes = tiles.find(axis);
    if (sizes == tiles.end()) return found;
    for (const std::int64_t size : sizes->second) {
        if (size <= 0) continue;
        const std::int64_t count = ceil_quotient(extent, size);
        for (const std::int64_t edge : {std::int64_t{1}, std::int64_t{2}, count / 2, count - 1})
            for (const std::int64_t at : {edge * size - 1, edge * size})
                if (at >= 0 && at < extent) found.insert(at);
    }
    return found;
}

/// Comparisons of indices alone, wherever they stand.
std::vector<Expression> index_conditions(const Diagram& diagram) {
    std::vector<Expression> conditions;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& part) {
                const Apply* call = std::get_if<Apply>(&part.node);
                if (call == nullptr || !is_comparison_or_logic(call->function)) return;
                if (call->function == Function::And || call->function == Function::Or ||
                    call->function == Function::Not)
                    return;
                if (arrays_read(part).empty()) conditions.push_back(part);
            });
    return conditions;
}

/// Adds both sides of the changes of a condition along an axis within `range`.
void add_changes(const index::Mask& mask, AxisId axis, Ranges ranges, Interval range,
                 std::size_t most, std::set<std::int64_t>& found) {
    if (found.size() >= most || range.high == range.low) return;
    ranges[axis] = range;
    if (!mask.meets(ranges) || mask.covers(ranges)) return;
    const std::int64_t middle = range.low + (range.high - range.low) / 2;
    const auto holds = [&](std::int64_t at) {
        ranges[axis] = {at, at};
        return mask.meets(ranges);
    };
    add_changes(mask, axis, ranges, {range.low, middle}, most, found);
    if (holds(middle) != holds(middle + 1) && found.size() < most)
        found.insert({middle, middle + 1});
    add_changes(mask, axis, ranges, {middle + 1, range.high}, most, found);
}

}  // namespace

std::set<std::int64_t> corners_of(const Diagram& diagram, AxisId axis, const TileSizes& tiles) {
    std::set<std::int64_t> corners = tile_corners(diagram, axis, tiles);
    for (const Expression& condition : index_conditions(diagram)) {
        const std::set<AxisId> used = axes_used(condition);
        if (used.count(axis) == 0) continue;
        const index::Mask mask(diagram.axes, {condition});
        Ranges others;
        for (const AxisId other : used) others[other] = {0, 0};
        for (const AxisId other : used) {
            if (other == axis && used.size() > 1) continue;
            for (const std::int64_t corner : tile_corners(diagram, other, tiles)) {
                Ranges ranges = others;
                ranges[other] = {corner, corner};
                std::set<std::int64_t> changes;
                add_changes(mask, axis, ranges, {0, diagram[axis].extent - 1}, kMostChanges,
                            changes);
                corners.merge(changes);
            }
        }
    }
    return corners;
}

}  // namespace napkin
