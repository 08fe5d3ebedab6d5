#include "schedule/statements.h"

#include "diagrams/integer_range.h"
#include "diagrams/value_kind.h"

namespace napkin::schedule {

bool is_scan(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    return fold != nullptr && fold->every_prefix;
}

bool is_ordered(const Statement& statement) {
    return is_scan(statement) || std::holds_alternative<Select>(statement.body);
}

bool sums_integers(const RegionProgram& region, const Statement& statement) {
    constexpr Interval kExactInF32 = {-(std::int64_t{1} << 24), std::int64_t{1} << 24};
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || (fold->monoid != kSum && fold->monoid != kProduct) ||
        !is_floating(region.arrays[statement.targets.front().index()].type))
        return false;
    const Diagram scope = scope_of(region);
    if (kind_of(scope, statement) != ValueKind::Integer) return false;
    if (fold->monoid == kProduct) return true;
    const std::optional<Interval> each =
        value_range(fold->values.front(), [&](const Expression& leaf) -> std::optional<Interval> {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&leaf.node))
                return Interval{0, region.axes[index->axis.index()].extent - 1};
            if (const SizeOf* size = std::get_if<SizeOf>(&leaf.node))
                return Interval{1, region.axes[size->axis.index()].extent};
            const Read* element = std::get_if<Read>(&leaf.node);
            if (element == nullptr) return std::nullopt;
            return range_of(region.arrays[element->array.index()].type);
        });
    Interval count{1, 1};
    for (const AxisId axis : fold->over) {
        // A run-time axis may be longer.
        const Axis& of = region.axes[axis.index()];
        count = count * (of.dynamic ? kAny32 : Interval{of.extent, of.extent});
    }
    return !each || !(*each * count).within(kExactInF32);
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
