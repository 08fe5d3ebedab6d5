// split-stream: parts of a streamed axis in parallel, and a second region that combines their
// states.
//
//   x ──[ F folds x ]── y     ==>     ── p ──[ F folds x_in ]── states[p] ──[ combine over p ]── y
//                                   ── x_in ─
//
// Side conditions: the region's folds over the axis have an accumulator; it saves nothing that has
// the axis, keeps no prefixes along it, and its parts are whole where indices from data vary along
// it; a monoid that is not commutative folds it outermost. What a part adds to the whole follows
// from the accumulator's repair, a sum of exponentials from the change of their maximum. Citation:
// arXiv 2412.03317, section 2.4 (a fold is associative); FlashDecoding and split-K are instances.
#include <algorithm>

#include "derive/divisors.h"
#include "derive/rules/splitting.h"
#include "derive/streams.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

/// An array that the region reads at indices from data which vary along the axis.
std::optional<ArrayId> gathered_along(const Diagram& diagram, const Region& region, AxisId axis) {
    std::optional<ArrayId> gathered;
    for (const StatementId id : region.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr) return;
                for (const Expression& index : element->index)
                    if (!arrays_read(index).empty() && axes_used(index).contains(axis))
                        gathered = element->array;
            });
    return gathered;
}

std::optional<NotApplicable> why_not_split(const State& state, const Region& region, AxisId axis,
                                           std::int64_t size) {
    const Diagram& diagram = state.diagram;
    const std::string& name = diagram[axis].name;
    for (const Group& group : region.groups)
        if (group.axis == axis)
            return out_of_place("`" + name + "` is grouped here",
                                undo_first(state, "ungroup", axis, region));
    for (const Stream& stream : region.streams) {
        if (stream.axis == axis && stream.size > size)
            return out_of_place("chunks of " + std::to_string(stream.size) +
                                    " do not lie in parts of " + std::to_string(size),
                                "choose parts of a multiple of " + std::to_string(stream.size));
    }
    const auto folds = [&](StatementId id) {
        const std::vector<AxisId> over = folded_axes(diagram[id]);
        return std::find(over.begin(), over.end(), axis) != over.end();
    };
    if (std::none_of(region.statements.begin(), region.statements.end(), folds))
        return NotApplicable{"nothing in " + region_name(diagram, region) + " folds `" + name + "`",
                             "an axis that is kept is split over processors by `group`"};
    for (StatementId id : region.statements)
        if (const Select* select = std::get_if<Select>(&diagram[id].body);
            select != nullptr && select->rank == axis)
            return NotApplicable{"`" + diagram[diagram[id].targets.front()].name +
                                     "` ranks along `" + name + "` here",
                                 "keep it in a region of its own (`unfuse`)"};
    for (StatementId id : region.statements)
        if (const Fold* fold = std::get_if<Fold>(&diagram[id].body);
            fold != nullptr && fold->every_prefix && fold->over.front() == axis)
            return NotApplicable{"`" + diagram[diagram[id].targets.front()].name +
                                     "` keeps every prefix along `" + name +
                                     "`: a part needs what all parts before it add up to",
                                 "`stream` it instead"};
    for (ArrayId array : saves_of(diagram, region))
        if (std::find(diagram[array].axes.begin(), diagram[array].axes.end(), axis) !=
            diagram[array].axes.end())
            return NotApplicable{"`" + diagram[array].name + "` has `" + name +
                                     "` and is saved here, but only states of parts are combined",
                                 "keep `" + diagram[array].name +
                                     "` in a region of its own (`unfuse`, `recompute`)"};
    // Beyond the axis there are no data to be an index.
    if (diagram[axis].dynamic || diagram[axis].extent % size != 0)
        if (const std::optional<ArrayId> gathered = gathered_along(diagram, region, axis))
            return NotApplicable{"`" + diagram[*gathered].name +
                                     "` is read at indices from data along `" + name +
                                     "`, and the last of the parts of " + std::to_string(size) +
                                     " need not be whole",
                                 "choose a size that divides `" + name + "`"};
    return std::nullopt;
}

