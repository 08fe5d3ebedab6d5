// The tail: results in terms of states.
#include <algorithm>

#include "derive/separation/build.h"
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

Statement Builder::tail_statement(ArrayId id) {
    for (const RegionStatement& each : cascade_.statements()) {
        const Statement& source = diagram_[each.statement];
        const auto at = std::find(source.targets.begin(), source.targets.end(), id);
        if (at == source.targets.end()) continue;
        if (each.part != Part::Fold && each.part != Part::Pick) return rewritten(source);
        for (std::uint32_t i = 0; i < plan_.folds().size(); ++i) {
            const FoldOver& fold = plan_.folds()[i];
            if (fold.target != id) continue;
            serving_ = i;
            const TermId own = algebra_.reference(Kind::Fold, i, fold.axes);
            const Form form = tail_.of(own);
            invariant(form.has_value(), "a fold that was planned has no value");
            Statement result = statement(id, expression(*form, Where::Tail));
            return result;
        }
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
