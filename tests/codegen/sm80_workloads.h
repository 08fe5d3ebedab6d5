// What target sm_80 is tested on: diagrams with derivations at small ragged sizes, with the reason
// where it refuses one.
#pragma once

#include <string>
#include <vector>

#include "diagrams/formula.h"

namespace napkin::test {

struct TensorWorkload {
    std::string name;
    std::string diagram;  ///< a text, or the name of an example
    Sizes sizes;
    std::string derivation;
    std::string refused = {};  ///< a part of the message; empty where it runs
    /// Other sizes for the same kernels, made with run-time sizes.
    std::vector<Sizes> others = {};
    /// Compiled for every machine of the target, not for one only.
    bool everywhere = false;
};

[[nodiscard]] std::vector<TensorWorkload> product_workloads();
[[nodiscard]] std::vector<TensorWorkload> attention_workloads();
[[nodiscard]] std::vector<TensorWorkload> row_workloads();
[[nodiscard]] std::vector<TensorWorkload> ordered_workloads();
[[nodiscard]] std::vector<TensorWorkload> tile_axis_workloads();
/// All of them.
[[nodiscard]] std::vector<TensorWorkload> tensor_workloads();

}  // namespace napkin::test
