// Axes streamed inside each other. Where a region does not fold all its streamed axes together, the
// first ones are streamed as if the others were whole, and what a chunk of them folds over the
// others is a cascade of its own:
//
//   for each chunk of v:                    for each chunk of v:
//     Z = sum(d) H * W           ==>          Z = 0
//     m = max(m, max(v) Z)                    for each chunk of d:  Z = Z + sum(d) H * W
//                                             m = max(m, max(v) Z)
//
// It is a cascade of its own where no state of the outer loop has a part in it, and where nothing
// beyond it runs along the inner axes.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "derive/derive_accumulator.h"
#include "diagrams/contains.h"
#include "diagrams/recent.h"
#include "diagrams/rewrite_statement.h"

namespace napkin {
namespace {

using Statements = std::vector<Statement>;

bool runs_along(const Diagram& diagram, const Statement& statement,
                const std::vector<AxisId>& axes) {
    const std::vector<AxisId> own = axes_of(diagram, statement);
    return std::any_of(own.begin(), own.end(), [&](AxisId axis) { return contains(axes, axis); });
}

bool reads_any(const Statement& statement, const std::set<ArrayId>& arrays) {
    const std::vector<ArrayId> inputs = inputs_of(statement);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ArrayId input) { return arrays.contains(input); });
}

void add_targets(std::set<ArrayId>& arrays, const Statement& statement) {
    arrays.insert(statement.targets.begin(), statement.targets.end());
}

/// The region's statements as its accumulator runs them: a diagram of one chunk, with what other
/// regions read of it.
Diagram chunk_of(const Diagram& diagram, const Region& region, const Accumulator& accumulator) {
    Diagram chunk = diagram;
    chunk.arrays.insert(chunk.arrays.end(), accumulator.arrays.begin(), accumulator.arrays.end());
    chunk.statements = accumulator.body;
    chunk.statements.insert(chunk.statements.end(), accumulator.tail.begin(),
                            accumulator.tail.end());
    std::set<ArrayId> made;
    for (const StatementId id : region.statements) add_targets(made, diagram[id]);
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        if (!contains(region.statements, StatementId{i}) && reads_any(diagram.statements[i], made))
            chunk.statements.push_back(diagram.statements[i]);
    return chunk;
}

/// A body in parts: what is streamed inside, which is what runs along the axes and what lies
/// between; what that reads of the others; and the rest.
struct Parts {
    Region inside;  ///< statements of the body
    Statements before;
    Statements after;
};

Parts parts_of(const Diagram& chunk, const Statements& body, const std::vector<AxisId>& axes) {
    std::set<ArrayId> made;
    std::vector<bool> inside(body.size());
    std::vector<bool> depends(body.size());
    for (std::size_t i = 0; i < body.size(); ++i) {
        inside[i] = runs_along(chunk, body[i], axes);
        depends[i] = inside[i] || reads_any(body[i], made);
        if (depends[i]) add_targets(made, body[i]);
    }
    std::set<ArrayId> read;
    std::vector<bool> needed(body.size());
    for (std::size_t i = body.size(); i-- > 0;) {
        const std::vector<ArrayId>& targets = body[i].targets;
        const bool wanted = std::any_of(targets.begin(), targets.end(),
                                        [&](ArrayId target) { return read.contains(target); });
        inside[i] = inside[i] || (wanted && depends[i]);
        needed[i] = wanted && !inside[i];
        if (inside[i] || needed[i])
            for (const ArrayId input : inputs_of(body[i])) read.insert(input);
    }
    Parts parts;
    for (std::uint32_t i = 0; i < body.size(); ++i)
        if (inside[i])
            parts.inside.statements.push_back(StatementId{i});
        else
            (needed[i] ? parts.before : parts.after).push_back(body[i]);
    return parts;
}

std::string names_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::string text;
    for (const AxisId axis : axes) text += (text.empty() ? "`" : ", `") + diagram[axis].name + "`";
    return text;
}

