// Interval reasoning. An integer expression is brought to a linear form: a constant, integer
// factors of axis indices, and opaque atoms (min, max, floor-div, mod, products) that only have an
// interval. Distinct axes vary independently over a tile, so the bounds of a linear form without
// atoms are attained.
//
// A condition is decided on `difference <= 0` forms. Comparisons with min, max, abs and floor-div
// are first rewritten to conjunctions and disjunctions of plain ones (a <= min(b, c) is a <= b and
// a <= c), because an atom's interval forgets that it moves together with the other side. Conjuncts
// about the same linear form are intersected: a sliding window is two bounds on x - q, and a tile
// misses it when the interval of x - q misses their intersection.
#include "diagrams/interval.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagrams/checked.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

/// constant + sum of factor * axis + an interval of everything else.
struct Linear {
    std::map<AxisId, std::int64_t> factors;
    Interval rest;  ///< the constant and the atoms together
    bool operator==(const Linear&) const = default;
};

Linear scaled(Linear form, std::int64_t factor) {
    for (auto& [axis, value] : form.factors) value = saturating_multiply(value, factor);
    form.rest = form.rest * Interval{factor, factor};
    if (factor == 0) form.factors.clear();
    return form;
}

Linear sum(Linear a, const Linear& b) {
    for (const auto& [axis, value] : b.factors) {
        std::int64_t& factor = a.factors[axis];
        factor = saturating_add(factor, value);
        if (factor == 0) a.factors.erase(axis);
    }
    a.rest = a.rest + b.rest;
    return a;
}

class Reasoner {
public:
    Reasoner(const std::vector<Axis>& axes, const Ranges& ranges) : axes_(axes), ranges_(ranges) {}

    std::optional<Linear> linear(const Expression& expression) const {
        return std::visit(
            overloaded{
                [&](const Number& value) { return literal(value.value); },
                [&](const AxisIndex& index) {
                    return std::optional<Linear>(Linear{{{index.axis, 1}}, {0, 0}});
                },
                [&](const SizeOf& size) { return constant(axes_[size.axis.index()].extent); },
                [&](const Read&) { return std::optional<Linear>(); },
                [&](const Apply& call) { return linear_call(call); },
                [&](const Convert& convert) {
                    return is_floating(convert.type) ? std::optional<Linear>()
                                                     : linear(convert.argument.front());
                },
                [&](const Operand&) { return std::optional<Linear>(); },
            },
            expression.node);
    }

    Interval range(const Linear& form) const {
        Interval total = form.rest;
        for (const auto& [axis, factor] : form.factors)
            total = total + range_of(axis) * Interval{factor, factor};
        return total;
    }

private:
    Interval range_of(AxisId axis) const {
        const auto found = ranges_.find(axis);
        return found != ranges_.end() ? found->second : Interval{0, axes_[axis.index()].extent - 1};
    }
    static std::optional<Linear> constant(std::int64_t value) { return Linear{{}, {value, value}}; }
    static std::optional<Linear> literal(double value) {
        if (std::floor(value) != value || std::abs(value) > 1e15) return std::nullopt;
        return constant(static_cast<std::int64_t>(value));
    }
    static std::optional<Linear> atom(Interval interval) { return Linear{{}, interval}; }

    std::optional<Linear> linear_call(const Apply& call) const {
        std::vector<Linear> parts;
        for (const Expression& argument : call.arguments) {
            if (call.function == Function::Select && parts.empty() &&
                &argument == &call.arguments.front()) {
                parts.push_back(Linear{});  // a condition has no linear form and needs none
                continue;
            }
            const std::optional<Linear> part = linear(argument);
            if (!part) return std::nullopt;
            parts.push_back(*part);
        }
        switch (call.function) {
        case Function::Negate: return scaled(parts[0], -1);
        case Function::Add: return sum(parts[0], parts[1]);
        case Function::Subtract: return sum(parts[0], scaled(parts[1], -1));
        case Function::Multiply: return product(parts[0], parts[1]);
        case Function::FloorDivide: return quotient(parts[0], parts[1]);
        case Function::Modulo: return remainder(parts[0], parts[1]);
        case Function::Abs: return atom(magnitude(range(parts[0])));
        case Function::Min: return atom(smaller(range(parts[0]), range(parts[1])));
        case Function::Max: return atom(larger(range(parts[0]), range(parts[1])));
        case Function::Select: return atom(hull(range(parts[1]), range(parts[2])));
        default: return std::nullopt;
        }
    }

