#include "derive/accumulator.h"

namespace napkin {

const Gauge* gauge_of(const Accumulator& accumulator, ArrayId state) {
    for (const Gauge& each : accumulator.gauges)
        if (each.state == state) return &each;
    return nullptr;
}

std::string_view name_of(Hazard hazard) {
    switch (hazard) {
    case Hazard::Overflow: return "overflow";
    case Hazard::Underflow: return "underflow";
    case Hazard::Cancellation: return "cancellation";
    case Hazard::Tail: return "overflow in the tail";
    case Hazard::Scale: return "lost scale";
    case Hazard::Operand: return "other operand";
    }
    return "?";
}

void rename_states(Accumulator& accumulator, const std::map<ArrayId, ArrayId>& arrays) {
    const auto rename = [&](ArrayId& array) {
        if (const auto other = arrays.find(array); other != arrays.end()) array = other->second;
    };
    for (AccumulatorState& state : accumulator.states) {
        rename(state.state);
        if (state.action.scale) rename(*state.action.scale);
        for (GaugeAction::Shift& shift : state.action.shifts) rename(shift.gauge);
        for (GaugeAction::Lower& lower : state.action.lower) rename(lower.state);
    }
    for (Gauge& gauge : accumulator.gauges) {
        rename(gauge.state);
        rename(gauge.next);
        if (gauge.total) rename(*gauge.total);
    }
    for (Accumulator& inside : accumulator.inside) rename_states(inside, arrays);
}

std::string print(const Obligation& obligation) {
    const std::string name(name_of(obligation.hazard));
    std::string text =
        (obligation.met ? "no " + name : name + " possible") + ": " + obligation.text;
    if (obligation.hazard == Hazard::Operand)
        text = (obligation.met ? "same operand: " : "another operand: ") + obligation.text;
    if (obligation.hazard == Hazard::Scale) text = "scale lost: " + obligation.text;
    if (!obligation.example.empty()) text += "; " + obligation.example;
    if (!obligation.safer.empty()) text += "; safe: " + obligation.safer;
    return text;
}

}  // namespace napkin
