// recompute: a box computed twice gives the same twice.
//
//   ──[ S save ]──●──[ load F ]──     ==>     ──●──[ S ]── ...
//                 ╰──[ load G ]──               ╰──[ load S ── G ]──
//
// Side condition: the region reads what another one computes. Its reads then name the copy; the
// original goes when nothing reads it any more. Whatever the box reads must be there to be loaded,
// so an array inside of the original's region may have to be saved for it: recompute that one too.
// Citation: arXiv 2205.14135, section 3.2 (recomputation instead of storing what backward needs).
#include <algorithm>

#include "derive/rewriting/statements.h"
#include "derive/rules/draft.h"

namespace napkin::rules {

namespace {

/// What is copied where.
struct Copying {
    std::size_t region = 0;
    std::set<ArrayId> named;
    std::vector<StatementId> statements;  ///< in order
};

std::variant<std::set<ArrayId>, NotApplicable> named_arrays(const State& state,
                                                            const Command& command) {
    std::set<ArrayId> arrays;
    for (const std::string& name : command.names) {
        const std::optional<ArrayId> array = find_array(state.diagram, name);
        if (!array) return out_of_place("there is no array `" + name + "`", "");
        if (!producer(state.diagram, *array))
            return out_of_place("`" + name + "` is an input: no box computes it", "");
        arrays.insert(*array);
    }
    return arrays;
}

std::size_t region_with(const State& state, StatementId id) {
    const std::vector<Region>& regions = state.relabelling.regions;
    for (std::size_t r = 0; r < regions.size(); ++r)
        if (std::find(regions[r].statements.begin(), regions[r].statements.end(), id) !=
            regions[r].statements.end())
            return r;
    throw InternalError("a statement in no region");
}

/// The region that the command names, or the only one that loads what it recomputes.
std::variant<std::size_t, NotApplicable> reading_region(const State& state, const Command& command,
                                                        const std::set<ArrayId>& arrays) {
    if (!command.in.empty()) return find_region(state, command.in);
    std::set<std::size_t> reading;
    std::vector<std::string> names;
    for (std::size_t r = 0; r < state.relabelling.regions.size(); ++r)
        for (ArrayId array : loads_of(state.diagram, state.relabelling.regions[r]))
            if (arrays.count(array) != 0 && reading.insert(r).second)
                names.push_back(region_name(state.diagram, state.relabelling.regions[r]));
    if (reading.size() == 1) return *reading.begin();
    if (reading.empty())
        return NotApplicable{"no other region reads " + list_names(command.names),
                             "what a region computes itself is not loaded"};
    return out_of_place(
        "several regions read " + list_names(command.names) + ": " + list_names(names),
        "say which with `in REGION`");
}

/// The statements of the arrays' boxes that lead to them.
std::vector<StatementId> statements_for(const Diagram& diagram, const std::set<ArrayId>& arrays) {
    std::set<StatementId> needed;
    std::vector<ArrayId> open(arrays.begin(), arrays.end());
    while (!open.empty()) {
        const StatementId id = producer(diagram, open.back()).value();
        open.pop_back();
        if (!needed.insert(id).second) continue;
        for (ArrayId input : inputs_of(diagram[id]))
            if (const auto source = producer(diagram, input);
                source && diagram[*source].box == diagram[id].box)
                open.push_back(input);
    }
    return {needed.begin(), needed.end()};
}

std::variant<Copying, NotApplicable> plan(const State& state, const Command& command) {
    if (command.names.empty())
        return out_of_place("it takes an array", "write `recompute ARRAY [in REGION]`");
    auto named = named_arrays(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&named)) return *refusal;
    Copying copying;
    copying.named = std::get<std::set<ArrayId>>(std::move(named));
    const auto region = reading_region(state, command, copying.named);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&region)) return *refusal;
    copying.region = std::get<std::size_t>(region);
    copying.statements = statements_for(state.diagram, copying.named);
    const Region& reader = state.relabelling.regions[copying.region];
    std::set<ArrayId> read;
    for (ArrayId array : loads_of(state.diagram, reader)) read.insert(array);
    for (StatementId id : copying.statements)
        for (ArrayId input : inputs_of(state.diagram[id])) read.insert(input);
    for (ArrayId array : copying.named) {
        const std::string& name = state.diagram[array].name;
        if (region_with(state, producer(state.diagram, array).value()) == copying.region)
            return out_of_place(
                "`" + name + "` is computed in " + region_name(state.diagram, reader) + " already",
                "");
        if (read.count(array) == 0)
            return out_of_place(
                "`" + name + "` is not read in " + region_name(state.diagram, reader), "");
    }
    return copying;
}

