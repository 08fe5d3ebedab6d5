// layout: what lies in memory in one order of its axes may lie there in another.
//
//   ──[ load A[i, k, c] ]──[ F ]──   ==>   ──[ load A[i, k, c] ][ save A'[c, i, k] ]──
//                                          ──[ load A'[c, i, k] ]──[ F ]──
//
// Side condition: none for an array that one region saves for another, which is saved in the other
// order. How the caller's arrays lie is the caller's: regions read a copy of an input, and an
// output is a copy of what its region saves, which others read too unless it rounds; the
// copy is a region of its own, whose cost is counted as any. Citation: a copy is an identity; arXiv
// 2412.03317, 2.2 (save ; load).
#include <algorithm>
#include <set>

#include "derive/rewriting/statements.h"
#include "derive/rules/draft.h"
#include "diagrams/contains.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

struct Reordering {
    ArrayId array;
    std::vector<std::uint32_t> order;  ///< of the array's axes, slowest first
};

std::string list_axes(const Diagram& diagram, const Array& array) {
    std::vector<std::string> names;
    for (const std::uint32_t position : array.layout)
        names.push_back(diagram[array.axes[position]].name);
    return list_names(names);
}

/// The array and the order of its axes that the command names.
std::variant<Reordering, NotApplicable> reordering_of(const State& state, const Command& command) {
    const Diagram& diagram = state.diagram;
    const std::string& name = command.names.front();
    const std::optional<ArrayId> found = find_array(diagram, name);
    if (!found) return out_of_place("there is no array `" + name + "`", "");
    const Array& array = diagram[*found];
    if (array.role == ArrayRole::Parameter || array.axes.size() < 2)
        return NotApplicable{"`" + name + "` has fewer than two axes: it lies in one order", ""};
    Reordering asked{*found, {}};
    for (const std::string& axis : command.axes) {
        const auto at = std::find_if(array.axes.begin(), array.axes.end(),
                                     [&](AxisId each) { return diagram[each].name == axis; });
        const auto position = static_cast<std::uint32_t>(at - array.axes.begin());
        if (at == array.axes.end() || contains(asked.order, position)) break;
        asked.order.push_back(position);
    }
    if (asked.order.size() != array.axes.size() || command.axes.size() != array.axes.size())
        return out_of_place("`layout` names each axis of `" + name + "` once",
                            "they are " + list_axes(diagram, array));
    if (asked.order == array.layout)
        return NotApplicable{"`" + name + "` lies in that order already", ""};
    return asked;
}

/// What lies in the other order: an array like it, with the name of the command, that is stored in
/// the same type, which changes no value.
ArrayId add_reordered(Draft& draft, const State& state, const Command& command,
                      const Reordering& asked) {
    Array array = state.diagram[asked.array];
    array.name = command.as.front();
    array.named = true;
    array.role = ArrayRole::Intermediate;
    array.layout = asked.order;
    const ElementType stored = array.type;
    if (is_floating(stored)) {
        array.type = ElementType::F32;
        array.rounds = false;
    }
    const ArrayId made = draft.add_array(std::move(array));
    if (is_floating(stored)) draft.store(made, stored);
    return made;
}

/// A region that computes the array as an element of the other one.
void add_copy(Draft& draft, ArrayId copy, ArrayId original, StatementId next) {
    const Array& array = draft.diagram[copy];
    Region region;
    for (AxisId axis : array.axes)
        if (draft.diagram[axis].woven) region.groups.push_back({axis, 1, Level::Block});
    const BoxId box = draft.add_box(draft.diagram[next].box);
    const Span span = draft.diagram[next].span;
    draft.add({{copy}, Map{read_axes(original, array.axes)}, box, span},
              draft.add_region(std::move(region)), next);
}

