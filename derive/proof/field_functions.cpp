// Exponentials, logarithms, roots, and functions of which nothing is known.
#include <bit>
#include <cmath>
#include <vector>

#include "derive/proof/field_domain.h"
#include "diagrams/literal.h"

namespace napkin::proof {
namespace {

/// Whole powers are products up to this exponent.
constexpr double kLargestPower = 64;
/// Constants are recognised up to this number, and down to its reciprocal.
constexpr double kLargestRecognised = 0x1p20;

/// In rising order, each as often as it divides.
std::vector<std::int64_t> prime_factors_of(std::int64_t number) {
    std::vector<std::int64_t> primes;
    for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor)
        for (; number % divisor == 0; number /= divisor) primes.push_back(divisor);
    if (number > 1) primes.push_back(number);
    return primes;
}

}  // namespace

void FieldDomain::note_key(Tag tag, const Degree& degree) {
    Keys& keys = keys_[tag];
    ++keys.count;
    keys.degree = std::max(keys.degree, degree.most());
}

FieldUses FieldDomain::uses() const {
    FieldUses uses = uses_;
    for (const Keys& keys : keys_) uses.collisions += keys.count * keys.count / 2 * keys.degree;
    return uses;
}

std::uint64_t FieldDomain::key(const FieldValue& value) {
    switch (value.kind) {
    case FieldValue::Kind::Poison: return random_(PairTag)(0).word();
    case FieldValue::Kind::MinusInfinity: return random_(PairTag)(1).word();
    case FieldValue::Kind::PlusInfinity: return random_(PairTag)(2).word();
    case FieldValue::Kind::Finite: break;
    }
    if (!value.has_logarithm()) return value.ring.p.value();
    // Where a maximum is one value, logarithms have equal arguments wherever they are equal. Where
    // it is any, a formal pair is known by its exponential.
    if (settings_.choices == Choices::Gauges)
        return random_(PairTag)(3)(exponential(value).ring.p.value()).word();
    return flat(value).ring.p.value();
}

RandomFunction FieldDomain::image(Tag tag, std::uint64_t which, const FieldValue& argument) {
    note_key(tag, argument.ring.degree);
    return random_(tag)(which)(key(argument));
}

FieldValue FieldDomain::unknown(const RandomFunction& image) {
    FieldValue value;
    value.kind = FieldValue::Kind::Finite;
    value.ring.p = image.in_p();
    value.ring.q = image.in_q();
    value.ring.degree = {1, 0};
    if (exponents_) value.ring.form = terms_.term(value.ring.q);
    return value;
}

/// The simple fraction that a value is at every point, where it is one: when all else cancels, what
/// is left is a constant.
FieldValue FieldDomain::recognised(const FieldValue& value) {
    constexpr double kDistance = 1e-11;
    const double size = std::abs(value.real);
    const bool in_reach = size == 0 || (size > 1 / kLargestRecognised && size < kLargestRecognised);
    if (value.constant || !value.finite() || value.has_logarithm() || !in_reach) return value;
    const LiteralFraction near = simplest_fraction_near(value.real, kDistance);
    if (value.ring.p * InP::of_integer(near.denominator) != InP::of_integer(near.numerator))
        return value;
    FieldValue constant =
        number(static_cast<double>(near.numerator) / static_cast<double>(near.denominator));
    constant.rootless = value.rootless;
    constant.empty = value.empty;
    return constant;
}

FieldValue FieldDomain::round(ElementType type, const FieldValue& element) {
    if (!element.finite()) return element;
    const FieldValue value = recognised(element);
    const bool zero = value.ring.p.is_zero() && !value.has_logarithm();
    const double real = zero ? 0 : round_to(type, value.real);
    if (value.constant || zero) {
        FieldValue rounded = number(real);
        rounded.empty = value.empty;
        return rounded;
    }
    FieldValue rounded = unknown(image(RoundingTag, static_cast<std::uint64_t>(type), value));
    rounded.rootless = value.rootless;
    rounded.empty = value.empty;
    rounded.real = real;
    return rounded;
}

