// Machines as a user names them: what is read, with a target that kernels are made for.
#pragma once

#include <string>

#include "perfmodel/machine.h"

namespace napkin::cli {

/// A machine by `load_machine`. Where the best target runs on the architecture that its file names,
/// that is its target; an architecture that is not known, or too old for tensor cores' kernels, is
/// a diagnostic at its place in the file.
[[nodiscard]] Result<Machine> take_machine(SourceMap& sources, const std::string& text,
                                           const std::string& given_as = "--machine");
/// Likewise by `load_timed_machine`.
[[nodiscard]] Result<Machine> take_timed_machine(SourceMap& sources, const std::string& text,
                                                 const std::string& given_as = "--machine");
/// A machine as text with figures as `key=value,...`, which replace those that the text overrides.
[[nodiscard]] std::string with_figures(const std::string& machine, const std::string& figures);

}  // namespace napkin::cli
