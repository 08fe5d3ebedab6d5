// The tail: results in terms of states.
#include <algorithm>

#include "derive/separation/accumulator_builder.h"
#include "derive/separation/formula_text.h"

namespace napkin::separation {

/// Whether every fold in the term is a state as it stands, so that the user's own form is safe.
bool Builder::plain(TermId id) {
    const Term term = algebra_[id];
    if (term.kind == Kind::Fold) {
        const Form value = tail_.of(id);
        invariant(value.has_value(), "a fold that was planned has no value");
        return algebra_[algebra_.term_of(*value)].kind == Kind::State;
    }
    return std::all_of(term.parts.begin(), term.parts.end(),
                       [&](TermId part) { return plain(part); });
}

Expression Builder::tail_value(TermId term) {
    if (plain(term)) return expression(term, Where::Tail);
    const Form form = tail_.of(term);
    if (!form) return expression(term, Where::Tail);
    return expression(*form, Where::Tail);
}

/// The statement with every value written anew over states and arrays of the tail.
Statement Builder::rewritten(const Statement& source) {
    Statement copy = source;
    const auto renew = [&](Expression& value) { value = tail_value(cascade_.lower(value)); };
    if (Map* map = std::get_if<Map>(&copy.body)) renew(map->value);
    if (Fold* fold = std::get_if<Fold>(&copy.body)) {
        for (Expression& value : fold->values) renew(value);
        for (Expression& value : fold->seed) renew(value);
    }
    if (Select* select = std::get_if<Select>(&copy.body)) renew(select->value);
    if (const Opaque* opaque = std::get_if<Opaque>(&copy.body))
        for (const Expression& element : opaque->reads)
            need_tail(std::get<Read>(element.node).array);
    return copy;
}

/// The value of a fold over states; a sum over other axes that was put off becomes a fold again.
Statement Builder::fold_result(ArrayId target, PolynomialId form) {
    const Term sum = algebra_[algebra_.term_of(form)];
    if (sum.kind != Kind::Inner) return statement(target, expression(form, Where::Tail));
    Fold fold;
    fold.monoid = MonoidId{sum.ref};
    fold.over = sum.bound;
    fold.values.push_back(expression(sum.parts.front(), Where::Tail));
    return {.targets = {target},
            .body = std::move(fold),
            .box = box_of(serving_),
            .span = span_of(serving_)};
}

Statement Builder::tail_statement(ArrayId id) {
    for (const RegionStatement& each : cascade_.statements()) {
        const Statement& source = diagram_[each.statement];
        const auto at = std::find(source.targets.begin(), source.targets.end(), id);
        if (at == source.targets.end()) continue;
        if (each.part != Part::Fold && each.part != Part::Pick) return rewritten(source);
        std::uint32_t fold = 0;
        while (plan_.folds()[fold].target != id && fold + 1 < cascade_.folds().size()) ++fold;
        TermId own = *cascade_.definition(id);
        if (algebra_[own].kind == Kind::Late)  // rounded: the fold itself is what is read
            own = algebra_.reference(Kind::Fold, fold, diagram_[id].axes);
        serving_ = algebra_[own].ref;
        const Form form = tail_.of(own);
        invariant(form.has_value(), "a fold that was planned has no value");
        return fold_result(id, *form);
    }
    throw InternalError("an array of the tail has no statement");
}

void Builder::need_tail(ArrayId id) {
    if (cascade_.part_of(id) == Part::Before || !tail_done_.insert(id).second) return;
    excluded_.insert(id);
    Statement written = tail_statement(id);
    excluded_.erase(id);
    for (const ArrayId target : written.targets) tail_done_.insert(target);
    Diagram scope = diagram_;
    scope.arrays.insert(scope.arrays.end(), result_.arrays.begin(), result_.arrays.end());
    for (std::size_t i = 0; i < written.targets.size(); ++i)
        result_.tail_text.push_back(scope[written.targets[i]].name + " = " +
                                    value_text(scope, written, i));
    result_.tail.push_back(std::move(written));
}

}  // namespace napkin::separation
