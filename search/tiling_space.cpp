#include "search/tiling_space.h"

#include <algorithm>
#include <set>

#include "diagrams/contains.h"

namespace napkin {
namespace {

Command command(const char* rule, const std::string& axis, const std::string& in) {
    Command command;
    command.rule = rule;
    command.names = {axis};
    command.in = in;
    return command;
}

Command sized(const char* rule, const std::string& axis, std::int64_t size, const std::string& in) {
    Command result = command(rule, axis, in);
    result.size = size;
    result.at = "l1";
    return result;
}

/// Whether some loaded array lacks the axis, so that larger groups save transfers.
bool is_shared(const Diagram& diagram, const std::vector<ArrayId>& loads, AxisId axis) {
    return std::any_of(loads.begin(), loads.end(), [&](ArrayId array) {
        const std::vector<AxisId>& own = diagram[array].axes;
        return diagram[array].role != ArrayRole::Parameter && !own.empty() && !contains(own, axis);
    });
}

}  // namespace

std::size_t SizeChoice::commands(const Diagram& diagram, std::size_t pick) const {
    if (is_stream) return 1;
    if (regroups && sizes[pick] == 1) return 0;
    return (regroups ? 1U : 0U) + (sizes[pick] != diagram[axis].extent ? 1U : 0U);
}

std::vector<SizeList> TilingSpace::lists() const {
    std::vector<SizeList> lists;
    for (const SizeChoice& choice : choices) lists.push_back({choice.symbol(), choice.sizes});
    return lists;
}

const Region& region_named(const State& state, const std::string& name) {
    const auto found = find_region(state, name);
    invariant(std::holds_alternative<std::size_t>(found), "a region of the search is gone");
    return state.relabelling.regions[std::get<std::size_t>(found)];
}

std::vector<AxisId> axes_of(const State& state, const Region& region) {
    std::set<AxisId> axes;
    for (const StatementId id : region.statements)
        for (const AxisId axis : axes_of(state.diagram, state.diagram[id])) axes.insert(axis);
    return {axes.begin(), axes.end()};
}

std::optional<TilingSpace> tiling_space(const State& plain, const std::string& region,
                                        std::optional<AxisId> streamed, SizesOf group_sizes,
                                        SizesOf stream_sizes, const std::vector<Around>& around) {
    State state = plain;
    TilingSpace space;
    const auto name_of = [&](AxisId axis) { return state.diagram[axis].name; };
    const std::string in = state.relabelling.regions.size() == 1 ? "" : region;
    const auto stream = [&](AxisId axis, std::vector<std::int64_t> sizes) {
        Outcome next = apply(state, sized("stream", name_of(axis), 1, in));
        if (!std::holds_alternative<State>(next)) return false;
        state = std::get<State>(std::move(next));
        space.choices.insert(space.choices.begin(), {axis, true, false, std::move(sizes)});
        return true;
    };
    for (const auto& [axis, sizes] : around)
        if (!stream(axis, sizes)) return std::nullopt;
    if (streamed && !stream(*streamed, stream_sizes(state.diagram[*streamed].extent)))
        return std::nullopt;
    const Region& before = region_named(plain, region);
    const std::vector<ArrayId> loads = loads_of(plain.diagram, before);
    for (const AxisId axis : axes_of(plain, before)) {
        const auto group = std::find_if(before.groups.begin(), before.groups.end(),
                                        [&](const Group& each) { return each.axis == axis; });
        const std::int64_t extent = state.diagram[axis].extent;
        if (group != before.groups.end()) {
            const bool is_default = state.diagram[axis].woven && group->size == 1;
            if (is_default && is_shared(state.diagram, loads, axis))
                space.choices.push_back({axis, false, true, group_sizes(extent)});
            continue;
        }
        Outcome next = apply(state, sized("group", name_of(axis), 1, in));
        if (!std::holds_alternative<State>(next)) continue;
        state = std::get<State>(std::move(next));
        space.choices.push_back({axis, false, false, group_sizes(extent)});
    }
    Result<RegionProgram> program = expand(state, region_named(state, region), OpaqueBoxes::Keep);
    if (!program) return std::nullopt;
    space.program = std::move(program).value();
    return space;
}

std::vector<Command> commands_of(const Diagram& diagram, const std::string& in,
                                 const std::vector<SizeChoice>& choices, Picks picks) {
    std::vector<Command> groups;
    std::vector<Command> streams;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const Axis& axis = diagram[choices[k].axis];
        const std::int64_t size = choices[k].sizes[picks[k]];
        if (choices[k].is_stream) {
            streams.insert(streams.begin(), sized("stream", axis.name, size, in));
            continue;
        }
        if (choices[k].regroups && size == 1) continue;
        if (choices[k].regroups) groups.push_back(command("ungroup", axis.name, in));
        if (size != axis.extent) groups.push_back(sized("group", axis.name, size, in));
    }
    groups.insert(groups.end(), streams.begin(), streams.end());
    return groups;
}

}  // namespace napkin
