#include "perfmodel/mask_terms.h"

#include <algorithm>

#include "diagrams/checked.h"
#include "diagrams/index/domain.h"

namespace napkin {

namespace {

/// Unions of more are shown as they are written.
constexpr std::size_t kMostTerms = 64;

using Conjunction = std::vector<Expression>;

/// Every part of one with every part of the other.
std::vector<Conjunction> products(const std::vector<Conjunction>& a,
                                  const std::vector<Conjunction>& b) {
    std::vector<Conjunction> result;
    for (const Conjunction& first : a)
        for (const Conjunction& second : b) {
            result.push_back(first);
            result.back().insert(result.back().end(), second.begin(), second.end());
        }
    return result;
}

Expression next_along(const Expression& condition, AxisId axis) {
    return rewrite(condition, [&](Expression node) {
        const AxisIndex* index = std::get_if<AxisIndex>(&node.node);
        if (index == nullptr || index->axis != axis) return node;
        return apply(Function::Add, {node, integer(1)});
    });
}

std::optional<std::int64_t> whole_number(const Expression& expression) {
    const Number* number = std::get_if<Number>(&expression.node);
    if (number == nullptr || !number->is_integer) return std::nullopt;
    return static_cast<std::int64_t>(number->value);
}

/// Of two numbers; nullopt where it is not arithmetic on integers.
std::optional<std::int64_t> folded(Function function, std::int64_t a, std::int64_t b) {
    switch (function) {
    case Function::Add: return (CheckedInt(a) + b).value;
    case Function::Subtract: return (CheckedInt(a) - b).value;
    case Function::Multiply: return (CheckedInt(a) * b).value;
    case Function::FloorDivide: return b == 0 ? 0 : floor_quotient(a, b);
    case Function::Min: return std::min(a, b);
    case Function::Max: return std::max(a, b);
    default: return std::nullopt;
    }
}

/// Without the arithmetic on numbers that a definition's arguments leave: `q // 1 + 0` is `q`.
Expression simplified(const Expression& condition) {
    return rewrite(condition, [](Expression node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->arguments.size() != 2) return node;
        const Expression first = call->arguments[0];
        const std::optional<std::int64_t> a = whole_number(first);
        const std::optional<std::int64_t> b = whole_number(call->arguments[1]);
        if (a && b)
            if (const std::optional<std::int64_t> value = folded(call->function, *a, *b))
                return integer(*value);
        if (!b) return node;
        const bool adds = call->function == Function::Add || call->function == Function::Subtract;
        const bool scales =
            call->function == Function::Multiply || call->function == Function::FloorDivide;
        if (adds && *b == 0) return first;
        if (scales && *b == 1) return first;
        if (call->function == Function::Modulo && *b == 1) return integer(0);
        return node;
    });
}

bool always(const Diagram& diagram, const Expression& condition) {
    index::Domain domain(diagram.axes, {});
    domain.restrict_to(condition, false);
    return is_empty(domain);
}

bool never(const Diagram& diagram, const Conjunction& term) {
    index::Domain domain(diagram.axes, {});
    for (const Expression& condition : term) domain.restrict_to(condition);
    return is_empty(domain);
}

/// Whether a condition that holds at one point holds at its neighbour.
bool implies(const Diagram& diagram, const Expression& inside, const Expression& holds,
             const Expression& then) {
    index::Domain domain(diagram.axes, {});
    domain.restrict_to(inside);
    domain.restrict_to(holds);
    domain.restrict_to(then, false);
    return is_empty(domain);
}

Trend trend_of(const Diagram& diagram, const Expression& condition, AxisId axis) {
    const Expression next = next_along(condition, axis);
    const Expression inside = apply(
        Function::Less, {apply(Function::Add, {axis_index(axis), integer(1)}), size_of(axis)});
    if (implies(diagram, inside, condition, next)) return Trend::Rises;
    if (implies(diagram, inside, next, condition)) return Trend::Falls;
    return Trend::Neither;
}

bool is_equality(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    return call != nullptr && call->function == Function::Equal;
}

MaskCondition sorted(const Diagram& diagram, const Expression& condition) {
    MaskCondition result{condition, ConditionKind::Other, {}};
    if (!arrays_read(condition).empty()) {
        result.kind = ConditionKind::Data;
        return result;
    }
    bool monotone = true;
    for (const AxisId axis : axes_used(condition)) {
        const Trend trend = trend_of(diagram, condition, axis);
        result.trends[axis] = trend;
        monotone = monotone && trend != Trend::Neither;
    }
    if (monotone)
        result.kind = ConditionKind::Bound;
    else if (is_equality(condition))
        result.kind = ConditionKind::Equality;
    return result;
}

bool is_bound(const Diagram& diagram, const Expression& condition) {
    return sorted(diagram, condition).kind == ConditionKind::Bound;
}

/// A union that is monotone is one end of an interval, the lesser or the greater of two.
std::vector<Conjunction> alternatives_of(const Diagram& diagram, const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    const bool conjunction = call != nullptr && call->function == Function::And;
    if (!conjunction && (call == nullptr || call->function != Function::Or)) return {{condition}};
    if (!conjunction && is_bound(diagram, condition)) return {{condition}};
    std::vector<Conjunction> result = alternatives_of(diagram, call->arguments[0]);
    const std::vector<Conjunction> second = alternatives_of(diagram, call->arguments[1]);
    if (result.size() * second.size() > kMostTerms) return {{condition}};
    if (conjunction) return products(result, second);
    result.insert(result.end(), second.begin(), second.end());
    return result;
}

}  // namespace

std::vector<MaskTerm> terms_of(const Diagram& diagram, const std::vector<Expression>& conditions) {
    std::vector<Conjunction> terms{{}};
    for (const Expression& condition : conditions) {
        const std::vector<Conjunction> parts = alternatives_of(diagram, condition);
        if (terms.size() * parts.size() > kMostTerms) {
            terms = {conditions};
            break;
        }
        terms = products(terms, parts);
    }
    std::vector<std::pair<Expression, MaskCondition>> known;
    std::vector<MaskTerm> result;
    for (const Conjunction& term : terms) {
        if (never(diagram, term)) continue;
        result.emplace_back();
        for (const Expression& given : term) {
            if (always(diagram, given)) continue;
            const Expression condition = simplified(given);
            auto same = std::find_if(known.begin(), known.end(),
                                     [&](const auto& each) { return each.first == condition; });
            if (same == known.end())
                same = known.insert(known.end(), {condition, sorted(diagram, condition)});
            result.back().push_back(same->second);
        }
    }
    return result;
}

const char* name_of(Trend trend) {
    switch (trend) {
    case Trend::Neither: return "neither";
    case Trend::Rises: return "rises";
    case Trend::Falls: return "falls";
    }
    return "neither";
}

const char* name_of(ConditionKind kind) {
    switch (kind) {
    case ConditionKind::Bound: return "bound";
    case ConditionKind::Equality: return "equality";
    case ConditionKind::Data: return "data";
    case ConditionKind::Other: return "other";
    }
    return "other";
}

}  // namespace napkin
