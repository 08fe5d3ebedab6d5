// Anchors: the mean of the first chunk, which later chunks keep.
//
// Beside exponentials the mean is weighted by them, so that what has no weight does not draw it
// away; and where a maximum grows so much that nothing before it counts, it is taken anew: all sums
// that are relative to the old one are multiplied by 0 then.
#include <algorithm>
#include <functional>

#include "derive/separation/accumulator_builder.h"
#include "derive/separation/formula_text.h"
#include "diagrams/contains.h"
#include "diagrams/infinity.h"

namespace napkin::separation {
namespace {}  // namespace

void Builder::find_anchors(TermId id) {
    const Term term = algebra_[id];
    if (term.kind == Kind::Anchor) (void)anchor_array(term.ref);
    if (term.kind == Kind::Sum) find_anchors(PolynomialId{term.ref});
    for (const TermId part : term.parts) find_anchors(part);
}

void Builder::find_anchors(PolynomialId polynomial) {
    for (const auto& [mono, coefficient] : Polynomial(algebra_[polynomial]).terms) {
        for (const auto& [term, power] : mono.powers) find_anchors(term);
        if (mono.exponent != kZero) find_anchors(mono.exponent);
    }
}

bool Builder::mentions_anchor(PolynomialId polynomial, std::uint32_t anchor) {
    const std::function<bool(TermId)> in_term = [&](TermId id) {
        const Term term = algebra_[id];
        if (term.kind == Kind::Anchor) return term.ref == anchor;
        if (term.kind == Kind::Sum && mentions_anchor(PolynomialId{term.ref}, anchor)) return true;
        return std::any_of(term.parts.begin(), term.parts.end(), in_term);
    };
    const auto& terms = algebra_[polynomial].terms;
    return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
        const Monomial& mono = term.first;
        return (mono.exponent != kZero && mentions_anchor(mono.exponent, anchor)) ||
               std::any_of(mono.powers.begin(), mono.powers.end(),
                           [&](const auto& factor) { return in_term(factor.first); });
    });
}

/// The exponent and gauge of everything that is relative to the anchor, where they are the same.
std::optional<Builder::Key> Builder::weight_of_anchor(std::uint32_t anchor) {
    const AnchorVariable& variable = plan_.anchors()[anchor];
    std::optional<Key> shared;
    for (const StateVariable& state : plan_.states()) {
        if (mentions_anchor(state.gauge, anchor)) return std::nullopt;
        if (!mentions_anchor(state.form, anchor)) continue;
        const Polynomial form = algebra_[state.form];
        if (state.gauge == kZero || state.stored || form.terms.size() != 1) return std::nullopt;
        const PolynomialId exponent = form.terms.front().first.exponent;
        if (exponent == kZero || mentions_anchor(exponent, anchor)) return std::nullopt;
        if (shared && *shared != Key{exponent, state.gauge}) return std::nullopt;
        shared = Key{exponent, state.gauge};
    }
    if (!shared) return std::nullopt;
    for (const PolynomialId part : {shared->first, shared->second})
        for (const AxisId axis : algebra_.class_of(part).axes)
            if (!contains(variable.axes, axis) && !contains(variable.over, axis))
                return std::nullopt;
    return shared;
}

void Builder::build_anchor(std::uint32_t anchor) {
    const AnchorVariable variable = plan_.anchors()[anchor];
    const std::optional<Key> weighted = weight_of_anchor(anchor);
    const bool everywhere = variable.guards.empty() && !weighted;
    const ArrayId target = anchor_array(anchor);
    const std::string name = array(target).name;
    const auto total = [&](const std::string& suffix, const std::vector<AxisId>& axes,
                           Expression value) {
        const ArrayId made = make_array(name + suffix, axes, ElementType::F32);
        Fold fold;
        fold.monoid = kSum;
        fold.over = variable.over;
        fold.values.push_back(guarded(std::move(value), variable.guards, 0, Where::Chunk));
        body_.push_back({.targets = {made},
                         .body = std::move(fold),
                         .box = box_of(serving_),
                         .span = span_of(serving_)});
        return made;
    };
    serving_ = 0;
    Expression one = number(1);
    Expression value = expression(variable.value, Where::Chunk);
    if (weighted) {
        one = read_array(weight(weighted->first, weighted->second));
        value = apply(Function::Multiply, {one, std::move(value)});
    }
    const ArrayId sum = total("_sum", variable.axes, std::move(value));
    const ArrayId count = total(weighted ? "_weight" : "_count",
                                everywhere ? std::vector<AxisId>{} : variable.axes, std::move(one));
    initialise(target, number(kInfinity));
    Expression mean =
        apply(Function::Guard, {apply(Function::Divide, {read_array(sum), read_array(count)})});
    if (!everywhere)  // the first chunk may have no such element
        mean = apply(Function::Select, {apply(Function::Greater, {read_array(count), integer(0)}),
                                        std::move(mean), number(kInfinity)});
    Expression known = apply(Function::Less, {read_array(target), number(kInfinity)});
    if (weighted)
        known =
            apply(Function::And,
                  {std::move(known),
                   apply(Function::Greater, {read_array(repair(weighted->second)), integer(0)})});
    const Statement update = statement(
        target, apply(Function::Select, {std::move(known), read_array(target), std::move(mean)}));
    body_.push_back(update);
    Diagram scope = diagram_;
    scope.arrays.insert(scope.arrays.end(), result_.arrays.begin(), result_.arrays.end());
    AccumulatorState text;
    text.state = target;
    text.initial = "inf";
    text.body = value_text(scope, update, 0);
    text.why = std::string("mean of the first chunk") +
               (weighted     ? " that counts, by weight"
                : everywhere ? ""
                             : " that has any") +
               "; differences are formed relative to it, since multiplied out they would cancel";
    result_.states.push_back(std::move(text));
}

}  // namespace napkin::separation
