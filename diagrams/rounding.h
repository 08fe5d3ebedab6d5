// Quotients rounded up.
#pragma once

#include <cstdint>

namespace napkin {

[[nodiscard]] constexpr std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}
/// The least multiple of `unit` that is not below `extent`.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t extent, std::int64_t unit) {
    return ceil_quotient(extent, unit) * unit;
}

}  // namespace napkin
