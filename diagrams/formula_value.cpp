// Exact evaluation of formulas at numbers.
#include <algorithm>

#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"

namespace napkin {

namespace {

using Value = std::optional<Rational>;

Value value_of(const Formula& formula, Sizes& sizes);

Value fold(const Formula& formula, Sizes& sizes, Value (*combine)(Rational, Rational)) {
    Value result = value_of(formula.args[0], sizes);
    for (std::size_t i = 1; result && i < formula.args.size(); ++i) {
        const Value next = value_of(formula.args[i], sizes);
        result = next ? combine(*result, *next) : std::nullopt;
    }
    return result;
}

Value sum_value(const Formula& formula, Sizes& sizes) {
    const Value low = value_of(formula.args[0], sizes);
    const Value high = value_of(formula.args[1], sizes);
    if (!low || !high) return std::nullopt;
    const bool shadows = sizes.contains(formula.symbol);
    std::int64_t& index = sizes[formula.symbol];
    const std::int64_t outer = index;
    Value total = Rational{0, 1};
    for (index = ceil_of(*low); total && index <= floor_of(*high); ++index) {
        const Value term = value_of(formula.args[2], sizes);
        total = term ? checked_add(*total, *term) : std::nullopt;
    }
    index = outer;
    if (!shadows) sizes.erase(formula.symbol);
    return total;
}

Value value_of(const Formula& formula, Sizes& sizes) {
    switch (formula.op) {
    case FormulaOp::Constant: return formula.constant;
    case FormulaOp::Symbol: {
        const Sizes::const_iterator found = sizes.find(formula.symbol);
        invariant(found != sizes.end(), "no value for the symbol `" + formula.symbol + "`");
        return Rational{found->second, 1};
    }
    case FormulaOp::Add: return fold(formula, sizes, checked_add);
    case FormulaOp::Multiply: return fold(formula, sizes, checked_multiply);
    case FormulaOp::Divide: return fold(formula, sizes, checked_divide);
    case FormulaOp::FloorDivide:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value {
            const Value quotient = checked_divide(a, b);
            return quotient ? Value({floor_of(*quotient), 1}) : std::nullopt;
        });
    case FormulaOp::CeilDivide:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value {
            const Value quotient = checked_divide(a, b);
            return quotient ? Value({ceil_of(*quotient), 1}) : std::nullopt;
        });
    case FormulaOp::Modulo:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value {
            const Value quotient = checked_divide(a, b);
            if (!quotient) return std::nullopt;
            const Value whole = checked_multiply(b, {-floor_of(*quotient), 1});
            return whole ? checked_add(a, *whole) : std::nullopt;
        });
    case FormulaOp::Min:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value { return std::min(a, b); });
    case FormulaOp::Max:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value { return std::max(a, b); });
    case FormulaOp::LessEqual:
        return fold(formula, sizes, [](Rational a, Rational b) -> Value {
            return Rational{b < a ? 0 : 1, 1};
        });
    case FormulaOp::Sum: return sum_value(formula, sizes);
    }
    return std::nullopt;
}

}  // namespace

std::optional<Rational> evaluate(const Formula& formula, const Sizes& sizes) {
    Sizes scope = sizes;
    return value_of(formula, scope);
}

std::int64_t evaluate_integer(const Formula& formula, const Sizes& sizes) {
    const std::optional<Rational> value = evaluate(formula, sizes);
    invariant(value.has_value(), "`" + print(formula) + "` overflows or divides by zero");
    invariant(value->denominator == 1, "`" + print(formula) + "` is not an integer");
    return value->numerator;
}

}  // namespace napkin
