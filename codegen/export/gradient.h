// How an exported program of gradients is called with what another one read and wrote: names say
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "codegen/export/contract.h"
#include "diagrams/result.h"

namespace napkin::exporting {

/// An input of the gradient's program: an input or an output of the other, by its name, or of an
/// output `O` the gradient, `dO`.
struct GradientOperand {
    enum class Kind { Input, Output, Gradient };
    Kind kind = Kind::Input;
    std::size_t number = 0;  ///< among the other's inputs or outputs
};

struct GradientCall {
    std::string name;
    std::vector<GradientOperand> operands;
    /// Of each input of the other: which output is its gradient; none for integers.
    std::vector<std::optional<std::size_t>> results;
};

/// A diagnostic where names, types, axes or sizes disagree, or where an input has no gradient.
[[nodiscard]] Result<GradientCall> match_gradient(const Contract& forward,
                                                  const Contract& gradient);

}  // namespace napkin::exporting
