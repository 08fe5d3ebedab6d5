// NumPy's arrays as tensors, and its `.npy` files, as `--input` and `--output` of the command line
// take and give them.
#pragma once

#include <string>

#include "diagrams/evaluate.h"

namespace napkin {

/// The kinds of number that are written; more are read (see `read_npy`).
enum class NpyType { F4, F8, I4, I8, B1 };

/// What a file holds: numbers in C order, and what sort of number they were.
struct NpyContent {
    Tensor tensor;
    std::string descr;  ///< NumPy's name of the type, `<f4`
    enum class Kind { Floating, Integer, Boolean } kind = Kind::Floating;
};

/// Reads f2 f4 f8, i1 to i8, u1 to u8 and b1 of either byte order, C or Fortran order, format
/// versions 1 to 3.
[[nodiscard]] Result<NpyContent> read_npy(const std::string& path);
/// Values for an input of a diagram, of which messages say `name`: the shape must be the array's
/// (in the order of Array::axes), floating for floating, integers for integers, booleans for
/// booleans; rounded to the wire's type.
[[nodiscard]] Result<Tensor> input_of(const Diagram& diagram, ArrayId array, NpyContent content,
                                      const std::string& name);
/// The same from a file.
[[nodiscard]] Result<Tensor> read_input(const Diagram& diagram, ArrayId array,
                                        const std::string& path);

/// A file's bytes: C order, format version 1.
[[nodiscard]] std::string npy_bytes(const Tensor& tensor, NpyType type);
/// The narrowest written type that holds every value of an element type.
[[nodiscard]] NpyType npy_type_for(ElementType type);

}  // namespace napkin
