// JSON of what several subcommands print. Members keep the order in which they are added.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::cli {

using Json = nlohmann::ordered_json;

/// `{code, severity, message, file, line, column, help}`; the place only where there is one.
[[nodiscard]] Json to_json(const Diagnostic& diagnostic, const SourceMap& sources);
[[nodiscard]] Json to_json(const Diagnostics& diagnostics, const SourceMap& sources);
/// `{ok: false, errors: [...]}`: what `--json` prints where a command could not do its work.
[[nodiscard]] std::string json_of_failure(const Diagnostics& diagnostics, const SourceMap& sources);
/// Indented text that ends in a newline, lists of numbers and words on one line; bytes that are no
/// UTF-8 are replaced.
[[nodiscard]] std::string text_of(const Json& json);

}  // namespace napkin::cli
