// Compares what was computed with the reference, element by element, within derived bounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/error_bounds.h"
#include "diagrams/relabelling.h"

namespace napkin::cli {

/// How one output compares.
struct OutputReport {
    std::string name;
    double max_abs_error = 0;
    double rel_frobenius = 0;
    double tolerance = 0;  ///< the largest error that any compared element was allowed
    bool ok = true;        ///< every compared element is within its own bound
    std::int64_t compared = 0;
    std::int64_t elements = 0;
    std::int64_t undecided = 0;  ///< elements that rounding may turn into anything (ties)
    std::string worst;           ///< the element that is worst off, `O[0, 3, 17] is ..., not ...`
};

struct Validation {
    std::vector<OutputReport> outputs;
    bool sampled = false;
    [[nodiscard]] bool ok() const;
};

struct ValidationOptions {
    StoredTypes stored;
    Precision precision = kSingle;
    std::uint64_t seed = 1;
    /// Elements that reference evaluation may visit; above it elements are sampled.
    double work = 3e7;
};

/// Compares all outputs. Sampled elements are corners, edges of groups and chunks, and random ones.
[[nodiscard]] Validation validate(const Diagram& diagram, const Relabelling& relabelling,
                                  const Tensors& inputs, const Tensors& outputs,
                                  const ValidationOptions& options);
/// Types that kernels round to where the reference does not: arrays kept between regions, wires
/// that were retyped.
[[nodiscard]] StoredTypes stored_types(const Diagram& diagram, const Relabelling& relabelling);
/// Elements that evaluating the whole diagram visits.
[[nodiscard]] double work_of(const Diagram& diagram);
/// Whether some output depends on an opaque box, and so has no values.
[[nodiscard]] bool has_values(const Diagram& diagram);

}  // namespace napkin::cli
