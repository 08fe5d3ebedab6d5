// What rounding does to a bound that an earlier region saved: S - L is never above zero of the L
// that was computed, but of the L that is read it may be.
#include <algorithm>
#include <cmath>

#include "derive/separation/judge/judge.h"

namespace napkin::separation {
namespace {

constexpr double kInfiniteExponent = 89;  ///< of float32, and of its negative the result is 0
constexpr int kFarthest = 70000;          ///< beyond what f16 holds

bool is_short(ElementType type) {
    return is_floating(type) && bits_of(type) < bits_of(ElementType::F32);
}

/// The smallest number that the type has another `by` below it for.
std::optional<int> moved_by(ElementType type, double by) {
    for (int size = 1; size < kFarthest; ++size)
        for (const int value : {size, -size})
            if (value - round_to(type, value) >= by) return value;
    return std::nullopt;
}

/// The type that an array from another region is read in.
ElementType type_read(const Judged& of, ArrayId array) {
    const auto& all = of.cascade.statements();
    const bool here = std::any_of(all.begin(), all.end(), [&](const RegionStatement& each) {
        const std::vector<ArrayId>& targets = of.diagram[each.statement].targets;
        return std::find(targets.begin(), targets.end(), array) != targets.end();
    });
    if (here) return of.diagram[array].rounds ? of.diagram[array].type : ElementType::F32;
    Relabelling relabelling;
    relabelling.wire_types = of.stored;
    return storage_type(of.diagram, relabelling, array);
}

}  // namespace

std::optional<RoundedBound> rounded_bound(const Judged& of, PolynomialId exponent, ArrayId saved) {
    if (const ElementType type = type_read(of, saved); is_short(type))
        return RoundedBound{saved, type, true};
    for (const auto& [mono, coefficient] : Polynomial(of.algebra[exponent]).terms)
        for (const auto& [factor, power] : mono.powers) {
            const Term& term = of.algebra[factor];
            if (term.kind != Kind::Read || ArrayId{term.ref} == saved) continue;
            const ArrayId array{term.ref};
            if (!producer(of.diagram, array) || of.diagram[array].rounds) continue;
            if (const ElementType type = type_read(of, array); is_short(type))
                return RoundedBound{array, type, false};
        }
    return std::nullopt;
}

void describe_rounded(const Diagram& diagram, Obligation& made, const RoundedBound& bound) {
    const std::string name = "`" + diagram[bound.array].name + "`";
    const std::string type(napkin::name_of(bound.type));
    made.met = false;
    made.text += ", but " + name + " is saved in " + type;
    if (!bound.is_bound) made.text += ", perhaps after it was used for that";
    const double by = made.hazard == Hazard::Underflow ? -2 * kInfiniteExponent : kInfiniteExponent;
    // A bound that is saved too low, or what it bounds too high.
    const double sign = (by > 0) == bound.is_bound ? 1 : -1;
    if (const std::optional<int> value = moved_by(bound.type, std::abs(by))) {
        const double rounded = round_to(bound.type, sign * *value);
        made.example = "where " + name + " is " + std::to_string(static_cast<int>(sign) * *value) +
                       " it is saved as " +
                       (std::isinf(rounded) ? (rounded < 0 ? "-inf" : "inf")
                                            : std::to_string(static_cast<int>(rounded))) +
                       (by > 0 ? ", and the exponential may be infinite in float32"
                               : ", and every exponential may be 0 in float32");
    }
    made.safer = diagram[bound.array].rounds
                     ? "give " + name + " the type f32"
                     : "`retype " + diagram[bound.array].name + " to f32`, or give it that type";
}

}  // namespace napkin::separation
