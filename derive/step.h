// Commands, the steps that they made, and the states that these led to, as values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagram.h"
#include "diagrams/relabelling.h"

namespace napkin {

/// One line of a `.drv` file: `group q by 128 at l1 in O`, `fuse S, P, O`, `split-axis q as q1 by
/// 16`, `set q = 8192`, `schedule stages of K = 3 in O`.
struct Command {
    std::string rule;
    std::vector<std::string> names;    ///< what stands before the first keyword
    std::vector<std::string> axes;     ///< in brackets after the only name
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

}  // namespace napkin
