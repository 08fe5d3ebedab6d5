// Tensors in NumPy's `.npy` files: C order, little endian.
#pragma once

#include <string>

#include "diagrams/evaluate.h"

namespace napkin::cli {

/// The tensor of a file, its values rounded to the array's type; a diagnostic where shape or type
/// are another or the file is damaged. Dimensions stand in the order of Array::axes.
[[nodiscard]] Result<Tensor> read_npy(const std::string& path, const Diagram& diagram,
                                      ArrayId array);
/// The file's bytes: f32 for reals, the type itself for integers and booleans.
[[nodiscard]] std::string npy_bytes(const Tensor& tensor, ElementType type);

}  // namespace napkin::cli
