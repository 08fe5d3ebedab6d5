// Anchors: the mean of the first chunk, which later chunks keep.

#include "derive/separation/accumulator_builder.h"
#include "derive/separation/formula_text.h"
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

void Builder::build_anchor(std::uint32_t anchor) {
    const AnchorVariable variable = plan_.anchors()[anchor];
    const bool everywhere = variable.guards.empty();
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
    const ArrayId sum = total("_sum", variable.axes, expression(variable.value, Where::Chunk));
    const ArrayId count =
        total("_count", everywhere ? std::vector<AxisId>{} : variable.axes, number(1));
    initialise(target, number(kInfinity));
    Expression mean =
        apply(Function::Guard, {apply(Function::Divide, {read_array(sum), read_array(count)})});
    if (!everywhere)  // the first chunk may have no such element
        mean = apply(Function::Select, {apply(Function::Greater, {read_array(count), integer(0)}),
                                        std::move(mean), number(kInfinity)});
    Expression known = apply(Function::Less, {read_array(target), number(kInfinity)});
    const Statement update = statement(
        target, apply(Function::Select, {std::move(known), read_array(target), std::move(mean)}));
    body_.push_back(update);
    Diagram scope = diagram_;
    scope.arrays.insert(scope.arrays.end(), result_.arrays.begin(), result_.arrays.end());
    AccumulatorState text;
    text.state = target;
    text.initial = "inf";
    text.body = value_text(scope, update, 0);
    text.why = std::string("mean of the first chunk") + (everywhere ? "" : " that has any") +
               "; differences are formed relative to it, since multiplied out they would cancel";
    result_.states.push_back(std::move(text));
}

}  // namespace napkin::separation
