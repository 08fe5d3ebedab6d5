// What is wrong, as a person reads it, for the messages of tests.
#pragma once

#include <string>

#include "diagrams/check.h"

namespace napkin::test {

inline std::string rendered(const Diagnostics& diagnostics, const SourceMap& sources) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics.list) text += render(diagnostic, sources);
    return text;
}

}  // namespace napkin::test
