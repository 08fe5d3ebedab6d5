// A search as the arguments ask for it, and what it found as JSON.
#pragma once

#include "cli/commands.h"
#include "cli/json.h"
#include "search/search.h"

namespace napkin::cli {

/// Of the plain diagram, `--top` derivations that `--target` serves where one is named; as found by
/// the deadline.
[[nodiscard]] Result<SearchResult> search_as_asked(const Arguments& arguments, const Diagram& plain,
                                                   const Machine& machine, Told told,
                                                   const Deadline& deadline);
/// `fuse all; stream x by 64 at l1`.
[[nodiscard]] std::string commands_text(const std::vector<Command>& commands);
/// What `search --json` prints.
[[nodiscard]] Json json_of(const Diagram& plain, const SearchResult& result,
                           const Machine& machine);

}  // namespace napkin::cli
