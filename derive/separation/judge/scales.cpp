// A square of what is divided by its largest value: what is summed is the square alone.
#include "derive/separation/algebra/mentions.h"
#include "derive/separation/judge/judge.h"

namespace napkin::separation {
namespace {

/// A value, and what it is divided by.
struct Scale {
    TermId value;
    TermId scale;
};

/// The values of which the term is the largest, or is made of the largest.
std::vector<TermId> scaled_by(const Judged& of, TermId divisor) {
    std::vector<TermId> values;
    (void)mentions(of.algebra, divisor, [&](TermId id) {
        const Term& term = of.algebra[id];
        if (term.kind != Kind::Fold) return false;
        const FoldOver& fold = of.plan.folds()[term.ref];
        if (fold.monoid != kMax || fold.picks) return false;
        const Term& outermost = of.algebra[fold.body];
        const bool absolute = outermost.kind == Kind::Apply && outermost.function == Function::Abs;
        values.push_back(absolute ? outermost.parts.front() : fold.body);
        return false;
    });
    return values;
}

/// Two factors of a product, each divided by its largest value.
std::optional<Scale> lost_scale(const Judged& of, const Monomial& product) {
    Monomial left = product;
    int scaled = 0;
    for (const auto& [divisor, power] : product.powers) {
        if (power >= 0 || !of.algebra.class_of(divisor).folded) continue;
        for (const TermId value : scaled_by(of, divisor)) {
            const Form form = of.normal.of(value);
            if (!form || of.algebra[*form].terms.size() != 1) continue;
            const Monomial factor = of.algebra[*form].terms.front().first;
            if (!of.algebra.class_of(factor).streamed) continue;
            for (double times = -power; times >= 1; --times) {
                const std::optional<Monomial> rest = quotient_of(left, factor);
                if (!rest) break;
                left = *rest;
                if (++scaled == 2) return Scale{value, divisor};
            }
        }
    }
    return std::nullopt;
}

}  // namespace

void judge_scales(const Judged& of, Judgements& all) {
    for (std::uint32_t i = 0; i < of.plan.folds().size(); ++i) {
        const FoldOver& fold = of.plan.folds()[i];
        if (fold.monoid != kSum || fold.picks) continue;
        for (const auto& [mono, coefficient] : Polynomial(of.algebra[of.plan.form(i)]).terms) {
            const std::optional<Scale> lost = lost_scale(of, mono);
            if (!lost) continue;
            const std::string scale = of.name(lost->scale);
            const auto known = of.cascade.arrays_by_term().find(lost->scale);
            const bool named =
                known != of.cascade.arrays_by_term().end() && of.diagram[known->second].named;
            all.add(unmet(Hazard::Scale,
                          of.name(fold.body) + " is summed without " + scale +
                              ", which is only divided by after the last chunk",
                          "where " + of.name(lost->value) +
                              " is 1e20, a product of two is infinite in float32",
                          named ? "put " + scale + " in a region of its own"
                                : "give " + scale +
                                      " a statement of its own, and put that in a region of its "
                                      "own"));
        }
    }
}

}  // namespace napkin::separation
