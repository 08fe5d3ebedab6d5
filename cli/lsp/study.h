// What a text of an editor means: its diagram or its derivation as far as they are right, and what
// is wrong with them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/lsp/workspace.h"
#include "cli/session.h"
#include "derive/state.h"
#include "diagrams/diagram.h"

namespace napkin::lsp {

/// A diagram's text, or a derivation's with its diagram's.
struct Study {
    SourceMap sources;
    std::uint32_t file = 0;  ///< the text's own, in the source map
    Diagnostics diagnostics;
    std::optional<Diagram> plain;   ///< where it is right
    std::vector<Command> commands;  ///< of a derivation that can be read
    /// Of a derivation: after each command that applies, from the plain diagram on.
    std::vector<State> states;
};
[[nodiscard]] Study study_diagram(const std::string& uri, const Text& text);
[[nodiscard]] Study study_derivation(const Workspace& workspace, const std::string& uri,
                                     const Text& text);
/// By what the URI names.
[[nodiscard]] Study study(const Workspace& workspace, const std::string& uri, const Text& text);

}  // namespace napkin::lsp
