// A state while a rule rewrites its diagram: statements, arrays, axes, boxes and regions come and
// go, and `finish` puts everything in order again.
//
// In between, `diagram.statements` only grows and is in no order: a statement keeps the id that it
// was added with. `finish` drops what the rewriting left without a reader, sorts by data flow (what
// is new stands before the statement that it was added for), renumbers, and checks that every
// group and stream is still legal.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "derive/rules/rule_support.h"

namespace napkin::rules {

class Draft {
public:
    explicit Draft(const State& state);

    Diagram diagram;
    std::vector<Region> regions;  ///< groups and streams; their statements follow from `home`

    /// A name nobody has: the wanted one, with primes where it is taken. `finish` gives the array
    /// the wanted name if that has become free.
    ArrayId add_array(Array array);
    /// An intermediate of the given axes, in memory order, of the type of its values or another.
    ArrayId add_array(const std::string& name, std::vector<AxisId> axes, Span span,
                      std::optional<ElementType> type = std::nullopt);
    /// One that goes into a component of what a statement makes, whose rounding it has no part in.
    ArrayId add_part(const std::string& name, std::vector<AxisId> axes, const Statement& whole,
                     std::size_t component = 0);
    AxisId add_axis(Axis axis);
    /// Another axis of the same size.
    AxisId add_alias(AxisId axis);
    /// A box like another, drawn as its statements are.
    BoxId add_box(BoxId like);
    std::size_t add_region(Region region);
    /// A statement of `region`, before `next` wherever data flow leaves a choice; among those
    /// before the same one, in the order of `turn`, or else in which they were added.
    StatementId add(Statement statement, std::size_t region, StatementId next,
                    std::optional<std::size_t> turn = std::nullopt);
    void erase(StatementId id) { lines_[id.index()].erased = true; }
    void move(StatementId id, std::size_t region) { lines_[id.index()].region = region; }
    void store(ArrayId array, ElementType type) { relabelling_.wire_types[array] = type; }
    void place(StatementId like, StatementId id);

    [[nodiscard]] std::size_t home(StatementId id) const { return lines_[id.index()].region; }
    [[nodiscard]] std::optional<StatementId> producer(ArrayId array) const;
    /// Statements that read the array.
    [[nodiscard]] std::vector<StatementId> readers(ArrayId array) const;
    [[nodiscard]] bool taken(const std::string& name) const;

    [[nodiscard]] Outcome finish(const Command& command, SideConditions checked);
    [[nodiscard]] Outcome finish(const Command& command, std::vector<std::string> conditions = {}) {
        return finish(command, SideConditions{std::move(conditions), {}});
    }

private:
    struct Line {
        std::size_t region = 0;
        std::size_t rank = 0;  ///< the original statement that it stands before, or is
        std::size_t serial = 0;
        bool erased = false;
    };

    const State& before_;
    Relabelling relabelling_;  ///< places and types; regions are in `regions`
    std::vector<Line> lines_;
    std::vector<std::pair<ArrayId, std::string>> wanted_;
    std::set<ArrayId> untyped_;  ///< of the types of their values

    void drop_dead();
    void settle();
    [[nodiscard]] std::variant<std::vector<StatementId>, NotApplicable> in_order() const;
    void number_statements(const std::vector<StatementId>& order, State& state) const;
    void number_arrays(State& state) const;
    void number_boxes(State& state) const;
    void give_names(State& state, const std::map<ArrayId, ArrayId>& renumbering) const;
};

/// Why a group or a stream of some region no longer stands, in the names of the state before; woven
/// axes taken one by one, which are a default, are dropped where they cannot stay.
[[nodiscard]] std::optional<NotApplicable> settle_regions(State& state, const State& before);

}  // namespace napkin::rules
