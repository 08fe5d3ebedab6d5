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

}  // namespace

ChunkMasks chunk_masks(const Diagram& diagram, const Region& region,
                       const std::vector<ArrayId>& saves) {
    if (region.streams.empty()) return {};
    const std::vector<AxisId> axes = streamed_axes(region);
    for (ArrayId array : saves)
        for (AxisId axis : axes)
            if (contains(diagram[array].axes, axis)) return {};
    std::optional<std::vector<Expression>> shared;
    for (StatementId id : region.statements) {
        if (!contains(folded_axes(diagram[id]), axes.front())) continue;
        std::vector<Expression> masks = masks_of_fold(diagram, diagram[id]);
        if (!shared) {
            shared = std::move(masks);
            continue;
        }
        std::erase_if(*shared, [&](const Expression& mask) {
            return std::find(masks.begin(), masks.end(), mask) == masks.end();
        });
    }
    ChunkMasks result;
    for (Expression& mask : shared.value_or(std::vector<Expression>{}))
        (arrays_read(mask).empty() ? result.index : result.data).push_back(std::move(mask));
    return result;
}

}  // namespace napkin