    std::optional<Linear> product(const Linear& a, const Linear& b) const {
        if (a.factors.empty() && a.rest.low == a.rest.high) return scaled(b, a.rest.low);
        if (b.factors.empty() && b.rest.low == b.rest.high) return scaled(a, b.rest.low);
        return atom(range(a) * range(b));
    }
    std::optional<Linear> quotient(const Linear& a, const Linear& b) const {
        const Interval divisor = range(b);
        if (divisor.low <= 0) return std::nullopt;
        return atom(floor_quotient(range(a), divisor));
    }
    std::optional<Linear> remainder(const Linear& a, const Linear& b) const {
        const Interval u = range(a);
        const Interval v = range(b);
        if (v.low <= 0) return std::nullopt;
        if (!v.is_one() || floor_quotient(u.low, v.low) != floor_quotient(u.high, v.low))
            return atom(napkin::remainder(u, v));
        const std::int64_t start = v.low * floor_quotient(u.low, v.low);
        return sum(a, *constant(-start));
    }

    const std::vector<Axis>& axes_;
    const Ranges& ranges_;
};

const Apply* call_of(const Expression& expression, Function function) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == function ? call : nullptr;
}

/// Decides conditions over one tile.
class Decider {
public:
    Decider(const std::vector<Axis>& axes, const Ranges& ranges) : reasoner_(axes, ranges) {}

    Coverage decide(const Expression& condition) {
        if (const Number* value = std::get_if<Number>(&condition.node))
            return value->value != 0 ? Coverage::Full : Coverage::Empty;
        const Apply* call = std::get_if<Apply>(&condition.node);
        if (call == nullptr) return Coverage::Partial;
        const auto& args = call->arguments;
        switch (call->function) {
        case Function::And: return conjunction(condition);
        case Function::Or: return either(decide(args[0]), decide(args[1]));
        case Function::Not: return opposite(decide(args[0]));
        case Function::LessEqual: return at_most(args[0], args[1], 0);
        case Function::Less: return at_most(args[0], args[1], 1);
        case Function::GreaterEqual: return at_most(args[1], args[0], 0);
        case Function::Greater: return at_most(args[1], args[0], 1);
        case Function::Equal: return equal(args[0], args[1]);
        case Function::NotEqual: return opposite(equal(args[0], args[1]));
        default: return Coverage::Partial;
        }
    }

private:
    static Coverage opposite(Coverage coverage) {
        if (coverage == Coverage::Partial) return coverage;
        return coverage == Coverage::Full ? Coverage::Empty : Coverage::Full;
    }
    static Coverage both(Coverage a, Coverage b) {
        if (a == Coverage::Empty || b == Coverage::Empty) return Coverage::Empty;
        return a == Coverage::Full && b == Coverage::Full ? Coverage::Full : Coverage::Partial;
    }
    static Coverage either(Coverage a, Coverage b) {
        return opposite(both(opposite(a), opposite(b)));
    }

