#include "schedule/statements.h"

#include <algorithm>

#include "diagrams/rounding.h"
#include "diagrams/value_bounds.h"
#include "diagrams/value_kind.h"

namespace napkin::schedule {

bool is_scan(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    return fold != nullptr && fold->every_prefix;
}

bool is_ordered(const Statement& statement) {
    return is_scan(statement) || std::holds_alternative<Select>(statement.body);
}

bool sums_integers(const Diagram& scope, const Statement& statement, bool any_size) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || (fold->monoid != kSum && fold->monoid != kProduct) ||
        !is_floating(scope[statement.targets.front()].type))
        return false;
    if (kind_of(scope, statement) != ValueKind::Integer) return false;
    if (fold->monoid == kProduct) return true;
    const std::optional<Interval> each = integer_bounds(scope, fold->values.front(), any_size);
    return !each || !(*each * element_count(scope, fold->over, any_size))
                         .within(exact_integers(ElementType::F32));
}

bool rounds_integers(const Diagram& scope, const Statement& statement, const Expression& operand,
                     ElementType type, bool any_size) {
    if (kind_of(scope, statement) != ValueKind::Integer) return false;
    const std::optional<Interval> values = integer_bounds(scope, operand, any_size);
    return !values || !values->within(exact_integers(type));
}

std::vector<Read> reads_along_chunks(const Loop& loop) {
    std::vector<Read> reads;
    for (const Expression& condition : loop.data_masks)
        walk(condition, [&](const Expression& part) {
            const Read* read = std::get_if<Read>(&part.node);
            if (read != nullptr && axes_used(part).contains(loop.axis) &&
                std::find(reads.begin(), reads.end(), *read) == reads.end())
                reads.push_back(*read);
        });
    return reads;
}

std::optional<std::vector<BlockGroups>> block_groups(const RegionProgram& region) {
    std::vector<BlockGroups> groups;
    const std::vector<TileStatement>* inside = &region.body;
    while (inside->size() == 1) {
        const Parallel* parallel = std::get_if<Parallel>(&inside->front().node);
        if (parallel == nullptr || parallel->level > Level::Block) break;
        const AxisId axis = parallel->axis;
        if (std::any_of(groups.begin(), groups.end(),
                        [&](const BlockGroups& outer) { return outer.axis == axis; }))
            return std::nullopt;
        const std::int64_t extent = region.axes[axis.index()].extent;
        groups.push_back({axis, parallel->size, ceil_quotient(extent, parallel->size)});
        inside = &parallel->body;
    }
    return groups;
}

std::vector<const Loop*> loops_of(const RegionProgram& region) {
    std::vector<const Loop*> loops;
    const auto visit = [&](const auto& self, const std::vector<TileStatement>& body) -> void {
        for (const TileStatement& statement : body) {
            if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
                self(self, parallel->body);
            const Loop* loop = std::get_if<Loop>(&statement.node);
            if (loop == nullptr) continue;
            loops.push_back(loop);
            self(self, loop->body);
        }
    };
    visit(visit, region.body);
    return loops;
}

std::vector<const TileStatement*> leaves_of(const RegionProgram& region) {
    std::vector<const TileStatement*> leaves;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        leaves.push_back(&statement);
    });
    return leaves;
}

}  // namespace napkin::schedule
