// Counts as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace napkin {

/// `1,234,567`.
[[nodiscard]] inline std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value < 0 ? -value : value);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return value < 0 ? "-" + digits : digits;
}

}  // namespace napkin
