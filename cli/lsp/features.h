// What an editor asks about a place of a text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/lsp/workspace.h"
#include "diagrams/result.h"

namespace napkin::lsp {

/// A place of a text of the workspace.
struct Place {
    const Workspace& workspace;
    std::string uri;
    const Text& text;
    Position position;
};

struct Hover {
    std::string markdown;
    Range range;
};
/// A name's shape and bytes, an operation's definition, a kernel's cost, a step's law and figures;
/// nothing where there is nothing to say.
[[nodiscard]] std::optional<Hover> hover(const Place& place);

struct Completion {
    enum class Kind { Keyword, Function, Array, Axis, Type, Rule, Word };
    std::string label;
    Kind kind = Kind::Word;
    std::string detail;  ///< one line
};
[[nodiscard]] std::vector<Completion> completions(const Place& place);

/// The name at a place that can be renamed.
[[nodiscard]] std::optional<Range> renamed_range(const Place& place);
struct Edit {
    Range range;
    std::string text;
};
/// By URI: the diagram and its derivations; a derivation alone, for a name of its own. What comes
/// out is checked: it is the same but for the name. The reason why not otherwise.
[[nodiscard]] std::variant<std::map<std::string, std::vector<Edit>>, std::string> rename(
    const Place& place, const std::string& name);

/// Of a diagram: its canonical text; nothing where it has syntax errors, or for other texts.
[[nodiscard]] std::optional<std::string> formatted(const Place& place);

}  // namespace napkin::lsp
