// The wording of what can be wrong with a `.npy` file.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagnostic.h"
#include "diagrams/diagram.h"

namespace napkin::messages {

/// E0511: a file that cannot be read, with the system's reason.
[[nodiscard]] Diagnostic cannot_read(const std::string& path, const std::string& reason);
/// E0512: not a NumPy file, or a damaged one.
[[nodiscard]] Diagnostic damaged_npy(const std::string& path, const std::string& reason);
/// E0513: numbers of a type that is not read.
[[nodiscard]] Diagnostic unsupported_npy_type(const std::string& path, const std::string& descr);
/// E0514: fewer or more bytes than the header promises.
[[nodiscard]] Diagnostic npy_length_differs(const std::string& path, std::size_t wanted,
                                            std::size_t found);
/// E0515: another shape than the array's.
[[nodiscard]] Diagnostic npy_shape_differs(const std::string& path, const Diagram& diagram,
                                           ArrayId array, const std::vector<std::int64_t>& found);
/// E0516: another kind of number than the array's.
[[nodiscard]] Diagnostic npy_kind_differs(const std::string& path, const Diagram& diagram,
                                          ArrayId array, const std::string& descr);
/// E0517: an integer too large to be kept exactly.
[[nodiscard]] Diagnostic npy_integer_too_large(const std::string& path);

}  // namespace napkin::messages
