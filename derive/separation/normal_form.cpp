#include "derive/separation/normal_form.h"

#include <algorithm>
#include <cmath>

#include "diagrams/contains.h"
#include "diagrams/infinity.h"
#include "diagrams/literal.h"

namespace napkin::separation {
namespace {

constexpr std::size_t kMostMonomials = 64;

bool is_unary_function(Function function) {
    switch (function) {
    case Function::Exp:
    case Function::Log:
    case Function::Sqrt:
    case Function::Rsqrt:
    case Function::Tanh:
    case Function::Erf:
    case Function::Abs:
    case Function::Floor:
    case Function::Power: return true;
    default: return false;
    }
}

bool is_arithmetic(Function function) {
    return function == Function::Add || function == Function::Subtract ||
           function == Function::Multiply || function == Function::Divide;
}

}  // namespace

Form NormalForm::refuse(Why why, TermId term, std::optional<PolynomialId> culprit) {
    if (obstacle_) return std::nullopt;
    obstacle_ = Obstacle{.why = why, .term = term};
    if (!culprit) return std::nullopt;
    for (const auto& [mono, coefficient] : algebra_[*culprit].terms) {
        if (!algebra_.class_of(mono).mixed()) continue;
        const Split parts = split(algebra_, mono, {});
        obstacle_->streamed = algebra_.term_of(algebra_.monomial(parts.streamed));
        obstacle_->folded = algebra_.term_of(algebra_.monomial(parts.rest));
        return std::nullopt;
    }
    const auto part = [&](bool folded) -> std::optional<TermId> {
        PolynomialId sum = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[*culprit]).terms)
            if (algebra_.class_of(mono).folded == folded)
                sum = algebra_.add(sum, algebra_.monomial(mono, coefficient));
        if (sum == kZero) return std::nullopt;
        return algebra_.term_of(sum);
    };
    obstacle_->streamed = part(false);
    obstacle_->folded = part(true);
    return std::nullopt;
}

/// The obstacle's parts as the user wrote them, where a rule turned their signs.
void NormalForm::name_side(PolynomialId part) {
    const Class& of = algebra_.class_of(part);
    if (of.mixed()) return;
    (of.folded ? obstacle_->folded : obstacle_->streamed) = algebra_.term_of(part);
}

Form NormalForm::of(TermId term) {
    const bool opens = within_.contains(term);
    opened_ += opens ? 1 : 0;
    // Guards matter to what is centred alone.
    const std::tuple key{term, opened_ > 0, in_exponent_ > 0,
                         centres() ? guards_ : std::vector<TermId>{}};
    const auto found = forms_.find(key);
    const Form form = found != forms_.end() ? found->second : compute(term);
    forms_.emplace(key, form);
    opened_ -= opens ? 1 : 0;
    return form;
}

/// Differences in exponents stay sums, which a gauge keeps from cancelling.
Form NormalForm::of_exponent(TermId term) {
    ++in_exponent_;
    const Form form = of(term);
    --in_exponent_;
    return form;
}

Form NormalForm::compute(TermId id) {
    const Term term = algebra_[id];
    switch (term.kind) {
    case Kind::Number:
        if (std::isfinite(term.number)) return algebra_.constant(term.number);
        return algebra_.atom(id);
    case Kind::Fold:
        if (algebra_.class_of(id).streamed) return refuse(Why::Gather, id);
        return in_tail() ? fold_value_(id) : algebra_.atom(id);
    case Kind::Sum: return in_tail() ? sum_of_tail(PolynomialId{term.ref}) : PolynomialId{term.ref};
    case Kind::Apply: return call(id, term);
    case Kind::Inner:
        if (algebra_.class_of(id).mixed()) return inner(id, term);
        return in_tail() ? of_parts(id, term) : algebra_.atom(id);
    case Kind::Axis:
    case Kind::Size: return algebra_.atom(id);
    case Kind::Read:
    case Kind::State:
    case Kind::Late:
    case Kind::Mask:
    case Kind::Anchor:
    case Kind::Centred:
    case Kind::Convert: break;
    }
    if (!algebra_.class_of(id).mixed()) return in_tail() ? of_parts(id, term) : algebra_.atom(id);
    if (term.kind != Kind::Convert && term.kind != Kind::Mask) return refuse(Why::Gather, id);
    const Form argument = of(term.parts.front());
    if (!argument) return std::nullopt;
    if (pure(*argument)) return of_parts(id, term);
    return refuse(term.kind == Kind::Mask ? Why::Condition : Why::Rounding, id, argument);
}

