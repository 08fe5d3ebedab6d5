// How an array lies in memory: its dimensions, slowest first.
#pragma once

#include "diagrams/diagram.h"

namespace napkin {

/// The dimension (a position in `axes`) that is `place`-th in memory, slowest first.
[[nodiscard]] inline std::size_t dimension_at(const Array& array, std::size_t place) {
    return array.layout.empty() ? place : array.layout[place];
}
/// The dimension along which neighbours are neighbours in memory, of an array that has axes.
[[nodiscard]] inline std::size_t innermost_dimension(const Array& array) {
    return dimension_at(array, array.axes.size() - 1);
}

}  // namespace napkin
