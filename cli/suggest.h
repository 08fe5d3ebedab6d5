// Moves from a state: the legal ones ranked by what they save, the refused ones with the reason.
#pragma once

#include <string>
#include <vector>

#include "cli/step_report.h"
#include "derive/state.h"
#include "perfmodel/machine.h"

namespace napkin::cli {

struct Suggestion {
    std::string command;
    Figures figures;
    bool fits = true;  ///< within the machine's capacities
};
struct Refusal {
    std::string command;
    std::string reason;
};
struct Suggestions {
    Figures now;
    std::vector<Suggestion> legal;  ///< best first; of each rule and axis the best size
    std::vector<Refusal> refused;
};

[[nodiscard]] Result<Suggestions> suggest(const State& state, const Machine& machine);
[[nodiscard]] std::string text_of(const Suggestions& suggestions);

}  // namespace napkin::cli
