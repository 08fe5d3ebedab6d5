// Diagrams as text, derived and compared with direct evaluation.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "derive/derive_accumulator.h"
#include "diagrams/check.h"
#include "tests/separation/executor.h"

namespace napkin::test {

/// A checked diagram and one region of all its statements.
struct Loaded {
    Diagram diagram;
    Region region;
    AxisId axis;
};

[[nodiscard]] Loaded load(const std::string& body, const std::string& axis,
                          const Sizes& sizes = {});
[[nodiscard]] std::variant<Accumulator, NotApplicable> derive(const Loaded& loaded);
/// The reason of a refusal, or "accepted".
[[nodiscard]] std::string reason(const Loaded& loaded);

struct Agreement {
    double worst = 0;  ///< error relative to the largest magnitude of the array
    double largest_exponent = -1e300;
    std::string where;
};
/// Runs random chunkings over random inputs of the given scale.
[[nodiscard]] Agreement compare(const Loaded& loaded, const Accumulator& accumulator,
                                std::uint64_t seed, double scale, int runs);

}  // namespace napkin::test
