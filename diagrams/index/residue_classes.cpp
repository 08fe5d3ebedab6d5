#include "diagrams/index/residue_classes.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/rounding.h"

namespace napkin::index {

namespace {

constexpr std::int64_t kMostFactor = std::int64_t{1} << 53;

/// constant + of_class * the class + the sum of factors times expressions.
struct Form {
    std::int64_t constant = 0;
    std::int64_t of_class = 0;
    std::vector<std::pair<Expression, std::int64_t>> parts;

    [[nodiscard]] bool is_constant() const { return of_class == 0 && parts.empty(); }
};

Form sum(Form a, const Form& b, std::int64_t factor) {
    const auto add = [&](std::int64_t& to, std::int64_t what) {
        to = saturating_add(to, saturating_multiply(factor, what));
    };
    add(a.constant, b.constant);
    add(a.of_class, b.of_class);
    for (const auto& [expression, own] : b.parts) {
        const auto same = std::find_if(a.parts.begin(), a.parts.end(),
                                       [&](const auto& part) { return part.first == expression; });
        if (same == a.parts.end())
            a.parts.emplace_back(expression, saturating_multiply(factor, own));
        else
            add(same->second, own);
    }
    std::erase_if(a.parts, [](const auto& part) { return part.second == 0; });
    return a;
}

bool is_small(const Form& form) {
    const auto fits = [](std::int64_t value) {
        return -kMostFactor < value && value < kMostFactor;
    };
    return fits(form.constant) && fits(form.of_class) &&
           std::all_of(form.parts.begin(), form.parts.end(),
                       [&](const auto& part) { return fits(part.second); });
}

const Apply* call_of(const Expression& expression, Function function) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == function ? call : nullptr;
}

std::optional<AxisId> axis_of(const Expression& expression) {
    const AxisIndex* index = std::get_if<AxisIndex>(&expression.node);
    return index == nullptr ? std::nullopt : std::optional(index->axis);
}

class Splitter {
public:
    explicit Splitter(const std::vector<Axis>& axes) { split_.axes = axes; }

    std::optional<ClassSplit> run(const std::vector<Expression>& conditions) {
        std::vector<Expression> rest;
        for (const Expression& condition : conditions)
            if (!join(condition)) rest.push_back(condition);
        const bool classes = !split_.members.empty();
        if (!classes) split_.members = divided_axes(conditions);
        if (split_.members.empty()) return std::nullopt;
        add_axes();
        for (const Expression& condition : rest) {
            const std::optional<Expression> inside = condition_of(condition);
            if (!inside) return std::nullopt;
            split_.conditions.push_back(*inside);
        }
        bool divides = false;
        for (std::size_t member = 0; member < split_.members.size(); ++member)
            divides = coarsen(member) || divides;
        if (!classes && !divides) return std::nullopt;
        std::sort(split_.starts.begin(), split_.starts.end());
        return split_;
    }

private:
    /// Whether it is that two indices have the same remainder, and then takes them in.
    bool join(const Expression& condition) {
        const Apply* equal = call_of(condition, Function::Equal);
        const Apply* left = equal ? call_of(equal->arguments[0], Function::Modulo) : nullptr;
        if (left == nullptr) return false;
        const std::optional<Form> divisor = form_of(left->arguments[1]);
        std::optional<AxisId> first = axis_of(left->arguments[0]);
        std::optional<AxisId> second;
        if (const Apply* right = call_of(equal->arguments[1], Function::Modulo)) {
            if (right->arguments[1] == left->arguments[1]) second = axis_of(right->arguments[0]);
        } else if (const Apply* gap = call_of(left->arguments[0], Function::Subtract)) {
            const std::optional<Form> zero = form_of(equal->arguments[1]);
            if (!zero || !zero->is_constant() || zero->constant != 0) return false;
            first = axis_of(gap->arguments[0]);
            second = axis_of(gap->arguments[1]);
        }
        if (!first || !second || !divisor || !divisor->is_constant() || divisor->constant < 2 ||
            divisor->constant >= kMostFactor)
            return false;
        if (!split_.members.empty() &&
            (split_.period != divisor->constant ||
             (!contains(split_.members, *first) && !contains(split_.members, *second))))
            return false;
        split_.period = divisor->constant;
        for (const AxisId axis : {*first, *second})
            if (!contains(split_.members, axis)) split_.members.push_back(axis);
        return true;
    }

