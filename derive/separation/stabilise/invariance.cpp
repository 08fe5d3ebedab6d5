#include "derive/separation/stabilise/invariance.h"

#include <algorithm>
#include <cmath>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/normal_form/normal_form.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

constexpr double kHighestPower = 8;

/// Folds that a term mentions, those inside of their bodies left out.
/// What stands beside `if c then X else 0`, where that is the value, in a product with X under c.
std::optional<Monomial> beside_guarded(const Algebra& algebra, const Monomial& whole,
                                       TermId value) {
    if (algebra[value].kind != Kind::Sum) return std::nullopt;
    const auto& terms = algebra[PolynomialId{algebra[value].ref}].terms;
    const bool one = terms.size() == 1 && terms.front().second == 1 &&
                     !terms.front().first.guards.empty() &&
                     terms.front().first.guards == whole.guards;
    if (!one) return std::nullopt;
    std::optional<Monomial> rest = quotient_of(whole, terms.front().first);
    if (rest) rest->guards.clear();
    return rest;
}

bool is_whole(double power) {
    return power >= 1 && power <= kHighestPower && power == std::floor(power);
}

class Search {
public:
    Search(Cascade& cascade, const std::deque<FoldOver>& folds,
           const std::vector<PolynomialId>& forms, const std::set<std::uint32_t>& unknown)
        : cascade_(cascade),
          algebra_(cascade.algebra()),
          folds_(folds),
          forms_(forms),
          unknown_(unknown) {}

    std::vector<Invariance> run() {
        std::set<TermId> seen;
        for (const RegionStatement& each : cascade_.statements())
            for (const ArrayId target : cascade_.diagram()[each.statement].targets)
                if (const std::optional<TermId> term = cascade_.unrounded(target))
                    visit(*term, seen);
        for (const FoldOver& fold : folds_) visit(fold.body, seen);
        for (std::uint32_t fold = 0; fold < folds_.size(); ++fold) visit_sum(fold);
        return std::move(found_);
    }

private:
    Cascade& cascade_;
    Algebra& algebra_;
    const std::deque<FoldOver>& folds_;
    const std::vector<PolynomialId>& forms_;
    const std::set<std::uint32_t>& unknown_;
    std::vector<Invariance> found_;

    void visit(TermId id, std::set<TermId>& seen) {
        if (!seen.insert(id).second) return;
        const Term term = algebra_[id];
        for (const TermId part : term.parts) visit(part, seen);
        const bool combines = term.kind == Kind::Apply && (term.function == Function::Add ||
                                                           term.function == Function::Subtract);
        const Class& of = algebra_.class_of(id);
        if (!combines || !of.folded || of.streamed) return;
        const bool both = std::all_of(term.parts.begin(), term.parts.end(),
                                      [&](TermId part) { return algebra_.class_of(part).folded; });
        if (!both) return;  // a side that stays where it is takes nothing off the other
        const std::set<std::uint32_t> folds = folds_in(algebra_, id);
        for (const TermId value : summed_values(folds)) test(id, value, folds);
    }

    /// sum(x) (X^2 - m^2) is a difference of sums, too. A product of both kinds of values was
    /// relative when it was multiplied out.
    void visit_sum(std::uint32_t fold) {
        if (unknown_.contains(fold) || !is_sum(fold) || !algebra_.class_of(forms_[fold]).folded)
            return;
        const auto& terms = algebra_[forms_[fold]].terms;
        if (terms.size() < 2) return;
        if (std::any_of(terms.begin(), terms.end(),
                        [&](const auto& term) { return algebra_.class_of(term.first).mixed(); }))
            return;
        std::set<std::uint32_t> folds{fold};
        folds.merge(folds_in(algebra_, folds_[fold].body));
        const TermId sum = algebra_.reference(Kind::Fold, fold, folds_[fold].axes);
        for (const TermId value : summed_values({fold})) test(sum, value, folds);
    }

    /// Streamed values that are factors of what these folds sum.
    std::set<TermId> summed_values(const std::set<std::uint32_t>& folds) {
        std::set<TermId> values;
        for (const std::uint32_t fold : folds) {
            if (!is_sum(fold)) continue;
            for (const auto& [mono, coefficient] : algebra_[forms_[fold]].terms)
                for (const auto& [factor, power] : mono.powers) {
                    const Class& of = algebra_.class_of(factor);
                    const bool plain = algebra_[factor].kind != Kind::Relative && of.streamed &&
                                       !of.folded && !of.infinite;
                    if (plain && is_whole(power)) values.insert(factor);
                }
        }
        return values;
    }

