// Exports of every kind: each is tested by its own self-test, in the emulator.
#pragma once

#include <vector>

#include "tests/export/exported.h"

namespace napkin::test {

[[nodiscard]] const std::vector<ExportExample>& export_examples();
/// Throws where there is none.
[[nodiscard]] const ExportExample& export_example(const std::string& name);

}  // namespace napkin::test
