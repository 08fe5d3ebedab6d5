#include "schedule/factors.h"

#include <algorithm>
#include <optional>

namespace napkin::schedule {
namespace {

/// Whether an element can be read whatever the conditions around it.
bool reads_plainly(const Expression& expression) {
    bool plain = true;
    walk(expression, [&](const Expression& node) {
        const Read* read = std::get_if<Read>(&node.node);
        if (read == nullptr) return;
        for (const Expression& index : read->index)
            plain = plain && std::holds_alternative<AxisIndex>(index.node);
    });
    return plain;
}

/// `if c then u * v else 0` is `(if c then u else 0) * v` where u runs along all that c does.
std::optional<std::vector<Expression>> masked_factors(const std::vector<TileAxis>& axes,
                                                      const Expression& condition,
                                                      const Expression& product) {
    std::vector<Expression> factors = factors_of(axes, product);
    const std::set<AxisId> needed = axes_along(axes, condition);
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const std::set<AxisId> uses = axes_along(axes, factors[i]);
        if (!std::includes(uses.begin(), uses.end(), needed.begin(), needed.end())) continue;
        const Expression whole = factors[i];
        bool others = true;
        for (std::size_t o = 0; o < factors.size(); ++o)
            others = others && (o == i || reads_plainly(factors[o]));
        if (!others) continue;
        factors[i] = apply(Function::Select, {condition, whole, number(0)});
        return factors;
    }
    return std::nullopt;
}

}  // namespace

bool is_zero(const Expression& expression) {
    const Number* literal = std::get_if<Number>(&expression.node);
    return literal != nullptr && literal->value == 0;
}

std::vector<Expression> factors_of(const std::vector<TileAxis>& axes,
                                   const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        std::vector<Expression> factors = factors_of(axes, call->arguments[0]);
        for (Expression& factor : factors_of(axes, call->arguments[1]))
            factors.push_back(std::move(factor));
        return factors;
    }
    if (call != nullptr && call->function == Function::Negate) {
        std::vector<Expression> factors = factors_of(axes, call->arguments[0]);
        factors.push_back(number(-1));
        return factors;
    }
    if (call != nullptr && call->function == Function::Select && is_zero(call->arguments[2]))
        if (auto factors = masked_factors(axes, call->arguments[0], call->arguments[1]))
            return *factors;
    return {expression};
}

}  // namespace napkin::schedule
