// Derivation states, commands and rules. A rule takes a state and a command and returns the next
// state or the reason why not; it never edits, logs or throws. A derivation is the list of commands
// from the plain diagram.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagram.h"
#include "diagrams/relabelling.h"

namespace napkin {

/// A constraint that a target or a type puts on a size, with its cause: `16: m of mma.sync`.
struct Divisor {
    std::int64_t value = 1;
    std::string cause;
    bool operator==(const Divisor&) const = default;
};

/// One line of a `.drv` file: `group q by 128 at l1 in O`, `fuse S, P, O`, `split-axis q as q1 by
/// 16`, `set q = 8192`, `schedule stages of K = 3 in O`.
struct Command {
    std::string rule;
    std::vector<std::string> names;    ///< what stands before the first keyword
    std::vector<std::string> as;       ///< after `as`
    std::optional<std::int64_t> size;  ///< after `by` or `=`
    std::string at;                    ///< after `at`: a level, alias, or `tensor-core`
    std::string to;                    ///< after `to`: an element type
    std::string in;                    ///< after `in`: a region, named by its last output
    std::string of;                    ///< after `of`, of `schedule`: what the choice is for
    std::string value;                 ///< after `=`, of `schedule`
    std::string comment;
    Span span;
    bool operator==(const Command&) const = default;
};
[[nodiscard]] std::string print(const Command& command);
/// Reads a whole derivation file; reports every error.
[[nodiscard]] Result<std::vector<Command>> parse_derivation(const SourceMap& sources,
                                                            std::uint32_t file);
/// Reads one command as typed.
[[nodiscard]] Result<Command> parse_command(const SourceMap& sources, std::uint32_t file);

/// A step that was taken: which rule, by which law, with which checked conditions, and what finite
/// arithmetic can spoil all the same.
struct Step {
    Command command;
    std::string law;
    std::vector<std::string> conditions;
    std::vector<std::string> hazards;
    bool operator==(const Step&) const = default;
};

/// A diagram and a relabelling of it, with the steps that led here.
struct State {
    Diagram diagram;
    Relabelling relabelling;
    std::vector<Step> steps;
    bool operator==(const State&) const = default;
};

using Outcome = std::variant<State, NotApplicable>;

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

}  // namespace napkin
