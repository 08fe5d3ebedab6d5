#include "diagrams/evaluate/input_uses.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace napkin {
namespace {

using Uses = std::map<ArrayId, InputUse>;

bool is_ordering(Function function) {
    return function == Function::Less || function == Function::LessEqual ||
           function == Function::Greater || function == Function::GreaterEqual;
}

std::optional<std::int64_t> whole_number(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Negate) {
        const std::optional<std::int64_t> value = whole_number(call->arguments[0]);
        return value ? std::optional(-*value) : std::nullopt;
    }
    const double* value = literal(expression);
    constexpr double kMost = 0x1p31;
    if (value == nullptr || std::abs(*value) > kMost || *value != std::floor(*value))
        return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

void note_comparison(const Diagram& diagram, const Apply& call, Uses& uses) {
    for (std::size_t side = 0; side < 2; ++side) {
        const Expression& other = call.arguments[1 - side];
        std::set<AxisId> other_axes;
        walk(other, [&](const Expression& part) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
                other_axes.insert(index->axis);
        });
        const bool reads_other = !arrays_read(other).empty();
        if (const Read* element = std::get_if<Read>(&call.arguments[side].node))
            if (const std::optional<std::int64_t> number = whole_number(other))
                uses[element->array].numbers.insert(*number);
        for (const ArrayId array : arrays_read(call.arguments[side])) {
            InputUse& use = uses[array];
            use.ordered = use.ordered || is_ordering(call.function);
            use.document = use.document || reads_other;
            if (reads_other) continue;
            for (const AxisId axis : other_axes)
                use.positions = std::max(use.positions, diagram[axis].extent);
        }
    }
}

void note_expression(const Diagram& diagram, const Expression& expression, Uses& uses) {
    walk(expression, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr) return;
        if (is_ordering(call->function) || call->function == Function::Equal ||
            call->function == Function::NotEqual)
            note_comparison(diagram, *call, uses);
        const bool root = call->function == Function::Log || call->function == Function::Sqrt ||
                          call->function == Function::Rsqrt || call->function == Function::Divide;
        const Read* element = std::get_if<Read>(&call->arguments.back().node);
        if (root && element != nullptr) uses[element->array].positive = true;
    });
}

}  // namespace

std::map<ArrayId, InputUse> input_uses(const Diagram& diagram) {
    Uses uses;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            note_expression(diagram, *expression, uses);
    return uses;
}

}  // namespace napkin
