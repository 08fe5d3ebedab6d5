// What several rules need: looking things up by name, and saying why not.
#pragma once

#include <functional>
#include <variant>

#include "derive/roles.h"
#include "derive/state.h"

namespace napkin::rules {

/// A region of the state, an axis of it, and where the command wants it.
struct Site {
    std::size_t region = 0;
    AxisId axis;
    Level level = Level::Block;
};
/// Resolves `RULE AXIS [by SIZE] [at LEVEL] [in REGION]`.
[[nodiscard]] std::variant<Site, NotApplicable> find_site(const State& state,
                                                          const Command& command);
/// Side conditions in words.
struct SideConditions {
    std::vector<std::string> conditions;  ///< that hold
    std::vector<std::string> hazards;     ///< obligations that are not met
};
[[nodiscard]] SideConditions checked_of(const Accumulator& accumulator);
/// The state with one more step.
[[nodiscard]] State with_step(State state, const Command& command, SideConditions checked);
[[nodiscard]] State with_step(State state, const Command& command,
                              std::vector<std::string> conditions = {});
/// `S, P and O`.
[[nodiscard]] std::string list_names(const std::vector<std::string>& names);
/// Names of what statements define, for messages; hoisted ones are named by their box.
[[nodiscard]] std::string statement_names(const Diagram& diagram,
                                          const std::vector<StatementId>& statements);
/// The refusal of parts (`chunk`, `group`) of an axis along which an array is read elsewhere.
[[nodiscard]] NotApplicable refused_elsewhere(const Array& array, const Axis& axis,
                                              const std::string& part);
/// The refusal with `unfuse` for its help where that mends it: what the region computes and reads
/// elsewhere along the axes is then loaded, and `holds` of the region that reads it.
[[nodiscard]] NotApplicable with_unfusing(
    const State& state, const Region& region, const std::vector<AxisId>& axes,
    NotApplicable refused, const std::function<bool(const State&, const Region&)>& holds);
/// The refusal of an array with those parts of its box for its help that would do: `Z.1` where
/// `Z = sum(k) A[k] * x[k] + b` is no sum.
[[nodiscard]] NotApplicable with_parts(const Diagram& diagram, StatementId whole,
                                       NotApplicable refused,
                                       const std::function<bool(StatementId)>& fits);
/// The sum that a statement is, of all elements and from 0; null where it is none.
[[nodiscard]] const Fold* plain_sum(const Diagram& diagram, StatementId id);
/// The refusal for an axis used in unrelated roles, proposing an alias; nullopt when all roles are
/// kept or all folded.
[[nodiscard]] std::optional<NotApplicable> mixed_roles(const Diagram& diagram,
                                                       const std::vector<Role>& roles,
                                                       const std::string& verb);
/// Why these groups cannot all stand in this region; nullopt when they can.
[[nodiscard]] std::optional<NotApplicable> why_not_grouped(const Diagram& diagram,
                                                           const Region& region, AxisId axis);
/// Whether the order of the fold's axes matters: several, and a monoid that is not commutative.
[[nodiscard]] bool is_ordered(const Diagram& diagram, const Fold& fold);
/// ``left` is not commutative: elements are combined in the order of `t`, then `u``.
[[nodiscard]] std::string why_ordered(const Diagram& diagram, const Fold& fold);
/// Why the region's loops would combine elements in another order than an ordered fold does.
[[nodiscard]] std::optional<NotApplicable> why_not_in_order(const Diagram& diagram,
                                                            const Region& region);
/// Why this region cannot have the streams that it has; nullopt when it can.
[[nodiscard]] std::optional<NotApplicable> why_not_streamed(const State& state,
                                                            const Region& region);
/// The accumulator of a region's streams, where they can stand.
[[nodiscard]] std::variant<Accumulator, NotApplicable> accumulator_of(const State& state,
                                                                      const Region& region);
/// The refusal to move a factor into or out of a sum where it may be infinite: 0 * inf is 0 and
/// -inf absorbs, so that c * (a + b) is not c * a + c * b there.
[[nodiscard]] std::optional<NotApplicable> why_infinite(const Diagram& diagram,
                                                        const Expression& factor);
/// Cancellation that no safe form was found for: it takes `as written` to have it.
[[nodiscard]] std::optional<NotApplicable> why_unsafe(const Accumulator& accumulator);

Outcome fuse(const State& state, const Command& command);
Outcome unfuse(const State& state, const Command& command);
Outcome group(const State& state, const Command& command);
Outcome ungroup(const State& state, const Command& command);
Outcome stream(const State& state, const Command& command);
Outcome unstream(const State& state, const Command& command);
Outcome recolour(const State& state, const Command& command);
Outcome retype(const State& state, const Command& command);
Outcome split_axis(const State& state, const Command& command);
Outcome join_axes(const State& state, const Command& command);
Outcome layout(const State& state, const Command& command);
Outcome schedule(const State& state, const Command& command);
Outcome set_size(const State& state, const Command& command);
Outcome split_stream(const State& state, const Command& command);
Outcome absorb_normaliser(const State& state, const Command& command);
Outcome stabilise(const State& state, const Command& command);
Outcome distribute(const State& state, const Command& command);
Outcome commute(const State& state, const Command& command);
Outcome reassociate(const State& state, const Command& command);
Outcome recompute(const State& state, const Command& command);
Outcome extract(const State& state, const Command& command);

}  // namespace napkin::rules
