// What target sm_90a is tested on: diagrams with derivations at small ragged sizes, and how they
// are emitted.
#pragma once

#include <string>
#include <vector>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {

/// A product of [m, k] and [k, n], whose axes stand in these orders in memory.
[[nodiscard]] TensorWorkload group_product(const std::string& left, const std::string& right,
                                           const std::string& type, const std::string& tiles);
/// A product of what the warps compute from its left array first.
[[nodiscard]] TensorWorkload group_prologue(const std::string& left, const std::string& right,
                                            const std::string& computed, const std::string& tiles);
inline constexpr const char* kActivation = "N[m, k] = relu(A[{}] + g[k])";
inline constexpr const char* kCentred = "N[m, k] = layernorm[k](A[{}], g[k], g[k], 0.001)";
inline constexpr const char* kNorm = "N[m, k] = rmsnorm[k](A[{}], g[k], 0.001)";
/// Attention with this score, and with further lines before it.
[[nodiscard]] TensorWorkload group_attention(const std::string& name, const std::string& score,
                                             const std::string& extra, Sizes sizes,
                                             const std::string& derivation);

[[nodiscard]] std::vector<TensorWorkload> group_workloads();

}  // namespace napkin::test
