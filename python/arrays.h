// NumPy's arrays as tensors, and back.
#pragma once

#include <nanobind/ndarray.h>

#include "diagrams/npy.h"
#include "python/answers.h"

namespace napkin::python {

/// What Python gives for an input: its values as doubles, and what sort of number they were.
struct GivenArray {
    std::string name;
    std::string descr;  ///< NumPy's name of the type, `<f4`
    NpyContent::Kind kind = NpyContent::Kind::Floating;
    nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu> values;
};

/// The inputs of a derivation, every one but parameters; refuses others, and wrong ones.
[[nodiscard]] Tensors tensors_of(const Derivation& derivation,
                                 const std::vector<GivenArray>& given);
/// An array of NumPy with a tensor's values, which it owns.
[[nodiscard]] nanobind::object array_of(const Tensor& tensor);

}  // namespace napkin::python
