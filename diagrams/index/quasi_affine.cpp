#include "diagrams/index/quasi_affine.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "diagrams/overloaded.h"

namespace napkin::index {

namespace {

// Past this many steps an expression is an atom: no text may cost more than it is long.
constexpr std::size_t kMostSteps = 20000;

Piecewise operator+(const Piecewise& a, const Piecewise& b) {
    return Piecewise(isl_pw_aff_add(a.copy(), b.copy()));
}
Piecewise operator-(const Piecewise& a, const Piecewise& b) {
    return Piecewise(isl_pw_aff_sub(a.copy(), b.copy()));
}
Piecewise least(const Piecewise& a, const Piecewise& b) {
    return Piecewise(isl_pw_aff_min(a.copy(), b.copy()));
}
Piecewise greatest(const Piecewise& a, const Piecewise& b) {
    return Piecewise(isl_pw_aff_max(a.copy(), b.copy()));
}
Piecewise floor_quotient(const Piecewise& a, const Value& divisor) {
    return Piecewise(isl_pw_aff_floor(isl_pw_aff_scale_down_val(a.copy(), divisor.copy())));
}
Piecewise residue(const Piecewise& a, const Value& divisor) {
    return Piecewise(isl_pw_aff_mod_val(a.copy(), divisor.copy()));
}

Set compare(const Piecewise& a, Function function, const Piecewise& b) {
    switch (function) {
    case Function::Less: return Set(isl_pw_aff_lt_set(a.copy(), b.copy()));
    case Function::LessEqual: return Set(isl_pw_aff_le_set(a.copy(), b.copy()));
    case Function::Greater: return Set(isl_pw_aff_gt_set(a.copy(), b.copy()));
    case Function::GreaterEqual: return Set(isl_pw_aff_ge_set(a.copy(), b.copy()));
    case Function::Equal: return Set(isl_pw_aff_eq_set(a.copy(), b.copy()));
    default: return Set(isl_pw_aff_ne_set(a.copy(), b.copy()));
    }
}

Function opposite(Function comparison) {
    switch (comparison) {
    case Function::Less: return Function::GreaterEqual;
    case Function::LessEqual: return Function::Greater;
    case Function::Greater: return Function::LessEqual;
    case Function::GreaterEqual: return Function::Less;
    case Function::Equal: return Function::NotEqual;
    default: return Function::Equal;
    }
}

/// The value of what is the same everywhere; null of anything else.
Value constant_of(const Piecewise& form) {
    if (isl_pw_aff_isa_aff(form.get()) != isl_bool_true) return {};
    isl_aff* single = isl_pw_aff_as_aff(form.copy());
    const bool fixed = isl_aff_is_cst(single) == isl_bool_true;
    Value value(fixed ? isl_aff_get_constant_val(single) : nullptr);
    isl_aff_free(single);
    return value;
}

bool is_positive(const Value& value) {
    return value && isl_val_is_pos(value.get()) == isl_bool_true;
}

bool is_negative(const Value& value) {
    return value && isl_val_is_neg(value.get()) == isl_bool_true;
}

Value negated(const Value& value) {
    return Value(isl_val_neg(value.copy()));
}

bool is_index_type(ElementType type) {
    return type == ElementType::I32 || type == ElementType::I64;
}

}  // namespace

Translator::Translator(Context& context, const std::vector<Axis>& axes, Elements elements)
    : context_(context.get()), axes_(axes), elements_(std::move(elements)), ranges_(everything()) {}

Set Translator::everything() const {
    return Set(isl_set_universe(isl_space_params_alloc(context_, 0)));
}

Piecewise Translator::constant(std::int64_t value) const {
    return Piecewise(isl_pw_aff_from_aff(isl_aff_val_on_domain_space(
        isl_space_params_alloc(context_, 0), isl_val_int_from_si(context_, value))));
}

std::pair<Piecewise, bool> Translator::parameter(const Expression& expression) {
    const auto known = std::find(parameters_.begin(), parameters_.end(), expression);
    const bool fresh = known == parameters_.end();
    const std::string name = "p" + std::to_string(known - parameters_.begin());
    if (fresh) parameters_.push_back(expression);
    isl_id* id = isl_id_alloc(context_, name.c_str(), nullptr);
    isl_space* space = isl_space_add_param_id(isl_space_params_alloc(context_, 0), isl_id_copy(id));
    return {Piecewise(isl_pw_aff_from_aff(isl_aff_param_on_domain_space_id(space, id))), fresh};
}

/// What cannot be computed is not known: less is proved then, never something false.
void Translator::assume(Set known) {
    Set narrower = both(ranges_, std::move(known));
    complete_ = complete_ && static_cast<bool>(narrower);
    if (narrower) ranges_ = std::move(narrower);
}

bool Translator::is_exact() const {
    return complete_ &&
           std::all_of(parameters_.begin(), parameters_.end(), [](const Expression& each) {
               return std::holds_alternative<AxisIndex>(each.node);
           });
}

void Translator::bound(const Piecewise& value, const Bounds& bounds) {
    if (bounds.low) assume(compare(value, Function::GreaterEqual, constant(*bounds.low)));
    if (bounds.high) assume(compare(value, Function::LessEqual, constant(*bounds.high)));
}

Piecewise Translator::size_symbol(AxisId axis) {
    const auto [form, fresh] = parameter({SizeOf{axis}, {}});
    if (fresh) bound(form, {1, {}});
    return form;
}

Piecewise Translator::size(AxisId axis) {
    const Axis& known = axes_[axis.index()];
    if (!known.dynamic) return constant(known.extent);
    Piecewise form = size_form(known.size);
    return form ? form : size_symbol(axis);
}

Piecewise Translator::size_form(const Formula& formula) {
    if (formula.op == FormulaOp::Constant)
        return formula.constant.denominator == 1 ? constant(formula.constant.numerator)
                                                 : Piecewise();
    if (formula.op == FormulaOp::Symbol) {
        const Axis& axis = axes_[formula.symbol.axis.index()];
        return axis.dynamic ? size_symbol(formula.symbol.axis) : constant(axis.extent);
    }
    Piecewise total;
    for (const Formula& part : formula.args) {
        Piecewise form = size_form(part);
        if (!form) return {};
        total = total ? size_call(formula.op, std::move(total), std::move(form)) : std::move(form);
        if (!total) return {};
    }
    return total;
}

Piecewise Translator::size_call(FormulaOp op, Piecewise a, Piecewise b) const {
    const Value divisor = constant_of(b);
    switch (op) {
    case FormulaOp::Add: return a + b;
    case FormulaOp::Multiply:
        if (!divisor && !constant_of(a)) return {};
        return Piecewise(isl_pw_aff_mul(a.release(), b.release()));
    case FormulaOp::Min: return least(a, b);
    case FormulaOp::Max: return greatest(a, b);
    case FormulaOp::FloorDivide:
        return is_positive(divisor) ? floor_quotient(a, divisor) : Piecewise();
    case FormulaOp::Modulo: return is_positive(divisor) ? residue(a, divisor) : Piecewise();
    case FormulaOp::CeilDivide:
        return is_positive(divisor) ? floor_quotient(a + b - constant(1), divisor) : Piecewise();
    default: return {};
    }
}

bool Translator::is_whole_call(const Apply& call) const {
    const std::vector<Expression>& parts = call.arguments;
    switch (call.function) {
    case Function::Negate:
    case Function::Abs: return is_whole(parts[0]);
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::FloorDivide:
    case Function::Modulo:
    case Function::Min:
    case Function::Max:
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: return is_whole(parts[0]) && is_whole(parts[1]);
    case Function::Select: return is_whole(parts[1]) && is_whole(parts[2]);
    case Function::Power: {
        const Number* exponent = std::get_if<Number>(&parts[1].node);
        return exponent != nullptr && exponent->is_integer && exponent->value >= 0 &&
               is_whole(parts[0]);
    }
    default: return false;
    }
}

/// Whether the values are integers, as the types say.
bool Translator::is_whole(const Expression& expression) const {
    return std::visit(
        overloaded{
            [](const Number& value) { return value.is_integer; },
            [](const AxisIndex&) { return true; },
            [](const SizeOf&) { return true; },
            [&](const Read& element) { return elements_ && elements_(element.array).has_value(); },
            [&](const Apply& call) { return is_whole_call(call); },
            [](const Convert& convert) {
                return !is_floating(convert.type) && convert.type != ElementType::Bool;
            },
            [](const Operand&) { return false; },
        },
        expression.node);
}

Piecewise Translator::value(const Expression& expression) {
    if (++steps_ > kMostSteps) return parameter(expression).first;
    return std::visit(overloaded{
                          [&](const Number& number) { return literal(number, expression); },
                          [&](const AxisIndex& index) {
                              const auto [form, fresh] = parameter(expression);
                              if (fresh) {
                                  bound(form, {0, {}});
                                  assume(compare(form, Function::Less, size(index.axis)));
                              }
                              return form;
                          },
                          [&](const SizeOf& item) { return size(item.axis); },
                          [&](const Read& read) { return element(read, expression); },
                          [&](const Apply& call) { return call_value(call, expression); },
                          [&](const Convert& convert) {
                              const Expression& argument = convert.argument.front();
                              return is_index_type(convert.type) && is_whole(argument)
                                         ? value(argument)
                                         : parameter(expression).first;
                          },
                          [&](const Operand&) { return parameter(expression).first; },
                      },
                      expression.node);
}

Piecewise Translator::literal(const Number& number, const Expression& whole) {
    if (number.is_integer && std::abs(number.value) < 0x1p53)
        return constant(static_cast<std::int64_t>(number.value));
    return parameter(whole).first;
}

Piecewise Translator::element(const Read& read, const Expression& whole) {
    const auto [form, fresh] = parameter(whole);
    const std::optional<ElementRange> known =
        fresh && elements_ ? elements_(read.array) : std::nullopt;
    if (known) bound(form, known->bounds);
    if (known && known->below) assume(compare(form, Function::Less, size(*known->below)));
    return form;
}

Interval Translator::interval_of(const Piecewise& value) const {
    return {least_at(value, ranges_).value_or(kAny64.low),
            greatest_at(value, ranges_).value_or(kAny64.high)};
}

/// A shift by a number is a product or a quotient; of other bits only a range is known, and that
/// masking and shifting down make nothing larger. A product that 64 bits may not hold is not known.
Piecewise Translator::bits(const Apply& call, const Expression& whole) {
    const std::array parts = {value(call.arguments[0]), value(call.arguments[1])};
    const std::array ranges = {interval_of(parts[0]), interval_of(parts[1])};
    const Interval range = bit_range(call.function, ranges[0], ranges[1]);
    const bool right = call.function == Function::ShiftRight;
    const bool left = call.function == Function::ShiftLeft;
    const bool known = !left || range.within(kExactIntegers);
    const std::int64_t places = ranges[1].low;
    if ((left || right) && known && ranges[1].is_one() && places >= 0 && places < 53) {
        const Value power(isl_val_int_from_si(context_, std::int64_t{1} << places));
        return right ? floor_quotient(parts[0], power)
                     : Piecewise(isl_pw_aff_scale_val(parts[0].copy(), power.copy()));
    }
    const auto [form, fresh] = parameter(whole);
    if (!fresh || !known) return form;
    if (range.low != kAny64.low) bound(form, {range.low, {}});
    if (range.high != kAny64.high) bound(form, {{}, range.high});
    for (const std::size_t part : {0U, 1U})
        if ((call.function == Function::BitAnd || (right && part == 0)) && ranges[part].low >= 0)
            assume(compare(form, Function::LessEqual, parts[part]));
    return form;
}

Piecewise Translator::call_value(const Apply& call, const Expression& whole) {
    if (!is_whole_call(call) || call.function == Function::Power) return parameter(whole).first;
    if (is_bit_operation(call.function)) return bits(call, whole);
    if (call.function == Function::Select) return choice(call);
    const Piecewise a = value(call.arguments[0]);
    if (call.function == Function::Negate) return Piecewise(isl_pw_aff_neg(a.copy()));
    if (call.function == Function::Abs) return greatest(a, Piecewise(isl_pw_aff_neg(a.copy())));
    const Piecewise b = value(call.arguments[1]);
    switch (call.function) {
    case Function::Add: return a + b;
    case Function::Subtract: return a - b;
    case Function::Multiply: return product(a, b, whole);
    case Function::Min: return least(a, b);
    case Function::Max: return greatest(a, b);
    case Function::FloorDivide: return quotient(a, b, whole);
    default: return remainder(a, b, whole);
    }
}

Piecewise Translator::product(const Piecewise& a, const Piecewise& b, const Expression& whole) {
    if (constant_of(a) || constant_of(b)) return Piecewise(isl_pw_aff_mul(a.copy(), b.copy()));
    return parameter(whole).first;
}

/// a // b of a divisor that varies: between zero and a where a is not negative.
Piecewise Translator::quotient(const Piecewise& a, const Piecewise& b, const Expression& whole) {
    const Value divisor = constant_of(b);
    if (is_positive(divisor)) return floor_quotient(a, divisor);
    if (is_negative(divisor))  // a // -b is -a // b
        return floor_quotient(constant(0) - a, negated(divisor));
    const auto [form, fresh] = parameter(whole);
    if (fresh)
        assume(either(either(compare(b, Function::Less, constant(1)),
                             compare(a, Function::Less, constant(0))),
                      both(compare(form, Function::GreaterEqual, constant(0)),
                           compare(form, Function::LessEqual, a))));
    return form;
}

/// a % b of a divisor that varies: from zero to below b.
Piecewise Translator::remainder(const Piecewise& a, const Piecewise& b, const Expression& whole) {
    const Value divisor = constant_of(b);
    if (is_positive(divisor)) return residue(a, divisor);
    if (is_negative(divisor))  // a % -b is -(-a % b)
        return constant(0) - residue(constant(0) - a, negated(divisor));
    const auto [form, fresh] = parameter(whole);
    if (fresh)
        assume(either(compare(b, Function::Less, constant(1)),
                      both(compare(form, Function::GreaterEqual, constant(0)),
                           compare(form, Function::Less, b))));
    return form;
}

Piecewise Translator::choice(const Apply& call) {
    const auto branch = [&](std::size_t at) {
        return Piecewise(isl_pw_aff_intersect_domain(
            value(call.arguments[at]).release(), condition(call.arguments[0], at == 1).release()));
    };
    Piecewise first = branch(1);
    return Piecewise(isl_pw_aff_union_add(first.release(), branch(2).release()));
}

Set Translator::condition(const Expression& expression, bool holds) {
    if (const Number* number = std::get_if<Number>(&expression.node)) {
        Set all = everything();
        return (number->value != 0) == holds ? all : Set(isl_set_complement(all.release()));
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || ++steps_ > kMostSteps) return truth(expression, holds);
    const std::vector<Expression>& parts = call->arguments;
    switch (call->function) {
    case Function::Not: return condition(parts[0], !holds);
    case Function::And:
    case Function::Or: {
        Set first = condition(parts[0], holds);
        Set second = condition(parts[1], holds);
        const bool conjunction = (call->function == Function::And) == holds;
        return conjunction ? both(std::move(first), std::move(second))
                           : either(std::move(first), std::move(second));
    }
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::Equal:
    case Function::NotEqual:
        if (!is_whole(parts[0]) || !is_whole(parts[1])) return truth(expression, holds);
        return comparison(*call, holds ? call->function : opposite(call->function));
    case Function::Select:
        return either(both(condition(parts[0], true), condition(parts[1], holds)),
                      both(condition(parts[0], false), condition(parts[2], holds)));
    default: return truth(expression, holds);
    }
}

Set Translator::comparison(const Apply& call, Function function) {
    const Piecewise left = value(call.arguments[0]);
    const Piecewise right = value(call.arguments[1]);
    return compare(left, function, right);
}

/// A condition that is an atom is one where it holds and zero where it does not.
Set Translator::truth(const Expression& atom, bool holds) {
    const auto [form, fresh] = parameter(atom);
    if (fresh) bound(form, {0, 1});
    return compare(form, Function::Equal, constant(holds ? 1 : 0));
}

}  // namespace napkin::index