    /// What guards every product of the value that these folds sum.
    std::vector<TermId> guards_of(TermId value, const std::set<std::uint32_t>& folds) {
        std::optional<std::vector<TermId>> shared;
        for (const std::uint32_t fold : folds) {
            if (!is_sum(fold)) continue;
            for (const auto& [mono, coefficient] : algebra_[forms_[fold]].terms) {
                const bool has = std::any_of(mono.powers.begin(), mono.powers.end(),
                                             [&](const auto& each) { return each.first == value; });
                if (!has) continue;
                const std::vector<TermId> conditions = conditions_of(algebra_, mono);
                if (!shared) shared = conditions;
                std::erase_if(*shared, [&](TermId guard) { return !contains(conditions, guard); });
            }
        }
        return shared.value_or(std::vector<TermId>{});
    }

    [[nodiscard]] bool is_sum(std::uint32_t fold) const {
        return folds_[fold].monoid == kSum && !folds_[fold].picks;
    }

    /// Nothing cancels among integers.
    [[nodiscard]] bool is_exact(std::uint32_t fold) const {
        return is_sum(fold) && cascade_.kind_of(folds_[fold]) == ValueKind::Integer;
    }

    void test(TermId difference, TermId value, const std::set<std::uint32_t>& folds) {
        if (std::any_of(folds.begin(), folds.end(), [&](std::uint32_t i) { return is_exact(i); }))
            return;
        Invariance candidate{.difference = difference, .value = value};
        candidate.guards = guards_of(value, folds);
        const std::set<AxisId>& kept = algebra_.class_of(difference).axes;
        std::set<AxisId> own = algebra_.class_of(value).axes;
        for (const TermId guard : candidate.guards)
            own.insert(algebra_.class_of(guard).axes.begin(), algebra_.class_of(guard).axes.end());
        for (const AxisId axis : own)
            (kept.contains(axis) ? candidate.axes : candidate.over).push_back(axis);
        const TermId gauge = algebra_.reference(Kind::Mean, UINT32_MAX, candidate.axes);
        NormalForm moved(algebra_, cascade_.facts());
        moved.resolve_folds([&](TermId id) { return moved_fold(moved, id, value, gauge); });
        moved.multiply_out([&](TermId id) { return algebra_[id].kind == Kind::Mean; });
        const auto depends = [&](TermId id) {
            const Form form = moved.of(id);
            moved.forget_obstacle();
            return !form || mentions(algebra_, *form, gauge, Within::AllButRelative);
        };
        if (depends(difference)) return;
        const Term& whole = algebra_[difference];
        const std::vector<TermId> sides =
            whole.kind == Kind::Fold ? sides_of(whole.ref) : whole.parts;
        if (std::none_of(sides.begin(), sides.end(), depends)) return;
        for (const std::uint32_t fold : folds)
            if (is_sum(fold)) candidate.folds.insert(fold);
        found_.push_back(std::move(candidate));
    }