/// The term as a factor of its own, its parts in normal form.
Form NormalForm::of_parts(TermId id, const Term& term) {
    if (in_tail() ? !algebra_.class_of(id).folded : !algebra_.class_of(id).mixed())
        return algebra_.atom(id);
    Term rebuilt = term;
    for (TermId& part : rebuilt.parts) {
        if (!algebra_.class_of(part).folded) continue;
        const Form form = of(part);
        if (!form) return std::nullopt;
        part = algebra_.term_of(*form);
    }
    return algebra_.atom(algebra_.make(std::move(rebuilt)));
}

Form NormalForm::of(PolynomialId polynomial) {
    const Polynomial source = algebra_[polynomial];
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : source.terms) {
        PolynomialId product_so_far = algebra_.constant(coefficient);
        Monomial rest{.guards = mono.guards, .deferred = mono.deferred};
        if (mono.exponent != kZero) {
            const Form exponent = of(mono.exponent);
            const Form factor =
                exponent ? exponential(*exponent, algebra_.term_of(mono.exponent)) : std::nullopt;
            if (!factor) return std::nullopt;
            product_so_far = product(product_so_far, *factor);
        }
        for (const auto& [term, exponent] : mono.powers) {
            const Form base = of(term);
            const Form factor = base ? power(*base, exponent, term) : std::nullopt;
            if (!factor) return std::nullopt;
            product_so_far = product(product_so_far, *factor);
        }
        if (rest != Monomial{})
            product_so_far = algebra_.multiply(product_so_far, algebra_.monomial(rest));
        result = algebra_.add(result, product_so_far);
    }
    return result;
}

/// f(if c then a else b) as if c then f(a) else f(b), also from within further functions and what
/// they add and multiply; a mask stays, since functions of it have their own rules.
TermId NormalForm::lifted(TermId id, bool inside) {
    const Term term = algebra_[id];
    const bool lifts = term.kind == Kind::Apply &&
                       (is_unary_function(term.function) || term.function == Function::Negate ||
                        term.function == Function::Max || term.function == Function::Min ||
                        (inside && is_arithmetic(term.function)));
    if (!lifts || !algebra_.class_of(id).mixed()) return id;
    for (std::size_t i = 0; i < term.parts.size(); ++i) {
        // Exponentials and powers have their own rules for sums.
        const bool opens =
            inside || (term.function != Function::Exp && term.function != Function::Power);
        const Term argument = algebra_[lifted(term.parts[i], opens)];
        if (argument.kind != Kind::Apply || argument.function != Function::Select) continue;
        if (algebra_.is_number(argument.parts[1], -kInfinity) ||
            algebra_.is_number(argument.parts[2], -kInfinity))
            continue;
        Term then = term;
        Term otherwise = term;
        then.parts[i] = argument.parts[1];
        otherwise.parts[i] = argument.parts[2];
        return algebra_.apply(Function::Select, {argument.parts[0], algebra_.make(std::move(then)),
                                                 algebra_.make(std::move(otherwise))});
    }
    return id;
}

