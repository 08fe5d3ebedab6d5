// retype: store a wire in another element type.
//
//   ── f32 ──     ==>     ── bf16 ──
//
// Side condition: none in exact arithmetic, since the rounding is the kernel's: the reference does
// not round, and the tolerance of a validation includes it. Inputs and wires whose type the user
// wrote keep theirs; a wire between folds of a stream needs a streamed part that can be stored
// (derive/separation/place/stored.cpp). Citation: arXiv 2412.03317, section 4 (quantisation).
#include <algorithm>

#include "derive/rules/rule_support.h"
#include "diagrams/contains.h"
#include "diagrams/facts.h"

namespace napkin::rules {

namespace {

std::vector<std::string> hazards_of(const State& state, std::size_t region) {
    const auto accumulator = accumulator_of(state, state.relabelling.regions[region]);
    const Accumulator* found = std::get_if<Accumulator>(&accumulator);
    return found != nullptr ? checked_of(*found).hazards : std::vector<std::string>{};
}

/// What the rounding spoils in regions that stream what was computed of the array.
std::vector<std::string> fresh_hazards(const State& before, const State& after, ArrayId array) {
    std::vector<std::string> fresh;
    const std::vector<Region>& regions = after.relabelling.regions;
    for (std::size_t i = 0; i < regions.size(); ++i) {
        if (regions[i].streams.empty() || !contains(loads_of(after.diagram, regions[i]), array))
            continue;
        const std::vector<std::string> known = hazards_of(before, i);
        for (std::string& hazard : hazards_of(after, i))
            if (!contains(known, hazard)) fresh.push_back(std::move(hazard));
    }
    return fresh;
}

}  // namespace

Outcome retype(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.to.empty())
        return out_of_place("it takes one array and a type", "write `retype ARRAY to TYPE`");
    const std::optional<ArrayId> array = find_array(state.diagram, command.names.front());
    if (!array) return out_of_place("there is no array `" + command.names.front() + "`", "");
    const std::optional<ElementType> type = element_type_named(command.to);
    if (!type)
        return out_of_place("`" + command.to + "` is no element type",
                            "such as bf16, f16, f32, e4m3");
    const Array& wire = state.diagram[*array];
    if (wire.role == ArrayRole::Input || wire.role == ArrayRole::Parameter)
        return NotApplicable{"`" + wire.name + "` is an input: its type is the caller's",
                             "change it in the diagram"};
    if (wire.rounds)
        return NotApplicable{
            "`" + wire.name + "` has a type in the diagram, which the reference rounds to as well",
            "change it in the diagram"};
    if (!is_floating(wire.type) || !is_floating(*type))
        return NotApplicable{"only a floating wire can be stored in another floating type", ""};
    if (*type == ElementType::E4M3 && DiagramFacts(state.diagram).of(*array).may_be_infinite())
        return NotApplicable{"`" + wire.name +
                                 "` may be infinite, and e4m3 has no infinity: it is the "
                                 "largest number there, 448",
                             "store it in a type that has one: bf16, f16, e5m2"};
    State next = state;
    next.relabelling.wire_types[*array] = *type;
    for (const Region& region : next.relabelling.regions) {
        const auto& inside = region.statements;
        const bool here = std::find(inside.begin(), inside.end(),
                                    *producer(state.diagram, *array)) != inside.end();
        if (!here) continue;
        if (std::optional<NotApplicable> refusal = why_not_streamed(next, region)) return *refusal;
    }
    SideConditions checked{{"rounding to " + command.to + " enters the tolerance"},
                           fresh_hazards(state, next, *array)};
    return with_step(std::move(next), command, std::move(checked));
}

}  // namespace napkin::rules
