// What must hold of every text, however broken: shared by the seeded test and the fuzzer.
#pragma once

#include <string>

namespace napkin::test {

/// Empty where the text behaves: reading it gives messages that point into it, or a tree whose
/// printed form reads back as the same tree and prints the same. Otherwise what went wrong.
[[nodiscard]] std::string parse_property_failure(const std::string& text);

}  // namespace napkin::test
