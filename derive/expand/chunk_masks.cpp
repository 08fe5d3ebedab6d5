#include "derive/expand/chunk_masks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "derive/streams.h"
#include "diagrams/contains.h"
#include "diagrams/index/interval.h"
#include "diagrams/masks.h"

namespace napkin {

namespace {

/// Whether it is an index of an array wherever its axes stand, whatever the condition beside it.
bool is_inside(const Diagram& diagram, const Expression& index, AxisId along) {
    if (const AxisIndex* axis = std::get_if<AxisIndex>(&index.node))
        return diagram[axis->axis].extent <= diagram[along].extent;
    const std::set<AxisId> used = axes_used(index);
    if (diagram[along].dynamic || !arrays_read(index).empty() ||
        std::any_of(used.begin(), used.end(), [&](AxisId axis) { return diagram[axis].dynamic; }))
        return false;
    const std::optional<Interval> range = bounds(diagram.axes, index, {});
    return range && range->low >= 0 && range->high < diagram[along].extent;
}

/// Whether it reads integers of inputs that 32 bits hold, or conditions.
bool reads_inputs(const Diagram& diagram, const Expression& condition) {
    bool plain = true;
    walk(condition, [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        if (element == nullptr) return;
        const Array& array = diagram[element->array];
        const bool fits = array.type == ElementType::I32 || array.type == ElementType::Bool;
        plain = plain && fits && !producer(diagram, element->array);
        for (std::size_t d = 0; plain && d < element->index.size(); ++d)
            plain = is_inside(diagram, element->index[d], array.axes[d]);
    });
    return plain;
}

/// The conjuncts of what masks a statement's fold.
std::vector<Expression> masks_of_fold(const Diagram& diagram, const Statement& statement) {
    std::vector<Expression> masks;
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || fold->values.size() != 1) return masks;
    for (const Expression& mask : masks_of(diagram, fold->values.front(), fold->monoid))
        for (Expression& part : conjuncts_of(mask))
            if (reads_inputs(diagram, part) &&
                std::find(masks.begin(), masks.end(), part) == masks.end())
                masks.push_back(std::move(part));
    return masks;
}

/// The diagram with what a chunk computes of maps, through which masks are found.
Diagram with_chunk(Diagram diagram, const Accumulator& accumulator) {
    const std::size_t own = diagram.arrays.size();
    diagram.arrays.insert(diagram.arrays.end(), accumulator.arrays.begin(),
                          accumulator.arrays.end());
    std::set<ArrayId> states;
    for (const Statement& statement : accumulator.initial)
        states.insert(statement.targets.begin(), statement.targets.end());
    for (const Statement& statement : accumulator.body) {
        const ArrayId target = statement.targets.front();
        if (std::holds_alternative<Map>(statement.body) && target.index() >= own &&
            states.count(target) == 0)
            diagram.statements.push_back(statement);
    }
    return diagram;
}

/// What every statement that folds over the axes shares; nothing where none does.
class SharedMasks {
public:
    SharedMasks(const Diagram& diagram, std::vector<AxisId> axes)
        : diagram_(diagram), axes_(std::move(axes)) {}

    void add(const Statement& statement) {
        const std::vector<AxisId> folded = folded_axes(statement);
        if (std::none_of(folded.begin(), folded.end(),
                         [&](AxisId axis) { return contains(axes_, axis); }))
            return;
        std::vector<Expression> masks = masks_of_fold(diagram_, statement);
        if (!shared_) {
            shared_ = std::move(masks);
            return;
        }
        std::erase_if(*shared_, [&](const Expression& mask) { return !contains(masks, mask); });
    }
    [[nodiscard]] std::vector<Expression> masks() const {
        return shared_.value_or(std::vector<Expression>{});
    }

private:
    const Diagram& diagram_;
    std::vector<AxisId> axes_;
    std::optional<std::vector<Expression>> shared_;
};

}  // namespace

ChunkMasks chunk_masks(const Diagram& diagram, const Region& region, const Accumulator& accumulator,
                       const std::vector<ArrayId>& saves) {
    for (ArrayId array : saves)
        for (AxisId axis : streamed_axes(region))
            if (contains(diagram[array].axes, axis)) return {};
    // Most regions have none, which the statements that the user wrote tell.
    SharedMasks written(diagram, {accumulator.axes.front()});
    for (StatementId id : region.statements) written.add(diagram[id]);
    if (written.masks().empty()) return {};
    // What the chunk adds to states is more: elements that are picked, weights, means.
    const Diagram chunk = with_chunk(diagram, accumulator);
    SharedMasks added(chunk, accumulator.axes);
    for (const Statement& statement : accumulator.body) added.add(statement);
    ChunkMasks result;
    for (Expression& mask : added.masks())
        (arrays_read(mask).empty() ? result.index : result.data).push_back(std::move(mask));
    return result;
}

}  // namespace napkin
