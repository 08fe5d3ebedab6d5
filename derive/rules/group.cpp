// group: a map over an axis is the same map over each part of the axis.
//
//   a ──[ F over a ]── a     ==>     a ──o══[ F over g_a ]══o── a      one part on each processor
//
// Side condition: every statement of the region keeps the axis or does not have it, everything
// saved has it, and what is computed along it is read where it is computed. Inputs without the axis
// are loaded by every group. Nested groups split a group again at a lower level. Citation: arXiv
// 2412.03317, section 2.3 (figures 10 to 12).
#include <algorithm>

#include "derive/divisors.h"
#include "derive/rules/rule_support.h"

namespace napkin::rules {

namespace {

std::vector<std::string> conditions_of(const Diagram& diagram, const Region& region, AxisId axis) {
    std::vector<std::string> without;
    for (ArrayId array : loads_of(diagram, region)) {
        const std::vector<AxisId>& axes = diagram[array].axes;
        if (diagram[array].role != ArrayRole::Parameter &&
            std::find(axes.begin(), axes.end(), axis) == axes.end())
            without.push_back(diagram[array].name);
    }
    std::vector<std::string> conditions{"every statement keeps " + diagram[axis].name +
                                        " or does not have it"};
    if (!without.empty())
        conditions.push_back(list_names(without) + (without.size() == 1 ? " lacks " : " lack ") +
                             diagram[axis].name + ": every group loads " +
                             (without.size() == 1 ? "it" : "them"));
    return conditions;
}

}  // namespace

Outcome group(const State& state, const Command& command) {
    const auto found = find_site(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Site site = std::get<Site>(found);
    if (!command.size) return out_of_place("it needs a size", "write `group AXIS by SIZE`");
    const Diagram& diagram = state.diagram;
    const Region& region = state.relabelling.regions[site.region];
    const std::string& name = diagram[site.axis].name;
    for (const Stream& stream : region.streams)
        if (stream.axis == site.axis)
            return out_of_place("`" + name + "` is streamed here",
                                undo_first(state, "unstream", site.axis, region));
    for (const StatementId id : region.statements)
        if (const Select* select = std::get_if<Select>(&diagram[id].body))
            for (const Stream& stream : region.streams)
                if (select->rank == site.axis && stream.axis == select->over)
                    return NotApplicable{"`" + name + "` ranks what is selected along `" +
                                             diagram[stream.axis].name +
                                             "`, which is streamed here: all ranks are kept",
                                         undo_first(state, "unstream", stream.axis, region)};
    if (std::optional<NotApplicable> refusal = why_not_grouped(diagram, region, site.axis))
        return with_unfusing(state, region, {site.axis}, std::move(*refusal),
                             [&](const State& apart, const Region& part) {
                                 return !why_not_grouped(apart.diagram, part, site.axis);
                             });
    if (std::optional<NotApplicable> refusal =
            why_not_divided(state, region, site.axis, *command.size))
        return *refusal;

    State next = state;
    std::vector<Group>& groups = next.relabelling.regions[site.region].groups;
    for (const Group& group : groups) {
        if (group.axis != site.axis) continue;
        if (group.level == site.level)
            return out_of_place("`" + name + "` is grouped by " + std::to_string(group.size) +
                                    " at " + std::string(name_of(group.level)) + " already",
                                undo_first(state, "ungroup", site.axis, region));
        const bool outer = group.level < site.level;
        if (outer ? group.size < *command.size : group.size > *command.size)
            return out_of_place("a group at a lower level lies inside one of " +
                                    std::to_string(group.size) + " at " +
                                    std::string(name_of(group.level)),
                                outer ? "choose a size of at most " + std::to_string(group.size)
                                      : "choose a size of at least " + std::to_string(group.size));
    }
    const auto place = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.level > site.level; });
    groups.insert(place, {site.axis, *command.size, site.level});
    return with_step(std::move(next), command, conditions_of(diagram, region, site.axis));
}

Outcome ungroup(const State& state, const Command& command) {
    const auto found = find_site(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Site site = std::get<Site>(found);
    State next = state;
    std::vector<Group>& groups = next.relabelling.regions[site.region].groups;
    const auto removed = std::erase_if(groups, [&](const Group& group) {
        return group.axis == site.axis && (command.at.empty() || group.level == site.level);
    });
    if (removed == 0)
        return NotApplicable{"`" + command.names.front() + "` is not grouped here", ""};
    return with_step(std::move(next), command, {"the whole axis is one group"});
}

}  // namespace napkin::rules
