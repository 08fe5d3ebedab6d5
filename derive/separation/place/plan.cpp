#include "derive/separation/place/plan.h"

#include <algorithm>
#include <cmath>

namespace napkin::separation {
namespace {

std::vector<AxisId> sorted_union(std::vector<AxisId> a, const std::vector<AxisId>& b) {
    for (const AxisId axis : b)
        if (std::find(a.begin(), a.end(), axis) == a.end()) a.push_back(axis);
    return a;
}

}  // namespace

Plan::Plan(Cascade& cascade, NormalForm& normal, NormalForm& relative)
    : cascade_(cascade),
      normal_(normal),
      relative_form_(relative),
      algebra_(cascade.algebra()),
      folds_(cascade.folds()) {
    for (NormalForm* form : {&normal_, &relative_form_})
        form->read_apart([&cascade](TermId id) { return cascade.apart_from_conditions(id); });
    relative_form_.keep_relative([this](PolynomialId streamed, PolynomialId folded,
                                        const std::vector<TermId>& guards, bool multiplied) {
        return relative_to_gauges(streamed, folded, guards, multiplied);
    });
    cascade.know_states([this](std::uint32_t state) {
        const StateVariable& one = states_[state];
        return Cascade::Summand{algebra_.term_of(one.form), one.picks ? kMax : one.monoid,
                                one.axes};
    });
}

/// Whether a product is one of two sums over the same axis, both put off.
bool Plan::sums_twice(PolynomialId form) const {
    const auto& terms = algebra_[form].terms;
    return std::any_of(terms.begin(), terms.end(), [](const auto& term) {
        const std::vector<AxisId>& deferred = term.first.deferred;
        return std::adjacent_find(deferred.begin(), deferred.end()) != deferred.end();
    });
}

std::optional<Obstacle> Plan::prepare() {
    for (std::uint32_t i = 0; i < folds_.size(); ++i) {  // extremes turned inside out add more
        const FoldOver fold = folds_[i];
        // Nothing cancels among integers.
        const bool sums =
            fold.monoid == kSum && !fold.picks && cascade_.kind_of(fold) != ValueKind::Integer;
        NormalForm& rules = sums ? relative_form_ : normal_;
        Form form = rules.of(fold.body);
        if (form && sums_twice(*form)) {
            rules.keep_inner_sums(true);
            form = rules.of(fold.body);
            rules.keep_inner_sums(false);
        }
        const bool relative = form.has_value();
        if (relative && &rules == &relative_form_) form = relative_form_.relative_to_maximum(*form);
        if (!form) form = normal_.of(fold.body);  // without centring, or to say why in plain terms
        const bool extremal = !fold.picks && (fold.monoid == kMax || fold.monoid == kMin);
        if (extremal && !(form && is_one_extreme(*form))) {
            if (const std::optional<TermId> other = inside_out(fold.body, i)) {
                inside_out_.emplace(i, *other);
                normal_.forget_obstacle();
                form = kZero;
            }
        }
        if (!form) return normal_.obstacle();
        if (sums_twice(*form)) return Obstacle{.why = Why::Capture, .term = fold.body};
        if (sums) note_multiplied_out(i, *form, relative);
        forms_.push_back(*form);
    }
    share_means();
    for (std::size_t i = 0; i < folds_.size(); ++i) {
        if (!folds_[i].divides || folds_[i].monoid != kSum) continue;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[i]]).terms) {
            const PolynomialId exponent = split(algebra_, mono, folds_[i].over).streamed.exponent;
            attained_.insert(exponent);
            if (folds_[i].divides_alone) alone_.insert(exponent);
        }
    }
    attained_.erase(kZero);
    take_gauges();
    return std::nullopt;
}

Form Plan::refuse(Why why, std::uint32_t fold) {
    if (obstacle_) return std::nullopt;
    obstacle_ = Obstacle{.why = why, .term = folds_[fold].body};
    for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[fold]]).terms) {
        if (!algebra_.class_of(mono).mixed()) continue;
        const Split parts = split(algebra_, mono, {});
        obstacle_->streamed = algebra_.term_of(algebra_.monomial(parts.streamed));
        obstacle_->folded = algebra_.term_of(algebra_.monomial(parts.rest));
        break;
    }
    return std::nullopt;
}

Form Plan::value(std::uint32_t fold) {
    const auto found = values_.find(fold);
    if (found != values_.end()) return found->second;
    const Form result = compute(fold);
    values_[fold] = result;
    return result;
}

