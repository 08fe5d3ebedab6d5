// Maxima and minima. The extreme of u + w is that of u, plus w; of u * w that of u, times w, for w
// of known sign. The extreme of an increasing function is the function of the extreme, and a
// maximum of maxima is one of two folds: max(x) abs(X - r) = max(max(x) X - r, r - min(x) X).
#include <algorithm>
#include <cmath>

#include "derive/separation/place/plan.h"
#include "diagrams/infinity.h"

namespace napkin::separation {
namespace {

bool increases(Function function) {
    return function == Function::Exp || function == Function::Tanh || function == Function::Erf ||
           function == Function::Floor;
}

}  // namespace

/// Whether the extreme of the sum is that of one streamed part, scaled and shifted.
bool Plan::is_one_extreme(PolynomialId form) {
    if (!algebra_.class_of(form).mixed()) return true;
    const Polynomial sum = algebra_[normal_.collect(form)];
    PolynomialId mixed = kZero;
    bool streamed = false;
    for (const auto& [mono, coefficient] : sum.terms) {
        const Class part = algebra_.class_of(mono);
        if (part.mixed()) mixed = algebra_.add(mixed, algebra_.monomial(mono, coefficient));
        streamed |= part.streamed && !part.folded;
    }
    if (mixed == kZero) return true;
    return !streamed && algebra_[normal_.collect(mixed)].terms.size() == 1;
}

/// The fold as a function of folds over parts of its body; nothing where the body is of no such
/// kind.
std::optional<TermId> Plan::inside_out(TermId body, std::uint32_t fold) {
    const std::size_t before = folds_.size();
    const TermId result = extreme_term(body, folds_[fold].monoid, fold);
    const Term& outermost = algebra_[result];
    const bool same =
        outermost.kind == Kind::Fold && folds_.size() == before + 1 && folds_.back().body == body;
    if (!same) return result;
    folds_.pop_back();
    return std::nullopt;
}

/// |u| of u^n for an even n.
std::optional<TermId> Plan::magnitude_of_square(const Term& power) {
    if (power.function != Function::Power) return std::nullopt;
    const Term& exponent = algebra_[power.parts[1]];
    const bool even =
        exponent.kind == Kind::Number && exponent.number > 0 && std::fmod(exponent.number, 2) == 0;
    if (!even) return std::nullopt;
    return algebra_.apply(Function::Abs, {power.parts[0]});
}

TermId Plan::extreme_term(TermId body, MonoidId monoid, std::uint32_t fold) {
    const Term term = algebra_[body];
    const MonoidId opposite = monoid == kMax ? kMin : kMax;
    const Function same = monoid == kMax ? Function::Max : Function::Min;
    const Function other = monoid == kMax ? Function::Min : Function::Max;
    const auto inside = [&](std::size_t part) {
        return extreme_term(term.parts[part], monoid, fold);
    };
    const auto fixed = [&](std::size_t part) {
        const Class& of = algebra_.class_of(term.parts[part]);
        const std::vector<AxisId>& over = folds_[fold].over;
        return !of.streamed && std::none_of(over.begin(), over.end(),
                                            [&](AxisId axis) { return of.axes.contains(axis); });
    };
    if (term.kind == Kind::Convert) {
        Term rounded = term;
        rounded.parts[0] = inside(0);
        return algebra_.make(std::move(rounded));
    }
    if (term.kind == Kind::Apply) {
        const Function function = term.function;
        if (increases(function)) return algebra_.apply(function, {inside(0)});
        if (function == Function::Negate)
            return algebra_.apply(function, {extreme_term(term.parts[0], opposite, fold)});
        if (function == Function::Abs && monoid == kMax) {
            const TermId least = extreme_term(term.parts[0], kMin, fold);
            return algebra_.apply(Function::Max,
                                  {inside(0), algebra_.apply(Function::Negate, {least})});
        }
        if (function == same) return algebra_.apply(function, {inside(0), inside(1)});
        for (const std::size_t part : {0U, 1U}) {
            if (term.parts.size() != 2 || !fixed(1 - part)) continue;
            std::vector<TermId> parts = term.parts;
            if (function == other || function == Function::Add) {
                parts[part] = inside(part);
                return algebra_.apply(function, std::move(parts));
            }
            if (function == Function::Subtract) {
                parts[part] = extreme_term(parts[part], part == 0 ? monoid : opposite, fold);
                return algebra_.apply(function, std::move(parts));
            }
            const bool scales =
                function == Function::Multiply || (function == Function::Divide && part == 0);
            if (scales && cascade_.facts().nonnegative(parts[1 - part])) {
                parts[part] = inside(part);
                return algebra_.apply(function, std::move(parts));
            }
        }
        if (function == Function::Select && fixed(0))
            return algebra_.apply(function, {term.parts[0], inside(1), inside(2)});
        if (const std::optional<TermId> square = magnitude_of_square(term);
            square && monoid == kMax)
            return algebra_.apply(function, {extreme_term(*square, monoid, fold), term.parts[1]});
        const TermId nothing = algebra_.number(-kInfinity);
        const bool chooses = function == Function::Select && monoid == kMax &&
                             !algebra_.class_of(term.parts[0]).folded &&
                             !algebra_.is_number(term.parts[1], -kInfinity) &&
                             !algebra_.is_number(term.parts[2], -kInfinity);
        if (chooses) {  // the larger of the largest where it holds and where it does not
            const TermId holds = algebra_.apply(function, {term.parts[0], term.parts[1], nothing});
            const TermId fails = algebra_.apply(function, {term.parts[0], nothing, term.parts[2]});
            return algebra_.apply(
                same, {extreme_term(holds, monoid, fold), extreme_term(fails, monoid, fold)});
        }
    }
    FoldOver made = folds_[fold];
    made.monoid = monoid;
    made.body = body;
    made.target.reset();
    folds_.push_back(std::move(made));
    return algebra_.reference(Kind::Fold, static_cast<std::uint32_t>(folds_.size() - 1),
                              folds_.back().axes);
}

/// The term with every fold replaced by its value in states.
Form Plan::resolved(TermId id) {
    Term term = algebra_[id];
    if (term.kind == Kind::Fold) return value_at(term);
    if (!algebra_.class_of(id).folded) return algebra_.atom(id);
    for (TermId& part : term.parts) {
        const Form form = resolved(part);
        if (!form) return std::nullopt;
        part = algebra_.term_of(*form);
    }
    return algebra_.atom(algebra_.make(std::move(term)));
}

/// Maxima and minima: max (u + w) = max u + w, max (u * w) = w * max u for w >= 0.
Form Plan::extreme(std::uint32_t fold) {
    const FoldOver entry = folds_[fold];
    const Class of = algebra_.class_of(forms_[fold]);
    if (!of.streamed) {
        for (const AxisId axis : entry.over)
            if (of.axes.contains(axis)) return refuse(Why::Maximum, fold);
        return forms_[fold];
    }
    const PolynomialId form = of.folded ? normal_.collect(forms_[fold]) : forms_[fold];
    const Polynomial sum = algebra_[form];
    const bool single = sum.terms.size() == 1;
    const bool exponential = single && sum.terms[0].first.exponent != kZero;
    if (!of.folded && !(exponential && needs_gauge(fold))) return verbatim(fold);
    if (single) return scaled_extreme(fold, sum.terms[0].first, sum.terms[0].second);
    PolynomialId streamed = kZero;
    PolynomialId rest = kZero;
    for (const auto& [mono, coefficient] : sum.terms) {
        const Class part = algebra_.class_of(mono);
        if (!mono.deferred.empty()) return refuse(Why::Maximum, fold);
        PolynomialId& into = part.folded && !part.streamed ? rest : streamed;
        into = algebra_.add(into, algebra_.monomial(mono, coefficient));
    }
    for (const AxisId axis : entry.over)
        if (algebra_.class_of(rest).axes.contains(axis)) return refuse(Why::Maximum, fold);
    if (algebra_.class_of(streamed).mixed()) {  // max (u * w + r) = max (u * w) + r
        const Polynomial products = algebra_[normal_.collect(streamed)];
        if (products.terms.size() != 1) return refuse(Why::Maximum, fold);
        const auto& [mono, coefficient] = products.terms.front();
        const Form value = scaled_extreme(fold, mono, coefficient);
        return value ? Form(algebra_.add(rest, *value)) : std::nullopt;
    }
    return algebra_.add(rest, request({.monoid = entry.monoid,
                                       .over = entry.over,
                                       .axes = entry.axes,
                                       .form = streamed,
                                       .serves = fold}));
}

/// Whether nothing is left of an extreme and of the exponent that is relative to it: exp of that is
/// 1, but 0 where both are of nothing.
bool Plan::cancels(PolynomialId extreme, PolynomialId exponent) {
    PolynomialId sum = extreme;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[exponent]).terms) {
        PolynomialId term = algebra_.monomial(mono, coefficient);
        const Term fold = algebra_[algebra_.term_of(algebra_.monomial(mono))];
        if (fold.kind == Kind::Fold)
            if (const Form in_states = value_at(fold))
                term = algebra_.scale(*in_states, coefficient);
        sum = algebra_.add(sum, term);
    }
    return algebra_.as_constant(sum) != nullptr;
}

