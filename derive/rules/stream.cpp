// stream: a fold over an axis is a fold over its chunks, kept in an accumulator.
//
//   x ──[ F folds x ]── y     ==>     s_x ──[ body, state ]──╮ ... tail ── y
//
// Several axes may be streamed in one region: the loops nest in the order of the commands, and what
// folds one of the axes folds them all. Or else the last ones are streamed inside a chunk of the
// others, which has an accumulator of its own for what it folds over them (a product of matrices
// whose depth is streamed under a softmax of its columns); all of them at one level then.
//
// Side conditions: (i) the axis comes from a load; (ii) every statement of the region maps over it
// or folds it; (iii) the folds have an accumulator, which derive_accumulator finds or refuses with
// its reason; (iv) what is computed along the axis is read where it is computed, or made again from
// what is loaded, or picked at an index that is known beforehand; (v) what is folded
// by a monoid that is not commutative is met in the order of the fold (fold_order.cpp). Citation:
// arXiv 2412.03317, section 2.4 (streamability, fusion theorem).
#include <algorithm>
#include <set>
#include <utility>

#include "derive/derive_accumulator.h"
#include "derive/divisors.h"
#include "derive/rules/rule_support.h"
#include "derive/streams.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

std::optional<NotApplicable> why_not_here(const State& state, const Region& region,
                                          const Site& site) {
    const Diagram& diagram = state.diagram;
    const std::string& name = diagram[site.axis].name;
    for (const Group& group : region.groups)
        if (group.axis == site.axis)
            return out_of_place(
                "`" + name + "` is grouped at " + std::string(name_of(group.level)) + " here",
                undo_first(state, "ungroup", site.axis, region));
    for (const StatementId id : region.statements)
        if (const Select* select = std::get_if<Select>(&diagram[id].body))
            for (const Group& group : region.groups)
                if (select->over == site.axis && select->rank == group.axis)
                    return NotApplicable{"`" + diagram[group.axis].name +
                                             "` ranks what is selected along `" + name +
                                             "` and is grouped here: all ranks are kept",
                                         undo_first(state, "ungroup", group.axis, region)};
    for (const Stream& stream : region.streams)
        if (stream.axis == site.axis && stream.level == site.level)
            return out_of_place("`" + name + "` is streamed by " + std::to_string(stream.size) +
                                    " at " + std::string(name_of(stream.level)) + " already",
                                undo_first(state, "unstream", site.axis, region));
    return std::nullopt;
}

std::optional<NotApplicable> why_not_fed(const Diagram& diagram, const Region& region,
                                         AxisId axis) {
    const std::string& name = diagram[axis].name;
    const std::vector<Role> roles = roles_of(diagram, region, axis);
    if (roles.empty())
        return out_of_place(
            "nothing in " + region_name(diagram, region) + " varies along `" + name + "`", "");
    if (std::all_of(roles.begin(), roles.end(),
                    [](const Role& role) { return role.loaded.empty(); }))
        return NotApplicable{"no array that " + region_name(diagram, region) + " loads has `" +
                                 name + "`, so there is nothing to feed in chunks",
                             ""};
    return std::nullopt;
}

/// What an accumulator does, and what those inside of its chunks do.
void collect(const Accumulator& accumulator, std::vector<const Statement*>& statements) {
    for (const auto* phase : {&accumulator.initial, &accumulator.body, &accumulator.tail})
        for (const Statement& statement : *phase) statements.push_back(&statement);
    for (const Accumulator& inside : accumulator.inside) collect(inside, statements);
}

/// Indices into the chunk at hand: of its largest elements.
std::set<ArrayId> chunk_indices(const Accumulator& accumulator) {
    std::set<ArrayId> indices;
    for (const Statement& statement : accumulator.body)
        if (const Select* select = std::get_if<Select>(&statement.body);
            select != nullptr && contains(accumulator.axes, select->over))
            indices.insert(statement.targets[1]);
    for (const Accumulator& inside : accumulator.inside) indices.merge(chunk_indices(inside));
    return indices;
}