Form Plan::value_at(const Term& element) {
    const Form form = value(element.ref);
    if (!form) return std::nullopt;
    const std::vector<AxisId> axes = folds_[element.ref].axes;
    Algebra::Replacements replacements;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (element.parts[i] != algebra_.axis(axes[i])) replacements[axes[i]] = element.parts[i];
    if (replacements.empty()) return form;
    const Form there = algebra_.replaced(*form, replacements);
    return there ? there : refuse(Why::Capture, element.ref);
}

Form Plan::compute(std::uint32_t fold) {
    const FoldOver& entry = folds_[fold];
    if (const auto other = inside_out_.find(fold); other != inside_out_.end())
        return resolved(other->second);
    if (entry.carried_by) return carried(fold);
    if (entry.picks) return pick(fold);
    if (entry.monoid.value > kMin.value || entry.monoid == kProduct) return other(fold);
    for (const AxisId axis : algebra_.class_of(forms_[fold]).axes) {
        const auto among = [&](const std::vector<AxisId>& axes) {
            return std::find(axes.begin(), axes.end(), axis) != axes.end();
        };
        if (!among(entry.axes) && !among(entry.over)) return refuse(Why::Capture, fold);
    }
    return entry.monoid == kSum ? sum(fold) : extreme(fold);
}

bool Plan::is_gauge(TermId id) const {
    const Term& term = algebra_[id];
    if (term.kind == Kind::Mean) return true;
    if (term.kind != Kind::State) return false;
    return std::any_of(gauge_folds_.begin(), gauge_folds_.end(), [&](std::uint32_t fold) {
        const auto known = values_.find(fold);
        return known != values_.end() && known->second &&
               algebra_[*known->second].terms.size() == 1 &&
               algebra_[*known->second].terms.front().first.powers.front().first == id;
    });
}

bool Plan::is_at_most(TermId small, TermId large) {
    const Term& a = algebra_[small];
    const Term& b = algebra_[large];
    if (a.kind != Kind::State || b.kind != Kind::State) return false;
    const StateVariable& low = states_[a.ref];
    const StateVariable& high = states_[b.ref];
    const bool extreme =
        low.picks ? low.component == 0 && !low.carried : low.monoid == kMax || low.monoid == kMin;
    if (!extreme || high.monoid != kMax || high.picks || high.over != low.over) return false;
    const std::optional<double> upper =
        cascade_.facts().upper(algebra_.subtract(low.form, high.form));
    return high.form == low.form || (upper && *upper <= 0);
}

bool Plan::is_at_least_one(TermId id) const {
    if (algebra_[id].kind != Kind::State) return false;
    const StateVariable& state = states_[algebra_[id].ref];
    const auto& form = algebra_[state.form].terms;
    const auto& gauge = algebra_[state.gauge].terms;
    if (state.monoid != kSum || form.size() != 1 || gauge.size() != 1) return false;
    const auto& [mono, coefficient] = form.front();
    const auto& [reference, factor] = gauge.front();
    if (coefficient < 1 || !mono.powers.empty() || reference.powers.size() != 1) return false;
    const Term& maximum = algebra_[reference.powers.front().first];
    if (maximum.kind != Kind::Fold || folds_[maximum.ref].over != state.over) return false;
    const std::optional<PolynomialId> bound = bound_of(maximum.ref);
    return bound && algebra_.scale(*bound, factor) == mono.exponent;
}

PolynomialId Plan::request(StateVariable wanted) {
    if (wanted.shifts.empty()) add_lower(wanted);
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
        const StateVariable& state = states_[i];
        const bool same = state.monoid == wanted.monoid && state.over == wanted.over &&
                          state.axes == wanted.axes && state.form == wanted.form &&
                          state.gauge == wanted.gauge && state.picks == wanted.picks &&
                          state.component == wanted.component && state.stored == wanted.stored &&
                          !state.first && !wanted.first && !wanted.picks;
        if (same) return algebra_.atom(algebra_.reference(Kind::State, i, state.axes));
    }
    const std::uint32_t id = static_cast<std::uint32_t>(states_.size());
    const PolynomialId result = algebra_.atom(algebra_.reference(Kind::State, id, wanted.axes));
    states_.push_back(std::move(wanted));
    return result;
}

PolynomialId Plan::verbatim(std::uint32_t fold) {
    const FoldOver& entry = folds_[fold];
    StateVariable state{.monoid = entry.monoid,
                        .over = entry.over,
                        .axes = entry.axes,
                        .form = forms_[fold],
                        .serves = fold};
    if (!algebra_.class_of(entry.body).folded) state.verbatim = fold;
    return request(std::move(state));
}