FieldValue FieldDomain::written(const Array& array, ElementType /*tile*/, const FieldValue& value) {
    FieldValue element = array.rounds ? round(array.type, value) : value;
    if (!element.finite() || !element.ring.exponential) return element;
    element = recognised(element);
    if (element.constant) return element;
    // A logarithm is an exponent as it stands; other elements are taken whole, or as written.
    uses_.elements = true;
    if (!element.logarithmic && settings_.nested != Nested::Factored) {
        forget_parts(element.ring);
    }
    if (!element.ring.has_q) finish_element(element.ring);
    return element;
}

/// Leaves the value in Z_p alone.
void FieldDomain::forget_parts(RingPart& ring) {
    ring.q = InQ();
    ring.form = {};
    ring.known = InP();
    ring.has_q = false;
}

/// What depends on an exponential has no value of its own in Z_q: it gets a random function of the
/// one in Z_p, an odd one. Where a summand is known, that is of the rest.
void FieldDomain::finish_element(RingPart& ring) {
    note_key(FinishedTag, ring.degree);
    ring.has_q = true;
    const InP rest = ring.p - ring.known;
    if (rest.is_zero()) return;
    const bool turned = -rest < rest;
    const InQ image = random_(FinishedTag)((turned ? -rest : rest).value()).in_q();
    ring.q = ring.q + (turned ? -image : image);
    if (!exponents_) return;
    const FormId term = terms_.term(image);
    ring.form = terms_.sum(ring.form, turned ? terms_.negated(term) : term);
}

/// 4 to the power of a value without logarithms.
InP FieldDomain::power_of(RingPart exponent, FormId form, Degree& degree) {
    if (!exponent.has_q) {
        uses_.nested = true;
        finish_element(exponent);
        form = exponent.form;
    }
    if (!settings_.strict) return power_of_four(exponent.q);
    note_key(VariableTag, exponent.degree);
    const ExponentTerms::Atoms atoms = terms_.atoms(form);
    degree = {atoms.above, atoms.below};
    return power_of_four(atoms.value);
}

/// What an exponent is, where all that is known of one that depends on exponentials is its value.
FieldValue FieldDomain::as_exponent(FieldValue value) {
    if (settings_.nested == Nested::Whole && value.ring.exponential && !value.logarithmic)
        forget_parts(value.ring);
    return value;
}

FieldValue FieldDomain::exponential(const FieldValue& whole) {
    if (whole.is_whole(0) && !whole.has_logarithm()) return number(1);
    uses_.exponentials = true;
    const FieldValue a = as_exponent(whole);
    FieldValue result;
    result.kind = FieldValue::Kind::Finite;
    const InP power = power_of(a.ring, form_of(a), result.ring.degree);
    result.ring.p = power * a.factor;
    result.ring.has_q = false;
    result.ring.exponential = true;
    if (a.has_logarithm()) {
        result.ring.degree.above += a.ring.degree.above;
        result.ring.degree.below += a.ring.degree.below;
    }
    if (needs_.logarithms) {
        FieldValue exponent = a;
        exponent.factor = InP(1);
        exponent.image = 0;
        exponent.whole = false;
        exponent.ring.form = form_of(a);
        exponent.constant = false;
        known_logarithms_.push_back({exponent, power, a.image});
        result.logarithm = static_cast<std::uint32_t>(known_logarithms_.size() - 1);
    }
    return result;
}

FieldValue FieldDomain::logarithm(const FieldValue& a) {
    if (a.is_whole(1)) return number(0);
    if (a.is_whole(0)) return number(-std::numeric_limits<double>::infinity());
    if (a.has_logarithm()) return logarithm(flat(a));
    if (a.ring.p.is_zero()) return {};
    FieldValue result;
    result.kind = FieldValue::Kind::Finite;
    result.factor = a.ring.p;
    if (a.logarithm != 0) {
        const Logarithm& known = known_logarithms_[a.logarithm];
        result = known.part;
        result.factor = a.ring.p * known.power.inverse();
        result.image = known.image;
    }
    result.logarithmic = true;
    result.ring.degree.above += a.ring.degree.above;
    result.ring.degree.below += a.ring.degree.below;
    return result;
}