std::variant<SplitNames, NotApplicable> names_for(const State& state, const Command& command) {
    // Names of parts of parts are numbered, so that they do not grow.
    std::string axis = command.names.front();
    for (const std::string suffix : {"_part", "_in"})
        if (const std::size_t at = axis.find(suffix); at != std::string::npos && at > 0)
            axis.resize(at);
    const auto taken = [&](const std::string& name) {
        return find_axis(state.diagram, name) || find_array(state.diagram, name);
    };
    std::string number;
    for (int i = 2; taken(axis + "_part" + number) || taken(axis + "_in" + number); ++i)
        number = std::to_string(i);
    SplitNames names{axis + "_part" + number, axis + "_in" + number};
    if (!command.as.empty()) names.part = command.as[0];
    if (command.as.size() > 1) names.inner = command.as[1];
    if (command.as.size() > 2 || names.part == names.inner)
        return out_of_place("the parts and the places in them have a name each",
                            "write `as PART, PLACE`");
    for (const std::string& name : {names.part, names.inner})
        if (taken(name))
            return out_of_place("`" + name + "` is in use already",
                                "choose other names: `as PART, PLACE`");
    return names;
}

}  // namespace

Outcome split_stream(const State& state, const Command& command) {
    const auto found = find_site(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Site site = std::get<Site>(found);
    if (!command.size) return out_of_place("it needs a size", "write `split-stream AXIS by SIZE`");
    const Region region = state.relabelling.regions[site.region];
    if (saves_of(state.diagram, region).empty())
        return NotApplicable{"nothing uses what it computes, so that no part would save anything",
                             "declare it an `output`, or leave it out of the diagram"};
    if (std::optional<NotApplicable> refusal =
            why_not_split(state, region, site.axis, *command.size))
        return *refusal;
    const auto names = names_for(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&names)) return *refusal;
    Region streamed = region;
    streamed.streams = {{site.axis, *command.size, Level::Block}};
    if (std::optional<NotApplicable> refusal = why_not_in_order(state.diagram, streamed)) {
        refusal->help = "split the outermost of them; parts of it are combined in order";
        return *refusal;
    }
    auto accumulator = accumulator_of(state, streamed);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&accumulator)) return *refusal;
    const bool was_streamed = contains(streamed_axes(region), site.axis);
    if (std::optional<NotApplicable> refusal = why_unsafe(std::get<Accumulator>(accumulator));
        refusal && !was_streamed)  // else it was asked for
        return *refusal;
    SideConditions checked = checked_of(std::get<Accumulator>(accumulator));

    // Sizes are defaults: where an axis is no longer than a part, there is one part.
    const Axis& split = state.diagram[site.axis];
    const std::int64_t size = split.dynamic ? *command.size : std::min(*command.size, split.extent);
    Splitting splitting(state, site.region, site.axis,
                        std::get<Accumulator>(std::move(accumulator)), size,
                        std::get<SplitNames>(names));
    if (std::optional<NotApplicable> refusal = splitting.run()) return *refusal;
    Draft& draft = splitting.draft();
    draft.regions[site.region].streams.clear();
    Region& parts = draft.regions[splitting.parts_region()];
    for (Stream& stream : parts.streams)
        if (stream.axis == site.axis) stream.axis = splitting.inner_axis();
    const auto below = std::find_if(parts.groups.begin(), parts.groups.end(),
                                    [](const Group& g) { return g.level > Level::Block; });
    parts.groups.insert(below, {splitting.part_axis(), 1, Level::Block});
    checked.conditions.insert(checked.conditions.begin(),
                              "each part saves " + list_names(splitting.saved()) + "; " +
                                  region_name(state.diagram, region) + " combines them");
    return draft.finish(command, std::move(checked));
}

}  // namespace napkin::rules