Form NormalForm::call(TermId id, const Term& term) {
    if (term.function == Function::Select) return select(id, term);
    const bool mixed = algebra_.class_of(id).mixed();
    if (mixed) {
        const TermId branches = lifted(id, false);
        if (branches != id) return of(branches);
        if (const std::optional<TermId> guarded = under_condition(term)) return of(*guarded);
    }
    const bool opens =
        is_unary_function(term.function) || term.function == Function::Add ||
        term.function == Function::Subtract || term.function == Function::Negate ||
        term.function == Function::Multiply || term.function == Function::Divide ||
        (mixed && (term.function == Function::Max || term.function == Function::Min));
    std::vector<PolynomialId> parts;
    const bool masks = mixed && centres() && term.function == Function::Multiply;
    for (const TermId part : term.parts) {
        if ((!opens && !mixed) || masks) break;
        const Form form = term.function == Function::Exp ? of_exponent(part) : of(part);
        if (!form) return std::nullopt;
        parts.push_back(*form);
    }
    switch (term.function) {
    case Function::Negate: return algebra_.scale(parts[0], -1);
    case Function::Add: return algebra_.add(parts[0], parts[1]);
    case Function::Subtract: return algebra_.subtract(parts[0], parts[1]);
    case Function::Multiply: {
        const Form result = parts.empty() ? product_under_masks(term) : product(parts[0], parts[1]);
        if (result && algebra_[*result].terms.size() > kMostMonomials)
            return refuse(Why::Growth, id, result);
        return result;
    }
    case Function::Divide: {
        const Form inverse = power(parts[1], -1, id);
        return inverse ? Form(product(parts[0], *inverse)) : std::nullopt;
    }
    case Function::Sqrt: return power(parts[0], 0.5, id);
    case Function::Rsqrt: return power(parts[0], -0.5, id);
    case Function::Power:
        if (const double* exponent = algebra_.as_constant(parts[1]))
            return power(parts[0], *exponent, id);
        break;
    case Function::Exp: return exponential(parts[0], id);
    case Function::Log: return logarithm(parts[0], id);
    case Function::Abs:
        // Signs show better before multiplying out than after.
        if (signs_.nonnegative(term.parts[0])) return parts[0];
        return absolute(parts[0], id);
    case Function::Max:
        if (mixed && parts[1] == kZero && signs_.nonnegative(term.parts[0])) return parts[0];
        if (mixed) return maximum(parts[0], parts[1], id);
        break;
    case Function::Min:
        if (mixed) {
            const bool first = !obstacle_;
            const Form negated =
                maximum(algebra_.scale(parts[0], -1), algebra_.scale(parts[1], -1), id);
            if (negated) return algebra_.scale(*negated, -1);
            if (first && obstacle_->term == id)
                for (const PolynomialId part : parts) name_side(part);
            return std::nullopt;
        }
        break;
    default: break;
    }
    if (!mixed) return of_parts(id, term);
    for (const PolynomialId part : parts)
        if (!pure(part))
            return refuse(is_comparison_or_logic(term.function) ? Why::Condition : Why::Function,
                          id, part);
    PolynomialId together = kZero;  // a function of a streamed and a folded argument
    for (const PolynomialId part : parts) together = algebra_.add(together, part);
    if (algebra_.class_of(together).mixed())
        return refuse(is_comparison_or_logic(term.function) ? Why::Condition : Why::Function, id,
                      together);
    return of_parts(id, term);
}

PolynomialId NormalForm::gather_class(PolynomialId polynomial, bool folded) {
    const Polynomial source = algebra_[polynomial];
    PolynomialId one = kZero;
    PolynomialId others = kZero;
    for (const auto& [mono, coefficient] : source.terms) {
        const Class of = algebra_.class_of(mono);
        const bool belongs = !of.mixed() && of.folded == folded && mono.exponent == kZero &&
                             mono.guards.empty() && mono.deferred.empty();
        PolynomialId& into = belongs ? one : others;
        into = algebra_.add(into, algebra_.monomial(mono, coefficient));
    }
    if (algebra_[one].terms.size() < 2) return polynomial;
    return algebra_.add(others, algebra_.atom(algebra_.term_of(one)));
}

