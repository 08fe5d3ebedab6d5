#include "perfmodel/contraction.h"

#include <algorithm>
#include <set>

namespace napkin {

namespace {

void collect_reads(const Expression& expression, std::vector<const Read*>& reads, bool& plain) {
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        reads.push_back(element);
        return;
    }
    if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
        collect_reads(convert->argument.front(), reads, plain);
        return;
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return;
    if (call->function != Function::Multiply && !arrays_read(expression).empty()) plain = false;
    for (const Expression& argument : call->arguments) collect_reads(argument, reads, plain);
}

bool is_loaded(const std::vector<TileStatement>& body, VariableId variable) {
    return std::any_of(body.begin(), body.end(), [&](const TileStatement& statement) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            return is_loaded(parallel->body, variable);
        if (const Loop* loop = std::get_if<Loop>(&statement.node))
            return is_loaded(loop->body, variable);
        const Load* load = std::get_if<Load>(&statement.node);
        return load != nullptr && load->target == variable;
    });
}

}  // namespace

std::optional<ElementType> contraction_type(const RegionProgram& region, const Compute& compute) {
    const Fold* fold = std::get_if<Fold>(&compute.statement.body);
    if (fold == nullptr || fold->monoid != kSum || fold->values.size() != 1) return std::nullopt;
    std::vector<const Read*> reads;
    bool plain = true;
    collect_reads(fold->values.front(), reads, plain);
    std::optional<ElementType> loaded;
    std::optional<ElementType> any;
    std::int64_t varying = 0;
    const auto widen = [](std::optional<ElementType>& widest, ElementType type) {
        if (!widest || bits_of(type) > bits_of(*widest)) widest = type;
    };
    for (const Read* element : reads) {
        std::set<AxisId> used;
        for (const Expression& index : element->index) used.merge(axes_used(index));
        const bool varies = std::any_of(fold->over.begin(), fold->over.end(),
                                        [&](AxisId axis) { return used.contains(axis); });
        if (!varies) continue;
        ++varying;
        for (VariableId id : compute.reads) {
            const Variable& variable = region.variables[id.index()];
            if (variable.array != element->array) continue;
            widen(any, variable.type);
            if (is_loaded(region.body, id)) widen(loaded, variable.type);
        }
    }
    if (!plain || varying < 2) return std::nullopt;
    return loaded ? loaded : any;
}

}  // namespace napkin
