#include "diagrams/evaluate.h"

#include <numeric>

#include "diagrams/evaluate/engine.h"

namespace napkin {

std::int64_t Tensor::offset(std::span<const std::int64_t> index) const {
    invariant(index.size() == extents.size(), "an index with a wrong number of dimensions");
    std::int64_t result = 0;
    for (std::size_t at = 0; at < index.size(); ++at) {
        invariant(index[at] >= 0 && index[at] < extents[at], "an index outside its tensor");
        result = result * extents[at] + index[at];
    }
    return result;
}

Tensor make_tensor(const Diagram& diagram, ArrayId array) {
    Tensor tensor;
    std::int64_t size = 1;
    for (const AxisId axis : diagram[array].axes) {
        tensor.extents.push_back(diagram[axis].extent);
        size *= diagram[axis].extent;
    }
    tensor.values.resize(static_cast<std::size_t>(size));
    return tensor;
}

struct Evaluator::State {
    State(const Diagram& diagram, const Tensors& inputs) : engine(diagram, inputs) {}
    evaluation::Engine engine;
};

Evaluator::Evaluator(const Diagram& diagram, const Tensors& inputs)
    : state_(std::make_unique<State>(diagram, inputs)) {}

Evaluator::~Evaluator() = default;

double Evaluator::element(ArrayId array, std::span<const std::int64_t> index) {
    Tensor shape;
    for (const AxisId axis : state_->engine.diagram()[array].axes)
        shape.extents.push_back(state_->engine.diagram()[axis].extent);
    const std::int64_t offset = shape.offset(index);
    double value = 0;
    state_->engine.request(array, {&offset, 1}, {&value, 1});
    return value;
}

std::vector<double> Evaluator::elements(ArrayId array, std::span<const std::int64_t> offsets) {
    std::vector<double> values(offsets.size());
    state_->engine.request(array, offsets, values);
    return values;
}

Tensor Evaluator::array(ArrayId array) {
    Tensor tensor = make_tensor(state_->engine.diagram(), array);
    std::vector<std::int64_t> offsets;
    const std::size_t size = tensor.values.size();
    for (std::size_t start = 0; start < size; start += evaluation::kLanes) {
        offsets.resize(std::min(evaluation::kLanes, size - start));
        std::iota(offsets.begin(), offsets.end(), static_cast<std::int64_t>(start));
        state_->engine.request(array, offsets,
                               std::span(tensor.values).subspan(start, offsets.size()));
    }
    return tensor;
}

Result<Tensors> evaluate_outputs(const Diagram& diagram, const Tensors& inputs) {
    if (const std::optional<Diagnostic> problem = check_inputs(diagram, inputs)) return *problem;
    Evaluator evaluator(diagram, inputs);
    Tensors outputs;
    try {
        for (const ArrayId output : outputs_of(diagram))
            outputs.emplace(output, evaluator.array(output));
    } catch (const ContractError& error) {
        return error.diagnostic;
    }
    return outputs;
}

}  // namespace napkin