PolynomialId NormalForm::collect(PolynomialId polynomial) {
    const PolynomialId gathered = gather_class(gather_class(polynomial, false), true);
    const Polynomial sum = algebra_[gathered];
    if (sum.terms.size() < 2) return gathered;
    const Split first = split(algebra_, sum.terms.front().first, {});
    bool same_streamed = true;
    bool same_rest = true;
    PolynomialId streamed = kZero;
    PolynomialId rest = kZero;
    for (const auto& [mono, coefficient] : sum.terms) {
        const Split parts = split(algebra_, mono, {});
        same_streamed &= parts.streamed == first.streamed;
        same_rest &= parts.rest == first.rest;
        streamed = algebra_.add(streamed, algebra_.monomial(parts.streamed, coefficient));
        rest = algebra_.add(rest, algebra_.monomial(parts.rest, coefficient));
    }
    if (same_streamed)
        return algebra_.multiply(algebra_.monomial(first.streamed),
                                 algebra_.atom(algebra_.term_of(rest)));
    if (same_rest)
        return algebra_.multiply(algebra_.monomial(first.rest),
                                 algebra_.atom(algebra_.term_of(streamed)));
    return gathered;
}

/// What is left where nothing is visible, which most factors make 0.
PolynomialId NormalForm::hidden_part(PolynomialId polynomial) {
    Polynomial hidden = algebra_[polynomial];
    std::erase_if(hidden.terms, [&](const auto& term) { return !algebra_.is_hidden(term.first); });
    return algebra_.make(std::move(hidden));
}

PolynomialId NormalForm::expandable(PolynomialId polynomial) {
    if (algebra_[polynomial].terms.size() < 2 || has_origin(polynomial)) return polynomial;
    if (const PolynomialId hidden = hidden_part(polynomial); hidden != kZero)
        return algebra_.add(hidden, expandable(algebra_.subtract(polynomial, hidden)));
    if (pure(polynomial)) return algebra_.atom(algebra_.term_of(polynomial));
    const PolynomialId sum = centres() ? centred(polynomial) : polynomial;
    return gather_class(gather_class(sum, false), true);
}

/// a(x) - b(r) as (a - g) - (b - g) for some g near both: multiplied out, it does not cancel.
PolynomialId NormalForm::centred(PolynomialId polynomial, bool multiplied) {
    PolynomialId streamed = kZero;
    PolynomialId folded = kZero;
    PolynomialId others = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[polynomial]).terms) {
        const Class of = algebra_.class_of(mono);
        const bool plain =
            !of.mixed() && mono.exponent == kZero && mono.deferred.empty() && !of.infinite;
        PolynomialId& into = !plain ? others : of.folded ? folded : streamed;
        into = algebra_.add(into, algebra_.monomial(mono, coefficient));
    }
    if (!algebra_.class_of(streamed).streamed || folded == kZero) return polynomial;
    for (const auto& [mono, coefficient] : algebra_[streamed].terms)
        for (const auto& [term, power] : mono.powers)  // multiplied out before
            if (algebra_[term].kind == Kind::Centred) return polynomial;
    const PolynomialId replaced = centre_(streamed, folded, guards_, multiplied);
    return algebra_.add(others, algebra_.add(folded, replaced));
}

/// Conditions under which any of the exponentials in a sum of products is not 0.
std::vector<TermId> NormalForm::shared_conditions(PolynomialId sum) const {
    std::optional<std::vector<TermId>> shared;
    for (const auto& [mono, coefficient] : algebra_[sum].terms) {
        if (mono.exponent == kZero) return {};
        const std::vector<TermId> conditions = conditions_of(algebra_, mono);
        if (!shared) shared = conditions;
        std::erase_if(*shared, [&](TermId each) { return !contains(conditions, each); });
    }
    return shared.value_or(std::vector<TermId>{});
}

/// Where a mask of its exponential makes one factor 0, what the other one is does not matter.
Form NormalForm::product_under_masks(const Term& term) {
    const auto exponential = [&](std::size_t at) {
        return algebra_.class_of(term.parts[at]).exponential;
    };
    const std::size_t first = exponential(1) && !exponential(0) ? 1 : 0;
    const Form one = of(term.parts[first]);
    if (!one) return std::nullopt;
    const std::size_t before = guards_.size();
    for (const TermId condition : shared_conditions(*one)) guards_.push_back(condition);
    const Form other = of(term.parts[1 - first]);
    Form result;
    if (other) result = first == 0 ? product(*one, *other) : product(*other, *one);
    guards_.resize(before);
    return result;
}

