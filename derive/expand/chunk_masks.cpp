#include "derive/expand/chunk_masks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "derive/streams.h"
#include "diagrams/contains.h"
#include "diagrams/masks.h"

namespace napkin {

namespace {

std::vector<Expression> conjuncts(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->function != Function::And) return {condition};
    std::vector<Expression> parts;
    for (const Expression& argument : call->arguments)
        for (Expression& part : conjuncts(argument)) parts.push_back(std::move(part));
    return parts;
}

/// The conjuncts over indices alone of what masks a statement's fold.
std::vector<Expression> index_masks(const Diagram& diagram, const Statement& statement) {
    std::vector<Expression> masks;
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || fold->values.size() != 1) return masks;
    for (const Expression& mask : masks_of(diagram, fold->values.front(), fold->monoid))
        for (Expression& part : conjuncts(mask))
            if (arrays_read(part).empty() &&
                std::find(masks.begin(), masks.end(), part) == masks.end())
                masks.push_back(std::move(part));
    return masks;
}

}  // namespace

std::vector<Expression> chunk_masks(const Diagram& diagram, const Region& region,
                                    const std::vector<ArrayId>& saves) {
    if (region.streams.empty()) return {};
    const std::vector<AxisId> axes = streamed_axes(region);
    for (ArrayId array : saves)
        for (AxisId axis : axes)
            if (contains(diagram[array].axes, axis)) return {};
    std::optional<std::vector<Expression>> shared;
    for (StatementId id : region.statements) {
        if (!contains(folded_axes(diagram[id]), axes.front())) continue;
        std::vector<Expression> masks = index_masks(diagram, diagram[id]);
        if (!shared) {
            shared = std::move(masks);
            continue;
        }
        std::erase_if(*shared, [&](const Expression& mask) {
            return std::find(masks.begin(), masks.end(), mask) == masks.end();
        });
    }
    return shared.value_or(std::vector<Expression>{});
}

}  // namespace napkin
