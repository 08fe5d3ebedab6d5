// The header of a `.npy` file: a magic string, a version, and a Python dictionary as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::npy {

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t data_begin = 0;  ///< byte at which the numbers start
};

/// Reads the header of a whole file's bytes; nullopt, with the reason in `problem`, where it is
/// damaged.
[[nodiscard]] std::optional<Header> parse_header(std::string_view bytes, std::string& problem);
/// A version 1 header, padded so that the numbers are aligned to 64 bytes.
[[nodiscard]] std::string print_header(std::string_view descr,
                                       const std::vector<std::int64_t>& shape);

}  // namespace napkin::npy
