// Which elements of a run are compared with the reference: all of them where that is affordable.
#pragma once

#include <cstdint>
#include <vector>

#include "diagrams/compare.h"

namespace napkin::cli {

struct Validation {
    std::vector<Comparison> outputs;
    [[nodiscard]] bool ok() const;
    [[nodiscard]] bool sampled() const;
};

/// Compares all outputs. Where the reference would visit too many elements, some are sampled:
/// corners, edges of groups and chunks, where masks begin and end, and random ones. A diagnostic
/// where even one element is too much.
[[nodiscard]] Result<Validation> validate(const Diagram& diagram, const Relabelling& relabelling,
                                          const Tensors& inputs, const Tensors& outputs,
                                          const Precision& precision, std::uint64_t seed);
/// Elements that evaluating the whole diagram visits.
[[nodiscard]] double work_of(const Diagram& diagram);
/// Whether every statement has a meaning: an opaque box has none.
[[nodiscard]] bool has_values(const Diagram& diagram);

}  // namespace napkin::cli