/// What the region computes along a streamed axis is there a chunk at a time, so nothing that the
/// accumulator does may read it at an index of its own, unless the chunk gives that index.
std::optional<NotApplicable> why_not_chunked(const Diagram& diagram, const Region& region,
                                             const Accumulator& accumulator) {
    const std::size_t own = diagram.arrays.size();
    const auto array = [&](ArrayId id) -> const Array& {
        return id.index() < own ? diagram[id] : accumulator.arrays[id.index() - own];
    };
    std::set<ArrayId> computed;
    for (const StatementId id : region.statements)
        computed.insert(diagram[id].targets.begin(), diagram[id].targets.end());
    std::vector<const Statement*> statements;
    collect(accumulator, statements);
    for (const Statement* statement : statements)
        computed.insert(statement->targets.begin(), statement->targets.end());
    const std::set<ArrayId> found_in_chunk = chunk_indices(accumulator);
    for (const ReadElsewhere& read :
         reads_elsewhere(statements, computed, array, streamed_axes(region))) {
        const Read* index = std::get_if<Read>(&read.index.node);
        if (index == nullptr || !found_in_chunk.contains(index->array))
            return refused_elsewhere(array(read.array), diagram[read.axis], "chunk");
    }
    return std::nullopt;
}

/// Axes that are streamed inside of each other's chunks stand at one level.
std::optional<NotApplicable> why_not_at_one_level(const Diagram& diagram, const Region& region) {
    for (const Stream& stream : region.streams)
        if (stream.level != region.streams.front().level)
            return NotApplicable{"`" + diagram[stream.axis].name + "` is streamed at " +
                                     std::string(name_of(stream.level)) + ", and chunks of `" +
                                     diagram[region.streams.front().axis].name + "` at " +
                                     std::string(name_of(region.streams.front().level)) +
                                     " hold others that are folded apart",
                                 "stream them at one level"};
    return std::nullopt;
}

/// The refusal of a stream; where it could stand around those that are there, with how.
NotApplicable with_order(State state, std::size_t region, const NotApplicable& refused) {
    std::vector<Stream>& streams = state.relabelling.regions[region].streams;
    const std::vector<Stream> before(streams.begin(), streams.end() - 1);
    std::rotate(streams.begin(), streams.end() - 1, streams.end());
    if (before.empty() || !std::holds_alternative<Accumulator>(
                              accumulator_of(state, state.relabelling.regions[region])))
        return refused;
    const std::vector<Region>& regions = state.relabelling.regions;
    const std::string in =
        regions.size() > 1 ? " in " + region_name(state.diagram, regions[region]) : "";
    const auto command = [&](const char* rule, const Stream& stream) {
        return std::string("`") + rule + " " + state.diagram[stream.axis].name + in + "`";
    };
    std::string first;
    std::string then = command("stream", streams.front());
    for (const Stream& stream : before) {
        first += (first.empty() ? "" : ", ") + command("unstream", stream);
        then += ", " + command("stream", stream);
    }
    return {refused.reason, first + " first, then " + then + ": its chunks lie around theirs",
            refused.by_law};
}

/// The ways out of a region that is a single box: `absorb-normaliser` makes the divisor of a
/// quotient a box of its own, `unfuse` what the box reduces.
NotApplicable with_absorbing(const State& state, const Region& region, NotApplicable refused) {
    const Diagram& diagram = state.diagram;
    for (const StatementId id : region.statements)
        if (diagram[id].box != diagram[region.statements.front()].box) return refused;
    State whole = state;
    for (Region& each : whole.relabelling.regions) each.streams.clear();
    std::string fresh = "L";
    while (find_array(diagram, fresh) || find_axis(diagram, fresh)) fresh += "_";
    Command apart;
    apart.rule = "unfuse";
    apart.names = {region_name(diagram, region)};
    if (std::holds_alternative<State>(unfuse(whole, apart)))
        refused.help = "`" + print(apart) + "` gives the reduction a region before this one; or " +
                       refused.help;
    for (const StatementId id : region.statements) {
        const Array& target = diagram[diagram[id].targets.front()];
        Command command;
        command.rule = "absorb-normaliser";
        command.names = {target.name};
        command.as = {fresh};
        if (!target.named || !std::holds_alternative<State>(absorb_normaliser(whole, command)))
            continue;
        refused.help = "`" + print(command) + "` and `unfuse " + target.name +
                       "` give the reduction a region before this one; or " + refused.help;
        break;
    }
    return refused;
}

}  // namespace

std::optional<NotApplicable> why_unsafe(const Accumulator& accumulator) {
    for (Obligation each : accumulator.obligations) {
        const bool lost = each.hazard == Hazard::Cancellation || each.hazard == Hazard::Scale;
        if (!lost || each.met) continue;
        const std::string safer = std::exchange(each.safer, "");
        return NotApplicable{print(each), safer + "; or stream `as written`"};
    }
    return std::nullopt;
}

