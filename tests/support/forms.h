// The forms that must stream: files of tests/separation/forms/.
//
// Derivation commands stand after `#>`, with SIZE for the sizes tried; `#! large Q 1e4` multiplies
// an input, `#! offset X 1e4` shifts it, `#! fall X 1e3` adds that to the first element along its
// last axis and less and less to the others, for a second run; `like NAME` takes another form's
// diagram as the reference, where the form's own text overflows.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "derive/state.h"

namespace napkin::test {

/// How an input differs in the second run.
struct Change {
    std::string input;
    double factor = 1;
    double offset = 0;
    double fall = 0;
};

struct Form {
    std::string name;
    std::string text;
    std::string commands;
    std::vector<Change> changes;
    std::string like;  ///< empty: itself
};

/// All forms by name.
[[nodiscard]] std::vector<Form> all_forms();
/// The form's commands with chunks of a size.
[[nodiscard]] std::string commands_of(const Form& form, std::int64_t size);
/// The state after the commands, or why one of them does not apply.
[[nodiscard]] std::variant<State, std::string> state_of(const Diagram& diagram,
                                                        const std::string& commands);

}  // namespace napkin::test