    /// The divisors of quotients of an index.
    static std::set<std::int64_t> divisors_of(const std::vector<Expression>& conditions,
                                              AxisId axis) {
        std::set<std::int64_t> divisors;
        for (const Expression& condition : conditions)
            walk(condition, [&](const Expression& part) {
                const Apply* quotient = call_of(part, Function::FloorDivide);
                if (quotient == nullptr || axis_of(quotient->arguments[0]) != axis) return;
                const Number* by = std::get_if<Number>(&quotient->arguments[1].node);
                if (by != nullptr && by->is_integer && by->value >= 2 && by->value < 0x1p53)
                    divisors.insert(static_cast<std::int64_t>(by->value));
            });
        return divisors;
    }
    static std::vector<AxisId> divided_axes(const std::vector<Expression>& conditions) {
        std::set<AxisId> used;
        for (const Expression& condition : conditions) used.merge(axes_used(condition));
        std::vector<AxisId> axes;
        for (const AxisId axis : used)
            if (!divisors_of(conditions, axis).empty()) axes.push_back(axis);
        return axes;
    }
    /// Where conditions ask for quotients of a member's quotient only, those become its own.
    bool coarsen(std::size_t member) {
        const AxisId fine = split_.quotients[member];
        std::int64_t by = 0;
        for (const std::int64_t divisor : divisors_of(split_.conditions, fine))
            by = std::gcd(by, divisor);
        if (by < 2) return false;
        const AxisId coarse = add_quotient(fine, by);
        std::vector<Expression> conditions;
        for (const Expression& condition : split_.conditions) {
            conditions.push_back(rewrite(condition, [&](Expression node) {
                const Apply* quotient = call_of(node, Function::FloorDivide);
                const Number* divisor =
                    quotient == nullptr || axis_of(quotient->arguments[0]) != fine
                        ? nullptr
                        : std::get_if<Number>(&quotient->arguments[1].node);
                if (divisor == nullptr) return node;
                const std::int64_t rest = static_cast<std::int64_t>(divisor->value) / by;
                return rest == 1
                           ? axis_index(coarse)
                           : apply(Function::FloorDivide, {axis_index(coarse), integer(rest)});
            }));
            if (axes_used(conditions.back()).contains(fine)) return false;
        }
        split_.conditions = std::move(conditions);
        split_.quotients[member] = coarse;
        split_.coarser[member] = by;
        return true;
    }

    AxisId add_axis(Axis axis) {
        split_.axes.push_back(std::move(axis));
        return AxisId{static_cast<std::uint32_t>(split_.axes.size() - 1)};
    }
    AxisId add_quotient(AxisId of, std::int64_t by) {
        Axis quotient = split_.axes[of.index()];
        quotient.extent = ceil_quotient(quotient.extent, by);
        quotient.size = ceil_divide(quotient.size, Formula(by));
        return add_axis(std::move(quotient));
    }
    void add_axes() {
        for (const AxisId member : split_.members)
            split_.quotients.push_back(add_quotient(member, split_.period));
        split_.coarser.assign(split_.members.size(), 1);
        Axis above;
        above.extent = split_.period;
        above.dynamic = true;
        split_.above = add_axis(std::move(above));
        split_.axes.back().size = Formula(axis_size(split_.above));
        split_.starts = {0};
    }

    [[nodiscard]] Expression class_number() const {
        return apply(Function::Subtract, {Expression{SizeOf{split_.above}, {}}, integer(1)});
    }
    [[nodiscard]] Expression expression_of(const Form& form) const {
        std::optional<Expression> total;
        const auto add = [&](const Expression& part) {
            total = total ? apply(Function::Add, {*total, part}) : part;
        };
        for (const auto& [part, factor] : form.parts)
            add(factor == 1 ? part : apply(Function::Multiply, {part, integer(factor)}));
        if (!total || form.constant != 0) add(integer(form.constant));
        return *total;
    }

    /// A quotient by the period, which all parts are multiples of.
    std::optional<Form> divided(const Form& form) {
        Form result;
        for (const auto& [part, factor] : form.parts) {
            if (factor % split_.period != 0) return std::nullopt;
            result.parts.emplace_back(part, factor / split_.period);
        }
        result.constant = napkin::floor_quotient(form.constant, split_.period);
        const std::int64_t rest = form.constant - result.constant * split_.period;
        if (form.of_class == 0) return result;
        if (std::abs(form.of_class) != 1) return std::nullopt;
        // (r + rest) // D is 1 from D - rest on, (rest - r) // D is -1 from rest + 1 on.
        const std::int64_t start = form.of_class > 0 ? split_.period - rest : rest + 1;
        if (start >= split_.period) return result;
        if (!contains(split_.starts, start)) split_.starts.push_back(start);
        const Expression passed = form.of_class > 0
                                      ? apply(Function::Add, {class_number(), integer(rest)})
                                      : apply(Function::Subtract, {integer(rest), class_number()});
        result.parts.emplace_back(apply(Function::FloorDivide, {passed, integer(split_.period)}),
                                  1);
        return result;
    }