/// The logarithm of a product is the sum of those of its factors, known in part or not.
void FieldDomain::join_logarithms(const FieldValue& a, const FieldValue& b, bool inverse,
                                  FieldValue& out) {
    if (a.logarithm == 0 && b.logarithm == 0) return;
    const Logarithm left = known_logarithms_[a.logarithm];
    if (b.logarithm == 0 && left.image == 0 && left.power == a.ring.p) {
        out.logarithm = a.logarithm;  // the rest is b
        return;
    }
    FieldValue sum = logarithm(b);
    if (inverse) sum = multiple(sum, -1);
    sum = add(logarithm(a), sum);
    if (!sum.finite()) return;
    Logarithm joined{.part = sum, .power = out.ring.p * sum.factor.inverse(), .image = sum.image};
    joined.part.factor = InP(1);
    joined.part.image = 0;
    known_logarithms_.push_back(std::move(joined));
    out.logarithm = static_cast<std::uint32_t>(known_logarithms_.size() - 1);
}

/// tanh(u) = (exp(2 u) - 1) / (exp(2 u) + 1).
FieldValue FieldDomain::hyperbolic_tangent(const FieldValue& a) {
    if (a.is_whole(0)) return number(0);
    const FieldValue power = exponential(multiple(a, 2));
    return divide(add(power, number(-1)), add(power, number(1)));
}

FieldValue FieldDomain::power(const FieldValue& a, const FieldValue& exponent) {
    if (!exponent.constant) return unknown(image(FunctionTag, key(exponent), a));
    const double whole = std::floor(exponent.real);
    if (std::abs(whole) > kLargestPower) return unknown(image(FunctionTag, key(exponent), a));
    const FieldValue product = whole_power(a, static_cast<std::int64_t>(whole));
    const double rest = exponent.real - whole;
    return rest == 0 ? product : multiply(product, root(a, rest));
}

FieldValue FieldDomain::whole_power(const FieldValue& a, std::int64_t exponent) {
    FieldValue result = number(1);
    for (std::int64_t i = 0; i < std::abs(exponent); ++i) result = multiply(result, a);
    return exponent < 0 ? divide(number(1), result) : result;
}

/// The positive value to a power in (0, 1). A part that is an exponential has its power for sure.
FieldValue FieldDomain::root(const FieldValue& a, double exponent) {
    if (a.whole && a.real >= 0 && (a.real <= 1 || settings_.strict || squares_roots_)) {
        const double real = std::pow(a.real, exponent);
        if (exponent == 0.5 && real == std::floor(real) && real * real == a.real)
            return number(real);
    }
    if (a.has_logarithm()) return root(flat(a), exponent);
    if (!a.constant)
        if (const FieldValue known = recognised(a); known.constant) return root(known, exponent);
    uses_.roots = true;
    if (a.constant) {
        const auto [known, fresh] = constant_roots_.try_emplace({a.ring.p, exponent});
        if (fresh) known->second = root_of_constant(a, exponent);
        return known->second;
    }
    if (a.logarithm == 0) return root_of_rest(a.ring.p, exponent, a.ring.degree);
    const Logarithm known = known_logarithms_[a.logarithm];
    const FieldValue power = exponential(multiply(known.part, number(exponent)));
    const InP rest = a.ring.p * known.power.inverse();
    return rest == InP(1) ? power : multiply(power, root_of_rest(rest, exponent, a.ring.degree));
}

