// How far floating-point arithmetic may be from the real result of one operation, given how far its
// arguments are: running error analysis.
#pragma once

#include <cstdint>
#include <span>

#include "diagrams/expression.h"

namespace napkin::cli {

/// The arithmetic that is judged.
struct Precision {
    double roundoff = 0x1p-24;
    double smallest = 0x1p-126;  ///< what is below may be flushed to zero
};
inline constexpr Precision kSingle{};
inline constexpr Precision kDouble{0x1p-53, 0x1p-1022};

/// A value in double precision, and a bound on how far a kernel's value is from it.
struct Bounded {
    double value = 0;
    double error = 0;
};

/// A function of the language. Select takes three arguments and adds the branches' distance where
/// the condition itself is uncertain.
[[nodiscard]] Bounded apply_bounded(const Precision& precision, Function function,
                                    std::span<const Bounded> arguments);
/// Rounding that the reference does too: the largest step that an argument's error can cause.
[[nodiscard]] Bounded round_both(ElementType type, Bounded argument);
/// Rounding that only the kernel does, where it keeps a value in a narrower type.
[[nodiscard]] Bounded round_kernel(ElementType type, Bounded argument);
/// What summing `count` values of absolute sum `magnitude` adds, in any order and with repairs
/// between chunks: the probabilistic bound of Higham and Mary (SIAM J. Sci. Comput. 41, 2019),
/// whose error grows with the root of the length.
[[nodiscard]] double summation_error(const Precision& precision, std::int64_t count,
                                     double magnitude);

}  // namespace napkin::cli
