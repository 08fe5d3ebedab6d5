// What GPUs offer a kernel, by their architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/result.h"

namespace napkin {

struct Architecture {
    std::string name;                ///< `sm_90`
    int capability = 0;              ///< ten times the compute capability
    std::int64_t shared_memory = 0;  ///< bytes that one block may opt in to
};

/// `sm_86`, or with the letter of a variant `sm_90a`; another name is a diagnostic.
[[nodiscard]] Result<Architecture> find_architecture(const std::string& name);
[[nodiscard]] std::vector<std::string> architecture_names();
/// Ten times the least compute capability that runs a target's kernels.
[[nodiscard]] int least_capability(const std::string& target);
/// The oldest that NVRTC and nvcc compile for, ten times the compute capability: of CUDA 13.
inline constexpr int kLeastCompiled = 75;
/// The oldest architecture that a target's kernels are compiled for and run on.
[[nodiscard]] std::string least_compiled(const std::string& target);
/// Whether no later architecture than its own runs a target's kernels.
[[nodiscard]] bool runs_there_alone(const std::string& target);
/// Whether kernels of a target run there.
[[nodiscard]] bool runs_on(const std::string& target, const Architecture& architecture);

}  // namespace napkin
