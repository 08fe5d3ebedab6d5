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