/// An input: regions read a copy.
Outcome of_input(const State& state, const Command& command, const Reordering& asked) {
    const Array& array = state.diagram[asked.array];
    if (array.indexes)
        return NotApplicable{
            "`" + array.name + "` holds indices, which are known to be in range of an input alone",
            "give it in the other order in the diagram: `layout " + array.name + "[...]`"};
    Draft draft(state);
    std::vector<StatementId> readers = draft.readers(asked.array);
    if (!command.in.empty()) {
        const auto region = find_region(state, command.in);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&region)) return *refusal;
        std::erase_if(readers, [&](StatementId id) {
            return draft.home(id) != std::get<std::size_t>(region);
        });
    }
    if (readers.empty()) return NotApplicable{"`" + array.name + "` is not read there", ""};
    const ArrayId copy = add_reordered(draft, state, command, asked);
    for (StatementId id : readers)
        draft.diagram.statements[id.index()] =
            with_arrays(draft.diagram[id], {{asked.array, copy}});
    add_copy(draft, copy, asked.array, readers.front());
    return draft.finish(command, {command.as.front() + " is a copy of `" + array.name + "`"});
}

/// An output: it is a copy of what its region saves.
Outcome of_output(const State& state, const Command& command, const Reordering& asked) {
    Draft draft(state);
    const StatementId source = producer(state.diagram, asked.array).value();
    const Array& array = state.diagram[asked.array];
    const std::vector<ArrayId>& targets = state.diagram[source].targets;
    const auto component = std::find(targets.begin(), targets.end(), asked.array) - targets.begin();
    if (is_floating(array.type) &&
        kind_of(state.diagram, state.diagram[source], static_cast<std::size_t>(component)) ==
            ValueKind::Integer)
        return NotApplicable{
            "`" + array.name + "` rounds integers to " + std::string(name_of(array.type)) +
                ", which a copy would take for real numbers",
            "give it in the other order in the diagram: `layout " + array.name + "[...]`"};
    const std::vector<StatementId> readers = draft.readers(asked.array);
    const ArrayId saved = add_reordered(draft, state, command, asked);
    if (const auto type = state.relabelling.wire_types.find(asked.array);
        type != state.relabelling.wire_types.end())
        draft.store(saved, type->second);
    Statement& made = draft.diagram.statements[source.index()];
    std::replace(made.targets.begin(), made.targets.end(), asked.array, saved);
    // What rounds is read as it is rounded, which the copy does.
    if (!array.rounds)
        for (StatementId id : readers)
            draft.diagram.statements[id.index()] =
                with_arrays(draft.diagram[id], {{asked.array, saved}});
    add_copy(draft, asked.array, saved, source);
    return draft.finish(command, {"`" + array.name + "` is a copy of " + command.as.front()});
}

/// What is saved for other regions, in the other order.
Outcome of_wire(const State& state, const Command& command, const Reordering& asked) {
    const Array& array = state.diagram[asked.array];
    const StatementId source = producer(state.diagram, asked.array).value();
    const std::vector<Region>& regions = state.relabelling.regions;
    const bool saved = std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
        return contains(region.statements, source) && is_saved(state.diagram, region, asked.array);
    });
    if (!saved)
        return NotApplicable{"`" + array.name + "` stays inside its region: it lies in no memory",
                             "`unfuse` its readers to save it"};
    State next = state;
    next.diagram.arrays[asked.array.index()].layout = asked.order;
    return with_step(std::move(next), command,
                     {"`" + array.name + "` is neither an input nor an output"});
}

}  // namespace

Outcome layout(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.axes.empty() || command.as.size() > 1)
        return out_of_place("it takes an array with its axes, slowest first",
                            "write `layout ARRAY[AXIS, AXIS...] [as NAME]`");
    const auto found = reordering_of(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const Reordering& asked = std::get<Reordering>(found);
    const Array& array = state.diagram[asked.array];
    const bool callers = array.role == ArrayRole::Input || array.role == ArrayRole::Output;
    if (callers != (command.as.size() == 1))
        return callers ? out_of_place("how `" + array.name + "` lies is the caller's",
                                      "name a copy: `" + print(command) + " as NAME`")
                       : out_of_place("`" + array.name + "` needs no copy: it is saved so",
                                      "leave `as` out");
    if (!command.in.empty() && array.role != ArrayRole::Input)
        return out_of_place("`in` says which region reads the copy of an input", "leave `in` out");
    if (!callers) return of_wire(state, command, asked);
    const std::string& wanted = command.as.front();
    if (find_array(state.diagram, wanted) || find_axis(state.diagram, wanted))
        return out_of_place("`" + wanted + "` is in use already", "choose another name");
    return array.role == ArrayRole::Input ? of_input(state, command, asked)
                                          : of_output(state, command, asked);
}

}  // namespace napkin::rules
