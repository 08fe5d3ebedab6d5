// The reference meaning: slow, obvious, double precision, element by element on demand. It knows
// nothing of regions, groups or streams; every other way of computing a diagram is compared with
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin {

/// A dense array of numbers, dimensions in the order of Array::axes whatever its memory layout;
/// integers and booleans are exact in double.
struct Tensor {
    std::vector<std::int64_t> extents;
    std::vector<double> values;
    bool operator==(const Tensor&) const = default;
    [[nodiscard]] std::int64_t offset(std::span<const std::int64_t> index) const;
};
/// An all-zero tensor of an array's extents.
[[nodiscard]] Tensor make_tensor(const Diagram& diagram, ArrayId array);

/// Values of the input arrays and parameters, already rounded to the wires' types.
using Tensors = std::map<ArrayId, Tensor>;

/// What an Evaluator throws where values break a contract (an index out of range, an input missing)
/// or nothing can be computed (an opaque box); `evaluate_outputs` returns the diagnostic instead.
class ContractError : public std::runtime_error {
public:
    explicit ContractError(Diagnostic found)
        : std::runtime_error(found.message), diagnostic(std::move(found)) {}
    Diagnostic diagnostic;
};

/// Evaluates elements on demand; results are kept, so that asking twice costs once.
class Evaluator {
public:
    /// Both must outlive the evaluator. A parameter that `inputs` lacks has its default; another
    /// input that it lacks is missed only when an element needs it.
    Evaluator(const Diagram& diagram, const Tensors& inputs);
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    /// One element of any array.
    [[nodiscard]] double element(ArrayId array, std::span<const std::int64_t> index);
    /// Several elements by their row-major offsets; faster than one by one.
    [[nodiscard]] std::vector<double> elements(ArrayId array,
                                               std::span<const std::int64_t> offsets);
    /// A whole array.
    [[nodiscard]] Tensor array(ArrayId array);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// All outputs; a diagnostic where an input breaks its contract.
[[nodiscard]] Result<Tensors> evaluate_outputs(const Diagram& diagram, const Tensors& inputs);
/// A diagnostic for the first input value out of its contract (an index outside its axis), if any.
[[nodiscard]] std::optional<Diagnostic> check_inputs(const Diagram& diagram, const Tensors& inputs);

/// Arithmetic of the language on doubles: one scalar function, with the conventions for -inf and
/// 0/0 (`diagrams/evaluate/arithmetic.h`). Shared by every evaluator, so that they cannot differ.
[[nodiscard]] double apply_function(Function function, std::span<const double> arguments);

/// Random inputs for validation: floating arrays N(0, scale) rounded to their types, indices in
/// range, booleans, lengths between 0 and the size they are compared with, and the numbers that
/// others are; the same seed gives the same values on every machine.
[[nodiscard]] Tensors random_inputs(const Diagram& diagram, std::uint64_t seed, double scale = 1.0);

}  // namespace napkin