std::uint32_t Plan::gauge_state(std::uint32_t fold) {
    const Form form = value(fold);
    if (!form) throw Unresolved{};
    const Monomial mono = algebra_[*form].terms.front().first;
    const std::uint32_t state = algebra_[mono.powers.front().first].ref;
    states_[state].is_gauge = true;
    return state;
}

bool Plan::needs_gauge(std::uint32_t fold) {
    const std::vector<AxisId>& over = folds_[fold].over;
    const Polynomial form = algebra_[forms_[fold]];
    return std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
        return place(term.first, over, fold).gauge != kZero;
    });
}

/// Whether a factor that does not vary can leave the sum, which is then one product.
bool Plan::has_constants(std::uint32_t fold) {
    const Polynomial form = algebra_[forms_[fold]];
    if (form.terms.size() != 1) return false;
    const auto& [mono, coefficient] = form.terms.front();
    return coefficient != 1 || split(algebra_, mono, folds_[fold].over).rest != Monomial{};
}

Form Plan::sum(std::uint32_t fold) {
    const PolynomialId form = forms_[fold];
    const Class& of = algebra_.class_of(form);
    const bool deferred =
        std::any_of(algebra_[form].terms.begin(), algebra_[form].terms.end(),
                    [](const auto& term) { return !term.first.deferred.empty(); });
    const bool as_written = of.streamed && !of.folded && !deferred && !has_constants(fold);
    if (as_written && !needs_gauge(fold)) return verbatim(fold);
    // A sum of what is -inf where a condition fails: its terms would be read there one by one.
    if (std::any_of(algebra_[form].terms.begin(), algebra_[form].terms.end(),
                    [&](const auto& term) { return algebra_.is_mask(term.first); }))
        return refuse(Why::Condition, fold);
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        const Form term = term_of_sum(fold, mono, coefficient);
        if (!term) return std::nullopt;
        result = algebra_.add(result, *term);
    }
    return result;
}

Form Plan::term_of_sum(std::uint32_t fold, const Monomial& mono, double coefficient) {
    const std::vector<AxisId> over = sorted_union(folds_[fold].over, mono.deferred);
    const std::vector<AxisId>& target = folds_[fold].axes;
    for (const AxisId axis : mono.deferred) {
        const bool taken = std::find(target.begin(), target.end(), axis) != target.end();
        const auto& own = folds_[fold].over;
        if (taken || std::find(own.begin(), own.end(), axis) != own.end())
            return refuse(Why::Capture, fold);
    }
    Monomial bare = mono;
    bare.deferred.clear();
    const Placement placed = place(bare, over, fold);
    const PolynomialId streamed = algebra_.monomial(placed.streamed);
    // Axes that w carries, or that the state moves along, stay in it; their sum is done in the
    // tail.
    std::set<AxisId> moves_along;
    for (const auto& [factor, power] : placed.streamed.powers)
        if (const std::optional<TermId> gauge = moving_gauge(factor, power))
            moves_along.merge(std::set<AxisId>(algebra_.class_of(*gauge).axes));
    std::vector<AxisId> in_chunk;
    std::vector<AxisId> in_tail;
    for (const AxisId axis : over) {
        const bool carried = algebra_.class_of(placed.outside).axes.contains(axis) ||
                             algebra_.class_of(placed.gauge).axes.contains(axis) ||
                             moves_along.contains(axis);
        (carried ? in_tail : in_chunk).push_back(axis);
    }
    PolynomialId value = algebra_.scale(placed.outside, coefficient);
    const bool empty = placed.streamed == Monomial{};
    if (empty) {
        for (const AxisId axis : in_chunk)
            value = algebra_.multiply(
                value, algebra_.atom(algebra_.make(Term{.kind = Kind::Size, .ref = axis.value})));
    } else {
        std::vector<AxisId> axes;
        const Class of = algebra_.class_of(placed.streamed);
        const Class& of_gauge = algebra_.class_of(placed.gauge);
        for (const AxisId axis : sorted_union(target, in_tail))
            if (of.axes.contains(axis) || of_gauge.axes.contains(axis)) axes.push_back(axis);
        value = normal_.product(value, request({.monoid = kSum,
                                                .over = in_chunk,
                                                .axes = axes,
                                                .form = streamed,
                                                .gauge = placed.gauge,
                                                .stored = stored_factor(placed.streamed, fold),
                                                .serves = fold}));
    }
    if (in_tail.empty()) return value;
    Term inner{.kind = Kind::Inner, .ref = kSum.value, .parts = {algebra_.term_of(value)}};
    inner.bound = in_tail;
    return algebra_.atom(algebra_.make(std::move(inner)));
}

}  // namespace napkin::separation
