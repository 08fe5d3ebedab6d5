// Wires that go up or down between the same two columns of a terminal, each in a column of its own.
// One that arrives at the row which another leaves would lie on it, unless that one turns first.
#pragma once

#include <cstddef>
#include <vector>

namespace napkin::drawing {

/// The rows that a wire leaves and arrives at.
struct Turn {
    int from = 0;
    int to = 0;
};

/// Where a wire turns among the others.
struct TurnPlace {
    std::vector<std::size_t> after{};  ///< those that turn left of it
    int left = 0;                      ///< how many have to, one after another
    int right = 0;                     ///< likewise right of it
};
/// Of wires that wait for each other one does not.
[[nodiscard]] std::vector<TurnPlace> places_of(const std::vector<Turn>& turns);

}  // namespace napkin::drawing
