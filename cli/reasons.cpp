#include "cli/reasons.h"

#include <algorithm>
#include <set>

#include "derive/roles.h"
#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "perfmodel/explain.h"

namespace napkin::cli {
namespace {

std::string listed_plain(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

/// The box's name where the array has none that the user wrote.
std::string name_of(const Diagram& diagram, ArrayId array) {
    const std::string& name = diagram[array].name;
    return diagram[array].named ? name : "what feeds " + name.substr(0, name.find('.'));
}

std::set<ArrayId> kept_between_regions(const State& state) {
    std::set<ArrayId> arrays;
    for (const Region& region : state.relabelling.regions)
        for (const ArrayId array : loads_of(state.diagram, region))
            if (producer(state.diagram, array)) arrays.insert(array);
    return arrays;
}

void compare_traffic(const State& before, const State& after, std::vector<std::string>& reasons) {
    const std::set<ArrayId> old_arrays = kept_between_regions(before);
    const std::set<ArrayId> new_arrays = kept_between_regions(after);
    std::vector<std::string> gone;
    std::vector<std::string> come;
    for (const ArrayId array : old_arrays)
        if (!new_arrays.contains(array)) gone.push_back(name_of(after.diagram, array));
    for (const ArrayId array : new_arrays)
        if (!old_arrays.contains(array)) come.push_back(name_of(after.diagram, array));
    if (!gone.empty())
        reasons.push_back(listed_plain(gone) + (gone.size() == 1 ? " stays" : " stay") +
                          " inside the region: no longer saved and loaded again");
    if (!come.empty())
        reasons.push_back(listed_plain(come) + (come.size() == 1 ? " is" : " are") +
                          " saved by one region and loaded by another");
}

const Region* same_region(const State& state, const Region& region) {
    for (const Region& candidate : state.relabelling.regions)
        if (candidate.statements.back() == region.statements.back()) return &candidate;
    return nullptr;
}

/// The axes of which every chunk takes all chunks of a streamed axis, outermost first.
std::vector<AxisId> streamed_around(const State& state, const Region& region, AxisId axis) {
    std::vector<AxisId> around;
    if (region.streams.size() < 2) return around;
    const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
    if (!program || !program->accumulator) return around;
    const Accumulator* at = &*program->accumulator;
    while (!contains(at->axes, axis)) {
        if (at->inside.empty()) return {};
        around.insert(around.end(), at->axes.begin(), at->axes.end());
        at = &at->inside.front();
    }
    return around;
}

std::string stream_reason(const State& state, const Region& region, const Stream& stream) {
    const Diagram& diagram = state.diagram;
    std::set<ArrayId> loaded;
    for (const Role& role : roles_of(diagram, region, stream.axis))
        loaded.insert(role.loaded.begin(), role.loaded.end());
    std::vector<std::string> carried;
    for (const ArrayId array : loaded) carried.push_back(name_of(diagram, array));
    std::vector<std::string> around;
    for (const AxisId axis : streamed_around(state, region, stream.axis))
        around.push_back(diagram[axis].name);
    return listed_plain(carried) + (carried.size() == 1 ? " arrives" : " arrive") +
           " in chunks of " + std::to_string(stream.size) + " along " + diagram[stream.axis].name +
           ": only one chunk is held at a time, and " +
           (around.empty() ? "as much is loaded as before"
                           : "each chunk of " + listed_plain(around) + " takes all of them");
}

std::set<std::string> explanations(const State& state, const Cost& cost) {
    std::set<std::string> sentences;
    for (const RegionCost& region : cost.regions)
        for (const std::string& sentence : explain_transfers(region, state.diagram.axes))
            sentences.insert(sentence);
    return sentences;
}

}  // namespace

std::vector<std::string> reasons_of(const State& before, const State& after,
                                    const Cost& cost_before, const Cost& cost_after) {
    std::vector<std::string> reasons;
    if (before.diagram.arrays.size() == after.diagram.arrays.size())
        compare_traffic(before, after, reasons);
    for (const Region& region : after.relabelling.regions) {
        const Region* old = same_region(before, region);
        const auto had = [&](const auto& list, const auto& item) {
            return old != nullptr &&
                   std::find((old->*list).begin(), (old->*list).end(), item) != (old->*list).end();
        };
        for (const Stream& stream : region.streams)
            if (!had(&Region::streams, stream))
                reasons.push_back(stream_reason(after, region, stream));
    }
    const std::set<std::string> known = explanations(before, cost_before);
    for (const std::string& sentence : explanations(after, cost_after))
        if (!known.contains(sentence)) reasons.push_back(sentence);
    return reasons;
}

}  // namespace napkin::cli
