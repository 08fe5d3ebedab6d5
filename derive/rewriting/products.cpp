#include "derive/rewriting/products.h"

#include <algorithm>
#include <cmath>

#include "derive/rewriting/simplify.h"
#include "diagrams/literal.h"

namespace napkin::rules {

namespace {

/// Whether a literal's power is that number and not one close to it: 1/3 is none.
bool is_exact(double value, double power) {
    int exponent = 0;
    return power > 0 || std::abs(std::frexp(value, &exponent)) == 0.5;
}

void collect(const Expression& expression, double power, Product& product) {
    if (const double* value = literal(expression); value != nullptr && is_exact(*value, power))
        return multiply(product, *value, power);
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return multiply(product, expression, power);
    const std::vector<Expression>& args = call->arguments;
    switch (call->function) {
    case Function::Multiply:
        collect(args[0], power, product);
        collect(args[1], power, product);
        return;
    case Function::Divide:
        collect(args[0], power, product);
        collect(args[1], -power, product);
        return;
    case Function::Negate:
        if (std::abs(std::fmod(power, 2)) == 1) product.coefficient = -product.coefficient;
        return collect(args[0], power, product);
    case Function::Power:
        if (const double* exponent = literal(args[1]);
            exponent != nullptr && *exponent == std::floor(*exponent) && *exponent > 0)
            return collect(args[0], power * *exponent, product);
        return multiply(product, expression, power);
    default: return multiply(product, expression, power);
    }
}

Expression raised(const Expression& base, double power) {
    if (power == 1) return base;
    return apply(Function::Power, {base, integer(static_cast<std::int64_t>(power))});
}

void append(std::optional<Expression>& total, Expression factor) {
    total = total ? apply(Function::Multiply, {std::move(*total), std::move(factor)})
                  : std::move(factor);
}

}  // namespace

void multiply(Product& product, double base, double power) {
    const std::optional<double> factor = power_of_literal(base, power);
    const std::optional<double> coefficient =
        factor ? product_of_literals(product.coefficient, *factor) : std::nullopt;
    if (coefficient)
        product.coefficient = *coefficient;
    else
        multiply(product, number(base), power);
}

void multiply(Product& product, const Expression& base, double power) {
    const auto same = std::find_if(product.factors.begin(), product.factors.end(),
                                   [&](const Factor& factor) { return factor.base == base; });
    // Above and below the line stay apart: x / x is no 1 where x is 0.
    if (same != product.factors.end() && (same->power > 0) == (power > 0))
        same->power += power;
    else
        product.factors.push_back({base, power});
}

Product product_of(const Expression& expression) {
    Product product;
    collect(expression, 1, product);
    return product;
}

Expression expression_of(const Product& product) {
    std::optional<Expression> above;
    std::optional<Expression> below;
    for (const Factor& factor : product.factors)
        append(factor.power > 0 ? above : below, raised(factor.base, std::abs(factor.power)));
    const double c = product.coefficient;
    if (c == -1 && above) above = apply(Function::Negate, {std::move(*above)});
    if (!above)
        above = number(c);
    else if (c != 1 && c != -1)
        above = apply(Function::Multiply, {std::move(*above), number(c)});
    if (!below) return *above;
    return apply(Function::Divide, {std::move(*above), std::move(*below)});
}

Product operator*(Product a, const Product& b) {
    multiply(a, b.coefficient, 1);
    for (const Factor& factor : b.factors) multiply(a, factor.base, factor.power);
    return a;
}

bool same_factors(const Product& a, const Product& b) {
    return a.coefficient == b.coefficient && a.factors.size() == b.factors.size() &&
           std::is_permutation(a.factors.begin(), a.factors.end(), b.factors.begin());
}

}  // namespace napkin::rules
