// Which elements of a run are compared with the reference: all of them where that is affordable.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/state.h"
#include "diagrams/compare.h"

namespace napkin::cli {

struct Validation {
    std::vector<Comparison> outputs;
    [[nodiscard]] bool ok() const;
    /// The worst of any output.
    [[nodiscard]] Verdict verdict() const;
    /// Whether other inputs could judge more of an output.
    [[nodiscard]] bool undecided() const;
    /// Takes the outputs of which another validation of them judged more.
    void take_judged(const Validation& other);
    [[nodiscard]] bool sampled() const;
};

/// Compares all outputs of what `state` computed with the plain diagram that it was derived from,
/// whatever rules rewrote; inputs and outputs are the plain diagram's. Where even the fast
/// reference would take more than `most_seconds`, some are sampled: corners, edges of groups and
/// chunks, where masks begin and end, and random ones. An output of which even one element is too
/// much is left unchecked.
[[nodiscard]] Validation validate(const Diagram& plain, const State& state, const Tensors& inputs,
                                  const Tensors& outputs, const Precision& precision,
                                  std::uint64_t seed, double most_seconds);
/// Of every output of the diagram, that it was not compared.
[[nodiscard]] Validation left_unchecked(const Diagram& plain);
/// Whether every statement has a meaning: an opaque box has none.
[[nodiscard]] bool has_values(const Diagram& diagram);

}  // namespace napkin::cli
