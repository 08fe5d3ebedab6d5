// Values for the inputs of a diagram: random ones for validation, and the check of given ones.
//
// Random values come from integer arithmetic alone (sums of uniform numbers instead of logarithms
// and cosines), so that every machine has the same. Integers are chosen by how the diagram uses
// them: an array that indexes an axis holds indices; one that is compared with an axis holds
// positions (or lengths, up to and including the size, where the comparison orders); arrays
// compared with each other hold document numbers, small and non-decreasing along their last axis.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "diagrams/evaluate.h"
#include "diagrams/evaluate/messages.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

/// How a diagram uses an input.
struct Use {
    std::int64_t positions = 0;  ///< the largest size of an axis it is compared with, or 0
    bool ordered = false;        ///< by `<` and the like, so that the size itself is a value
    bool document = false;       ///< compared with another array or another element
    bool positive = false;       ///< under a root or logarithm, or a divisor
};
using Uses = std::map<ArrayId, Use>;

bool is_ordering(Function function) {
    return function == Function::Less || function == Function::LessEqual ||
           function == Function::Greater || function == Function::GreaterEqual;
}

void note_comparison(const Diagram& diagram, const Apply& call, Uses& uses) {
    for (std::size_t side = 0; side < 2; ++side) {
        const Expression& other = call.arguments[1 - side];
        std::set<AxisId> other_axes;
        walk(other, [&](const Expression& part) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
                other_axes.insert(index->axis);
        });
        const bool reads_other = !arrays_read(other).empty();
        for (const ArrayId array : arrays_read(call.arguments[side])) {
            Use& use = uses[array];
            use.ordered = use.ordered || is_ordering(call.function);
            use.document = use.document || reads_other;
            if (reads_other) continue;
            for (const AxisId axis : other_axes)
                use.positions = std::max(use.positions, diagram[axis].extent);
        }
    }
}

void note_expression(const Diagram& diagram, const Expression& expression, Uses& uses) {
    walk(expression, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr) return;
        if (is_ordering(call->function) || call->function == Function::Equal ||
            call->function == Function::NotEqual)
            note_comparison(diagram, *call, uses);
        const bool root = call->function == Function::Log || call->function == Function::Sqrt ||
                          call->function == Function::Rsqrt || call->function == Function::Divide;
        const Read* element = std::get_if<Read>(&call->arguments.back().node);
        if (root && element != nullptr) uses[element->array].positive = true;
    });
}

Uses uses_of(const Diagram& diagram) {
    Uses uses;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            note_expression(diagram, *expression, uses);
    return uses;
}

/// Up to four documents in every row of the last axis, the first starting at 0.
void fill_documents(Tensor& tensor, Random& random) {
    const std::int64_t row = tensor.extents.empty() ? 1 : tensor.extents.back();
    for (std::size_t start = 0; start < tensor.values.size();
         start += static_cast<std::size_t>(row)) {
        std::array<std::int64_t, 3> ends{};
        for (std::int64_t& end : ends) end = random.below(row) + 1;
        for (std::int64_t at = 0; at < row; ++at)
            tensor.values[start + static_cast<std::size_t>(at)] = static_cast<double>(std::count_if(
                ends.begin(), ends.end(), [&](std::int64_t end) { return at >= end; }));
    }
}

double random_integer(const Diagram& diagram, const Array& array, const Use& use, Random& random) {
    if (array.type == ElementType::Bool) return static_cast<double>(random.below(2));
    if (array.indexes) return static_cast<double>(random.below(diagram[*array.indexes].extent));
    if (use.positions > 0)
        return static_cast<double>(random.below(use.positions + (use.ordered ? 1 : 0)));
    return round_to(array.type, static_cast<double>(random.below(17) - 8));
}

Tensor random_tensor(const Diagram& diagram, ArrayId id, const Use& use, Random& random,
                     double scale) {
    const Array& array = diagram[id];
    Tensor tensor = make_tensor(diagram, id);
    const bool integer = !is_floating(array.type);
    const bool document = use.document && use.positions == 0 && !array.indexes;
    if (integer && document && array.type != ElementType::Bool) {
        fill_documents(tensor, random);
        return tensor;
    }
    for (double& value : tensor.values) {
        value = integer ? random_integer(diagram, array, use, random)
                        : round_to(array.type, scale * random.normal());
        if (!integer && use.positive)
            value = std::max(std::abs(value), round_to(array.type, scale * 0x1p-6));
    }
    return tensor;
}

std::string place_text(const Tensor& tensor, std::size_t at) {
    std::vector<std::int64_t> index(tensor.extents.size());
    auto rest = static_cast<std::int64_t>(at);
    for (std::size_t dimension = index.size(); dimension-- > 0;) {
        index[dimension] = rest % tensor.extents[dimension];
        rest /= tensor.extents[dimension];
    }
    return messages::shape_text(index);
}

std::optional<Diagnostic> check_values(const Diagram& diagram, ArrayId id, const Tensor& tensor) {
    const Array& array = diagram[id];
    if (is_floating(array.type)) return std::nullopt;
    const std::int64_t limit = array.indexes ? diagram[*array.indexes].extent : 0;
    for (std::size_t at = 0; at < tensor.values.size(); ++at) {
        const double value = tensor.values[at];
        if (round_to(array.type, value) != value)
            return messages::wrong_value(diagram, id, place_text(tensor, at), value);
        if (array.indexes && (value < 0 || value >= static_cast<double>(limit)))
            return messages::index_value_out_of_range(diagram, id, place_text(tensor, at), value);
    }
    return std::nullopt;
}

}  // namespace

Tensors random_inputs(const Diagram& diagram, std::uint64_t seed, double scale) {
    const Uses uses = uses_of(diagram);
    Tensors inputs;
    std::uint64_t ordinal = 0;
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const Array& array = diagram[id];
        if (array.role == ArrayRole::Parameter && array.value) {
            Tensor tensor = make_tensor(diagram, id);
            tensor.values.assign(tensor.values.size(), round_to(array.type, *array.value));
            inputs.emplace(id, std::move(tensor));
        } else if (array.role == ArrayRole::Input || array.role == ArrayRole::Parameter) {
            // Each input has a stream of its own, so that adding one leaves the others as they are.
            Random random(Random(seed + 0x632be59bd9b4e019 * ++ordinal).next());
            const auto use = uses.find(id);
            inputs.emplace(id, random_tensor(diagram, id, use == uses.end() ? Use{} : use->second,
                                             random, scale));
        }
    }
    return inputs;
}

std::optional<Diagnostic> check_inputs(const Diagram& diagram, const Tensors& inputs) {
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const Array& array = diagram[id];
        const bool parameter = array.role == ArrayRole::Parameter;
        if (array.role != ArrayRole::Input && !parameter) continue;
        const auto given = inputs.find(id);
        if (given == inputs.end()) {
            if (parameter && array.value) continue;
            return messages::missing_input(diagram, id);
        }
        std::vector<std::int64_t> extents;
        std::int64_t size = 1;
        for (const AxisId axis : array.axes) {
            extents.push_back(diagram[axis].extent);
            size *= diagram[axis].extent;
        }
        if (given->second.extents != extents ||
            static_cast<std::int64_t>(given->second.values.size()) != size)
            return messages::wrong_shape(diagram, id, given->second.extents);
        if (std::optional<Diagnostic> problem = check_values(diagram, id, given->second))
            return problem;
    }
    return std::nullopt;
}

}  // namespace napkin
