#include "diagrams/diagram.h"

#include <algorithm>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/infinity.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

Expression operand(std::uint32_t slot) {
    Expression expression;
    expression.node = Operand{slot};
    return expression;
}

Monoid builtin(std::string name, double identity, bool integer_identity, Function combine) {
    return {.name = std::move(name),
            .identity = {number(identity, integer_identity)},
            .combine = {apply(combine, {operand(0), operand(1)})},
            .commutative = true,
            .span = {}};
}

void append(std::vector<const Expression*>& list, const std::vector<Expression>& expressions) {
    for (const Expression& expression : expressions) list.push_back(&expression);
}

}  // namespace

std::optional<AxisId> find_axis(const Diagram& diagram, std::string_view name) {
    for (std::size_t i = 0; i < diagram.axes.size(); ++i)
        if (diagram.axes[i].name == name) return AxisId{static_cast<std::uint32_t>(i)};
    return std::nullopt;
}

std::optional<ArrayId> find_array(const Diagram& diagram, std::string_view name) {
    for (std::size_t i = 0; i < diagram.arrays.size(); ++i)
        if (diagram.arrays[i].name == name) return ArrayId{static_cast<std::uint32_t>(i)};
    return std::nullopt;
}

std::optional<StatementId> producer(const Diagram& diagram, ArrayId array) {
    for (std::size_t i = 0; i < diagram.statements.size(); ++i)
        if (contains(diagram.statements[i].targets, array))
            return StatementId{static_cast<std::uint32_t>(i)};
    return std::nullopt;
}

bool reads(const Statement& statement, ArrayId array) {
    const auto is_read = [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        return element != nullptr && element->array == array;
    };
    const auto in = [&](const Expression& each) { return any_part(each, is_read); };
    const auto in_any = [&](const std::vector<Expression>& list) {
        return std::any_of(list.begin(), list.end(), in);
    };
    return std::visit(
        overloaded{
            [&](const Map& map) { return in(map.value); },
            [&](const Fold& fold) { return in_any(fold.values) || in_any(fold.seed); },
            [&](const Select& select) { return in(select.value); },
            [&](const Opaque& opaque) { return in_any(opaque.reads); },
        },
        statement.body);
}

std::vector<StatementId> consumers(const Diagram& diagram, ArrayId array) {
    std::vector<StatementId> found;
    for (std::size_t i = 0; i < diagram.statements.size(); ++i)
        if (reads(diagram.statements[i], array))
            found.push_back(StatementId{static_cast<std::uint32_t>(i)});
    return found;
}

std::vector<const Expression*> expressions_of(const Statement& statement) {
    std::vector<const Expression*> list;
    std::visit(overloaded{
                   [&](const Map& map) { list.push_back(&map.value); },
                   [&](const Fold& fold) {
                       append(list, fold.values);
                       append(list, fold.seed);
                   },
                   [&](const Select& select) { list.push_back(&select.value); },
                   [&](const Opaque& opaque) { append(list, opaque.reads); },
               },
               statement.body);
    return list;
}

std::vector<ArrayId> inputs_of(const Statement& statement) {
    std::vector<ArrayId> inputs;
    for (const Expression* expression : expressions_of(statement))
        walk(*expression, [&](const Expression& part) {
            const Read* element = std::get_if<Read>(&part.node);
            if (element != nullptr && !contains(inputs, element->array))
                inputs.push_back(element->array);
        });
    return inputs;
}

std::vector<AxisId> axes_of(const Diagram& diagram, const Statement& statement) {
    std::vector<AxisId> axes;
    for (ArrayId target : statement.targets)
        for (AxisId axis : diagram[target].axes)
            if (!contains(axes, axis)) axes.push_back(axis);
    for (AxisId axis : folded_axes(statement))
        if (!contains(axes, axis)) axes.push_back(axis);
    return axes;
}

std::vector<AxisId> folded_axes(const Statement& statement) {
    if (const Fold* fold = std::get_if<Fold>(&statement.body)) return fold->over;
    if (const Select* select = std::get_if<Select>(&statement.body)) return {select->over};
    return {};
}

std::vector<ArrayId> outputs_of(const Diagram& diagram) {
    std::vector<ArrayId> outputs;
    for (std::size_t i = 0; i < diagram.arrays.size(); ++i)
        if (diagram.arrays[i].role == ArrayRole::Output)
            outputs.push_back(ArrayId{static_cast<std::uint32_t>(i)});
    return outputs;
}

Sizes sizes_of(const Diagram& diagram) {
    Sizes sizes;
    for (const Axis& axis : diagram.axes) sizes[axis.name] = axis.extent;
    return sizes;
}

SymbolValues extents_of(const std::vector<Axis>& axes) {
    SymbolValues values;
    for (std::uint32_t i = 0; i < axes.size(); ++i) values[axis_size(AxisId{i})] = axes[i].extent;
    return values;
}

bool has_own_size(const Diagram& diagram, AxisId axis) {
    return diagram[axis].size == Formula(axis_size(axis));
}

std::int64_t least_size(const Diagram& diagram, AxisId axis) {
    std::int64_t least = 1;
    for (const Statement& statement : diagram.statements)
        if (const Select* select = std::get_if<Select>(&statement.body))
            if (select->over == axis && select->rank)
                least = std::max(least, diagram[*select->rank].extent);
    return least;
}

std::vector<Monoid> builtin_monoids() {
    return {builtin("sum", 0, true, Function::Add), builtin("prod", 1, true, Function::Multiply),
            builtin("max", -kInfinity, false, Function::Max),
            builtin("min", kInfinity, false, Function::Min)};
}

}  // namespace napkin
