#include "derive/expand/chunk_masks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "derive/streams.h"
#include "diagrams/contains.h"
#include "diagrams/masks.h"

namespace napkin {

namespace {

/// Whether it reads 32-bit integers of inputs, at indices of axes.
bool reads_inputs(const Diagram& diagram, const Expression& condition) {
    bool plain = true;
    walk(condition, [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        if (element == nullptr) return;
        plain = plain && diagram[element->array].type == ElementType::I32 &&
                !producer(diagram, element->array) &&
                std::all_of(element->index.begin(), element->index.end(), [](const Expression& at) {
                    return std::holds_alternative<AxisIndex>(at.node);
                });
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
