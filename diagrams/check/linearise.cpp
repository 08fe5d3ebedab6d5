#include "diagrams/check/linearise.h"

#include <algorithm>
#include <cmath>

#include "diagrams/check/types.h"
#include "diagrams/overloaded.h"

namespace napkin::checking {

namespace {

constexpr std::size_t kMostCases = 48;
// Past this many steps an expression is taken as unknown: no text may cost more than it is long.
constexpr std::size_t kMostSteps = 20000;

/// a <= b, as a form that is at most zero.
void add_at_most(System& system, const Linear& a, const Linear& b, std::int64_t slack = 0) {
    if (std::optional<Linear> form = add_scaled(a, b, -1)) {
        if (!__builtin_add_overflow(form->constant, slack, &form->constant))
            system.push_back(std::move(*form));
    }
}

System joined(System a, const System& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::vector<System> all_of(const std::vector<System>& a, const std::vector<System>& b) {
    // Too many cases: the right side is forgotten, which only weakens what is known.
    if (a.size() * b.size() > kMostCases) return a;
    std::vector<System> both;
    for (const System& left : a)
        for (const System& right : b) both.push_back(joined(left, right));
    return both;
}

std::vector<System> any_of(std::vector<System> a, const std::vector<System>& b) {
    if (a.size() + b.size() > kMostCases) return {System{}};
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Function opposite(Function function) {
    switch (function) {
    case Function::Less: return Function::GreaterEqual;
    case Function::LessEqual: return Function::Greater;
    case Function::Greater: return Function::LessEqual;
    case Function::GreaterEqual: return Function::Less;
    case Function::Equal: return Function::NotEqual;
    default: return Function::Equal;
    }
}

}  // namespace

Bounds hull_of(const Bounds& a, const Bounds& b) {
    Bounds hull;
    if (a.low && b.low) hull.low = std::min(*a.low, *b.low);
    if (a.high && b.high) hull.high = std::max(*a.high, *b.high);
    return hull;
}

int Lineariser::variable_of(const Expression& expression, const Bounds& bounds) {
    for (const auto& [known, variable] : variables_)
        if (known == expression) return variable;
    const int variable = fresh();
    variables_.emplace_back(expression, variable);
    bound(variable, bounds);
    return variable;
}

void Lineariser::bound(int variable, const Bounds& bounds) {
    if (bounds.low) add_at_most(ranges_, constant_form(*bounds.low), variable_form(variable));
    if (bounds.high) add_at_most(ranges_, variable_form(variable), constant_form(*bounds.high));
}

int Lineariser::size_variable(AxisId axis) {
    return variable_of(size_of(axis), {1, {}});
}

Linear Lineariser::size(AxisId axis) {
    const Axis& known = diagram_[axis];
    if (!known.dynamic) return constant_form(known.extent);
    if (std::optional<Linear> form = size_form(known.size)) return *form;
    return variable_form(size_variable(axis));
}

/// A size formula that is linear in run-time sizes.
std::optional<Linear> Lineariser::size_form(const Formula& formula) {
    if (formula.op == FormulaOp::Constant)
        return formula.constant.denominator == 1
                   ? std::optional<Linear>(constant_form(formula.constant.numerator))
                   : std::nullopt;
    if (formula.op == FormulaOp::Symbol) {
        const std::optional<AxisId> axis = find_axis(diagram_, formula.symbol);
        if (!axis) return std::nullopt;
        return diagram_[*axis].dynamic ? variable_form(size_variable(*axis))
                                       : constant_form(diagram_[*axis].extent);
    }
    if (formula.op != FormulaOp::Add && formula.op != FormulaOp::Multiply) return std::nullopt;
    std::optional<Linear> total = constant_form(formula.op == FormulaOp::Add ? 0 : 1);
    for (const Formula& part : formula.args) {
        const std::optional<Linear> form = size_form(part);
        if (!form || !total) return std::nullopt;
        if (formula.op == FormulaOp::Add)
            total = add_scaled(*total, *form, 1);
        else if (total->factors.empty())
            total = add_scaled({}, *form, total->constant);
        else if (form->factors.empty())
            total = add_scaled({}, *total, form->constant);
        else
            return std::nullopt;
    }
    return total;
}

std::vector<Case> Lineariser::atom(const Expression& expression, std::optional<Bounds> bounds) {
    return {{variable_form(variable_of(expression, bounds.value_or(Bounds{}))), {}}};
}

std::vector<Case> Lineariser::cases(const Expression& expression) {
    if (++steps_ > kMostSteps) return unknown();
    return std::visit(
        overloaded{
            [&](const Number& value) -> std::vector<Case> {
                if (value.is_integer && std::abs(value.value) < 0x1p53)
                    return {{constant_form(static_cast<std::int64_t>(value.value)), {}}};
                return atom(expression, {});
            },
            [&](const AxisIndex& index) -> std::vector<Case> {
                const bool known =
                    std::any_of(variables_.begin(), variables_.end(),
                                [&](const auto& entry) { return entry.first == expression; });
                const int variable = variable_of(expression, {0, {}});
                if (!known) add_at_most(ranges_, variable_form(variable), size(index.axis), 1);
                return {{variable_form(variable), {}}};
            },
            [&](const SizeOf& item) -> std::vector<Case> {
                return {{size(item.axis), {}}};
            },
            [&](const Read& element) { return atom(expression, read_bounds(element)); },
            [&](const Apply& call) { return call_cases(call, expression); },
            [&](const Convert& convert) {
                const Expression& argument = convert.argument.front();
                const bool whole =
                    kind_of(convert.type) == Kind::Integer &&
                    kind_of(diagram_, argument) == Kind::Integer &&
                    (convert.type == ElementType::I32 || convert.type == ElementType::I64);
                return whole ? cases(argument) : atom(expression, {});
            },
            [&](const Operand&) { return atom(expression, {}); },
        },
        expression.node);
}

/// What is known of the elements of an integer array: its contract, or what defines it.
Bounds Lineariser::read_bounds(const Read& element) {
    const Array& array = diagram_[element.array];
    if (array.indexes) return {0, diagram_[*array.indexes].extent - 1};
    const auto known = known_bounds().find(element.array);
    if (known != known_bounds().end()) return known->second;
    Bounds bounds;
    if (const std::optional<StatementId> maker = producer(diagram_, element.array)) {
        const Statement& statement = diagram_[*maker];
        const Select* select = std::get_if<Select>(&statement.body);
        const Map* map = std::get_if<Map>(&statement.body);
        if (select != nullptr && statement.targets.back() == element.array)
            bounds = {0, diagram_[select->over].extent - 1};
        if (map != nullptr && kind_of(diagram_, map->value) == Kind::Integer)
            bounds = map_bounds(*map);
    }
    known_bounds()[element.array] = bounds;
    return bounds;
}

Bounds Lineariser::map_bounds(const Map& map) {
    Lineariser inner(diagram_, known_bounds());
    const int result = inner.fresh();
    std::optional<Bounds> hull;
    for (const Case& part : inner.cases(map.value)) {
        System system = joined(part.facts, inner.ranges());
        add_at_most(system, variable_form(result), part.value);
        add_at_most(system, part.value, variable_form(result));
        const std::optional<Bounds> bounds = bounds_of(std::move(system), result);
        if (bounds) hull = hull ? hull_of(*hull, *bounds) : *bounds;
    }
    return hull.value_or(Bounds{});
}

std::vector<Case> Lineariser::call_cases(const Apply& call, const Expression& whole) {
    switch (call.function) {
    case Function::Add: return sum_cases(call, 1);
    case Function::Subtract: return sum_cases(call, -1);
    case Function::Negate:
        return sum_cases({Function::Subtract, {integer(0), call.arguments[0]}}, -1);
    case Function::Multiply: return product_cases(call, whole);
    case Function::Min: return extreme_cases(call, false);
    case Function::Max: return extreme_cases(call, true);
    case Function::Abs: return magnitude_cases(call);
    case Function::FloorDivide: return quotient_cases(call, whole, false);
    case Function::Modulo: return quotient_cases(call, whole, true);
    case Function::Select: return choice_cases(call);
    default: return atom(whole, {});
    }
}

std::vector<Case> Lineariser::sum_cases(const Apply& call, std::int64_t factor) {
    const std::vector<Case> left = cases(call.arguments[0]);
    const std::vector<Case> right = cases(call.arguments[1]);
    std::vector<Case> sums;
    if (left.size() * right.size() <= kMostCases)
        for (const Case& a : left)
            for (const Case& b : right)
                if (std::optional<Linear> value = add_scaled(a.value, b.value, factor))
                    sums.push_back({std::move(*value), joined(a.facts, b.facts)});
    if (sums.size() == left.size() * right.size()) return sums;
    return unknown();
}

std::vector<Case> Lineariser::magnitude_cases(const Apply& call) {
    const std::vector<Case> inner = cases(call.arguments[0]);
    if (2 * inner.size() > kMostCases) return unknown();
    std::vector<Case> all;
    for (const Case& part : inner) {
        const std::optional<Linear> negative = add_scaled({}, part.value, -1);
        if (!negative) return unknown();
        Case first = part;
        Case second{*negative, part.facts};
        add_at_most(first.facts, constant_form(0), part.value);
        add_at_most(second.facts, part.value, constant_form(0));
        all.push_back(std::move(first));
        all.push_back(std::move(second));
    }
    return all;
}

std::vector<Case> Lineariser::product_cases(const Apply& call, const Expression& whole) {
    const std::vector<Case> sides[] = {cases(call.arguments[0]), cases(call.arguments[1])};
    for (std::size_t side = 0; side < 2; ++side) {
        if (sides[side].size() != 1 || !sides[side].front().value.factors.empty()) continue;
        std::vector<Case> products = sides[1 - side];
        bool good = true;
        for (Case& part : products) {
            const std::optional<Linear> value =
                add_scaled({}, part.value, sides[side].front().value.constant);
            good = good && value.has_value();
            if (value) part.value = *value;
        }
        if (good) return products;
    }
    return atom(whole, {});
}

std::vector<Case> Lineariser::extreme_cases(const Apply& call, bool greatest) {
    const std::vector<Case> left = cases(call.arguments[0]);
    const std::vector<Case> right = cases(call.arguments[1]);
    if (2 * left.size() * right.size() > kMostCases) return unknown();
    std::vector<Case> all;
    for (const Case& a : left)
        for (const Case& b : right) {
            Case first{a.value, joined(a.facts, b.facts)};
            Case second{b.value, first.facts};
            add_at_most(first.facts, greatest ? b.value : a.value, greatest ? a.value : b.value);
            add_at_most(second.facts, greatest ? a.value : b.value, greatest ? b.value : a.value);
            all.push_back(std::move(first));
            all.push_back(std::move(second));
        }
    return all;
}

/// a // c is a whole number t with c t <= a < c t + c; a % c is a - c t. The divisor is positive.
std::vector<Case> Lineariser::quotient_cases(const Apply& call, const Expression& whole,
                                             bool remainder) {
    const std::vector<Case> divisors = cases(call.arguments[1]);
    const Linear& divisor_form = divisors.front().value;
    if (divisors.size() != 1 || !divisor_form.factors.empty() || divisor_form.constant < 1)
        return atom(whole, {});
    const std::int64_t divisor = divisor_form.constant;
    std::vector<Case> all = cases(call.arguments[0]);
    for (Case& part : all) {
        // The quotient is of this case's value; equal expressions share a variable only when there
        // is one case.
        const Expression key = apply(Function::FloorDivide, call.arguments);
        const int quotient = all.size() == 1 ? variable_of(key, {}) : fresh();
        const std::optional<Linear> low = add_scaled({}, variable_form(quotient), divisor);
        const std::optional<Linear> rest = low ? add_scaled(part.value, *low, -1) : std::nullopt;
        if (!rest) return atom(whole, {});
        add_at_most(part.facts, constant_form(0), *rest);
        add_at_most(part.facts, *rest, constant_form(divisor - 1));
        part.value = remainder ? *rest : variable_form(quotient);
    }
    return all;
}

std::vector<Case> Lineariser::choice_cases(const Apply& call) {
    std::vector<Case> all;
    for (std::size_t branch = 1; branch <= 2; ++branch) {
        const std::vector<System> when = conditions(call.arguments[0], branch == 1);
        for (const Case& part : cases(call.arguments[branch]))
            for (const System& facts : when) all.push_back({part.value, joined(part.facts, facts)});
    }
    if (all.size() > kMostCases) return unknown();
    return all;
}

std::vector<System> Lineariser::conditions(const Expression& condition, bool holds) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || ++steps_ > kMostSteps) return {System{}};
    const std::vector<Expression>& parts = call->arguments;
    switch (call->function) {
    case Function::Not: return conditions(parts[0], !holds);
    case Function::And:
    case Function::Or: {
        const std::vector<System> left = conditions(parts[0], holds);
        const std::vector<System> right = conditions(parts[1], holds);
        return (call->function == Function::And) == holds ? all_of(left, right)
                                                          : any_of(left, right);
    }
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::Equal:
    case Function::NotEqual:
        return comparison(*call, holds ? call->function : opposite(call->function));
    default: return {System{}};
    }
}

std::vector<System> Lineariser::comparison(const Apply& call, Function function) {
    for (const Expression& side : call.arguments)
        if (kind_of(diagram_, side) != Kind::Integer) return {System{}};
    std::vector<System> all;
    const std::vector<Case> left = cases(call.arguments[0]);
    const std::vector<Case> right = cases(call.arguments[1]);
    const std::size_t branches = function == Function::NotEqual ? 2 : 1;
    if (left.size() * right.size() * branches > kMostCases) return {System{}};
    for (const Case& a : left)
        for (const Case& b : right) {
            const System facts = joined(a.facts, b.facts);
            const auto add = [&](const Linear& small, const Linear& large, std::int64_t slack) {
                all.push_back(facts);
                add_at_most(all.back(), small, large, slack);
            };
            switch (function) {
            case Function::Less: add(a.value, b.value, 1); break;
            case Function::LessEqual: add(a.value, b.value, 0); break;
            case Function::Greater: add(b.value, a.value, 1); break;
            case Function::GreaterEqual: add(b.value, a.value, 0); break;
            case Function::Equal:
                add(a.value, b.value, 0);
                add_at_most(all.back(), b.value, a.value);
                break;
            default:
                add(a.value, b.value, 1);
                add(b.value, a.value, 1);
                break;
            }
        }
    return all;
}

}  // namespace napkin::checking
