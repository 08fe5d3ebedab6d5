#include "codegen/lowering/interval_code.h"

#include "codegen/fold_constants.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
namespace {

/// `low < 0` and the like, folded where it is known.
kernel::Expression compare(const IndexForm& a, kernel::Operator relation) {
    if (a.is_constant()) return folded(binary(relation, a.constant, 0));
    // A sum with one subtracted side reads better as a comparison of two sides.
    IndexForm left;
    IndexForm right;
    for (const auto& [atom, coefficient] : a.terms) {
        IndexForm term;
        term.terms.emplace_back(atom, 1);
        if (coefficient > 0)
            left = left + term * coefficient;
        else
            right = right + term * -coefficient;
    }
    if (a.constant > 0)
        left = left + a.constant;
    else
        right = right - a.constant;
    return binary(relation, expression_of(left), expression_of(right));
}
kernel::Expression below(const IndexForm& a) {
    return compare(a, kernel::Operator::Less);
}
kernel::Expression at_most(const IndexForm& a) {
    return compare(a, kernel::Operator::LessEqual);
}
kernel::Expression above(const IndexForm& a) {
    return compare(a, kernel::Operator::Greater);
}
kernel::Expression at_least(const IndexForm& a) {
    return compare(a, kernel::Operator::GreaterEqual);
}

}  // namespace

struct IntervalPrinter::Linear {
    IndexForm fixed;
    std::map<AxisId, std::int64_t> axes;
    std::vector<std::pair<IntervalCode, std::int64_t>> others;
};

/// Adds factor * expression; false where it depends on data.
bool IntervalPrinter::add_linear(const Expression& expression, std::int64_t factor,
                                 Linear& sum) const {
    if (const Number* number = std::get_if<Number>(&expression.node)) {
        if (!number->is_integer) return false;
        sum.fixed = sum.fixed + static_cast<std::int64_t>(number->value) * factor;
        return true;
    }
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
        sum.fixed = sum.fixed + sizes_[size->axis.index()] * factor;
        return true;
    }
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node)) {
        sum.axes[index->axis] += factor;
        return true;
    }
    if (const Apply* call = std::get_if<Apply>(&expression.node)) {
        const std::vector<Expression>& args = call->arguments;
        switch (call->function) {
        case Function::Negate: return add_linear(args[0], -factor, sum);
        case Function::Add:
            return add_linear(args[0], factor, sum) && add_linear(args[1], factor, sum);
        case Function::Subtract:
            return add_linear(args[0], factor, sum) && add_linear(args[1], -factor, sum);
        case Function::Multiply:
            for (const std::size_t side : {0U, 1U}) {
                const Number* number = std::get_if<Number>(&args[side].node);
                if (number != nullptr && number->is_integer)
                    return add_linear(args[1 - side],
                                      factor * static_cast<std::int64_t>(number->value), sum);
            }
            break;
        default: break;
        }
    }
    const std::optional<IntervalCode> other = nonlinear(expression);
    if (!other) return false;
    sum.others.emplace_back(*other, factor);
    return true;
}

std::optional<IntervalCode> IntervalPrinter::bounds(const Expression& expression) const {
    Linear sum;
    if (!add_linear(expression, 1, sum)) return std::nullopt;
    IntervalCode result{sum.fixed, sum.fixed};
    const auto add = [&](const IndexForm& low, const IndexForm& high, std::int64_t factor) {
        result.low = result.low + (factor > 0 ? low : high) * factor;
        result.high = result.high + (factor > 0 ? high : low) * factor;
    };
    for (const auto& [axis, factor] : sum.axes) {
        const auto found = ranges_.find(axis);
        if (found == ranges_.end())
            add(0, sizes_[axis.index()] - 1, factor);
        else
            add(found->second.start, found->second.start + found->second.count - 1, factor);
    }
    for (const auto& [other, factor] : sum.others) add(other.low, other.high, factor);
    return result;
}