/// Why the accumulator is more than such a cascade and what comes after it.
std::optional<NotApplicable> why_not_apart(const Diagram& diagram, const Region& region,
                                           const Diagram& chunk, const Accumulator& outer,
                                           const Parts& parts, const std::vector<AxisId>& axes) {
    const auto refused = [&](const Statement& statement, const std::string& why) {
        return NotApplicable{"`" + chunk[statement.targets.front()].name + "` " + why,
                             "leave " + names_of(diagram, axes) + " whole here"};
    };
    const std::string kept = "runs along " + names_of(diagram, axes) + " and is kept beyond a " +
                             "chunk of " + names_of(diagram, outer.axes);
    std::set<ArrayId> states;
    for (const Statement& statement : outer.initial) add_targets(states, statement);
    std::set<ArrayId> of_chunk;
    for (const Statement& statement : outer.body) add_targets(of_chunk, statement);
    for (const Statements* phase : {&outer.initial, &outer.tail})
        for (const Statement& statement : *phase)
            if (runs_along(chunk, statement, axes)) return refused(statement, kept);
    for (const StatementId id : region.statements) {
        const Statement& statement = diagram[id];
        const std::vector<ArrayId>& targets = statement.targets;
        const bool before = std::none_of(targets.begin(), targets.end(), [&](ArrayId target) {
            return of_chunk.contains(target) || states.contains(target);
        });
        if (before && runs_along(diagram, statement, axes) &&
            !runs_along(diagram, statement, outer.axes))
            return refused(statement, kept);
    }
    for (const StatementId id : parts.inside.statements)
        for (const ArrayId target : chunk[id].targets)
            if (target.index() < diagram.arrays.size() && is_saved(diagram, region, target) &&
                std::any_of(axes.begin(), axes.end(),
                            [&](AxisId axis) { return contains(chunk[target].axes, axis); }))
                return refused(chunk[id], kept);
    Statements early = parts.before;
    for (const StatementId id : parts.inside.statements) early.push_back(chunk[id]);
    for (const Statement& statement : early) {
        const std::vector<ArrayId>& targets = statement.targets;
        const bool updates = std::any_of(targets.begin(), targets.end(),
                                         [&](ArrayId target) { return states.contains(target); });
        if (updates || reads_any(statement, states)) return refused(statement, kept);
    }
    return std::nullopt;
}

/// The array of which the statement is a copy, element by element; nothing where it is none.
std::optional<ArrayId> copied_by(const Diagram& chunk, const Statement& statement) {
    const Map* map = std::get_if<Map>(&statement.body);
    const Read* element = map != nullptr ? std::get_if<Read>(&map->value.node) : nullptr;
    if (element == nullptr) return std::nullopt;
    const std::vector<AxisId>& axes = chunk[statement.targets.front()].axes;
    if (map->value != read_axes(element->array, axes)) return std::nullopt;
    return element->array;
}

/// A state that becomes one array as it is, is that array, where all of them do.
void unite_copies(const Diagram& chunk, Accumulator& inner) {
    std::map<ArrayId, ArrayId> united;
    for (const Statement& statement : inner.tail) {
        const ArrayId target = statement.targets.front();
        if (target.index() >= chunk.arrays.size()) return;  // of the accumulator, like its states
        const std::optional<ArrayId> state = copied_by(chunk, statement);
        if (!state || state->index() < chunk.arrays.size() || chunk[target].rounds) return;
        if (!united.emplace(*state, target).second) return;
    }
    if (united.size() != inner.arrays.size() || !inner.gauges.empty()) return;
    inner.tail.clear();
    inner.arrays.clear();
    for (Statements* phase : {&inner.initial, &inner.body})
        for (Statement& statement : *phase) {
            for (ArrayId& target : statement.targets)
                if (united.contains(target)) target = united[target];
            statement = rewrite_statement(std::move(statement), [&](Expression part) {
                Read* element = std::get_if<Read>(&part.node);
                if (element != nullptr && united.contains(element->array))
                    element->array = united[element->array];
                return part;
            });
        }
    for (AccumulatorState& state : inner.states) state.state = united[state.state];
}

