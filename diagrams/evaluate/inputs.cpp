// Values for the inputs of a diagram: random ones for validation, and the check of given ones.
//
// Random values come from integer arithmetic alone (sums of uniform numbers instead of logarithms
// and cosines), so that every machine has the same. Integers are chosen by how the diagram uses
// them (diagrams/evaluate/input_uses.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "diagrams/evaluate.h"
#include "diagrams/evaluate/input_uses.h"
#include "diagrams/evaluate/messages.h"
#include "diagrams/parallel.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

/// Up to four documents in every row of the last axis, the first starting at 0; any of them where
/// a row is one element.
void fill_documents(Tensor& tensor, Random& random) {
    const std::int64_t row = tensor.extents.empty() ? 1 : tensor.extents.back();
    if (row == 1) {
        for (double& value : tensor.values)
            value = static_cast<double>(random.below(kMostDocuments));
        return;
    }
    for (std::size_t start = 0; start < tensor.values.size();
         start += static_cast<std::size_t>(row)) {
        std::array<std::int64_t, kMostDocuments - 1> ends{};
        for (std::int64_t& end : ends) end = random.below(row) + 1;
        for (std::int64_t at = 0; at < row; ++at)
            tensor.values[start + static_cast<std::size_t>(at)] = static_cast<double>(std::count_if(
                ends.begin(), ends.end(), [&](std::int64_t end) { return at >= end; }));
    }
}

/// Adds one of the numbers, or none, to every element.
void spread_documents(Tensor& tensor, ElementType type, const std::set<std::int64_t>& numbers,
                      Random& random) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    if (count == 0) return;
    for (double& value : tensor.values)
        if (const std::int64_t which = random.below(2 * count); which < count)
            value = round_to(type, value + static_cast<double>(*std::next(numbers.begin(), which)));
}

double random_integer(const Diagram& diagram, const Array& array, const InputUse& use,
                      Random& random) {
    if (array.type == ElementType::Bool) return static_cast<double>(random.below(2));
    if (array.indexes) return static_cast<double>(random.below(diagram[*array.indexes].extent));
    if (use.positions > 0)
        return static_cast<double>(random.below(use.positions + (use.ordered ? 1 : 0)));
    return round_to(array.type, static_cast<double>(random.below(17) - 8));
}

/// What a comparison lets through is seen, and what it does not: of what is compared with numbers,
/// one in two elements is such a one, and of positions one in four.
void meet_numbers(Tensor& tensor, const InputUse& use, Random& random) {
    if (use.numbers.empty()) return;
    const std::vector<std::int64_t> numbers(use.numbers.begin(), use.numbers.end());
    const auto below = [&](std::size_t count) {
        return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(count)));
    };
    const std::size_t share = use.positions > 0 ? 4 : 2;
    std::size_t next = below(numbers.size());
    for (std::size_t first = 0; first < tensor.values.size(); first += share)
        if (const std::size_t at = first + below(share); at < tensor.values.size())
            tensor.values[at] = static_cast<double>(numbers[next++ % numbers.size()]);
}

Tensor random_tensor(const Diagram& diagram, ArrayId id, const InputUse& use, Random& random,
                     double scale) {
    const Array& array = diagram[id];
    Tensor tensor = make_tensor(diagram, id);
    const bool integer = !is_floating(array.type);
    const bool document = use.document && use.positions == 0 && !array.indexes;
    if (integer && document && array.type != ElementType::Bool) {
        fill_documents(tensor, random);
        spread_documents(tensor, array.type, use.numbers, random);
        return tensor;
    }
    if (integer) {
        for (double& value : tensor.values) value = random_integer(diagram, array, use, random);
        if (array.type != ElementType::Bool && !array.indexes) meet_numbers(tensor, use, random);
        return tensor;
    }
    const double least = round_to(array.type, scale * 0x1p-6);
    constexpr std::int64_t kLeastRange = 1 << 16;
    for_ranges(static_cast<std::int64_t>(tensor.values.size()), kLeastRange,
               [&](std::int64_t begin, std::int64_t end) {
                   Random own = random;
                   own.skip(static_cast<std::uint64_t>(begin * Random::kNumbersOfNormal));
                   for (std::int64_t at = begin; at < end; ++at) {
                       double& value = tensor.values[static_cast<std::size_t>(at)];
                       value = round_to(array.type, scale * own.normal());
                       if (use.positive) value = std::max(std::abs(value), least);
                   }
               });
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
    const std::map<ArrayId, InputUse> uses = input_uses(diagram);
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
            inputs.emplace(
                id, random_tensor(diagram, id, use == uses.end() ? InputUse{} : use->second, random,
                                  scale));
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
