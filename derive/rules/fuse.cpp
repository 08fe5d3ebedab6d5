// fuse: two boxes in a row at one level need no trip through the level above.
//
//   ──[load F save]── S ──[load G save]──     ==>     ──[load F ── S ── G save]──
//
// Side conditions: the fused region is convex (no path leaves it and comes back), and the groups
// that its parts have are legal for the whole. Streams are undone first. `fuse all` fuses as much
// as is convex. Citation: arXiv 2412.03317, section 2.2 (sequential execution at the lower level).
//
// unfuse gives each box a region of its own; of a single box, what it reduces to what its result is
// made of:
//
//   ──[load softmax save]──     ==>     ──[load max, sum save]── Y_1, Y_2 ──[load exp(.-Y_1)/Y_2
//   save]──
#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>

#include "derive/rules/draft.h"
#include "derive/rules/region_graph.h"
#include "derive/rules/rule_support.h"

namespace napkin::rules {

namespace {

/// Reachable vertices, `start` included.
std::set<std::size_t> reachable(const RegionGraph& graph, std::size_t start) {
    std::set<std::size_t> seen;
    struct Recorder : boost::default_bfs_visitor {
        std::set<std::size_t>* seen = nullptr;
        void discover_vertex(std::size_t vertex, const RegionGraph&) const { seen->insert(vertex); }
    } recorder;
    recorder.seen = &seen;
    boost::breadth_first_search(graph, boost::vertex(start, graph), boost::visitor(recorder));
    return seen;
}

/// A region outside of `members` that lies on a path between two of them.
std::optional<std::size_t> between(const RegionGraph& graph, const std::set<std::size_t>& members) {
    std::set<std::size_t> below;
    for (std::size_t member : members)
        for (std::size_t vertex : reachable(graph, member)) below.insert(vertex);
    for (std::size_t vertex : below) {
        if (members.count(vertex) != 0) continue;
        for (std::size_t reached : reachable(graph, vertex))
            if (members.count(reached) != 0) return vertex;
    }
    return std::nullopt;
}

std::optional<NotApplicable> merge_groups(const Diagram& diagram, const std::vector<Region>& parts,
                                          Region& whole) {
    for (const Region& part : parts)
        for (const Group& group : part.groups) {
            const auto same =
                std::find_if(whole.groups.begin(), whole.groups.end(), [&](const Group& known) {
                    return known.axis == group.axis && known.level == group.level;
                });
            if (same == whole.groups.end()) {
                if (std::optional<NotApplicable> refusal =
                        why_not_grouped(diagram, whole, group.axis)) {
                    if (diagram[group.axis].woven && group.size == 1)
                        continue;  // a default, not a choice
                    return refusal;
                }
                whole.groups.push_back(group);
            } else if (same->size != group.size) {
                return NotApplicable{"`" + diagram[group.axis].name + "` is grouped by " +
                                         std::to_string(same->size) + " in one part and by " +
                                         std::to_string(group.size) + " in another",
                                     "group them alike, or `ungroup` before fusing"};
            }
        }
    std::stable_sort(whole.groups.begin(), whole.groups.end(),
                     [](const Group& a, const Group& b) { return a.level < b.level; });
    return std::nullopt;
}

Outcome fuse_regions(const State& state, const Command& command,
                     const std::set<std::size_t>& members) {
    const std::vector<Region>& regions = state.relabelling.regions;
    const RegionGraph graph = region_graph(state.diagram, regions);
    if (const std::optional<std::size_t> outsider = between(graph, members))
        return NotApplicable{"`" + region_name(state.diagram, regions[*outsider]) +
                                 "` lies between them: data would leave the region and come back",
                             "fuse it too"};
    State next = state;
    std::vector<Region> parts;
    std::vector<Region> rest;
    for (std::size_t r = 0; r < regions.size(); ++r)
        (members.count(r) != 0 ? parts : rest).push_back(regions[r]);
    Region whole;
    std::vector<std::string> names;
    for (const Region& part : parts) {
        if (!part.streams.empty())
            return NotApplicable{"`" + region_name(state.diagram, part) + "` is streamed",
                                 "`unstream` it, fuse, and stream the whole"};
        names.push_back(region_name(state.diagram, part));
        whole.statements.insert(whole.statements.end(), part.statements.begin(),
                                part.statements.end());
    }
    std::sort(whole.statements.begin(), whole.statements.end());
    if (std::optional<NotApplicable> refusal = merge_groups(state.diagram, parts, whole))
        return *refusal;
    rest.push_back(std::move(whole));
    next.relabelling.regions = in_running_order(state.diagram, std::move(rest)).value();
    return with_step(std::move(next), command, {list_names(names) + " form a convex region"});
}

std::variant<std::set<std::size_t>, NotApplicable> named_regions(const State& state,
                                                                 const Command& command) {
    std::set<std::size_t> members;
    for (const std::string& name : command.names) {
        const auto region = find_region(state, name);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&region)) return *refusal;
        members.insert(std::get<std::size_t>(region));
    }
    return members;
}