/// Arrays that stand for the originals in the copies.
std::map<ArrayId, ArrayId> add_copies(Draft& draft, const Copying& copying) {
    std::map<ArrayId, ArrayId> twins;
    for (StatementId id : copying.statements)
        for (ArrayId target : draft.diagram[id].targets) {
            Array twin = draft.diagram[target];
            if (twin.role == ArrayRole::Output) twin.role = ArrayRole::Intermediate;
            twins[target] = draft.add_array(std::move(twin));
        }
    return twins;
}

/// `dV computes S and P again, from Q, K and L`.
std::string condition_of(const State& state, const Copying& copying) {
    std::vector<std::string> inputs;
    std::set<ArrayId> own;
    for (StatementId id : copying.statements)
        own.insert(state.diagram[id].targets.begin(), state.diagram[id].targets.end());
    for (StatementId id : copying.statements)
        for (ArrayId input : inputs_of(state.diagram[id])) {
            const Array& array = state.diagram[input];
            const bool known = std::find(inputs.begin(), inputs.end(), array.name) != inputs.end();
            if (own.count(input) == 0 && array.role != ArrayRole::Parameter && !known)
                inputs.push_back(array.name);
        }
    std::vector<std::string> names;
    for (ArrayId array : copying.named) names.push_back(state.diagram[array].name);
    return region_name(state.diagram, state.relabelling.regions[copying.region]) + " computes " +
           list_names(names) + " again" + (inputs.empty() ? "" : ", from " + list_names(inputs));
}

}  // namespace

Outcome recompute(const State& state, const Command& command) {
    const auto planned = plan(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&planned)) return *refusal;
    const Copying& copying = std::get<Copying>(planned);
    Draft draft(state);
    const std::map<ArrayId, ArrayId> twins = add_copies(draft, copying);
    const std::vector<StatementId>& reading = state.relabelling.regions[copying.region].statements;
    std::map<BoxId, BoxId> boxes;
    for (StatementId id : copying.statements) {
        Statement copy = with_arrays(draft.diagram[id], twins);
        for (ArrayId& target : copy.targets) target = twins.at(target);
        const BoxId from = copy.box;
        if (boxes.count(from) == 0) {
            boxes[from] = draft.add_box(from);
            const std::vector<StatementId>& all = draft.diagram[from].statements;
            const bool whole = std::includes(copying.statements.begin(), copying.statements.end(),
                                             all.begin(), all.end());
            if (whole) draft.diagram.boxes[boxes[from].index()] = draft.diagram[from];
        }
        copy.box = boxes[from];
        draft.place(id, draft.add(std::move(copy), copying.region, reading.front()));
    }
    for (const auto& [array, twin] : twins)
        if (const auto type = state.relabelling.wire_types.find(array);
            type != state.relabelling.wire_types.end())
            draft.store(twin, type->second);
    spell_copies(draft.diagram.spellings, twins);
    for (StatementId id : reading)
        draft.diagram.statements[id.index()] = with_arrays(draft.diagram[id], twins);
    return draft.finish(command, {condition_of(state, copying)});
}

}  // namespace napkin::rules