template <class Item>
void move_all(std::vector<Item>& from, std::vector<Item>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

/// The accumulator with one over `inner` inside.
std::variant<Accumulator, NotApplicable> nested(const Diagram& diagram, const Region& region,
                                                Accumulator outer, const std::vector<AxisId>& inner,
                                                const std::map<ArrayId, ElementType>& stored) {
    const Diagram chunk = chunk_of(diagram, region, outer);
    Parts parts = parts_of(chunk, outer.body, inner);
    if (std::optional<NotApplicable> refused =
            why_not_apart(diagram, region, chunk, outer, parts, inner))
        return *std::move(refused);
    auto found = derive_streams(chunk, parts.inside, inner, stored);
    Accumulator* inside = std::get_if<Accumulator>(&found);
    if (inside == nullptr) return found;
    unite_copies(chunk, *inside);
    inside->initial.insert(inside->initial.begin(), parts.before.begin(), parts.before.end());
    outer.body = std::move(parts.after);
    move_all(inside->arrays, outer.arrays);
    move_all(inside->obligations, outer.obligations);
    move_all(inside->conditions, outer.conditions);
    outer.inside.push_back(std::move(*inside));
    return outer;
}

/// What an accumulator is derived from, beside what the region is grouped and streamed by.
struct Question {
    const Diagram& diagram;
    const std::vector<StatementId>& statements;
    const std::vector<AxisId>& axes;
    const std::map<ArrayId, ElementType>& stored;
};
struct KeptQuestion {
    Diagram diagram;
    std::vector<StatementId> statements;
    std::vector<AxisId> axes;
    std::map<ArrayId, ElementType> stored;

    bool operator==(const Question& asked) const {
        const auto same_place = [](const Statement& a, const Statement& b) {
            return std::tie(a.span.begin, a.span.end, a.span.file) ==
                   std::tie(b.span.begin, b.span.end, b.span.file);
        };
        return axes == asked.axes && statements == asked.statements && stored == asked.stored &&
               diagram == asked.diagram &&
               std::equal(diagram.statements.begin(), diagram.statements.end(),
                          asked.diagram.statements.begin(), same_place);
    }
};

std::variant<Accumulator, NotApplicable> derive(const Diagram& diagram, const Region& region,
                                                const std::vector<AxisId>& axes,
                                                const std::map<ArrayId, ElementType>& stored) {
    auto together = derive_accumulator(diagram, region, axes, stored);
    if (std::holds_alternative<Accumulator>(together)) return together;
    NotApplicable& refused = std::get<NotApplicable>(together);
    for (std::size_t outer = axes.size(); outer-- > 1;) {
        const auto inner = axes.begin() + static_cast<std::ptrdiff_t>(outer);
        auto around = derive_accumulator(diagram, region, {axes.begin(), inner}, stored);
        if (std::holds_alternative<NotApplicable>(around)) continue;
        auto found = nested(diagram, region, std::get<Accumulator>(std::move(around)),
                            {inner, axes.end()}, stored);
        if (std::holds_alternative<Accumulator>(found)) return found;
        refused.reason += "; and inside a chunk of " + names_of(diagram, {axes.begin(), inner}) +
                          ": " + std::get<NotApplicable>(found).reason;
    }
    return together;
}

}  // namespace

std::variant<Accumulator, NotApplicable> derive_streams(
    const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
    const std::map<ArrayId, ElementType>& stored) {
    constexpr std::size_t kMost = 32;
    thread_local Recent<KeptQuestion, std::variant<Accumulator, NotApplicable>> kept(kMost);
    if (const auto* answer = kept.find(Question{diagram, region.statements, axes, stored}))
        return *answer;
    return kept.keep({diagram, region.statements, axes, stored},
                     derive(diagram, region, axes, stored));
}

}  // namespace napkin