std::optional<IntervalCode> IntervalPrinter::quotient(const Apply& call) const {
    const std::optional<IntervalCode> a = bounds(call.arguments[0]);
    const std::optional<IntervalCode> b = bounds(call.arguments[1]);
    if (!a || !b || b->low != b->high) return std::nullopt;
    if (b->low.is_constant() && b->low.constant <= 0) return std::nullopt;
    const IndexForm low = floor_divide(a->low, b->low);
    const IndexForm high = floor_divide(a->high, b->low);
    if (call.function == Function::FloorDivide) return IntervalCode{low, high};
    if (low == high) return IntervalCode{modulo(a->low, b->low), modulo(a->high, b->low)};
    if (low.is_constant() && high.is_constant()) return IntervalCode{0, b->low - 1};
    const kernel::Expression same = equal(expression_of(low), expression_of(high));
    const auto chosen = [&](const IndexForm& yes, const IndexForm& no) {
        const bool wide = is_wide(yes) || is_wide(no);
        return index_atom(choose(same, expression_as(yes, wide), expression_as(no, wide)),
                          hull(range_of(yes), range_of(no)), wide);
    };
    return IntervalCode{chosen(modulo(a->low, b->low), 0),
                        chosen(modulo(a->high, b->low), b->low - 1)};
}

std::optional<IntervalCode> IntervalPrinter::nonlinear(const Expression& expression) const {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    const auto side = [&](std::size_t at) { return bounds(call->arguments[at]); };
    switch (call->function) {
    case Function::Multiply: {
        const std::optional<IntervalCode> a = side(0);
        const std::optional<IntervalCode> b = side(1);
        if (!a || !b) return std::nullopt;
        if (a->low == a->high && b->low == b->high)
            return IntervalCode{a->low * b->low, a->low * b->low};
        const IntervalCode& fixed = a->low == a->high ? *a : *b;
        const IntervalCode& other = a->low == a->high ? *b : *a;
        if (fixed.low != fixed.high) return std::nullopt;
        if (fixed.low.is_constant() && fixed.low.constant < 0)
            return IntervalCode{other.high * fixed.low, other.low * fixed.low};
        // Anything else that is fixed is a product of sizes, which are positive.
        return IntervalCode{other.low * fixed.low, other.high * fixed.low};
    }
    case Function::FloorDivide:
    case Function::Modulo: return quotient(*call);
    case Function::Min:
    case Function::Max: {
        const std::optional<IntervalCode> a = side(0);
        const std::optional<IntervalCode> b = side(1);
        if (!a || !b) return std::nullopt;
        if (call->function == Function::Min)
            return IntervalCode{minimum(a->low, b->low), minimum(a->high, b->high)};
        return IntervalCode{maximum(a->low, b->low), maximum(a->high, b->high)};
    }
    case Function::Select: {
        const std::optional<IntervalCode> a = side(1);
        const std::optional<IntervalCode> b = side(2);
        if (!a || !b) return std::nullopt;
        return IntervalCode{minimum(a->low, b->low), maximum(a->high, b->high)};
    }
    default: return std::nullopt;
    }
}

/// Bounds of the difference of a comparison's sides.
std::optional<IntervalCode> IntervalPrinter::compared(const Apply& call) const {
    return bounds(apply(Function::Subtract, call.arguments));
}

kernel::Expression IntervalPrinter::decide(const Expression& condition, bool everywhere) const {
    kernel::Expression unknown = !everywhere;
    if (const Number* number = std::get_if<Number>(&condition.node)) return number->value != 0;
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr) return unknown;
    const auto part = [&](std::size_t at) { return decide(call->arguments[at], everywhere); };
    switch (call->function) {
    case Function::And: return part(0) && part(1);
    case Function::Or: return part(0) || part(1);
    case Function::Not: return !decide(call->arguments[0], !everywhere);
    default: break;
    }
    if (!is_comparison_or_logic(call->function)) return unknown;
    const std::optional<IntervalCode> difference = compared(*call);
    if (!difference) return unknown;
    const IndexForm& low = difference->low;
    const IndexForm& high = difference->high;
    switch (call->function) {
    case Function::Less: return below(everywhere ? high : low);
    case Function::LessEqual: return at_most(everywhere ? high : low);
    case Function::Greater: return above(everywhere ? low : high);
    case Function::GreaterEqual: return at_least(everywhere ? low : high);
    case Function::Equal:
        return everywhere ? at_least(low) && at_most(high) : at_most(low) && at_least(high);
    case Function::NotEqual:
        return everywhere ? above(low) || below(high) : !(at_least(low) && at_most(high));
    default: return unknown;
    }
}

kernel::Expression IntervalPrinter::may_hold(const Expression& condition) const {
    return decide(condition, false);
}

kernel::Expression IntervalPrinter::must_hold(const Expression& condition) const {
    return decide(condition, true);
}

}  // namespace napkin::lowering
