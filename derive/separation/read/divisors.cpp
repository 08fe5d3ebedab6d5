// What is divided by, or has its logarithm taken, and what it divides.
#include <functional>
#include <tuple>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/read/cascade.h"

namespace napkin::separation {

/// The value behind one that is kept rounded, if it is.
TermId Cascade::behind_rounding(TermId id) const {
    const Term& term = algebra_[id];
    const bool kept = term.kind == Kind::Late || term.kind == Kind::Read;
    const auto known = kept ? unrounded_.find(ArrayId{term.ref}) : unrounded_.end();
    return known == unrounded_.end() ? id : known->second;
}

/// Folds that are divided by or whose logarithm is taken: they must not underflow.
void Cascade::mark_divisors() {
    std::set<std::tuple<TermId, bool, bool>> seen;
    const std::function<void(TermId, bool, bool)> mark = [&](TermId id, bool below, bool alone) {
        if (!seen.emplace(id, below, alone).second) return;
        const Term& term = algebra_[id];
        if (term.kind == Kind::Fold && below) {
            folds_[term.ref].divides = true;
            folds_[term.ref].divides_alone |= alone;
        }
        if (term.kind == Kind::Late && below && behind_rounding(id) != id)
            rounded_divisors_.insert(ArrayId{term.ref});
        if (term.kind != Kind::Apply) {
            const bool same = term.kind == Kind::Inner || term.kind == Kind::Convert;
            for (const TermId part : term.parts) mark(part, same && below, alone);
            return;
        }
        const bool stays = !(below && has_number(id));
        const Function function = term.function;
        const bool negative = function == Function::Power &&
                              algebra_[term.parts[1]].kind == Kind::Number &&
                              algebra_[term.parts[1]].number < 0;
        const bool whole = function == Function::Log || function == Function::Rsqrt || negative;
        for (std::size_t i = 0; i < term.parts.size(); ++i)
            mark(term.parts[i], below || whole || (function == Function::Divide && i == 1),
                 alone && stays);
    };
    for (const auto& [array, term] : definitions_) mark(term, false, true);
    for (const auto& [array, term] : unrounded_) mark(term, false, true);
    for (const FoldOver& fold : std::deque<FoldOver>(folds_)) mark(fold.body, false, true);
}

/// Whether a number above zero is added, or is the least that the value can be, so that something
/// is left where all else vanishes.
bool Cascade::has_number(TermId id) const {
    const Term& term = algebra_[id];
    if (term.kind == Kind::Number) return term.number > 0;
    return term.kind == Kind::Apply &&
           (term.function == Function::Add || term.function == Function::Max) &&
           (has_number(term.parts[0]) || has_number(term.parts[1]));
}

/// Folds that share an expression with a divisor, or have one in their own: what is left of an
/// exponential that a divisor is relative to has to meet one of theirs.
void Cascade::mark_divided() {
    const auto mark = [&](TermId value, std::set<std::uint32_t> above) {
        for (const std::uint32_t divisor : folds_in(algebra_, value)) {
            if (!folds_[divisor].divides) continue;
            for (const std::uint32_t fold : above)
                if (fold != divisor) folds_[fold].divided_by.insert(divisor);
        }
    };
    for (const auto& [array, term] : definitions_) mark(term, folds_in(algebra_, term));
    for (const auto& [array, term] : unrounded_) mark(term, folds_in(algebra_, term));
    for (std::uint32_t i = 0; i < folds_.size(); ++i) mark(folds_[i].body, {i});
}

}  // namespace napkin::separation
