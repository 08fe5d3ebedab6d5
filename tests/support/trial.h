// One trial of the property that every derivation computes what its diagram does, as plain text, so
// that a failure can be made smaller and written to files that reproduce it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"

namespace napkin::test {

/// How often each rule applied and was refused, and each monoid was folded in what was executed; a
/// property over derivations that never reaches something shows nothing about it.
struct Coverage {
    std::map<std::string, int> applied;
    std::map<std::string, int> refused;
    std::map<std::string, int> monoids;
    void operator+=(const Coverage& other);
    /// One line each: `split-stream  412 applied, 1033 refused`.
    [[nodiscard]] std::string text() const;
};

struct Trial {
    std::string diagram;             ///< an .ncd text
    std::vector<std::string> steps;  ///< lines of a .drv; those that are refused are left out
    std::uint64_t seed = 1;          ///< of the input values
};

/// A random diagram, or the one given, and commands drawn along its derivation.
[[nodiscard]] Trial random_trial(std::uint32_t seed, int steps,
                                 const std::optional<std::string>& diagram = std::nullopt);

/// What is wrong: that a rule threw, that the derived diagram or its tile program computes another
/// value than the plain one, that something is written twice or never, or that counting without
/// values counts otherwise. nullopt where all is well.
[[nodiscard]] std::optional<std::string> failure_of(const Trial& trial,
                                                    Coverage* coverage = nullptr);

/// The trial with steps, lines and sizes taken away for as long as it fails.
[[nodiscard]] Trial smaller(Trial trial, const std::function<bool(const Trial&)>& fails);
/// Makes a failed trial smaller, writes it to two files in the temporary folder, and says what is
/// wrong and how to see it again.
[[nodiscard]] std::string report_failure(const Trial& trial);

}  // namespace napkin::test
