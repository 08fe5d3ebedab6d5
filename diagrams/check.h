// From source trees to checked diagrams: names resolved, library operations expanded, reductions
// hoisted, weaves applied, types inferred, every access proved in bounds under its guards.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "diagrams/diagram.h"
#include "diagrams/syntax.h"

namespace napkin {

/// What checking gives: the diagram, and warnings (a mask that never holds, an unused axis).
struct Checked {
    Diagram diagram;
    Diagnostics warnings;
};

/// Checks a parsed file; `sizes` overrides axis sizes (`--set`), parameters likewise by name in
/// `parameters`.
[[nodiscard]] Result<Checked> check(const SourceMap& sources, const syntax::File& file,
                                    const Sizes& sizes = {});

/// Parses and checks one text, adding it to `sources`: the whole front end, for the command line
/// and tests.
[[nodiscard]] Result<Checked> load_diagram(SourceMap& sources, const std::string& name,
                                           const std::string& text, const Sizes& sizes = {});

/// The library of named operations, written in the language itself.
[[nodiscard]] const char* library_text();

}  // namespace napkin