    /// The sums of each of the products that a fold sums.
    std::vector<TermId> sides_of(std::uint32_t fold) {
        std::vector<TermId> sides;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[fold]]).terms) {
            const PolynomialId product = algebra_.monomial(mono, coefficient);
            sides.push_back(algebra_.term_of(folded(product, folds_[fold], folds_[fold].over)));
        }
        return sides;
    }

    /// The value of a fold as a polynomial in the gauge and folds over what is relative to it.
    Form moved_fold(NormalForm& moved, TermId id, TermId value, TermId gauge) {
        const Term term = algebra_[id];
        if (unknown_.contains(term.ref)) return std::nullopt;
        const FoldOver& fold = folds_[term.ref];
        const std::vector<AxisId>& axes = fold.axes;
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (term.parts[i] != algebra_.axis(axes[i])) return algebra_.atom(id);
        const bool extreme = (fold.monoid == kMax || fold.monoid == kMin) && !fold.picks;
        if (!is_sum(term.ref) && !extreme) return algebra_.atom(id);
        const PolynomialId form = written_relative(algebra_, forms_[term.ref], value, gauge, true);
        // A sum of its own, as it is where it is a factor elsewhere.
        const bool whole = is_sum(term.ref) && form == forms_[term.ref] &&
                           algebra_[form].terms.size() > 1 && !algebra_.class_of(form).folded;
        if (whole) return folded(algebra_.atom(algebra_.term_of(form)), fold, fold.over);
        return extreme ? moved_extreme(form, fold, id) : moved_sum(moved, form, fold, id);
    }

    Form moved_extreme(PolynomialId form, const FoldOver& fold, TermId id) {
        PolynomialId inside = kZero;
        PolynomialId outside = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
            const Class of = algebra_.class_of(mono);
            if (of.mixed()) return algebra_.atom(id);
            PolynomialId& into = of.folded && !of.streamed ? outside : inside;
            into = algebra_.add(into, algebra_.monomial(mono, coefficient));
        }
        return algebra_.add(outside, folded(inside, fold, fold.over));
    }

    PolynomialId folded(PolynomialId body, const FoldOver& fold, std::vector<AxisId> over) {
        Term inner{
            .kind = Kind::Inner, .ref = fold.monoid.value, .parts = {algebra_.term_of(body)}};
        inner.bound = std::move(over);
        return algebra_.atom(algebra_.make(std::move(inner)));
    }

    /// sum(u) (if u <= t then 1 else 0) = t + 1 over axes of one size.
    std::optional<PolynomialId> prefix_length(const Monomial& mono,
                                              const std::vector<AxisId>& over) {
        if (!mono.powers.empty() || mono.exponent != kZero || mono.guards.size() != 1 ||
            over.size() != 1)
            return std::nullopt;
        const Term guard = algebra_[mono.guards.front()];
        if (guard.kind != Kind::Apply || guard.function != Function::LessEqual) return std::nullopt;
        const Term below = algebra_[guard.parts[0]];
        const Term last = algebra_[guard.parts[1]];
        const Diagram& diagram = cascade_.diagram();
        const bool prefix = below.kind == Kind::Axis && last.kind == Kind::Axis &&
                            AxisId{below.ref} == over.front() &&
                            diagram[AxisId{last.ref}].size == diagram[over.front()].size;
        if (!prefix) return std::nullopt;
        const PolynomialId length =
            algebra_.add(algebra_.atom(guard.parts[1]), algebra_.constant(1));
        return algebra_.atom(algebra_.term_of(length));
    }

    Form moved_sum(NormalForm& moved, PolynomialId form, const FoldOver& fold, TermId id) {
        PolynomialId result = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
            if (!mono.deferred.empty()) return algebra_.atom(id);
            const Split parts = split(algebra_, mono, fold.over);
            const Form rest = moved.of(algebra_.monomial(parts.rest));
            if (!rest) return std::nullopt;
            PolynomialId sum = algebra_.constant(coefficient);
            if (parts.streamed == Monomial{})
                for (const AxisId axis : fold.over)
                    sum = algebra_.multiply(
                        sum,
                        algebra_.atom(algebra_.make(Term{.kind = Kind::Size, .ref = axis.value})));
            else if (const auto count = prefix_length(parts.streamed, fold.over))
                sum = algebra_.scale(*count, coefficient);
            else
                sum = algebra_.scale(folded(algebra_.monomial(parts.streamed), fold, fold.over),
                                     coefficient);
            result = algebra_.add(result, algebra_.multiply(sum, *rest));
        }
        return result;
    }
};

}  // namespace

std::vector<Invariance> find_invariances(Cascade& cascade, const std::deque<FoldOver>& folds,
                                         const std::vector<PolynomialId>& forms,
                                         const std::set<std::uint32_t>& unknown) {
    return Search(cascade, folds, forms, unknown).run();
}

PolynomialId written_relative(Algebra& algebra, PolynomialId polynomial, TermId value, TermId gauge,
                              bool deep, const std::vector<TermId>& guards) {
    const TermId rest = algebra.make(Term{.kind = Kind::Relative, .parts = {value, gauge}});
    const PolynomialId both = algebra.add(algebra.atom(rest), algebra.atom(gauge));
    if (algebra.term_of(polynomial) == value && guards.empty()) return both;
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra[polynomial]).terms) {
        Monomial others = mono;
        const std::vector<TermId> conditions = conditions_of(algebra, mono);
        const bool guarded = std::all_of(guards.begin(), guards.end(),
                                         [&](TermId guard) { return contains(conditions, guard); });
        if (!guarded) {
            result = algebra.add(result, algebra.monomial(mono, coefficient));
            continue;
        }
        if (std::optional<Monomial> beside = beside_guarded(algebra, mono, value)) {
            beside->guards = guards;
            const PolynomialId product =
                algebra.multiply(algebra.monomial(*beside, coefficient), both);
            result = algebra.add(result, product);
            continue;
        }
        if (deep && mono.exponent != kZero)
            others.exponent = written_relative(algebra, mono.exponent, value, gauge, deep);
        const auto at = std::find_if(
            others.powers.begin(), others.powers.end(),
            [&](const auto& factor) { return factor.first == value && is_whole(factor.second); });
        const int power = at == others.powers.end() ? 0 : static_cast<int>(at->second);
        if (power > 0) others.powers.erase(at);
        PolynomialId product = algebra.monomial(std::move(others), coefficient);
        for (int i = 0; i < power; ++i) product = algebra.multiply(product, both);
        result = algebra.add(result, product);
    }
    return result;
}

}  // namespace napkin::separation