/// Of a product of known numbers the product of their roots, whether those exist here or not: that
/// of a size is the product of those of the sizes that it was split into, and of `2 / 3.14` the
/// quotient of two.
FieldValue FieldDomain::root_of_constant(const FieldValue& a, double exponent) {
    constexpr double kMost = 1e9;
    const auto is = [&](double value, InP element) {
        return value >= 2 && value <= kMost && number(value).ring.p == element;
    };
    const double above = std::nearbyint(a.real);
    const double below = std::nearbyint(1 / a.real);
    const bool inverse = !is(above, a.ring.p);
    const double whole = inverse ? below : above;
    const std::vector<std::int64_t> primes =
        !inverse || is(below, a.ring.p.inverse())
            ? prime_factors_of(static_cast<std::int64_t>(whole))
            : std::vector<std::int64_t>{};
    if (primes.size() < 2) {
        const auto parts = constant_quotients_.find(a.ring.p);
        const auto is_quotient = [&](const FieldValue& value) {
            return constant_quotients_.contains(value.ring.p);
        };
        if (parts == constant_quotients_.end() || is_quotient(parts->second.first) ||
            is_quotient(parts->second.second))
            return root_of_rest(a.ring.p, exponent, a.ring.degree);
        const auto [over, under] = parts->second;
        return divide(root(over, exponent), root(under, exponent));
    }
    FieldValue product = number(1);
    for (std::size_t i = 0; i < primes.size(); ++i) {
        const FieldValue prime = number(static_cast<double>(primes[i]));
        const bool square = squares_roots_ && exponent == 0.5 && i + 1 < primes.size() &&
                            primes[i + 1] == primes[i];
        product = multiply(product, square ? prime : root(prime, exponent));
        if (square) ++i;
    }
    return inverse ? divide(number(1), product) : product;
}

FieldValue FieldDomain::root_of_rest(InP rest, double exponent, const Degree& degree) {
    note_key(RootTag, degree);
    const auto bits = std::bit_cast<std::uint64_t>(exponent);
    const InP inverse = rest.inverse();
    const bool turned = inverse < rest;  // the root of an inverse is the inverse of the root
    FieldValue root = unknown(random_(RootTag)(bits)((turned ? inverse : rest).value()));
    if (turned) root = divide(number(1), root);
    if (settings_.strict) return root;
    root.rootless = !is_square(rest);
    if (!root.rootless) root.ring.p = rest.power(number(exponent).ring.q.value());
    return root;
}

/// What the `log b` of a pair is as a value: unless it is known as a sum, a random function of b,
/// odd under inversion.
FieldValue FieldDomain::image_of(const FieldValue& pair) {
    if (pair.image != 0) return images_[pair.image];
    const InP inverse = pair.factor.inverse();
    const bool turned = inverse < pair.factor;
    note_key(LogarithmTag, pair.ring.degree);
    FieldValue image = unknown(random_(LogarithmTag)((turned ? inverse : pair.factor).value()));
    return turned ? multiple(image, -1) : image;
}

/// Whether a value to this power is a whole power times a root.
bool FieldDomain::is_power(const FieldValue& value) {
    return value.constant && value.finite() && std::abs(value.real) <= kLargestPower;
}

/// A constant number of times a + log b: what its exponential is, is known of b to that power.
FieldValue FieldDomain::scaled(const FieldValue& pair, const FieldValue& factor) {
    if (factor.real < 0) return multiple(scaled(pair, multiple(factor, -1)), -1);
    FieldValue part = pair;
    part.factor = InP(1);
    part.image = 0;
    FieldValue result = multiply(part, factor);
    const double whole = std::floor(factor.real);
    uses_.roots = true;
    const FieldValue root = root_of_rest(pair.factor, factor.real - whole, pair.ring.degree);
    result.factor = pair.factor.power(static_cast<std::uint64_t>(whole)) * root.ring.p;
    result.image = keep_image(multiply(image_of(pair), factor));
    result.rootless = result.rootless || root.rootless;
    result.logarithmic = true;
    return result;
}

std::uint32_t FieldDomain::keep_image(FieldValue image) {
    images_.push_back(std::move(image));
    return static_cast<std::uint32_t>(images_.size() - 1);
}

/// The value without a formal logarithm.
FieldValue FieldDomain::flat(const FieldValue& value) {
    if (!value.has_logarithm()) return value;
    uses_.flattened = true;
    FieldValue rest = value;
    rest.factor = InP(1);
    rest.image = 0;
    rest.whole = false;
    FieldValue result = add(rest, image_of(value));
    result.rootless = value.rootless;
    result.empty = value.empty;
    result.real = value.real;
    return result;
}

}  // namespace napkin::proof
