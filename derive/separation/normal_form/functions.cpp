// Rules of the normal form for exponentials, logarithms, absolute values, maxima and folds over
// other axes.
#include <algorithm>
#include <cmath>

#include "derive/separation/normal_form/normal_form.h"

namespace napkin::separation {
namespace {

bool is_call(const Term& term, Function function) {
    return term.kind == Kind::Apply && term.function == function;
}

}  // namespace

/// exp of a sum is a product: logarithms of folds in the exponent become factors, the rest stays
/// one exponent. Others stay too: what vanishes is then no larger than what a maximum is taken of.
Form NormalForm::exponential(PolynomialId exponent, TermId term) {
    const Polynomial source = algebra_[exponent];
    PolynomialId rest = kZero;
    PolynomialId factors = algebra_.constant(1);
    for (const auto& [mono, coefficient] : source.terms) {
        if (algebra_.class_of(mono).mixed()) return refuse(Why::Exponent, term, exponent);
        const bool bare = mono.exponent == kZero && mono.guards.empty() && mono.deferred.empty() &&
                          mono.powers.size() == 1 && mono.powers[0].second == 1;
        if (bare && algebra_.class_of(mono).folded &&
            is_call(algebra_[mono.powers[0].first], Function::Log)) {
            const TermId argument = algebra_[mono.powers[0].first].parts[0];
            const Form base = of(argument);
            const Form factor = base ? power(*base, coefficient, term) : std::nullopt;
            if (!factor) return std::nullopt;
            factors = product(factors, *factor);
            continue;
        }
        rest = algebra_.add(rest, algebra_.monomial(mono, coefficient));
    }
    return product(factors, algebra_.monomial(Monomial{.exponent = rest}));
}

/// log of one product is a sum; needed where an exponential is to be seen or where the factors are
/// of both classes. Where the product is positive, so are the absolute values of its factors.
Form NormalForm::logarithm(PolynomialId argument, TermId term) {
    argument = relative_to_largest(argument);
    const Polynomial source = algebra_[argument];
    const auto opaque = [&](PolynomialId of) {
        return algebra_.atom(algebra_.apply(Function::Log, {algebra_.term_of(of)}));
    };
    const auto opaque_log = [&](double number) {
        return number == 1 ? kZero : opaque(algebra_.constant(number));
    };
    const bool simple = source.terms.size() == 1 && source.terms.front().second > 0 &&
                        source.terms.front().first.guards.empty() &&
                        source.terms.front().first.deferred.empty();
    if (!simple)
        return pure(argument) ? Form(opaque(argument)) : refuse(Why::Function, term, argument);
    const auto& [mono, coefficient] = source.terms.front();
    Monomial rest = mono;
    rest.exponent = kZero;
    const bool one = rest.powers.size() == 1;
    if (pure(argument) && !one) {
        if (rest.powers.empty()) return algebra_.add(mono.exponent, opaque_log(coefficient));
        return algebra_.add(mono.exponent, opaque(algebra_.monomial(rest, coefficient)));
    }
    PolynomialId result = algebra_.add(mono.exponent, opaque_log(coefficient));
    for (const auto& [factor, exponent] : mono.powers) {
        const bool positive = pure(argument) || facts_.nonnegative(factor);
        const TermId base = positive && std::fmod(exponent, 2) != 0
                                ? factor
                                : algebra_.apply(Function::Abs, {factor});
        const TermId safe = facts_.nonnegative(factor) ? factor : base;
        result = algebra_.add(
            result, algebra_.scale(algebra_.atom(algebra_.apply(Function::Log, {safe})), exponent));
    }
    return result;
}

Form NormalForm::absolute(PolynomialId argument, TermId term) {
    if (facts_.nonnegative(argument)) return argument;
    PolynomialId sum = argument;
    if (algebra_[sum].terms.size() > 1 && !pure(sum)) sum = collect(sum);
    if (algebra_[sum].terms.size() != 1) {
        if (!pure(sum)) return refuse(Why::Function, term, argument);
        return algebra_.atom(algebra_.apply(Function::Abs, {algebra_.term_of(sum)}));
    }
    const auto [mono, coefficient] = algebra_[sum].terms.front();
    Monomial result{.exponent = mono.exponent, .guards = mono.guards};
    if (!mono.deferred.empty()) return refuse(Why::Function, term, argument);
    for (const auto& [factor, exponent] : mono.powers) {
        const bool positive = std::fmod(exponent, 2) == 0 || facts_.nonnegative(factor);
        const TermId base = positive ? factor : algebra_.apply(Function::Abs, {factor});
        result = algebra_.multiply(result, Monomial{.powers = {{base, exponent}}});
    }
    return algebra_.monomial(std::move(result), std::abs(coefficient));
}

/// max(u*w, 0) with the signs taken apart.
Form NormalForm::positive_part(PolynomialId a, TermId term) {
    if (facts_.nonnegative(a)) return a;
    const PolynomialId one = collect(a);
    if (algebra_[one].terms.size() != 1) return refuse(Why::Function, term, a);
    const auto [mono, coefficient] = algebra_[one].terms.front();
    if (!mono.deferred.empty() || !mono.guards.empty()) return refuse(Why::Function, term, a);
    Monomial bare = mono;
    bare.exponent = kZero;  // exponentials are positive and stay outside
    const Split parts = split(algebra_, bare, {});
    const PolynomialId outside = algebra_.monomial(Monomial{.exponent = mono.exponent});
    const auto side = [&](const Monomial& part, double sign) {
        const PolynomialId value = algebra_.monomial(part, sign);
        if (facts_.nonnegative(value)) return value;
        if (facts_.nonnegative(algebra_.scale(value, -1))) return kZero;
        return algebra_.atom(
            algebra_.apply(Function::Max, {algebra_.term_of(value), algebra_.number(0)}));
    };
    const double sign = coefficient < 0 ? -1 : 1;
    const PolynomialId both =
        algebra_.add(algebra_.multiply(side(parts.streamed, sign), side(parts.rest, 1)),
                     algebra_.multiply(side(parts.streamed, -sign), side(parts.rest, -1)));
    return algebra_.scale(algebra_.multiply(outside, both), std::abs(coefficient));
}

Form NormalForm::maximum(PolynomialId a, PolynomialId b, TermId term) {
    if (pure(a) && pure(b) && !algebra_.class_of(algebra_.add(a, b)).mixed())
        return algebra_.atom(
            algebra_.apply(Function::Max, {algebra_.term_of(a), algebra_.term_of(b)}));
    if (b == kZero) return positive_part(a, term);
    if (a == kZero) return positive_part(b, term);
    // max(u1 + w, u2 + w) = max(u1, u2) + w
    const auto part = [&](PolynomialId of, bool folded) {
        PolynomialId sum = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[of]).terms)
            if (algebra_.class_of(mono).folded == folded)
                sum = algebra_.add(sum, algebra_.monomial(mono, coefficient));
        return sum;
    };
    const auto additive = [&](PolynomialId of) {
        return std::none_of(
            algebra_[of].terms.begin(), algebra_[of].terms.end(),
            [&](const auto& entry) { return algebra_.class_of(entry.first).mixed(); });
    };
    if (additive(a) && additive(b)) {
        for (const bool folded : {true, false}) {
            if (part(a, folded) != part(b, folded)) continue;
            const TermId first = algebra_.term_of(part(a, !folded));
            const TermId second = algebra_.term_of(part(b, !folded));
            return algebra_.add(part(a, folded),
                                algebra_.atom(algebra_.apply(Function::Max, {first, second})));
        }
        if (algebra_.class_of(a).infinite || algebra_.class_of(b).infinite)
            return refuse(Why::Function, term, algebra_.subtract(a, b));
    }
    // max(u1 * w, u2 * w) = max(u1, u2) * w
    const PolynomialId left = collect(a);
    const PolynomialId right = collect(b);
    if (algebra_[left].terms.size() == 1 && algebra_[right].terms.size() == 1) {
        const auto [x, c] = algebra_[left].terms.front();
        const auto [y, d] = algebra_[right].terms.front();
        const Split first = split(algebra_, x, {});
        const Split second = split(algebra_, y, {});
        if (first.rest == second.rest && facts_.nonnegative(first.rest)) {
            const TermId u = algebra_.term_of(algebra_.monomial(first.streamed, c));
            const TermId v = algebra_.term_of(algebra_.monomial(second.streamed, d));
            return algebra_.multiply(algebra_.monomial(first.rest),
                                     algebra_.atom(algebra_.apply(Function::Max, {u, v})));
        }
    }
    // max(a, b) = b + max(a - b, 0), where the difference is one product
    const PolynomialId difference = collect(algebra_.subtract(a, b));
    const bool finite = !algebra_.class_of(a).infinite && !algebra_.class_of(b).infinite;
    if (finite && algebra_[difference].terms.size() == 1) {
        const Form positive = positive_part(difference, term);
        return positive ? Form(algebra_.add(b, *positive)) : std::nullopt;
    }
    return refuse(Why::Function, term, pure(a) ? b : a);
}

