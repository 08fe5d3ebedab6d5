// Wires stored in a type of their own.
//
// P = exp(S - m) / l depends on m and l, which are final only after the last chunk, so P itself is
// never formed; O = sum(x) P * V is kept as sum(x) e * V with e = exp(S - m_now), and 1/l waits for
// the tail. Storing P in bf16 is to round e where it multiplies V. Every streamed part u_i of the
// wire's normal form sum_i u_i * w_i is treated so, where it is a factor of what a fold sums.
#include <algorithm>

#include "derive/separation/accumulator_builder.h"
#include "derive/separation/mentions.h"
#include "derive/separation/plan.h"
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
        Form form = centred_.of(value);
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

/// The stored part of a state's product, relative to the state's gauge, as an array of its type.
ArrayId Builder::stored_part(const StateVariable& state) {
    const StoredPart& stored = *state.stored;
    const PolynomialId gauge = stored.part.exponent == kZero ? kZero : state.gauge;
    const auto key = std::tuple(stored.wire, stored.part, gauge);
    const auto found = stored_.find(key);
    if (found != stored_.end()) return found->second;
    StateVariable alone = state;
    alone.form = algebra_.monomial(stored.part);
    alone.gauge = gauge;
    alone.stored.reset();
    const std::string name = diagram_[stored.wire].name;
    std::set<AxisId> axes = algebra_.class_of(stored.part).axes;
    axes.merge(std::set<AxisId>(algebra_.class_of(gauge).axes));
    Expression value = contraction(alone);
    const ArrayId made =
        helper("_" + std::string(name_of(stored.type)), axes, std::move(value), stored.type, name);
    provide("`" + name + "` is stored in " + std::string(name_of(stored.type)) + " as `" +
            array(made).name + "`, before what is folded is multiplied in");
    stored_.emplace(key, made);
    return made;
}

/// The other factors of a state's product.
Monomial Builder::beside_stored(const StateVariable& state, const Monomial& whole) {
    return *quotient_of(whole, state.stored->part);
}

}  // namespace napkin::separation
