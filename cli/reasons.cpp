#include "cli/reasons.h"

#include <algorithm>
#include <set>

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

std::string group_reason(const State& state, const Region& region, const Group& group) {
    const Diagram& diagram = state.diagram;
    const Axis& axis = diagram[group.axis];
    std::int64_t within = axis.extent;
    for (const Group& outer : region.groups)
        if (outer.axis == group.axis && outer.level < group.level)
            within = std::min(within, outer.size);
    const std::int64_t count = (within + group.size - 1) / group.size;
    std::vector<std::string> lacking;
    for (const ArrayId array : loads_of(diagram, region)) {
        const std::vector<AxisId>& axes = diagram[array].axes;
        if (diagram[array].role == ArrayRole::Parameter) continue;
        if (std::find(axes.begin(), axes.end(), group.axis) == axes.end())
            lacking.push_back(name_of(diagram, array));
    }
    const std::string groups = std::to_string(count) + (count == 1 ? " group" : " groups");
    if (lacking.empty())
        return "everything that is loaded has " + axis.name + ": its " + groups +
               " load each value once";
    return listed_plain(lacking) + (lacking.size() == 1 ? " lacks " : " lack ") + axis.name +
           ": each of " + groups + " loads " + (lacking.size() == 1 ? "it" : "them");
}

std::string stream_reason(const State& state, const Region& region, const Stream& stream) {
    const Diagram& diagram = state.diagram;
    std::vector<std::string> carried;
    for (const ArrayId array : loads_of(diagram, region)) {
        const std::vector<AxisId>& axes = diagram[array].axes;
        if (std::find(axes.begin(), axes.end(), stream.axis) != axes.end())
            carried.push_back(name_of(diagram, array));
    }
    return listed_plain(carried) + (carried.size() == 1 ? " arrives" : " arrive") +
           " in chunks of " + std::to_string(stream.size) + " along " + diagram[stream.axis].name +
           ": only one chunk is held at a time, and as much is loaded as before";
}

}  // namespace

std::vector<std::string> reasons_of(const State& before, const State& after) {
    std::vector<std::string> reasons;
    if (before.diagram.arrays.size() == after.diagram.arrays.size())
        compare_traffic(before, after, reasons);
    for (const Region& region : after.relabelling.regions) {
        const Region* old = same_region(before, region);
        const auto had = [&](const auto& list, const auto& item) {
            return old != nullptr &&
                   std::find((old->*list).begin(), (old->*list).end(), item) != (old->*list).end();
        };
        for (const Group& group : region.groups)
            if (!had(&Region::groups, group)) reasons.push_back(group_reason(after, region, group));
        for (const Stream& stream : region.streams)
            if (!had(&Region::streams, stream))
                reasons.push_back(stream_reason(after, region, stream));
    }
    return reasons;
}

}  // namespace napkin::cli