    std::optional<Form> atom(Expression expression) const {
        return Form{0, 0, {{std::move(expression), 1}}};
    }
    std::optional<Form> form_of(const Expression& expression) {
        if (const Number* number = std::get_if<Number>(&expression.node)) {
            if (!number->is_integer || std::abs(number->value) >= 0x1p53) return std::nullopt;
            return Form{static_cast<std::int64_t>(number->value), 0, {}};
        }
        if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
            const Axis& axis = split_.axes[size->axis.index()];
            return axis.dynamic ? atom(expression) : Form{axis.extent, 0, {}};
        }
        if (const std::optional<AxisId> axis = axis_of(expression)) {
            const auto member = std::find(split_.members.begin(), split_.members.end(), *axis);
            if (member == split_.members.end() || split_.quotients.empty()) return atom(expression);
            const auto at = static_cast<std::size_t>(member - split_.members.begin());
            return Form{
                0, split_.period > 1 ? 1 : 0, {{axis_index(split_.quotients[at]), split_.period}}};
        }
        const Apply* call = std::get_if<Apply>(&expression.node);
        return call == nullptr ? std::nullopt : call_form(*call);
    }
    std::optional<Form> call_form(const Apply& call) {
        std::vector<Form> parts;
        for (const Expression& argument : call.arguments) {
            const std::optional<Form> part = form_of(argument);
            if (!part || !is_small(*part)) return std::nullopt;
            parts.push_back(*part);
        }
        switch (call.function) {
        case Function::Negate: return sum({}, parts[0], -1);
        case Function::Add: return sum(parts[0], parts[1], 1);
        case Function::Subtract: return sum(parts[0], parts[1], -1);
        case Function::Multiply:
            if (parts[0].is_constant()) return sum({}, parts[1], parts[0].constant);
            if (parts[1].is_constant()) return sum({}, parts[0], parts[1].constant);
            return std::nullopt;
        case Function::FloorDivide: return quotient(parts[0], parts[1]);
        case Function::Modulo:
        case Function::Min:
        case Function::Max: {
            if (parts[0].of_class != 0 || parts[1].of_class != 0) return std::nullopt;
            if (call.function == Function::Modulo &&
                (!parts[1].is_constant() || parts[1].constant <= 0))
                return std::nullopt;
            return atom(apply(call.function, {expression_of(parts[0]), expression_of(parts[1])}));
        }
        default: return std::nullopt;
        }
    }
    std::optional<Form> quotient(const Form& dividend, const Form& divisor) {
        if (!divisor.is_constant() || divisor.constant <= 0) return std::nullopt;
        const std::int64_t by = divisor.constant;
        if (by == 1) return dividend;
        if (dividend.is_constant())
            return Form{napkin::floor_quotient(dividend.constant, by), 0, {}};
        if (dividend.of_class == 0)
            return atom(apply(Function::FloorDivide, {expression_of(dividend), integer(by)}));
        const std::optional<Form> inner =
            by % split_.period == 0 ? divided(dividend) : std::nullopt;
        if (!inner || by == split_.period) return inner;
        return quotient(*inner, Form{by / split_.period, 0, {}});
    }

    std::optional<Expression> condition_of(const Expression& condition) {
        const std::set<AxisId> used = axes_used(condition);
        if (std::none_of(used.begin(), used.end(),
                         [&](AxisId axis) { return contains(split_.members, axis); }))
            return condition;
        const Apply* call = std::get_if<Apply>(&condition.node);
        if (call == nullptr) return std::nullopt;
        switch (call->function) {
        case Function::And:
        case Function::Or:
        case Function::Not: {
            std::vector<Expression> parts;
            for (const Expression& argument : call->arguments) {
                const std::optional<Expression> part = condition_of(argument);
                if (!part) return std::nullopt;
                parts.push_back(*part);
            }
            return apply(call->function, std::move(parts));
        }
        case Function::Less: return not_negative(*call, 1, 0, -1);
        case Function::LessEqual: return not_negative(*call, 1, 0, 0);
        case Function::Greater: return not_negative(*call, 0, 1, -1);
        case Function::GreaterEqual: return not_negative(*call, 0, 1, 0);
        case Function::Equal:
        case Function::NotEqual: {
            const std::optional<Form> gap = difference(*call, 0, 1);
            if (!gap || gap->of_class != 0) return std::nullopt;
            return apply(call->function, {expression_of(*gap), integer(0)});
        }
        default: return std::nullopt;
        }
    }
    std::optional<Form> difference(const Apply& call, std::size_t from, std::size_t what) {
        const std::optional<Form> a = form_of(call.arguments[from]);
        const std::optional<Form> b = form_of(call.arguments[what]);
        if (!a || !b) return std::nullopt;
        Form result = sum(*a, *b, -1);
        return is_small(result) ? std::optional(std::move(result)) : std::nullopt;
    }
    std::optional<Expression> not_negative(const Apply& call, std::size_t from, std::size_t what,
                                           std::int64_t more) {
        std::optional<Form> gap = difference(call, from, what);
        if (!gap) return std::nullopt;
        gap->constant += more;
        const std::optional<Form> quotients = divided(*gap);
        if (!quotients && gap->of_class != 0) return std::nullopt;
        return apply(Function::GreaterEqual,
                     {expression_of(quotients ? *quotients : *gap), integer(0)});
    }

    ClassSplit split_;
};

}  // namespace

std::optional<ClassSplit> split_classes(const std::vector<Axis>& axes,
                                        const std::vector<Expression>& conditions) {
    return Splitter(axes).run(conditions);
}

}  // namespace napkin::index
