// Whether one diagram computes the gradients of another, by differences of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "diagrams/diagram.h"

namespace napkin {

/// Along one random direction: what the gradient says the forward diagram changes by, and what it
/// changes by. With one cotangent `dO` for every output `O` whose gradient is read, the scalar is
/// the sum of `dO * O`, and other outputs are constants.
struct GradientSlope {
    std::string input;    ///< the input whose elements move
    double claimed = 0;   ///< sum of `dX` times the direction
    double measured = 0;  ///< by central differences
    double size = 1;      ///< about that of the inputs' elements
    /// Parameters away from their defaults, and integer inputs that are often this number.
    std::map<std::string, double> chosen = {};
};

struct GradientCheck {
    /// Differs where a slope is wrong, or no number where the forward diagram's is one; undecided
    /// where no input has a gradient, or some input's differences tell nothing, as on the edge of a
    /// `max` or where outputs are infinite.
    enum class Verdict { Agrees, Differs, Undecided };
    Verdict verdict = Verdict::Agrees;
    std::optional<GradientSlope> slope;  ///< of what differs, or is undecided
};

/// Compares the outputs `dX` of `backward` with differences of `forward`, in double precision and
/// without what either rounds: of normal inputs, and, of small diagrams, of inputs a thousandth to
/// a thousand in size and near the numbers that either diagram compares something with, of integers
/// that are what they are compared with, and at parameters away from their defaults. `backward`
/// reads, by name, inputs `X` and outputs `O` of `forward` and gradients `dO`; what has one name
/// has the same extents, else nothing is decided. A diagnostic where values break a contract of
/// either.
[[nodiscard]] Result<GradientCheck> check_gradient(const Diagram& forward, const Diagram& backward,
                                                   std::uint64_t seed);

}  // namespace napkin
