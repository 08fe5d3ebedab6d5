// Wires stored in a type of their own.
//
// P = exp(S - m) / l depends on m and l, which are final only after the last chunk, so P itself is
// never formed; O = sum(x) P * V is kept as sum(x) e * V with e = exp(S - m_now), and 1/l waits for
// the tail. Storing P in bf16 is to round e where it multiplies V. Every streamed part u_i of the
// wire's normal form sum_i u_i * w_i is treated so, where it is a factor of what a fold sums.
#include <algorithm>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/place/plan.h"
#include "diagrams/contains.h"

namespace napkin::separation {

void Plan::store(const std::map<ArrayId, ElementType>& types) {
    for (const auto& [wire, type] : types) {
        const Part when = cascade_.part_of(wire);
        if ((when == Part::Fold || when == Part::Tail) && type != ElementType::F32)
            late_.push_back(wire);
        if (when != Part::Mixed) continue;
        wires_.push_back(wire);
        const TermId value = *cascade_.definition(wire);
        Form form = relative_form_.of(value);
        if (!form) form = normal_.of(value);
        if (!form) continue;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[*form]).terms) {
            Monomial part = split(algebra_, mono, {}).streamed;
            part.deferred.clear();
            if (part != Monomial{}) stored_.push_back({wire, type, std::move(part)});
        }
    }
    // The part with the most factors first: it is the one meant where several divide a product.
    std::stable_sort(stored_.begin(), stored_.end(), [](const auto& a, const auto& b) {
        return a.part.powers.size() > b.part.powers.size();
    });
}

std::optional<StoredPart> Plan::stored_factor(const Monomial& streamed, std::uint32_t fold) const {
    for (const StoredPart& each : stored_)
        if (mentions(algebra_, folds_[fold].body, *cascade_.definition(each.wire)) &&
            quotient_of(streamed, each.part))
            return each;
    return std::nullopt;
}

std::optional<ArrayId> Plan::stored_too_late() const {
    for (const RegionStatement& each : cascade_.statements()) {
        if (each.part == Part::Before || each.part == Part::Tail) continue;
        const std::vector<ArrayId> inputs = inputs_of(cascade_.diagram()[each.statement]);
        for (const ArrayId wire : late_)
            if (contains(inputs, wire)) return wire;
    }
    return std::nullopt;
}

std::optional<ArrayId> Plan::not_stored() const {
    for (const ArrayId wire : wires_) {
        const bool used = std::any_of(states_.begin(), states_.end(), [&](const auto& state) {
            return state.stored && state.stored->wire == wire;
        });
        if (!used) return wire;
    }
    return std::nullopt;
}

}  // namespace napkin::separation
