// Systems of linear inequalities over integers, decided by elimination (Fourier and Motzkin).
//
// A system that is found infeasible has no solution. The converse does not hold: elimination is
// over the rationals with rounding of each inequality to whole numbers, and gives up ("feasible")
// where the system grows too large or a number overflows. So it proves, and never proves wrongly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace napkin::checking {

/// constant + sum of factor * variable.
struct Linear {
    std::map<int, std::int64_t> factors;  ///< no zeros
    std::int64_t constant = 0;
    auto operator<=>(const Linear&) const = default;
};

[[nodiscard]] Linear constant_form(std::int64_t value);
[[nodiscard]] Linear variable_form(int variable);
/// a + factor * b; nullopt where a number overflows.
[[nodiscard]] std::optional<Linear> add_scaled(const Linear& a, const Linear& b,
                                               std::int64_t factor);
/// Each is at most zero.
using System = std::vector<Linear>;

[[nodiscard]] bool infeasible(System system);

/// Bounds of one variable over the solutions; an end is absent where none was found.
struct Bounds {
    std::optional<std::int64_t> low;
    std::optional<std::int64_t> high;
};
/// nullopt when the system is infeasible.
[[nodiscard]] std::optional<Bounds> bounds_of(System system, int variable);

}  // namespace napkin::checking
