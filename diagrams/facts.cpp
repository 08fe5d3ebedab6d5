#include "diagrams/facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diagrams/overloaded.h"

namespace napkin {

namespace {

/// Of these values, 0 for data that makes them so; what is no number is no bound.
Facts between(double low, double high) {
    return {.low = std::isnan(low) ? -kInfinity : low + 0.0,
            .high = std::isnan(high) ? kInfinity : high + 0.0};
}

/// What bounds keep from 0 is never 0, and what they keep finite is finite.
Facts kept_within(Facts facts) {
    if (facts.low > 0 || facts.high < 0) facts.zero = facts.vanishes = false;
    facts.minus_infinity &= facts.low == -kInfinity;
    facts.plus_infinity &= facts.high == kInfinity;
    return facts;
}

/// Of a function that rises, and is 0 and infinite where its argument is.
template <class Operation>
Facts rising(Facts facts, const Operation& operation) {
    facts.low = operation(facts.low);
    facts.high = operation(facts.high);
    return facts;
}

/// Bounds from those of two values; what is no number there, as 0 times infinity, counts as 0.
template <class Operation>
Facts corners(const Facts& a, const Facts& b, const Operation& operation) {
    Facts result = between(kInfinity, -kInfinity);
    for (const double x : {a.low, a.high})
        for (const double y : {b.low, b.high}) {
            const double value = std::isnan(operation(x, y)) ? 0 : operation(x, y) + 0.0;
            result.low = std::min(result.low, value);
            result.high = std::max(result.high, value);
        }
    return result;
}

Facts negated(const Facts& a) {
    Facts result = between(-a.high, -a.low);
    result.zero = a.zero;
    result.vanishes = a.vanishes;
    result.minus_infinity = a.plus_infinity;
    result.plus_infinity = a.minus_infinity;
    return result;
}

Facts sum(const Facts& a, const Facts& b) {
    Facts result = between(a.low + b.low, a.high + b.high);
    if (a.nonnegative() && b.nonnegative())
        result.zero = (a.zero && (b.zero || b.vanishes)) || (b.zero && a.vanishes);
    result.vanishes = a.vanishes && b.vanishes;
    result.minus_infinity = a.minus_infinity || b.minus_infinity;
    result.plus_infinity = a.plus_infinity || b.plus_infinity;
    return result;
}

/// -inf less -inf is -inf: a value relative to a maximum is not infinite where that is one of
/// nothing. Of other two that are both -inf at times it is not asked whether they are so together.
Facts difference(const Facts& a, Facts b) {
    if (a.minus_infinity) b.minus_infinity = false;
    return sum(a, negated(b));
}

/// The infinities of a product: those of one side where the other has a sign and is finite.
void multiply_infinities(Facts& result, const Facts& a, const Facts& b) {
    result.minus_infinity = result.plus_infinity = a.may_be_infinite() || b.may_be_infinite();
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        if (other->may_be_infinite() || (other->low < 0 && other->high > 0)) continue;
        const Facts followed = other->nonnegative() ? *one : negated(*one);
        result.minus_infinity = followed.minus_infinity;
        result.plus_infinity = followed.plus_infinity;
    }
}

Facts product(const Facts& a, const Facts& b) {
    Facts result = corners(a, b, [](double x, double y) { return x * y; });
    result.zero = a.zero || b.zero;
    result.vanishes = a.vanishes || b.vanishes;
    multiply_infinities(result, a, b);
    return result;
}

Facts quotient(const Facts& a, const Facts& b) {
    if (b.high <= 0 && b.low < 0) return quotient(negated(a), negated(b));
    Facts result;
    if (b.low >= 0) result = corners(a, b, [](double x, double y) { return x / y; });
    result.zero = a.zero;
    result.vanishes = a.vanishes || b.may_be_infinite();
    Facts finite = b;
    finite.minus_infinity = finite.plus_infinity = false;
    multiply_infinities(result, a, finite);
    if (b.vanishes && !a.vanishes)  // 0 / 0 is 0
        result.minus_infinity = result.plus_infinity = true;
    return result;
}

Facts absolute(const Facts& a) {
    if (a.nonnegative()) return a;
    if (a.high <= 0) return negated(a);
    return {0, std::max(-a.low, a.high), a.zero, a.vanishes, false, a.may_be_infinite()};
}

Facts larger(const Facts& a, const Facts& b) {
    Facts result = between(std::max(a.low, b.low), std::max(a.high, b.high));
    result.zero = (a.zero || b.zero) && !a.positive() && !b.positive();
    result.vanishes = a.vanishes || b.vanishes;
    result.minus_infinity = a.minus_infinity && b.minus_infinity;
    result.plus_infinity = a.plus_infinity || b.plus_infinity;
    return result;
}

Facts exponential(const Facts& a) {
    return {std::exp(a.low), std::exp(a.high), false, a.minus_infinity, false, a.plus_infinity};
}

Facts logarithm(const Facts& a) {
    Facts result = between(std::log(std::max(a.low, 0.0)), std::log(std::max(a.high, 0.0)));
    result.minus_infinity = a.vanishes;
    result.plus_infinity = a.plus_infinity;
    return result;
}

/// 0 in place of an infinity.
Facts guarded(Facts a) {
    if (!a.may_be_infinite()) return a;
    return {std::min(a.low, 0.0), std::max(a.high, 0.0), a.zero, true};
}

Facts floored(const Facts& a) {
    Facts result = rising(a, [](double x) { return std::floor(x); });
    result.zero = true;
    return result;
}

Facts of_call(Function function, const Facts& a, const Facts& b) {
    switch (function) {
    case Function::Negate: return negated(a);
    case Function::Add: return sum(a, b);
    case Function::Subtract: return difference(a, b);
    case Function::Multiply: return product(a, b);
    case Function::Divide: return quotient(a, b);
    case Function::FloorDivide: return floored(quotient(a, b));
    case Function::Modulo: return b.nonnegative() ? between(0, b.high) : Facts{};
    case Function::Power:
        if (b.low == b.high) return facts_of_power(a, b.low);
        return a.nonnegative() ? between(0, kInfinity) : Facts{};
    case Function::Exp: return exponential(a);
    case Function::Log: return logarithm(a);
    case Function::Sqrt: return facts_of_power(a, 0.5);
    case Function::Rsqrt: return facts_of_power(a, -0.5);
    case Function::Tanh: return rising(a, [](double x) { return std::tanh(x); });
    case Function::Erf: return rising(a, [](double x) { return std::erf(x); });
    case Function::Sin:
    case Function::Cos: return between(-1, 1);
    case Function::Abs: return absolute(a);
    case Function::Max: return larger(a, b);
    case Function::Min: return negated(larger(negated(a), negated(b)));
    case Function::Floor: return floored(a);
    case Function::Select: return either(a, b);
    case Function::Guard: return guarded(a);
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight:
        return a.nonnegative() && b.nonnegative() ? between(0, kInfinity) : Facts{};
    default: return between(0, 1);  // comparisons and logic
    }
}

}  // namespace