Form Plan::scaled_extreme(std::uint32_t fold, const Monomial& mono, double coefficient) {
    const FoldOver entry = folds_[fold];
    if (!mono.deferred.empty()) return refuse(Why::Maximum, fold);
    Split parts = split(algebra_, mono, entry.over);
    const bool bare = parts.streamed.powers.empty() && parts.streamed.guards.empty();
    const auto state = [&](MonoidId monoid, PolynomialId form, PolynomialId gauge) {
        return request({.monoid = monoid,
                        .over = entry.over,
                        .axes = entry.axes,
                        .form = form,
                        .gauge = gauge,
                        .serves = fold});
    };
    for (const AxisId axis : entry.over)
        if (algebra_.class_of(parts.rest).axes.contains(axis)) return refuse(Why::Maximum, fold);
    const MonoidId other_way = entry.monoid == kMax ? kMin : kMax;
    const bool known = cascade_.facts().nonnegative(parts.rest);
    if (bare && known) {  // max exp(a) = exp(max a)
        const MonoidId monoid = coefficient > 0 ? entry.monoid : other_way;
        const PolynomialId inside = state(monoid, parts.streamed.exponent, kZero);
        if (cancels(inside, parts.rest.exponent))
            parts.rest.guards.push_back(algebra_.apply(
                Function::NotEqual, {algebra_.term_of(inside),
                                     algebra_.number(monoid == kMax ? -kInfinity : kInfinity)}));
        const Form factor =
            normal_.exponential(algebra_.add(inside, parts.rest.exponent), entry.body);
        parts.rest.exponent = kZero;
        return algebra_.multiply(*factor, algebra_.monomial(parts.rest, coefficient));
    }
    const Placement placed = place(mono, entry.over, fold);
    const PolynomialId streamed = algebra_.monomial(placed.streamed);
    const PolynomialId factor = algebra_.scale(placed.outside, coefficient);
    if (known)
        return algebra_.multiply(
            factor, state(coefficient > 0 ? entry.monoid : other_way, streamed, placed.gauge));
    const PolynomialId straight = state(entry.monoid, streamed, placed.gauge);
    const PolynomialId crossed = state(other_way, streamed, placed.gauge);
    const TermId sign =
        algebra_.apply(Function::GreaterEqual, {algebra_.term_of(factor), algebra_.number(0)});
    return algebra_.atom(algebra_.apply(
        Function::Select, {sign, algebra_.term_of(algebra_.multiply(factor, straight)),
                           algebra_.term_of(algebra_.multiply(factor, crossed))}));
}

}  // namespace napkin::separation
