#include "derive/separation/normal_form/normal_form.h"

#include <cmath>

#include "diagrams/infinity.h"

namespace napkin::separation {
namespace {

bool is_unary_function(Function function) {
    switch (function) {
    case Function::Exp:
    case Function::Log:
    case Function::Sqrt:
    case Function::Rsqrt:
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin:
    case Function::Cos:
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
    // Guards matter to what is relative alone.
    const std::tuple key{term, opened_ > 0, in_exponent_ > 0,
                         keeps_relative() ? guards_ : std::vector<TermId>{}};
    const auto found = forms_.find(key);
    const bool refused = found == forms_.end() && forms_.size() >= kMostForms;
    const Form form = found != forms_.end() ? found->second.form
                      : refused             ? refuse(Why::Growth, term)
                                            : compute(term);
    // Who forgot the obstacle may meet the term again.
    if (!form && found != forms_.end() && !obstacle_) obstacle_ = found->second.obstacle;
    forms_.emplace(key, Found{form, form ? std::nullopt : obstacle_});
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
    case Kind::Mean:
    case Kind::Relative:
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
        result = algebra_.plus(result, product_so_far);
    }
    return result;
}

/// f(if c then a else b) as if c then f(a) else f(b), also from within further functions and what
/// they add and multiply; a mask stays, since functions of it have their own rules.
TermId NormalForm::lifted(TermId id, bool inside) {
    const auto [known, fresh] = lifted_.try_emplace({id, inside}, id);
    if (!fresh) return known->second;
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
        return lifted_[{id, inside}] = algebra_.apply(
                   Function::Select, {argument.parts[0], algebra_.make(std::move(then)),
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
    const bool masks = mixed && keeps_relative() && term.function == Function::Multiply;
    for (const TermId part : term.parts) {
        if ((!opens && !mixed) || masks) break;
        const Form form = term.function == Function::Exp ? of_exponent(part) : of(part);
        if (!form) return std::nullopt;
        parts.push_back(*form);
    }
    switch (term.function) {
    case Function::Negate: return algebra_.scale(parts[0], -1);
    case Function::Add: return algebra_.plus(parts[0], parts[1]);
    case Function::Subtract: return algebra_.plus(parts[0], algebra_.scale(parts[1], -1));
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
        if (facts_.nonnegative(term.parts[0])) return parts[0];
        return absolute(parts[0], id);
    case Function::Max:
        if (mixed && parts[1] == kZero && facts_.nonnegative(term.parts[0])) return parts[0];
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

}  // namespace napkin::separation
