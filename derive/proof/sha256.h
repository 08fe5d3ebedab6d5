// SHA-256 (FIPS 180-4), for the hashes of certificates.
#pragma once

#include <string>
#include <string_view>

namespace napkin::proof {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view text);

}  // namespace napkin::proof