std::variant<Accumulator, NotApplicable> accumulator_of(const State& state, const Region& region) {
    const std::vector<AxisId> axes = streamed_axes(region);
    for (const AxisId axis : axes)
        if (std::optional<NotApplicable> refusal = why_not_fed(state.diagram, region, axis))
            return *refusal;
    if (std::optional<NotApplicable> refusal = why_not_in_order(state.diagram, region))
        return *refusal;
    auto accumulator = derive_streams(state.diagram, region, axes, state.relabelling.wire_types);
    const bool elsewhere = !reads_elsewhere(state.diagram, region, axes).empty();
    if (std::holds_alternative<NotApplicable>(accumulator) && !elsewhere)
        for (const AxisId axis : axes)  // an axis in two roles is the plainer reason
            if (std::optional<NotApplicable> mixed =
                    mixed_roles(state.diagram, roles_of(state.diagram, region, axis), "stream"))
                return *mixed;
    if (const Accumulator* found = std::get_if<Accumulator>(&accumulator))
        if (std::optional<NotApplicable> refusal = why_not_chunked(state.diagram, region, *found))
            accumulator = std::move(*refusal);
    if (const Accumulator* found = std::get_if<Accumulator>(&accumulator);
        found != nullptr && !found->inside.empty())
        if (std::optional<NotApplicable> refusal = why_not_at_one_level(state.diagram, region))
            return *refusal;
    if (NotApplicable* refused = std::get_if<NotApplicable>(&accumulator))
        return with_unfusing(state, region, axes,
                             with_absorbing(state, region, std::move(*refused)),
                             [&](const State& apart, Region part) {
                                 part.streams = region.streams;
                                 return !why_not_streamed(apart, part);
                             });
    return accumulator;
}

std::optional<NotApplicable> why_not_streamed(const State& state, const Region& region) {
    if (region.streams.empty()) return std::nullopt;
    const auto accumulator = accumulator_of(state, region);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&accumulator)) return *refusal;
    return std::nullopt;
}

Outcome stream(const State& state, const Command& command) {
    const auto found = find_site(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Site site = std::get<Site>(found);
    if (!command.size) return out_of_place("it needs a size", "write `stream AXIS by SIZE`");
    const bool as_written = command.as == std::vector<std::string>{"written"};
    if (!command.as.empty() && !as_written)
        return out_of_place("streaming names nothing", "leave out `as`, or say `as written`");
    const Region& region = state.relabelling.regions[site.region];
    if (std::optional<NotApplicable> refusal = why_not_here(state, region, site)) return *refusal;
    for (const Stream& stream : region.streams) {
        if (stream.axis != site.axis) continue;
        const bool outer = stream.level < site.level;
        if (outer ? stream.size < *command.size : stream.size > *command.size)
            return out_of_place("a chunk at a lower level lies inside one of the level above it",
                                "chunks at " + std::string(name_of(stream.level)) + " are of " +
                                    std::to_string(stream.size));
    }
    if (std::optional<NotApplicable> refusal =
            why_not_divided(state, region, site.axis, *command.size))
        return *refusal;

    State next = state;
    std::vector<Stream>& streams = next.relabelling.regions[site.region].streams;
    const auto place = std::find_if(streams.begin(), streams.end(), [&](const Stream& stream) {
        return stream.level > site.level;
    });
    streams.insert(place, {site.axis, *command.size, site.level});
    const auto accumulator = accumulator_of(next, next.relabelling.regions[site.region]);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&accumulator))
        return with_order(std::move(next), site.region, *refusal);
    const Accumulator& found_accumulator = std::get<Accumulator>(accumulator);
    if (std::optional<NotApplicable> refusal = why_unsafe(found_accumulator);
        refusal && !as_written)
        return *refusal;
    return with_step(std::move(next), command, checked_of(found_accumulator));
}

Outcome unstream(const State& state, const Command& command) {
    const auto found = find_site(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Site site = std::get<Site>(found);
    State next = state;
    std::vector<Stream>& streams = next.relabelling.regions[site.region].streams;
    const auto removed = std::erase_if(streams, [&](const Stream& stream) {
        return stream.axis == site.axis && (command.at.empty() || stream.level == site.level);
    });
    if (removed == 0)
        return NotApplicable{"`" + command.names.front() + "` is not streamed here", ""};
    if (std::optional<NotApplicable> refusal =
            why_not_streamed(next, next.relabelling.regions[site.region]))
        return *refusal;
    return with_step(std::move(next), command, {"the whole axis is one chunk"});
}

}  // namespace napkin::rules
