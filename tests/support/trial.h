// One trial of the property that every derivation computes what its diagram does, as plain text, so
// that a failure can be made smaller and written to files that reproduce it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "tests/support/coverage.h"

namespace napkin::test {

/// How far a trial goes: its tile program is run; its derivation is proved too; and the proof's
/// certificate is verified.
enum class Depth { Execute, Prove, Verify };

struct Trial {
    std::string diagram;             ///< an .ncd text
    std::vector<std::string> steps;  ///< lines of a .drv; those that are refused are left out
    std::uint64_t seed = 1;          ///< of the input values
};

/// A random diagram, or the one given, and commands drawn along its derivation.
[[nodiscard]] Trial random_trial(std::uint32_t seed, int steps,
                                 const std::optional<std::string>& diagram = std::nullopt);

/// What is wrong: that a rule threw, that the derived diagram or its tile program computes another
/// value than the plain one, that something is written twice or never, that counting without
/// values counts otherwise, that the derivation is not proved, or that its certificate does not
/// verify. nullopt where all is well. Outputs of which rung 2 says nothing, because nothing is
/// visible there, are counted and not wrong.
[[nodiscard]] std::optional<std::string> failure_of(const Trial& trial,
                                                    Depth depth = Depth::Execute,
                                                    Coverage* coverage = nullptr);

/// The trial with steps, lines and sizes taken away for as long as it fails.
[[nodiscard]] Trial smaller(Trial trial, const std::function<bool(const Trial&)>& fails);
/// Makes a failed trial smaller, writes it to two files in the temporary folder, and says what is
/// wrong and how to see it again.
[[nodiscard]] std::string report_failure(const Trial& trial, Depth depth = Depth::Execute);

}  // namespace napkin::test
