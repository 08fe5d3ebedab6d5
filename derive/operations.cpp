#include "derive/operations.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "diagrams/overloaded.h"

namespace napkin {

namespace {

bool uses_any(const Expression& expression, const std::vector<AxisId>& axes) {
    const std::set<AxisId> used = axes_used(expression);
    return std::any_of(axes.begin(), axes.end(),
                       [&](AxisId axis) { return used.count(axis) != 0; });
}

bool is_special(Function function) {
    return function == Function::Exp || function == Function::Log || function == Function::Tanh ||
           function == Function::Erf || function == Function::Sin || function == Function::Cos ||
           function == Function::Sqrt || function == Function::Rsqrt;
}

void add_power(const Apply& power, bool each, OperationCounts& total) {
    const PowerSteps steps = steps_of_power(std::get<Number>(power.arguments.back().node).value);
    (each ? total.flops_each : total.flops_once) += steps.flops();
    (each ? total.exponentials_each : total.exponentials_once) += steps.exponentials();
}

bool is_arithmetic(Function function) {
    switch (function) {
    case Function::Negate:
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Divide:
    case Function::Min:
    case Function::Max: return true;
    default: return false;
    }
}

/// Adds the operations of an expression; parts that do not vary along `folded` are done once.
void add_operations(const Expression& expression, const std::vector<AxisId>& folded,
                    OperationCounts& total) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) {
        if (const Convert* convert = std::get_if<Convert>(&expression.node))
            add_operations(convert->argument.front(), folded, total);
        return;
    }
    const std::set<ArrayId> arrays = arrays_read(expression);
    if (arrays.empty() && axes_used(expression).empty()) return;  // a constant
    const bool each = uses_any(expression, folded);
    if (call->function == Function::Power) add_power(*call, each, total);
    if (is_special(call->function)) ++(each ? total.exponentials_each : total.exponentials_once);
    if (is_arithmetic(call->function)) ++(each ? total.flops_each : total.flops_once);
    for (const Expression& argument : call->arguments)
        if (argument.node.index() != 0) add_operations(argument, folded, total);
}

void flatten_product(const Expression& expression, std::vector<const Expression*>& factors) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        for (const Expression& argument : call->arguments) flatten_product(argument, factors);
    } else {
        factors.push_back(&expression);
    }
}

/// A sum of a product: factors that do not vary along the folded axes are taken out of the sum.
OperationCounts sum_operations(const Fold& fold) {
    OperationCounts total;
    std::vector<const Expression*> factors;
    flatten_product(fold.values.front(), factors);
    std::int64_t inside = 0;
    std::int64_t outside = 0;
    for (const Expression* factor : factors) {
        add_operations(*factor, fold.over, total);
        const bool constant = arrays_read(*factor).empty() && axes_used(*factor).empty();
        ++(uses_any(*factor, fold.over) ? inside : outside);
        if (constant) --outside;
    }
    total.flops_each += std::max<std::int64_t>(inside - 1, 0) + 1;
    total.flops_once += outside;
    return total;
}

}  // namespace

PowerSteps steps_of_power(double exponent) {
    constexpr double kMost = 128;  // every product rounds
    const double size = std::abs(exponent);
    if (size == 0.5) return {PowerSteps::By::Root};
    if (size > kMost || size != std::floor(size)) return {};
    const auto factors = static_cast<unsigned>(size);
    const int products = factors == 0 ? 0 : std::bit_width(factors) + std::popcount(factors) - 2;
    return {PowerSteps::By::Products, products, exponent < 0};
}

OperationCounts operations_of(const Statement& statement) {
    return std::visit(
        overloaded{
            [](const Map& map) {
                OperationCounts total;
                add_operations(map.value, {}, total);
                return OperationCounts{0, total.flops_once, 0, total.exponentials_once};
            },
            [](const Fold& fold) {
                OperationCounts total;
                if (fold.monoid == kSum && fold.values.size() == 1) {
                    total = sum_operations(fold);
                } else {
                    for (const Expression& value : fold.values)
                        add_operations(value, fold.over, total);
                    total.flops_each += static_cast<std::int64_t>(fold.values.size());
                }
                for (const Expression& seed : fold.seed) add_operations(seed, fold.over, total);
                total.flops_once += static_cast<std::int64_t>(fold.seed.size());
                return total;
            },
            [](const Select& select) {
                OperationCounts total;
                add_operations(select.value, {select.over}, total);
                ++total.flops_each;
                return total;
            },
            [](const Opaque&) { return OperationCounts{}; },
        },
        statement.body);
}

}  // namespace napkin
