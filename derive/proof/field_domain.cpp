#include "derive/proof/field_domain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagrams/infinity.h"
#include "diagrams/literal.h"

namespace napkin::proof {
namespace {

constexpr double kLargestWhole = 0x1p53;
constexpr double kLargestFactor = 0x1p31;

bool is_integer(double value) {
    return std::abs(value) <= kLargestWhole && value == std::floor(value);
}

template <class Residue>
Residue residue_of(const LiteralFraction& fraction) {
    const auto steps = static_cast<std::uint64_t>(std::abs(fraction.exponent));
    const Residue scale = Residue(2).power(steps);
    return Residue::of_integer(fraction.numerator) *
           Residue::of_integer(fraction.denominator).inverse() *
           (fraction.exponent < 0 ? scale.inverse() : scale);
}

/// Whether double arithmetic on whole numbers is exact here.
bool stays_whole(Function function, std::span<const FieldValue> arguments, double real) {
    switch (function) {
    case Function::Exp:
    case Function::Log:
    case Function::Sqrt:
    case Function::Rsqrt:
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin:
    case Function::Cos: return false;
    case Function::Divide:
        return arguments[1].real != 0 && real * arguments[1].real == arguments[0].real &&
               is_integer(real);
    default: return is_integer(real);
    }
}

void inherit(FieldValue& result, const FieldValue& a, const FieldValue& b) {
    result.rootless = a.rootless || b.rootless;
    result.empty = a.empty || b.empty;
}

/// Beside what is visible, a row on which nothing is adds nothing.
bool is_empty_sum(const FieldValue& a, const FieldValue& b) {
    const auto adds = [](const FieldValue& value) { return !value.empty && !value.is_whole(0); };
    return (a.empty || b.empty) && !adds(a) && !adds(b);
}

Degree sum_degree(const Degree& a, const Degree& b) {
    if (a.below == 0 && b.below == 0) return {std::max(a.above, b.above), 0};
    return {std::max(a.above + b.below, b.above + a.below), a.below + b.below};
}
Degree product_degree(const Degree& a, const Degree& b) {
    return {a.above + b.above, a.below + b.below};
}

/// Whether it is known to be above zero.
bool is_positive(const FieldValue& value) {
    return value.finite() && (value.positive || (value.constant && value.real > 0));
}

double tame(double real) {
    if (std::isnan(real)) return 0;
    constexpr double kMost = std::numeric_limits<double>::max();
    return std::clamp(real, -kMost, kMost);
}

}  // namespace

FieldDomain::FieldDomain(std::uint64_t seed, FieldSettings settings, FieldNeeds needs)
    : settings_(settings),
      needs_(std::move(needs)),
      exponents_(settings.strict && needs_.exponentials),
      squares_roots_(!settings.strict && seed % 2 == 0),
      random_(RandomFunction(seed)),
      terms_(seed),
      known_logarithms_(1),
      images_(1) {}

FieldValue FieldDomain::variable(std::uint64_t name, std::uint64_t offset, double real) {
    const RandomFunction draw = random_(VariableTag)(name)(offset);
    FieldValue value;
    value.kind = FieldValue::Kind::Finite;
    value.ring = {draw.in_p(), draw.in_q(), terms_.term(draw.in_q()), {1, 0}};
    // -1 is no square: a root that is a square is that of a positive number, products included.
    if (!settings_.strict && is_square(value.ring.p) != (real > 0)) value.ring.p = -value.ring.p;
    value.real = real;
    return value;
}

FieldValue FieldDomain::number(double value) const {
    FieldValue result;
    result.constant = true;
    result.real = value;
    if (std::isnan(value)) return {};
    if (std::isinf(value)) {
        result.kind = value < 0 ? FieldValue::Kind::MinusInfinity : FieldValue::Kind::PlusInfinity;
        return result;
    }
    if (!is_integer(value)) return constant(value);
    result.kind = FieldValue::Kind::Finite;
    result.whole = true;
    result.ring.p = InP::of_integer(static_cast<std::int64_t>(value));
    result.ring.q = InQ::of_integer(static_cast<std::int64_t>(value));
    return result;
}

FieldValue FieldDomain::constant(double value) const {
    const auto [entry, fresh] = constants_.try_emplace(value);
    FieldValue& result = entry->second;
    if (!fresh) return result;
    result.kind = FieldValue::Kind::Finite;
    result.constant = true;
    result.real = value;
    const LiteralFraction fraction = fraction_of(value);
    result.ring.p = residue_of<InP>(fraction);
    result.ring.q = residue_of<InQ>(fraction);
    return result;
}

/// The form of a value that may be exponentiated; a constant's is made when it is needed.
FormId FieldDomain::form_of(const FieldValue& value) {
    if (!value.constant) return value.ring.form;
    if (value.whole)
        return terms_.multiple(terms_.term(InQ(1)), static_cast<std::int64_t>(value.real));
    return terms_.term(value.ring.q);
}

/// The summand that has a value in Z_q: what an exponential depends on is not one of its own.
RingPart FieldDomain::known_part(const FieldValue& value) {
    if (!value.ring.has_q) {
        RingPart part = value.ring;
        part.p = part.known;
        return part;
    }
    if (value.ring.exponential) return {};
    RingPart part = value.ring;
    if (exponents_) part.form = form_of(value);
    return part;
}

/// The known summand of a product, of which `value` has no value in Z_q and `factor` may.
void FieldDomain::scale_known(RingPart& result, const FieldValue& value, const FieldValue& factor) {
    if (!factor.ring.has_q || factor.ring.exponential) return;
    result.known = value.ring.known * factor.ring.p;
    result.q = value.ring.q * factor.ring.q;
    if (exponents_) result.form = terms_.product(value.ring.form, form_of(factor));
}

FieldValue FieldDomain::apply(Function function, std::span<const FieldValue> arguments) {
    bool infinite = false;
    bool whole = true;
    for (const FieldValue& argument : arguments) {
        if (argument.kind == FieldValue::Kind::Poison) return {};
        infinite = infinite || argument.infinite();
        whole = whole && argument.whole;
    }
    std::array<double, 3> reals{};
    for (std::size_t i = 0; i < arguments.size(); ++i) reals[i] = arguments[i].real;
    const double real = apply_function(function, {reals.data(), arguments.size()});
    FieldValue result;
    if (infinite)
        result = limit(function, arguments);
    else if (whole && stays_whole(function, arguments, real))
        result = number(real);
    else
        result = finite_call(function, arguments);
    const bool sums = function == Function::Add || function == Function::Subtract;
    for (const FieldValue& argument : arguments)
        result.rootless = result.rootless || argument.rootless;
    if (sums && !infinite)
        result.empty = is_empty_sum(arguments[0], arguments[1]);
    else
        for (const FieldValue& argument : arguments) result.empty = result.empty || argument.empty;
    if (result.finite() && !result.constant) {
        result.real = tame(real);
        result.constant = std::all_of(arguments.begin(), arguments.end(),
                                      [](const FieldValue& each) { return each.constant; });
    }
    return result;
}

/// With infinite arguments a call is infinite, or a constant, or (the maximum of -inf and x) one of
/// its arguments. Of finite arguments only the sign matters.
FieldValue FieldDomain::limit(Function function, std::span<const FieldValue> arguments) {
    if (function == Function::Max || function == Function::Min) {
        const bool first =
            (arguments[0].kind == FieldValue::Kind::MinusInfinity ||
             arguments[1].kind == FieldValue::Kind::PlusInfinity) == (function == Function::Min);
        return arguments[first ? 0 : 1];
    }
    std::array<double, 3> reals{};
    for (std::size_t i = 0; i < arguments.size(); ++i) reals[i] = arguments[i].real;
    const std::span<const double> used(reals.data(), arguments.size());
    FieldValue result = number(apply_function(function, used));
    const bool sum = function == Function::Add || function == Function::Subtract;
    const double plain = function == Function::Add ? reals[0] + reals[1] : reals[0] - reals[1];
    result.empty = sum && std::isnan(plain);
    return result;
}

FieldValue FieldDomain::finite_call(Function function, std::span<const FieldValue> arguments) {
    const FieldValue& a = arguments[0];
    const FieldValue& b = arguments.back();
    switch (function) {
    case Function::Negate: return multiple(a, -1);
    case Function::Add: return add(a, b);
    case Function::Subtract: return add(a, multiple(b, -1));
    case Function::Multiply: return multiply(a, b);
    case Function::Divide: return divide(a, b);
    case Function::Power: return power(a, b);
    case Function::Exp: {
        FieldValue power = exponential(a);
        power.positive = true;
        return power;
    }
    case Function::Log: return logarithm(a);
    case Function::Sqrt: return root(a, 0.5);
    case Function::Rsqrt: return divide(number(1), root(a, 0.5));
    case Function::Tanh: return hyperbolic_tangent(a);
    case Function::Sin:
    case Function::Cos:
    case Function::Erf: return unknown(image(FunctionTag, static_cast<std::uint64_t>(function), a));
    case Function::Abs: return absolute(a);
    case Function::Min:
    case Function::Max: return larger(a, b, function == Function::Min);
    case Function::Floor:
    case Function::FloorDivide:
    case Function::Modulo:
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: return to_integer(function, arguments);
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::Equal:
    case Function::NotEqual: return compare(function, a, b);
    case Function::Not: return number(a.real == 0 ? 1 : 0);
    case Function::Guard: return a;
    case Function::And:
    case Function::Or:
    case Function::Select: break;
    }
    throw InternalError("a function that is evaluated branch by branch");
}

FieldValue FieldDomain::add(const FieldValue& a, const FieldValue& b) {
    if (a.is_whole(0) || b.is_whole(0)) {
        FieldValue other = a.is_whole(0) ? b : a;
        other.empty = is_empty_sum(a, b);
        return other;
    }
    FieldValue sum;
    sum.kind = FieldValue::Kind::Finite;
    sum.ring.p = a.ring.p + b.ring.p;
    sum.ring.q = a.ring.q + b.ring.q;
    sum.ring.has_q = a.ring.has_q && b.ring.has_q;
    sum.ring.exponential = a.ring.exponential || b.ring.exponential;
    if (!sum.ring.has_q) {
        const RingPart left = known_part(a);
        const RingPart right = known_part(b);
        sum.ring.known = left.p + right.p;
        sum.ring.q = left.q + right.q;
        if (exponents_) sum.ring.form = terms_.sum(left.form, right.form);
    } else if (exponents_) {
        sum.ring.form = terms_.sum(form_of(a), form_of(b));
    }
    inherit(sum, a, b);
    sum.empty = is_empty_sum(a, b);
    sum.logarithmic = a.logarithmic || b.logarithmic;
    sum.positive = is_positive(a) && is_positive(b);
    const bool pair = a.has_logarithm() || b.has_logarithm();
    if (pair) {
        sum.factor = a.factor * b.factor;
        const bool both = a.has_logarithm() && b.has_logarithm();
        if (!both)
            sum.image = a.has_logarithm() ? a.image : b.image;
        else if (sum.has_logarithm())
            sum.image = keep_image(add(image_of(a), image_of(b)));
    }
    sum.ring.degree = pair ? product_degree(a.ring.degree, b.ring.degree)
                           : sum_degree(a.ring.degree, b.ring.degree);
    return sum;
}

/// A whole number of times a value; of a + log b, the number of times each.
FieldValue FieldDomain::multiple(const FieldValue& a, double factor) {
    if (factor == 1) return a;
    const FieldValue count = number(factor);
    if (a.whole) return number(a.real * factor);
    FieldValue result = a;
    result.positive = a.positive && factor > 0;
    result.real = a.real * factor;
    result.ring.p = a.ring.p * count.ring.p;
    result.ring.q = a.ring.q * count.ring.q;
    result.ring.known = a.ring.known * count.ring.p;
    if (exponents_ && !a.constant)
        result.ring.form = terms_.multiple(a.ring.form, static_cast<std::int64_t>(factor));
    if (a.has_logarithm()) {
        const InP power = a.factor.power(static_cast<std::uint64_t>(std::abs(factor)));
        result.factor = factor < 0 ? inverse_factor_(power) : power;
        if (factor != -1 || a.image != 0) result.image = keep_image(multiple(image_of(a), factor));
        result.ring.degree.above *= static_cast<float>(std::abs(factor));
        result.ring.degree.below *= static_cast<float>(std::abs(factor));
    }
    if (a.logarithm != 0) join_logarithms(a, count, false, result);
    return result;
}

FieldValue FieldDomain::multiply(const FieldValue& a, const FieldValue& b) {
    for (const auto& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
        if (one->whole) {
            if (one->real == 0) return number(0);
            if (std::abs(one->real) <= kLargestFactor) return multiple(*other, one->real);
        }
    if (a.has_logarithm() && is_power(b)) return scaled(a, b);
    if (b.has_logarithm() && is_power(a)) return scaled(b, a);
    if (a.has_logarithm() || b.has_logarithm()) return multiply(flat(a), flat(b));
    FieldValue product;
    product.kind = FieldValue::Kind::Finite;
    product.ring.p = a.ring.p * b.ring.p;
    product.ring.has_q = a.ring.has_q && b.ring.has_q;
    if (product.ring.has_q) product.ring.q = a.ring.q * b.ring.q;
    if (!a.ring.has_q) scale_known(product.ring, a, b);
    if (!b.ring.has_q) scale_known(product.ring, b, a);
    product.ring.exponential = a.ring.exponential || b.ring.exponential;
    if (product.ring.has_q && exponents_)
        product.ring.form = terms_.product(form_of(a), form_of(b));
    inherit(product, a, b);
    product.positive = is_positive(a) && is_positive(b);
    product.ring.degree = product_degree(a.ring.degree, b.ring.degree);
    join_logarithms(a, b, false, product);
    return product;
}

FieldValue FieldDomain::divide(const FieldValue& a, const FieldValue& b) {
    if (b.is_whole(0)) {
        const bool nothing = a.is_whole(0);
        FieldValue result = number(nothing ? 0 : std::copysign(kInfinity, a.real));
        result.empty = nothing;
        return result;
    }
    if (a.is_whole(0)) return number(0);
    if (b.is_whole(1)) return a;
    if (a.has_logarithm() && b.whole && std::abs(b.real) <= kLargestFactor)
        return scaled(a, number(1 / b.real));
    if (a.has_logarithm() || b.has_logarithm()) return divide(flat(a), flat(b));
    if (b.ring.p.is_zero()) return {};
    FieldValue quotient;
    quotient.kind = FieldValue::Kind::Finite;
    quotient.ring.p = a.ring.p * inverse_in_p_(b.ring.p);
    if (a.constant && b.constant && a.real > 0 && b.real > 0 && !a.is_whole(1))
        constant_quotients_.try_emplace(quotient.ring.p, a, b);
    quotient.ring.has_q = a.ring.has_q && b.ring.has_q && !b.ring.q.is_zero();
    quotient.ring.exponential = a.ring.exponential || b.ring.exponential;
    if (quotient.ring.has_q) {
        const InQ inverse = inverse_in_q_(b.ring.q);
        quotient.ring.q = a.ring.q * inverse;
        if (exponents_) quotient.ring.form = terms_.product(form_of(a), terms_.term(inverse));
    }
    inherit(quotient, a, b);
    quotient.positive = is_positive(a) && is_positive(b);
    quotient.ring.degree =
        product_degree(a.ring.degree, {b.ring.degree.below, b.ring.degree.above});
    join_logarithms(a, b, true, quotient);
    return quotient;
}

}  // namespace napkin::proof
