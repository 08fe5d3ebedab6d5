#include "derive/product_divisor.h"

namespace napkin {

std::optional<Expression> divisor_of_product(const Statement& statement,
                                             const std::vector<AxisId>& target,
                                             const AxisFilter& counts, const AxesAlong& along) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || contraction_of(statement, target, counts, along)) return std::nullopt;
    std::optional<Expression> divisor;
    Fold multiplied = *fold;
    for (Expression& value : multiplied.values)
        value = rewrite(value, [&](const Expression& node) -> Expression {
            const Apply* call = std::get_if<Apply>(&node.node);
            if (call == nullptr || call->function != Function::Divide ||
                arrays_read(call->arguments[1]).empty())
                return node;
            divisor = call->arguments[1];
            const Expression inverse = apply(Function::Divide, {number(1), call->arguments[1]});
            return apply(Function::Multiply, {call->arguments[0], inverse});
        });
    Statement other = statement;
    other.body = std::move(multiplied);
    return contraction_of(other, target, counts, along) ? divisor : std::nullopt;
}

}  // namespace napkin