/// Whether a factor is relative to a mean, which may move: then it is summed where it moves.
bool NormalForm::is_relative(const Monomial& product) const {
    return std::any_of(product.powers.begin(), product.powers.end(), [&](const auto& factor) {
        return algebra_[factor.first].kind == Kind::Relative;
    });
}

/// A sum over other axes of values of both classes: what does not carry them leaves the sum; what
/// does is summed by itself where it is of one class, else the sum is put off.
Form NormalForm::inner(TermId id, const Term& term) {
    const Form body = of(term.parts.front());
    if (!body) return std::nullopt;
    if (MonoidId{term.ref} != kSum) return refuse(Why::Inner, id, body);
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[*body]).terms) {
        const auto carries = [&](const Class& of) {
            return std::any_of(term.bound.begin(), term.bound.end(),
                               [&](AxisId axis) { return of.axes.contains(axis); });
        };
        Monomial inside{.deferred = {}};
        Monomial outside{.deferred = mono.deferred};
        for (const auto& power : mono.powers)
            (carries(algebra_.class_of(power.first)) ? inside : outside).powers.push_back(power);
        for (const TermId guard : mono.guards)
            (carries(algebra_.class_of(guard)) ? inside : outside).guards.push_back(guard);
        const bool exponent_inside = carries(algebra_.class_of(mono.exponent));
        (exponent_inside ? inside : outside).exponent = mono.exponent;
        const Class of_inside = algebra_.class_of(inside);
        PolynomialId value = kZero;
        if (inside == Monomial{}) {
            value = algebra_.monomial(outside, coefficient);
            for (const AxisId axis : term.bound)
                value = algebra_.multiply(
                    value,
                    algebra_.atom(algebra_.make(Term{.kind = Kind::Size, .ref = axis.value})));
        } else if (!exponent_inside && !of_inside.mixed() &&
                   (keeps_inner_ || !is_relative(inside))) {
            Term sum = term;
            sum.parts = {algebra_.term_of(algebra_.monomial(inside))};
            value = algebra_.multiply(algebra_.monomial(outside, coefficient),
                                      algebra_.atom(algebra_.make(std::move(sum))));
        } else {
            Monomial whole = mono;
            for (const AxisId axis : term.bound) whole.deferred.push_back(axis);
            std::sort(whole.deferred.begin(), whole.deferred.end());
            const auto twice = std::adjacent_find(whole.deferred.begin(), whole.deferred.end());
            if (twice != whole.deferred.end()) return refuse(Why::Capture, id, body);
            value = algebra_.monomial(std::move(whole), coefficient);
        }
        result = algebra_.add(result, value);
    }
    return result;
}

}  // namespace napkin::separation
