#include "perfmodel/contraction.h"

#include <algorithm>

#include "derive/contraction.h"

namespace napkin {

namespace {

void collect_loaded(const std::vector<TileStatement>& body, std::vector<VariableId>& loaded) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            collect_loaded(parallel->body, loaded);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            collect_loaded(loop->body, loaded);
        else if (const Load* load = std::get_if<Load>(&statement.node))
            loaded.push_back(load->target);
    }
}

}  // namespace

std::optional<ElementType> type_of_products(const RegionProgram& region, const Compute& compute) {
    const Array& target = region.arrays[compute.statement.targets.front().index()];
    std::optional<Contraction> contraction =
        contraction_of(compute.statement, target.axes, [](AxisId) { return true; });
    if (!contraction || !is_floating(target.type)) return std::nullopt;
    std::vector<VariableId> loaded;
    collect_loaded(region.body, loaded);
    const auto variable = [&](VariableId id) -> const Variable& {
        return region.variables[id.index()];
    };
    std::array<std::optional<LoadedOperand>, 2> operands;
    place_either(*contraction);
    for (const std::size_t side : {0, 1}) {
        const std::vector<Expression>& factors = side == 0 ? contraction->left : contraction->right;
        const Read* element = std::get_if<Read>(&factors.front().node);
        if (element == nullptr || factors.size() > 1) continue;
        const auto source = std::find_if(loaded.begin(), loaded.end(), [&](VariableId id) {
            return variable(id).array == element->array;
        });
        if (source == loaded.end()) continue;
        operands[side] = {variable(*source).type,
                          region.arrays[element->array.index()].role == ArrayRole::Input};
        if (!operands[side]->is_taken()) return std::nullopt;
    }
    const auto narrow = [](const auto& operand) { return operand && is_narrow(operand->type); };
    if (std::all_of(operands.begin(), operands.end(), narrow)) return operands.front()->type;
    return multiplied_type(operands, type_beside(region, {&contraction->left, &contraction->right},
                                                 compute.reads, loaded));
}

}  // namespace napkin
