// Random index expressions and conditions over given leaves, and their values by plain evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::test {

class RandomIndex {
public:
    RandomIndex(std::uint64_t seed, std::vector<Expression> leaves)
        : random_(seed), leaves_(std::move(leaves)) {}

    [[nodiscard]] Expression condition(int depth);
    [[nodiscard]] Expression index(int depth);
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

private:
    std::mt19937_64 random_;
    std::vector<Expression> leaves_;
};

/// The value of an expression where each axis has an index, and each integer array elements.
struct IndexPoint {
    const std::vector<Axis>& axes;
    std::map<AxisId, std::int64_t> at;
    std::map<ArrayId, std::vector<std::int64_t>> elements;  ///< of arrays of one axis
};
[[nodiscard]] double value_at(const IndexPoint& point, const Expression& expression);

}  // namespace napkin::test