    /// left + slack <= right over integers.
    Coverage at_most(const Expression& left, const Expression& right, std::int64_t slack) {
        for (const auto& [function, side] :
             {std::pair{Function::Max, &left}, std::pair{Function::Min, &right}})
            if (const Apply* call = call_of(*side, function))
                return both(side == &left ? at_most(call->arguments[0], right, slack)
                                          : at_most(left, call->arguments[0], slack),
                            side == &left ? at_most(call->arguments[1], right, slack)
                                          : at_most(left, call->arguments[1], slack));
        if (const std::optional<Coverage> coverage = at_most_either(left, right, slack))
            return *coverage;
        if (const Apply* call = call_of(left, Function::Abs))
            return both(
                at_most(call->arguments[0], right, slack),
                at_most(napkin::apply(Function::Negate, {call->arguments[0]}), right, slack));
        const std::optional<Linear> a = reasoner_.linear(left);
        const std::optional<Linear> b = reasoner_.linear(right);
        if (!a || !b) return Coverage::Partial;
        const Interval gap = reasoner_.range(sum(*a, scaled(*b, -1)));
        record(sum(*a, scaled(*b, -1)), slack);
        if (gap.high + slack <= 0) return Coverage::Full;
        return gap.low + slack > 0 ? Coverage::Empty : Coverage::Partial;
    }
    /// min on the left, max or abs on the right: one of two comparisons suffices, so neither bounds
    /// the conjunction.
    std::optional<Coverage> at_most_either(const Expression& left, const Expression& right,
                                           std::int64_t slack) {
        const Apply* low = call_of(left, Function::Min);
        const Apply* high = call_of(right, Function::Max);
        const Apply* magnitude = call_of(right, Function::Abs);
        if (low == nullptr && high == nullptr && magnitude == nullptr) return std::nullopt;
        const bool outer = std::exchange(recording_, false);
        Coverage result = Coverage::Partial;
        if (low != nullptr)
            result = either(at_most(low->arguments[0], right, slack),
                            at_most(low->arguments[1], right, slack));
        else if (high != nullptr)
            result = either(at_most(left, high->arguments[0], slack),
                            at_most(left, high->arguments[1], slack));
        else
            result = either(
                at_most(left, magnitude->arguments[0], slack),
                at_most(left, napkin::apply(Function::Negate, {magnitude->arguments[0]}), slack));
        recording_ = outer;
        return result;
    }
    Coverage equal(const Expression& left, const Expression& right) {
        return both(at_most(left, right, 0), at_most(right, left, 0));
    }

    /// Conjuncts in sequence, with their bounds on each linear form intersected.
    Coverage conjunction(const Expression& condition) {
        std::vector<const Expression*> parts;
        flatten(condition, parts);
        std::map<std::map<AxisId, std::int64_t>, Interval> outer;
        std::swap(outer, bounds_);
        Coverage total = Coverage::Full;
        for (const Expression* part : parts) {
            const bool plain = call_of(*part, Function::Or) == nullptr &&
                               call_of(*part, Function::Not) == nullptr &&
                               call_of(*part, Function::NotEqual) == nullptr;
            recording_ = plain;
            total = both(total, decide(*part));
            recording_ = false;
        }
        for (const auto& [factors, allowed] : bounds_) {
            const Interval attained = reasoner_.range({factors, {0, 0}});
            if (std::max(allowed.low, attained.low) > std::min(allowed.high, attained.high))
                total = Coverage::Empty;
        }
        std::swap(outer, bounds_);
        return total;
    }
    static void flatten(const Expression& condition, std::vector<const Expression*>& parts) {
        if (const Apply* call = call_of(condition, Function::And)) {
            for (const Expression& argument : call->arguments) flatten(argument, parts);
        } else {
            parts.push_back(&condition);
        }
    }
    /// Notes form + slack <= 0 as a bound on its factors, with a leading positive factor.
    void record(const Linear& form, std::int64_t slack) {
        if (!recording_ || form.factors.empty() || form.rest.low != form.rest.high) return;
        constexpr std::int64_t kFar = std::int64_t{1} << 60;
        const bool positive = form.factors.begin()->second > 0;
        std::map<AxisId, std::int64_t> key = form.factors;
        if (!positive)
            for (auto& [axis, factor] : key) factor = -factor;
        Interval& allowed = bounds_.try_emplace(key, Interval{-kFar, kFar}).first->second;
        if (positive)
            allowed.high = std::min(allowed.high, -form.rest.low - slack);
        else
            allowed.low = std::max(allowed.low, form.rest.low + slack);
    }

    Reasoner reasoner_;
    bool recording_ = false;
    std::map<std::map<AxisId, std::int64_t>, Interval> bounds_;
};

}  // namespace

std::optional<Interval> bounds(const std::vector<Axis>& axes, const Expression& expression,
                               const Ranges& ranges) {
    const Reasoner reasoner(axes, ranges);
    const std::optional<Linear> form = reasoner.linear(expression);
    if (!form) return std::nullopt;
    return reasoner.range(*form);
}

Coverage coverage(const std::vector<Axis>& axes, const Expression& condition,
                  const Ranges& ranges) {
    return Decider(axes, ranges).decide(condition);
}

}  // namespace napkin
