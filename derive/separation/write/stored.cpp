// Wires stored in a type of their own (place/stored.cpp): their streamed parts as arrays.
#include "derive/separation/write/builder.h"

namespace napkin::separation {

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
