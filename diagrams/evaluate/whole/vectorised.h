// What whole arrays take most time for, by Eigen with the vector instructions that this processor
// has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace napkin::evaluation {

/// A matrix: row-major, or its transpose is.
struct MatrixView {
    const double* values = nullptr;
    bool transposed = false;
};
struct ProductShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t depth = 0;
};
/// out = left * right; `out` is row-major and overlaps neither.
void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out);
/// exp of every value, to a few units in the last place.
void exponentials(const double* values, std::size_t count, double* out);
/// Multiplications a second and thread, about.
[[nodiscard]] double multiplication_rate();

}  // namespace napkin::evaluation
