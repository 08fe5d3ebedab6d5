#include "derive/rewriting/unify.h"

#include <set>

namespace napkin::rules {

namespace {

bool match_all(const std::vector<Expression>& pattern, const std::vector<Expression>& target,
               Binding& binding) {
    if (pattern.size() != target.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i)
        if (!matches(pattern[i], target[i], binding)) return false;
    return true;
}

}  // namespace

Expression with_axes(const Expression& expression, const Binding& binding) {
    return rewrite(expression, [&](Expression node) {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&node.node))
            if (const auto bound = binding.find(index->axis); bound != binding.end())
                node = Expression(bound->second);
        return node;
    });
}

bool matches(const Expression& pattern, const Expression& target, Binding& binding) {
    if (const AxisIndex* index = std::get_if<AxisIndex>(&pattern.node)) {
        const auto [bound, fresh] = binding.try_emplace(index->axis, target);
        return fresh || bound->second == target;
    }
    if (pattern.node.index() != target.node.index()) return false;
    if (const Read* element = std::get_if<Read>(&pattern.node)) {
        const Read& other = std::get<Read>(target.node);
        return element->array == other.array && match_all(element->index, other.index, binding);
    }
    if (const Apply* call = std::get_if<Apply>(&pattern.node)) {
        const Apply& other = std::get<Apply>(target.node);
        return call->function == other.function &&
               match_all(call->arguments, other.arguments, binding);
    }
    if (const Convert* convert = std::get_if<Convert>(&pattern.node)) {
        const Convert& other = std::get<Convert>(target.node);
        return convert->type == other.type && match_all(convert->argument, other.argument, binding);
    }
    return pattern == target;
}

bool renames_axes(const Binding& binding) {
    std::set<AxisId> seen;
    for (const auto& [axis, value] : binding) {
        const AxisIndex* index = std::get_if<AxisIndex>(&value.node);
        if (index == nullptr || !seen.insert(index->axis).second) return false;
    }
    return true;
}

std::optional<Expression> opened_map(const Diagram& diagram, const Read& element) {
    const std::optional<StatementId> source = producer(diagram, element.array);
    if (!source || diagram[element.array].rounds) return std::nullopt;
    const Map* map = std::get_if<Map>(&diagram[*source].body);
    if (map == nullptr) return std::nullopt;
    Binding binding;
    const std::vector<AxisId>& axes = diagram[element.array].axes;
    for (std::size_t k = 0; k < axes.size(); ++k) binding[axes[k]] = element.index[k];
    return with_axes(map->value, binding);
}

}  // namespace napkin::rules
