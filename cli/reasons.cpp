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

/// An array's name, and how it is told of. (Ids are of one diagram: a rule may write another.)
struct Kept {
    std::string name;
    std::string told;
};

std::vector<Kept> kept_between_regions(const State& state) {
    std::set<ArrayId> arrays;
    for (const Region& region : state.relabelling.regions)
        for (const ArrayId array : loads_of(state.diagram, region))
            if (producer(state.diagram, array)) arrays.insert(array);
    std::vector<Kept> kept;
    for (const ArrayId array : arrays)
        kept.push_back({state.diagram[array].name, name_of(state.diagram, array)});
    return kept;
}

/// What of `some` is among `others` neither by its name nor as it is told of.
std::vector<Kept> lacking(std::vector<Kept> some, const std::vector<Kept>& others) {
    std::erase_if(some, [&](const Kept& one) {
        return std::any_of(others.begin(), others.end(), [&](const Kept& other) {
            return other.name == one.name || other.told == one.told;
        });
    });
    return some;
}

void compare_traffic(const State& before, const State& after, std::vector<std::string>& reasons) {
    const std::vector<Kept> old_arrays = kept_between_regions(before);
    const std::vector<Kept> new_arrays = kept_between_regions(after);
    std::vector<std::string> inside;
    std::vector<std::string> gone;
    std::vector<std::string> come;
    for (const Kept& one : lacking(old_arrays, new_arrays))
        (find_array(after.diagram, one.name) ? inside : gone).push_back(one.told);
    for (const Kept& one : lacking(new_arrays, old_arrays)) come.push_back(one.told);
    if (!inside.empty())
        reasons.push_back(listed_plain(inside) + (inside.size() == 1 ? " stays" : " stay") +
                          " inside the region: no longer saved and loaded again");
    if (!gone.empty())
        reasons.push_back(listed_plain(gone) + (gone.size() == 1 ? " is" : " are") +
                          " no longer saved and loaded again");
    if (!come.empty())
        reasons.push_back(listed_plain(come) + (come.size() == 1 ? " is" : " are") +
                          " saved by one region and loaded by another");
}

/// What a region computes last.
const std::string& result_of(const State& state, const Region& region) {
    const Diagram& diagram = state.diagram;
    return diagram[diagram[region.statements.back()].targets.front()].name;
}

const Region* same_region(const State& state, const std::string& result) {
    for (const Region& candidate : state.relabelling.regions)
        if (result_of(state, candidate) == result) return &candidate;
    return nullptr;
}

/// Whether a region takes an axis of that name in such chunks.
bool has_stream(const State& state, const Region& region, const std::string& axis,
                const Stream& stream) {
    return std::any_of(region.streams.begin(), region.streams.end(), [&](const Stream& own) {
        return state.diagram[own.axis].name == axis && own.size == stream.size &&
               own.level == stream.level;
    });
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

/// Arrays that roles call loaded along an axis, without those that no index reads along it.
std::set<ArrayId> loaded_along(const Diagram& diagram, const Region& region, AxisId axis) {
    std::set<ArrayId> loaded;
    for (const Role& role : roles_of(diagram, region, axis))
        loaded.insert(role.loaded.begin(), role.loaded.end());
    std::set<ArrayId> read;
    for (const StatementId id : region.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr || !loaded.contains(element->array)) return;
                for (const Expression& index : element->index)
                    if (axes_used(index).contains(axis)) read.insert(element->array);
            });
    return read.empty() ? loaded : read;
}

std::string stream_reason(const State& state, const Region& region, const Stream& stream) {
    const Diagram& diagram = state.diagram;
    const std::set<ArrayId> loaded = loaded_along(diagram, region, stream.axis);
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
    compare_traffic(before, after, reasons);
    for (const Region& region : after.relabelling.regions) {
        const Region* old = same_region(before, result_of(after, region));
        for (const Stream& stream : region.streams)
            if (old == nullptr ||
                !has_stream(before, *old, after.diagram[stream.axis].name, stream))
                reasons.push_back(stream_reason(after, region, stream));
    }
    const std::set<std::string> known = explanations(before, cost_before);
    for (const std::string& sentence : explanations(after, cost_after))
        if (!known.contains(sentence)) reasons.push_back(sentence);
    return reasons;
}

}  // namespace napkin::cli