/// The groups of a region that a part of it may have too.
std::vector<Group> kept_groups(const Diagram& diagram, const Region& region, const Region& part) {
    std::vector<Group> groups;
    for (const Group& group : region.groups)
        if (!why_not_grouped(diagram, part, group.axis)) groups.push_back(group);
    return groups;
}

/// What a box computes on the way to its result becomes a box and a region before it, and what the
/// result is made of gets names.
Outcome unfuse_box(const State& state, const Command& command, const Region& region) {
    const Diagram& diagram = state.diagram;
    const StatementId last = region.statements.back();
    const auto reduces = [&](StatementId id) {
        return id != last && !std::holds_alternative<Map>(diagram[id].body);
    };
    if (std::none_of(region.statements.begin(), region.statements.end(), reduces))
        return NotApplicable{"the region is a single box that reduces nothing", ""};
    Region before;
    before.statements.assign(region.statements.begin(), region.statements.end() - 1);
    std::set<ArrayId> needed;
    for (const Expression* expression : expressions_of(diagram[last]))
        needed.merge(arrays_read(*expression));
    before.groups = kept_groups(diagram, region, before);
    Draft draft(state);
    const BoxId whole = diagram[last].box;
    const BoxId box = draft.add_box(whole);
    draft.diagram.boxes[whole.index()].name.clear();
    draft.diagram.boxes[whole.index()].glyph.clear();
    const std::string& made = diagram[diagram[last].targets.front()].name;
    const std::vector<StatementId> hidden = before.statements;
    const std::size_t place = draft.add_region(std::move(before));
    std::vector<std::string> names;
    int number = 0;
    for (const StatementId id : hidden) {
        draft.diagram.statements[id.index()].box = box;
        draft.move(id, place);
        for (const ArrayId target : diagram[id].targets) {
            Array& array = draft.diagram.arrays[target.index()];
            if (needed.contains(target) && !array.named) {
                std::string name;
                do name = made + "_" + std::to_string(++number);
                while (draft.taken(name));
                array.name = name;
                array.named = true;
            }
            if (array.named) names.push_back(array.name);
        }
    }
    return draft.finish(command, {"a region before " + made + " makes " + list_names(names)});
}

}  // namespace

Outcome fuse(const State& state, const Command& command) {
    if (command.names.empty())
        return out_of_place("it takes two arrays or more", "write `fuse S, P, O` or `fuse all`");
    std::set<std::size_t> members;
    if (command.names.size() == 1 && command.names.front() == "all") {
        if (state.relabelling.regions.size() == 1)
            return with_step(state, command, {"one region holds everything already"});
        for (std::size_t r = 0; r < state.relabelling.regions.size(); ++r) members.insert(r);
    } else {
        auto named = named_regions(state, command);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&named)) return *refusal;
        members = std::get<std::set<std::size_t>>(std::move(named));
    }
    if (members.size() < 2)
        return out_of_place("that is one region already", "there is nothing to fuse");
    return fuse_regions(state, command, members);
}

Outcome unfuse(const State& state, const Command& command) {
    if (command.names.size() != 1)
        return out_of_place("it takes one array", "write `unfuse ARRAY`");
    const auto found = find_region(state, command.names.front());
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Region region = state.relabelling.regions[std::get<std::size_t>(found)];
    if (!region.streams.empty())
        return NotApplicable{"the region is streamed",
                             undo_first(state, "unstream", region.streams.front().axis, region)};
    std::map<BoxId, Region> parts;
    for (StatementId id : region.statements) parts[state.diagram[id].box].statements.push_back(id);
    if (parts.size() < 2) return unfuse_box(state, command, region);
    State next = state;
    next.relabelling.regions.erase(next.relabelling.regions.begin() +
                                   static_cast<std::ptrdiff_t>(std::get<std::size_t>(found)));
    for (auto& [box, part] : parts) {
        part.groups = kept_groups(state.diagram, region, part);
        next.relabelling.regions.push_back(std::move(part));
    }
    next.relabelling.regions =
        in_running_order(state.diagram, std::move(next.relabelling.regions)).value();
    return with_step(std::move(next), command, {"each box is a region of its own"});
}

}  // namespace napkin::rules
