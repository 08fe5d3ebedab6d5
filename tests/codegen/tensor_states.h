// The states of the workloads of target sm_80.
#pragma once

#include <filesystem>

#include "tests/codegen/sm80_workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {

/// The workload's derivation, at these sizes in place of its own.
inline State state_of(const TensorWorkload& workload, Sizes sizes = {}) {
    for (const auto& [axis, size] : workload.sizes) sizes.emplace(axis, size);
    const bool is_text = workload.diagram.find('{') != std::string::npos;
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    return derive(
        load(is_text ? workload.diagram : read_text(examples / (workload.diagram + ".ncd")), sizes),
        workload.derivation);
}

}  // namespace napkin::test
