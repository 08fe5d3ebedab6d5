// How a tile lies in shared memory for the tensor core: codegen/prelude/matrix.cuh in numbers that
// lowering needs. A test compares the two.
#pragma once

#include <cstdint>

namespace napkin {

/// Rows are whole units of 16 bytes, which is what the instructions move.
inline constexpr std::int64_t kMatrixUnitBytes = 16;

/// Whether a row of so many elements can be a row of a `Matrix`.
[[nodiscard]] constexpr bool is_matrix_row(std::int64_t columns, std::int64_t element_bytes) {
    return columns > 0 && columns * element_bytes % kMatrixUnitBytes == 0;
}
/// Bytes that a `Matrix` occupies; it starts at a multiple of kMatrixUnitBytes.
[[nodiscard]] constexpr std::int64_t matrix_bytes(std::int64_t rows, std::int64_t columns,
                                                  std::int64_t element_bytes) {
    return rows * columns * element_bytes;
}

}  // namespace napkin