Facts facts_of_number(double value) {
    return {value, value, false, value == 0, value == -kInfinity, value == kInfinity};
}

Facts facts_of_index() {
    return between(0, kInfinity);
}

Facts facts_of_size() {
    return {.low = 1, .zero = false};
}

Facts either(const Facts& a, const Facts& b) {
    return {std::min(a.low, b.low),
            std::max(a.high, b.high),
            a.zero || b.zero,
            a.vanishes || b.vanishes,
            a.minus_infinity || b.minus_infinity,
            a.plus_infinity || b.plus_infinity};
}

Facts facts_of_call(Function function, std::span<const Facts> arguments) {
    const std::size_t first = function == Function::Select ? 1 : 0;
    return kept_within(of_call(function, arguments[first], arguments.back()));
}

Facts facts_of_power(const Facts& base, double exponent) {
    if (exponent == 0) return facts_of_number(1);
    if (exponent < 0)
        return kept_within(quotient(facts_of_number(1), facts_of_power(base, -exponent)));
    const bool whole = exponent == std::floor(exponent);
    const bool even = std::fmod(exponent, 2) == 0;
    return rising(even ? absolute(base) : base, [&](double x) {
        return std::pow(whole ? x : std::max(x, 0.0), exponent);  // of a negative one it is none
    });
}

Facts facts_of_rounding(ElementType type, const Facts& value) {
    if (type == ElementType::Bool) return between(0, 1);
    if (!is_floating(type)) return value.nonnegative() ? between(0, kInfinity) : Facts{};
    return rising(value, [type](double x) { return std::isinf(x) ? x : round_to(type, x); });
}

Facts facts_of_fold(MonoidId monoid, const Facts& element) {
    Facts result = element;
    if (monoid == kMax || monoid == kMin) return result;
    if (monoid == kSum) {
        if (element.low < 0) result.low = -kInfinity;
        if (element.high > 0) result.high = kInfinity;
        result.zero |= element.low < 0 && element.high > 0;
        return result;
    }
    const bool keeps_sign = monoid == kProduct && element.nonnegative();
    result.low = keeps_sign ? (element.low >= 1 ? element.low : 0) : -kInfinity;
    result.high = keeps_sign && element.high <= 1 ? element.high : kInfinity;
    result.zero |= monoid != kProduct;
    result.minus_infinity = result.plus_infinity = element.may_be_infinite();
    return kept_within(result);
}

Facts DiagramFacts::of(const Expression& expression) const {
    return std::visit(overloaded{
                          [](const Number& number) { return facts_of_number(number.value); },
                          [](const AxisIndex&) { return facts_of_index(); },
                          [](const SizeOf&) { return facts_of_size(); },
                          [&](const Read& element) { return of(element.array); },
                          [&](const Apply& call) { return of(call); },
                          [&](const Convert& convert) {
                              return facts_of_rounding(convert.type, of(convert.argument.front()));
                          },
                          [](const Operand&) { return Facts{}; },
                      },
                      expression.node);
}

Facts DiagramFacts::of(const Apply& call) const {
    const std::vector<Expression>& args = call.arguments;
    if (call.function == Function::Multiply && args[0] == args[1])
        return facts_of_power(of(args[0]), 2);
    std::vector<Facts> parts;
    for (const Expression& argument : args) parts.push_back(of(argument));
    return facts_of_call(call.function, parts);
}

Facts DiagramFacts::of(ArrayId array) const {
    const auto found = known_.find(array);
    if (found != known_.end()) return found->second;
    const std::optional<StatementId> source = producer(diagram_, array);
    Facts facts = source ? computed(diagram_[*source], array) : given(diagram_[array]);
    if (diagram_[array].rounds) facts = facts_of_rounding(diagram_[array].type, facts);
    return known_[array] = facts;
}

Facts DiagramFacts::given(const Array& array) const {
    if (array.type == ElementType::Bool) return between(0, 1);
    return array.indexes ? facts_of_index() : Facts{};
}

Facts DiagramFacts::computed(const Statement& statement, ArrayId target) const {
    if (const Map* map = std::get_if<Map>(&statement.body)) return of(map->value);
    if (const Select* select = std::get_if<Select>(&statement.body))
        return statement.targets.front() == target ? of(select->value) : facts_of_index();
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || !fold->seed.empty()) return {};
    Facts element = of(fold->values.front());
    for (const Expression& value : fold->values) element = either(element, of(value));
    return facts_of_fold(fold->monoid, element);
}

}  // namespace napkin
