// Derivations. A rule takes a state and a command and returns the next state or the reason why not;
// it never edits, logs or throws. A derivation is the list of commands from the plain diagram.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "derive/step.h"

namespace napkin {

[[nodiscard]] std::string print(const Command& command);
/// Reads a whole derivation file; reports every error.
[[nodiscard]] Result<std::vector<Command>> parse_derivation(const SourceMap& sources,
                                                            std::uint32_t file);
/// Reads one command as typed.
[[nodiscard]] Result<Command> parse_command(const SourceMap& sources, std::uint32_t file);

/// A rule as data: everything that the catalogue, the documentation and the driver need.
struct Rule {
    std::string_view name;       ///< kebab-case, equal to its file and golden
    std::string_view usage;      ///< `group AXIS by SIZE [at LEVEL] [in REGION]`
    std::string_view law;        ///< one line
    std::string_view condition;  ///< side condition in words
    std::string_view example;    ///< as it is typed
    std::string_view citation;   ///< where the law comes from
    Outcome (*apply)(const State&, const Command&) = nullptr;
};
[[nodiscard]] std::span<const Rule> all_rules();
[[nodiscard]] const Rule* find_rule(std::string_view name);
/// docs/rules.md, printed from the catalogue.
[[nodiscard]] std::string rules_page();

/// The plain diagram with its plain relabelling and no steps.
[[nodiscard]] State initial_state(const Diagram& diagram);
/// Applies one command: an unknown rule or a malformed command is NotApplicable too.
[[nodiscard]] Outcome apply(const State& state, const Command& command);
/// Replays commands from the plain diagram; the first that fails is a diagnostic at its line. `set`
/// commands are taken first by the caller (`sizes_in`), since sizes enter the checker.
[[nodiscard]] Result<State> replay(const Diagram& diagram, std::span<const Command> commands);
/// The `set` commands of a derivation as sizes.
[[nodiscard]] Sizes sizes_in(std::span<const Command> commands);
/// The region that a command names; the only one when the name is empty.
[[nodiscard]] std::variant<std::size_t, NotApplicable> find_region(const State& state,
                                                                   const std::string& name);
/// What a refusal tells to do first: the command, `ungroup` or `unstream`, as it applies here.
[[nodiscard]] std::string undo_first(const State& state, std::string_view rule, AxisId axis,
                                     const Region& region);
/// Why a rule does not change an axis that a region streams or, if it matters, groups.
[[nodiscard]] std::optional<NotApplicable> why_cut(const State& state, const Region& region,
                                                   AxisId axis, bool groups = true);

}  // namespace napkin
