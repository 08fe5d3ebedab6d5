#include "schedule/neighbours.h"

#include <algorithm>

#include "diagrams/integer_range.h"
#include "diagrams/memory_order.h"

namespace napkin::schedule {
namespace {

/// What is known where the index along an axis is known.
class AtColumn {
public:
    AtColumn(const RegionProgram& region, AxisId columns, std::int64_t column,
             const std::vector<bool>& run_time)
        : region_(region), columns_(columns), column_(column), run_time_(run_time) {}

    [[nodiscard]] std::optional<std::int64_t> place(const Expression& index) const {
        const Apply* call = std::get_if<Apply>(&index.node);
        if (call != nullptr && call->function == Function::Select) {
            const std::optional<bool> taken = decided(call->arguments[0]);
            return taken ? place(call->arguments[*taken ? 1 : 2]) : std::nullopt;
        }
        const std::optional<Interval> range =
            value_range(index, [&](const Expression& leaf) -> std::optional<Interval> {
                const AxisIndex* axis = std::get_if<AxisIndex>(&leaf.node);
                if (axis != nullptr && axis->axis == columns_) return Interval{column_, column_};
                const SizeOf* of = std::get_if<SizeOf>(&leaf.node);
                if (of == nullptr || run_time_[of->axis.index()]) return std::nullopt;
                const std::int64_t size = region_.axes[of->axis.index()].extent;
                return Interval{size, size};
            });
        if (!range || !range->is_one()) return std::nullopt;
        return range->low;
    }

private:
    [[nodiscard]] std::optional<bool> decided(const Expression& condition) const {
        const Apply* call = std::get_if<Apply>(&condition.node);
        if (call == nullptr || call->arguments.size() != 2) return std::nullopt;
        const std::optional<std::int64_t> a = place(call->arguments[0]);
        const std::optional<std::int64_t> b = place(call->arguments[1]);
        if (!a || !b) return std::nullopt;
        switch (call->function) {
        case Function::Less: return *a < *b;
        case Function::LessEqual: return *a <= *b;
        case Function::Greater: return *a > *b;
        case Function::GreaterEqual: return *a >= *b;
        default: return std::nullopt;
        }
    }

    const RegionProgram& region_;
    AxisId columns_;
    std::int64_t column_;
    const std::vector<bool>& run_time_;
};

std::vector<const Read*> reads_of(const Expression& value) {
    std::vector<const Read*> reads;
    walk(value, [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        if (read != nullptr && std::none_of(reads.begin(), reads.end(),
                                            [&](const Read* known) { return *known == *read; }))
            reads.push_back(read);
    });
    return reads;
}

/// The only read of an array that is in one list and not in the other.
const Read* only_read(ArrayId array, const std::vector<const Read*>& reads,
                      const std::vector<const Read*>& others) {
    const Read* only = nullptr;
    for (const Read* read : reads) {
        const bool is_common = std::any_of(others.begin(), others.end(),
                                           [&](const Read* other) { return *other == *read; });
        if (read->array != array || is_common) continue;
        if (only != nullptr) return nullptr;
        only = read;
    }
    return only;
}

}  // namespace

bool keeps_vectors(const RegionProgram& region, const Expression& index, AxisId columns,
                   AxisId dimension, std::int64_t count, const std::vector<bool>& run_time) {
    constexpr std::int64_t kMostTried = 4096;
    const std::int64_t extent = region.axes[columns.index()].extent;
    if (run_time[columns.index()] || extent > kMostTried || run_time[dimension.index()] ||
        region.axes[dimension.index()].extent % count != 0)
        return false;
    std::int64_t first = 0;
    for (std::int64_t column = 0; column < extent; ++column) {
        const auto at = AtColumn(region, columns, column, run_time).place(index);
        if (!at) return false;
        if (column % count == 0) first = *at;
        if (first % count != 0 || *at != first + column % count) return false;
    }
    return true;
}

Expression join_branches(const RegionProgram& region, Expression value, AxisId columns,
                         std::int64_t count, const std::vector<bool>& run_time) {
    const auto joined = [&](const Expression& condition, const Read& a,
                            const Read& b) -> std::optional<Expression> {
        const Array& array = region.arrays[a.array.index()];
        if (array.axes.empty()) return std::nullopt;
        const std::size_t last = innermost_dimension(array);
        Read both = a;
        for (std::size_t d = 0; d < a.index.size(); ++d)
            if (d != last && a.index[d] != b.index[d]) return std::nullopt;
        both.index[last] = apply(Function::Select, {condition, a.index[last], b.index[last]});
        if (!keeps_vectors(region, both.index[last], columns, array.axes[last], count, run_time))
            return std::nullopt;
        return Expression{std::move(both), {}};
    };
    return rewrite(std::move(value), [&](Expression node) {
        Apply* choice = std::get_if<Apply>(&node.node);
        if (choice == nullptr || choice->function != Function::Select ||
            !arrays_read(choice->arguments[0]).empty())
            return node;
        for (const ArrayId array : arrays_read(choice->arguments[1])) {
            const std::vector<const Read*> taken = reads_of(choice->arguments[1]);
            const std::vector<const Read*> others = reads_of(choice->arguments[2]);
            const Read* a = only_read(array, taken, others);
            const Read* b = only_read(array, others, taken);
            if (a == nullptr || b == nullptr) continue;
            const std::optional<Expression> both = joined(choice->arguments[0], *a, *b);
            if (!both) continue;
            const Expression old[] = {{*a, {}}, {*b, {}}};
            for (std::size_t branch : {1, 2})
                choice->arguments[branch] =
                    rewrite(std::move(choice->arguments[branch]), [&](Expression part) {
                        const Read* read = std::get_if<Read>(&part.node);
                        const bool is_old =
                            read != nullptr && *read == std::get<Read>(old[branch - 1].node);
                        return is_old ? *both : part;
                    });
        }
        return node;
    });
}

}  // namespace napkin::schedule
