// Sixels: bands of six rows of pixels, a colour after another, as terminals show them since the
// VT240.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace napkin::cli {

/// Red, green and blue.
using Pixel = std::array<std::uint8_t, 3>;
struct Pixels {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<Pixel> rows;  ///< from the top left, row by row
};
/// A PNG that was made here; throws where it is none.
[[nodiscard]] Pixels pixels_of(const std::string& png);

/// In at most 256 colours: the most frequent ones, each other pixel in the nearest of them.
[[nodiscard]] std::string to_sixels(const Pixels& pixels);

}  // namespace napkin::cli
