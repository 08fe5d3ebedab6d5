// From files to a derivation state: read, check, apply sizes, replay.
#pragma once

#include <string>

#include "cli/commands.h"
#include "derive/state.h"
#include "diagrams/check.h"

namespace napkin::cli {

/// A text added to the source map, by its index there.
[[nodiscard]] Result<std::uint32_t> load_text(SourceMap& sources, const std::string& path);

/// `--set` as sizes; a later one wins.
[[nodiscard]] Result<Sizes> sizes_of_sets(const std::vector<std::string>& sets);

/// The diagram of a text in the source map at the given sizes, with the axes of `--dynamic` at run
/// time; warnings included.
[[nodiscard]] Result<Checked> check_text(Context& context, std::uint32_t file, const Sizes& sizes);
/// The diagram of FILE at the given sizes, warnings included.
[[nodiscard]] Result<Checked> load_checked(Context& context, const Sizes& sizes);

/// A derivation and where it starts.
struct Loaded {
    Diagram plain;
    State state;
    Sizes sizes;  ///< sizes that differ from the file's, by `set` or `--set`
};
/// The state that FILE, `--drv` and `--set` lead to; `--set` overrides the derivation's own `set`.
/// Warnings of the checker are printed.
[[nodiscard]] Result<Loaded> load_state(Context& context);

}  // namespace napkin::cli
