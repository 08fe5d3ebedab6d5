#include "diagrams/integer_range.h"

#include <algorithm>
#include <cmath>

#include "diagrams/checked.h"
#include "diagrams/overloaded.h"

namespace napkin {
namespace {

/// The hull of an operation's results at the ends of both ranges.
template <class Operation>
Interval at_ends(const Interval& a, const Interval& b, const Operation& operation) {
    const auto [low, high] = std::minmax({operation(a.low, b.low), operation(a.low, b.high),
                                          operation(a.high, b.low), operation(a.high, b.high)});
    return {low, high};
}

std::optional<Interval> of_call(const Apply& call, const std::vector<Interval>& parts) {
    switch (call.function) {
    case Function::Negate: return Interval{0, 0} - parts[0];
    case Function::Add: return parts[0] + parts[1];
    case Function::Subtract: return parts[0] - parts[1];
    case Function::Multiply: return parts[0] * parts[1];
    case Function::FloorDivide: return floor_quotient(parts[0], parts[1]);
    case Function::Modulo: return remainder(parts[0], parts[1]);
    case Function::Abs: return magnitude(parts[0]);
    case Function::Min: return smaller(parts[0], parts[1]);
    case Function::Max: return larger(parts[0], parts[1]);
    case Function::Select: return hull(parts[1], parts[2]);
    case Function::Power:
        if (!parts[1].is_one() || parts[1].low < 0) return std::nullopt;
        return power(parts[0], parts[1].low);
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: return bit_range(call.function, parts[0], parts[1]);
    default: return std::nullopt;
    }
}

/// 2^n for n of the range that are not negative.
Interval powers_of_two(const Interval& n) {
    const auto power = [](std::int64_t exponent) {
        if (exponent > 62) return std::numeric_limits<std::int64_t>::max();
        return std::int64_t{1} << std::max<std::int64_t>(exponent, 0);
    };
    return {power(n.low), power(n.high)};
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
    return {saturating_add(a.low, b.low), saturating_add(a.high, b.high)};
}

Interval operator-(const Interval& a, const Interval& b) {
    return a + Interval{saturating_multiply(b.high, -1), saturating_multiply(b.low, -1)};
}

Interval operator*(const Interval& a, const Interval& b) {
    return at_ends(a, b, saturating_multiply);
}

Interval hull(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval floor_quotient(const Interval& a, const Interval& b) {
    if (b.low > 0)
        return at_ends(a, b, [](std::int64_t x, std::int64_t y) { return floor_quotient(x, y); });
    return hull(a, Interval{0, 0} - a);
}

Interval remainder(const Interval& a, const Interval& b) {
    if (b.is_one() && b.low > 0 && floor_quotient(a.low, b.low) == floor_quotient(a.high, b.low))
        return a - Interval{b.low, b.low} * floor_quotient(a, b);
    return {std::min<std::int64_t>(saturating_add(b.low, 1), 0),
            std::max<std::int64_t>(saturating_add(b.high, -1), 0)};
}

Interval smaller(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

Interval larger(const Interval& a, const Interval& b) {
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

Interval magnitude(const Interval& a) {
    const Interval negative = Interval{0, 0} - a;
    if (a.low >= 0) return a;
    if (a.high <= 0) return negative;
    return {0, std::max(a.high, negative.high)};
}

Interval power(const Interval& a, std::int64_t exponent) {
    const bool even = exponent % 2 == 0;
    const Interval base = even ? magnitude(a) : a;
    Interval result = {1, 1};
    // Further factors no longer change a saturated end, nor those of -1, 0 and 1.
    for (std::int64_t i = 0; i < std::min<std::int64_t>(exponent, 64 + exponent % 2); ++i)
        result = {saturating_multiply(result.low, base.low),
                  saturating_multiply(result.high, base.high)};
    return {std::min(result.low, result.high), std::max(result.low, result.high)};
}

Interval bit_range(Function function, const Interval& a, const Interval& b) {
    const bool negative = a.low < 0 || b.low < 0;
    const Interval zero = {0, 0};
    switch (function) {
    case Function::ShiftLeft: {
        const Interval shifted = a * powers_of_two(b);
        return b.low < 0 ? hull(shifted, zero) : shifted;
    }
    case Function::ShiftRight: {
        const Interval shifted = floor_quotient(a, powers_of_two(b));
        return b.low < 0 ? hull(shifted, zero) : shifted;
    }
    case Function::BitAnd:
        if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
        if (a.low >= 0 || b.low >= 0) return {0, a.low >= 0 ? a.high : b.high};
        break;
    default: break;
    }
    // As many bits as the one that has more of them.
    std::int64_t ones = 0;
    for (const std::int64_t end : {a.low, a.high, b.low, b.high})
        while (ones < (end < 0 ? -(end + 1) : end)) ones = 2 * ones + 1;
    return {negative ? -ones - 1 : 0, ones};
}

Interval range_of(ElementType type) {
    switch (type) {
    case ElementType::Bool: return {0, 1};
    case ElementType::I4: return {-8, 7};
    case ElementType::I8: return {-128, 127};
    case ElementType::I32: return kAny32;
    default: return kAny64;
    }
}

std::optional<Interval> value_range(const Expression& expression, const LeafRange& leaf,
                                    const RangeVisitor& visit) {
    const auto of = [&](const Expression& part) { return value_range(part, leaf, visit); };
    const std::optional<Interval> range =
        std::visit(overloaded{
                       [](const Number& number) -> std::optional<Interval> {
                           if (!number.is_integer || !std::isfinite(number.value))
                               return std::nullopt;
                           const auto value = static_cast<std::int64_t>(number.value);
                           return Interval{value, value};
                       },
                       [&](const Read& read) -> std::optional<Interval> {
                           for (const Expression& index : read.index) of(index);
                           return leaf(expression);
                       },
                       [&](const Apply& call) -> std::optional<Interval> {
                           std::vector<Interval> parts;
                           bool known = true;
                           for (const Expression& argument : call.arguments) {
                               const std::optional<Interval> part = of(argument);
                               const bool condition = call.function == Function::Select &&
                                                      &argument == &call.arguments.front();
                               known = known && (part || condition);
                               parts.push_back(part.value_or(Interval{}));
                           }
                           return known ? of_call(call, parts) : std::nullopt;
                       },
                       [&](const Convert& convert) -> std::optional<Interval> {
                           const std::optional<Interval> inner = of(convert.argument.front());
                           if (is_floating(convert.type)) return std::nullopt;
                           const Interval type = range_of(convert.type);
                           return inner && inner->within(type) ? *inner : type;
                       },
                       [&](const auto&) { return leaf(expression); },
                   },
                   expression.node);
    if (range && visit) visit(expression, *range);
    return range;
}

}  // namespace napkin
