// Differences that would cancel.
//
// Multiplying out (a(x) - b(r))^n is legal, and for a near b it subtracts numbers that are almost
// equal: the variance of values around 10^6 would have no digit left. Any value g may be subtracted
// from both, a - b = (a - g) - (b - g), and is exact. Here g is the mean of a over the first chunk,
// constant from then on, so that no repair is needed. Folds that make up b are kept relative to g
// too: sum(x) X = sum(x) (X - g) + size(x) * g, and the g cancels in the tail by algebra.
#include <algorithm>

#include "derive/separation/plan.h"

namespace napkin::separation {

PolynomialId Plan::centre(PolynomialId streamed, PolynomialId folded) {
    const TermId value = algebra_.term_of(streamed);
    const std::set<AxisId>& own = algebra_.class_of(streamed).axes;
    const std::set<AxisId>& others = algebra_.class_of(folded).axes;
    AnchorVariable wanted{.value = value, .axes = {}, .over = {}};
    for (const AxisId axis : own) {
        const bool kept = others.contains(axis) && !cascade_.is_streamed(axis);
        (kept ? wanted.axes : wanted.over).push_back(axis);
    }
    std::uint32_t id = 0;
    while (id < anchors_.size() &&
           (anchors_[id].value != value || anchors_[id].axes != wanted.axes))
        ++id;
    if (id == anchors_.size()) anchors_.push_back(wanted);
    relative_.merge(folds_in(folded));
    const TermId anchor = algebra_.reference(Kind::Anchor, id, anchors_[id].axes);
    const TermId rest = algebra_.make(Term{.kind = Kind::Centred, .parts = {value, anchor}});
    return algebra_.add(algebra_.atom(rest), algebra_.atom(anchor));
}

/// Brings the folds that are subtracted to the same anchors.
void Plan::recentre() {
    for (const std::uint32_t fold : relative_) {
        if (folds_[fold].monoid != kSum || folds_[fold].picks) continue;
        for (std::uint32_t anchor = 0; anchor < anchors_.size(); ++anchor)
            forms_[fold] = recentred(forms_[fold], anchor);
    }
}

/// The sum with every factor a written as (a - g) + g.
PolynomialId Plan::recentred(PolynomialId form, std::uint32_t anchor) {
    const TermId value = anchors_[anchor].value;
    const TermId reference = algebra_.reference(Kind::Anchor, anchor, anchors_[anchor].axes);
    const TermId rest = algebra_.make(Term{.kind = Kind::Centred, .parts = {value, reference}});
    const PolynomialId both = algebra_.add(algebra_.atom(rest), algebra_.atom(reference));
    if (algebra_.term_of(form) == value) return both;
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        Monomial others = mono;
        const auto at = std::find(others.powers.begin(), others.powers.end(),
                                  std::pair<TermId, double>(value, 1));
        if (at == others.powers.end()) {
            result = algebra_.add(result, algebra_.monomial(mono, coefficient));
            continue;
        }
        others.powers.erase(at);
        result = algebra_.add(
            result, algebra_.multiply(both, algebra_.monomial(std::move(others), coefficient)));
    }
    return result;
}

}  // namespace napkin::separation
