// Interval reasoning. An integer expression is brought to a linear form: a constant, integer
// factors of axis indices, and opaque atoms (min, max, floor-div, mod, products) that only have an
// interval. Distinct axes vary independently over a tile, so the bounds of a linear form without
// atoms are attained.
#include "diagrams/index/interval.h"

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <functional>
#include <utility>

#include "diagrams/checked.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

/// constant + sum of factor * axis + an interval of everything else.
struct Linear {
    boost::container::flat_map<AxisId, std::int64_t, std::less<>,
                               boost::container::small_vector<std::pair<AxisId, std::int64_t>, 4>>
        factors;
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
    Reasoner(const std::vector<Axis>& axes, const Ranges& ranges, Turns& turns)
        : axes_(axes), ranges_(ranges), turns_(turns) {}

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
        boost::container::small_vector<Linear, 3> parts;
        for (const Expression& argument : call.arguments) {
            if (call.function == Function::Select && parts.empty() &&
                &argument == &call.arguments.front()) {
                parts.push_back(Linear{});  // a condition has no linear form and needs none
                continue;
            }
            std::optional<Linear> part = linear(argument);
            if (!part) return std::nullopt;
            parts.push_back(std::move(*part));
        }
        switch (call.function) {
        case Function::Negate: return scaled(std::move(parts[0]), -1);
        case Function::Add: return sum(std::move(parts[0]), parts[1]);
        case Function::Subtract: return sum(std::move(parts[0]), scaled(std::move(parts[1]), -1));
        case Function::Multiply: return product(parts[0], parts[1]);
        case Function::FloorDivide: return quotient(parts[0], parts[1]);
        case Function::Modulo: return remainder(parts[0], parts[1]);
        case Function::Abs: return distance(range(parts[0]));
        case Function::Min: return chosen(smaller, range(parts[0]), range(parts[1]));
        case Function::Max: return chosen(larger, range(parts[0]), range(parts[1]));
        case Function::Select: return chosen(hull, range(parts[1]), range(parts[2]));
        default: return std::nullopt;
        }
    }

    using Choice = Interval (*)(const Interval&, const Interval&);
    /// Each end is one of theirs.
    std::optional<Linear> chosen(Choice choice, const Interval& a, const Interval& b) const {
        turns_.compare(a, b);
        return atom(choice(a, b));
    }
    std::optional<Linear> distance(const Interval& a) const {
        turns_.compare(a, {0, 0});
        turns_.compare(a.high, saturating_multiply(a.low, -1));
        return atom(magnitude(a));
    }
    std::optional<Linear> product(const Linear& a, const Linear& b) const {
        if (a.factors.empty()) turns_.keep(a.rest);
        if (b.factors.empty()) turns_.keep(b.rest);
        if (a.factors.empty() && a.rest.low == a.rest.high) return scaled(b, a.rest.low);
        if (b.factors.empty() && b.rest.low == b.rest.high) return scaled(a, b.rest.low);
        turns_.keep(range(a));
        turns_.keep(range(b));
        return atom(range(a) * range(b));
    }
    /// Rounded down, by more than 0.
    Interval divided(const Interval& a, const Interval& divisor) const {
        const Interval quotient = floor_quotient(a, divisor);
        turns_.keep(divisor.is_one() ? quotient : a);
        return quotient;
    }
    std::optional<Linear> quotient(const Linear& a, const Linear& b) const {
        const Interval divisor = range(b);
        turns_.keep(divisor);
        if (divisor.high < 0) return quotient(scaled(a, -1), scaled(b, -1));
        if (divisor.low <= 0) return std::nullopt;
        return atom(divided(range(a), divisor));
    }
    std::optional<Linear> remainder(const Linear& a, const Linear& b) const {
        const Interval u = range(a);
        const Interval v = range(b);
        turns_.keep(v);
        if (v.high < 0) {
            const std::optional<Linear> other = remainder(scaled(a, -1), scaled(b, -1));
            return other ? std::optional(scaled(*other, -1)) : std::nullopt;
        }
        if (v.low <= 0) return std::nullopt;
        const Interval quotient = divided(u, v);
        if (!v.is_one() || !quotient.is_one()) return atom(napkin::remainder(u, v));
        return sum(a, *constant(-v.low * quotient.low));
    }

    const std::vector<Axis>& axes_;
    const Ranges& ranges_;
    Turns& turns_;
};

}  // namespace

void Turns::compare(std::int64_t a, std::int64_t b) {
    taken_.push_back({a > b ? 1 : 0, a < b ? 0 : 1});
}

void Turns::compare(const Interval& a, const Interval& b) {
    compare(a.low, b.low);
    compare(a.high, b.high);
}

void Turns::keep(const Interval& range) {
    taken_.push_back({range.low, range.low});
    taken_.push_back({range.high, range.high});
}

bool Turns::agree(const Turns& other) {
    if (taken_.size() != other.taken_.size()) return false;
    for (std::size_t k = 0; k < taken_.size(); ++k) {
        taken_[k].low = std::max(taken_[k].low, other.taken_[k].low);
        taken_[k].high = std::min(taken_[k].high, other.taken_[k].high);
        if (taken_[k].low > taken_[k].high) return false;
    }
    return true;
}

std::optional<Interval> bounds(const std::vector<Axis>& axes, const Expression& expression,
                               const Ranges& ranges) {
    Turns turns;
    return bounds(axes, expression, ranges, turns);
}

std::optional<Interval> bounds(const std::vector<Axis>& axes, const Expression& expression,
                               const Ranges& ranges, Turns& turns) {
    const Reasoner reasoner(axes, ranges, turns);
    const std::optional<Linear> form = reasoner.linear(expression);
    if (!form) return std::nullopt;
    return reasoner.range(*form);
}

}  // namespace napkin