PolynomialId NormalForm::product(PolynomialId a, PolynomialId b) {
    if (const double* factor = algebra_.as_constant(a)) return algebra_.scale(b, *factor);
    if (const double* factor = algebra_.as_constant(b)) return algebra_.scale(a, *factor);
    const auto scales = [&](PolynomialId one, PolynomialId other) {
        return algebra_[one].terms.size() == 1 && has_exponentials(one) && has_exponentials(other);
    };
    if (in_tail() && (scales(a, b) || scales(b, a))) return algebra_.multiply(a, b);
    return algebra_.multiply(expandable(a), expandable(b));
}

Form NormalForm::power(PolynomialId base, double exponent, TermId term) {
    if (exponent == 1) return base;
    if (exponent == 0) return algebra_.constant(1);
    if (const double* value = algebra_.as_constant(base)) {
        if (const std::optional<double> result = power_of_literal(*value, exponent))
            return algebra_.constant(*result);
        return algebra_.atom(algebra_.number(*value), exponent);  // 1/0 too, as the user wrote it
    }
    const bool whole = exponent == std::floor(exponent);
    if (algebra_[base].terms.size() > 1 && (exponent < 0 || !whole))
        base = relative_to_largest(base);
    if (algebra_[base].terms.size() > 1) {
        const bool opens =
            whole && exponent > 0 && (has_origin(base) || hidden_part(base) != kZero);
        if (pure(base) && !opens) return algebra_.atom(algebra_.term_of(base), exponent);
        if (whole && exponent >= 2 && exponent <= 8) {
            PolynomialId result = expandable(base);
            const PolynomialId factor = result;
            for (int i = 1; i < static_cast<int>(exponent); ++i) {
                result = algebra_.multiply(result, factor);
                if (algebra_[result].terms.size() > kMostMonomials)
                    return refuse(Why::Growth, term, base);
            }
            return result;
        }
        const PolynomialId collected = collect(base);
        if (algebra_[collected].terms.size() > 1) return refuse(Why::Power, term, base);
        base = collected;
    }
    const auto [mono, coefficient] = algebra_[base].terms.front();
    const bool conditional = !mono.guards.empty() && exponent <= 0;
    if (conditional || !mono.deferred.empty() || (!whole && coefficient < 0)) {
        if (pure(base)) return algebra_.atom(algebra_.term_of(base), exponent);
        return refuse(Why::Power, term, base);
    }
    if (!whole) return fractional_power(base, exponent, term);
    Monomial result{.exponent = algebra_.scale(mono.exponent, exponent), .guards = mono.guards};
    for (const auto& [factor, old] : mono.powers)
        result.powers.emplace_back(factor, old * exponent);
    return algebra_.scaled(std::move(result), 1, coefficient, exponent);
}

/// Powers of the factors, where each is known to be non-negative; an even power under a root leaves
/// an absolute value.
Form NormalForm::fractional_power(PolynomialId base, double exponent, TermId term) {
    const auto [mono, coefficient] = algebra_[base].terms.front();
    Monomial result{.exponent = algebra_.scale(mono.exponent, exponent), .guards = mono.guards};
    for (const auto& [factor, old] : mono.powers) {
        TermId positive = factor;
        if (!signs_.nonnegative(factor)) {
            if (std::fmod(old, 2) != 0) {
                if (pure(base)) return algebra_.atom(algebra_.term_of(base), exponent);
                return refuse(Why::Sign, term, base);
            }
            if (std::fmod(old * exponent, 2) != 0)
                positive = algebra_.apply(Function::Abs, {factor});
        }
        result = algebra_.multiply(result, Monomial{.powers = {{positive, old * exponent}}});
    }
    return algebra_.scaled(std::move(result), 1, coefficient, exponent);
}

}  // namespace napkin::separation
