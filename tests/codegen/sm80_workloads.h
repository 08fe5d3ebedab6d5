// What target sm_80 is tested on: diagrams with derivations at small ragged sizes, with the reason
// where it refuses one.
#pragma once

#include <cstdint>
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
/// Of random operations on rows that begin at no multiple of a vector, where the rows of all arrays
/// do alike and where they do not. They are of no list.
[[nodiscard]] std::vector<TensorWorkload> odd_row_workloads(std::uint64_t seed, int count);
[[nodiscard]] std::vector<TensorWorkload> tile_axis_workloads();
/// All of them.
[[nodiscard]] std::vector<TensorWorkload> tensor_workloads();

}  // namespace napkin::test
