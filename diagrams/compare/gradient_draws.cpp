#include "diagrams/compare/gradient_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagrams/evaluate/input_uses.h"
#include "diagrams/evaluate/number_test.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

/// Elements up to which inputs of other sizes are drawn too.
constexpr double kMostElements = 2e4;
constexpr std::size_t kMostDraws = 20;  ///< of a kind

bool decides(Function function) {
    return (function >= Function::Less && function <= Function::NotEqual) ||
           function == Function::Min || function == Function::Max;
}

/// The sizes of the numbers that decide what an expression is: those that something is compared
/// with, or is the larger or the smaller of, defaults of parameters among them.
std::set<double> deciding_numbers(const Diagram& diagram) {
    std::set<double> numbers;
    const auto note = [&](const Expression& part) {
        constexpr double kMost = 1e8;
        std::optional<double> value;
        if (const double* number = literal(part)) value = *number;
        if (const Read* read = std::get_if<Read>(&part.node)) value = diagram[read->array].value;
        if (value && *value != 0 && std::abs(*value) < kMost && std::abs(*value) > 1 / kMost)
            numbers.insert(std::abs(*value));
    };
    const auto look = [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call != nullptr && decides(call->function))
            for (const Expression& argument : call->arguments) walk(argument, note);
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) walk(*expression, look);
    for (const Monoid& monoid : diagram.monoids)
        for (const Expression& part : monoid.combine) walk(part, look);
    return numbers;
}

/// By name, the numbers that integer inputs and parameters are compared with in either diagram.
/// Whether an input may be no position on its axis is for the forward diagram to say.
std::map<std::string, std::set<std::int64_t>> compared_numbers(const Diagram& forward,
                                                               const Diagram& backward) {
    std::map<std::string, std::set<std::int64_t>> numbers;
    std::map<ArrayId, InputUse> uses = input_uses(forward);
    const std::map<ArrayId, InputUse> backward_uses = input_uses(backward);
    for (std::uint32_t i = 0; i < forward.arrays.size(); ++i) {
        const Array& array = forward.arrays[i];
        const bool chosen = array.role == ArrayRole::Input && !is_floating(array.type) &&
                            array.type != ElementType::Bool && !array.indexes;
        if (!chosen && !has_default(array)) continue;
        const InputUse& use = uses[ArrayId{i}];
        std::set<std::int64_t>& all = numbers[array.name] = use.numbers;
        const std::optional<ArrayId> same = find_array(backward, array.name);
        const auto other = same ? backward_uses.find(*same) : backward_uses.end();
        if (other == backward_uses.end()) continue;
        for (const std::int64_t number : other->second.numbers)
            if (!chosen || use.positions == 0 || (number >= 0 && number < use.positions))
                all.insert(number);
    }
    return numbers;
}

/// A comparison between decades, or through products, is met by some scale; a narrow one near its
/// numbers.
void add_sizes(const Diagram& forward, const Diagram& backward, std::vector<Draw>& draws) {
    constexpr double kLeastScale = 1e-3;
    constexpr double kMostScale = 1e3;
    for (const double scale : {kLeastScale, 1. / 30, 30., kMostScale}) draws.push_back({scale});
    std::set<double> numbers = deciding_numbers(forward);
    numbers.merge(deciding_numbers(backward));
    for (const double number : numbers) {
        if (draws.size() > kMostDraws) return;
        draws.push_back({1, number});
        if (number < kLeastScale / 2 || number > 2 * kMostScale) draws.push_back({number});
    }
}

using Parameters = std::map<std::string, const Array*>;

/// Arrays by name; what is no parameter of the forward diagram is none of its operator.
Parameters parameters_of(const Diagram& forward) {
    Parameters parameters;
    for (const Array& array : forward.arrays)
        if (has_default(array)) parameters[array.name] = &array;
    return parameters;
}

/// Away from the default, on its side of 0: a little less, or the next integer towards 0; from 0
/// to a positive number.
double moved(const Array& parameter, double factor) {
    const double value = *parameter.value;
    if (parameter.type == ElementType::Bool) return 1 - value;
    if (!is_floating(parameter.type)) return value == 0 ? 1 : value - std::copysign(1.0, value);
    return round_to(parameter.type, value == 0 ? factor / 3 : value * factor);
}

/// All of them together, in proportion and not, each alone, and each at what it is compared with:
/// as a place on an axis, about the middle of it.
void add_parameters(const Diagram& forward,
                    const std::map<std::string, std::set<std::int64_t>>& numbers,
                    std::vector<Draw>& draws) {
    const Parameters parameters = parameters_of(forward);
    std::vector<std::map<std::string, double>> values;
    constexpr double kLess = 0.75;
    values.resize(2);
    double own = kLess;
    for (const auto& [name, array] : parameters) {
        values[0][name] = moved(*array, kLess);
        values[1][name] = moved(*array, own += (1 - own) / 3);
    }
    for (const auto& [name, array] : parameters) values.push_back({{name, moved(*array, kLess)}});
    for (const auto& [id, use] : input_uses(forward))
        if (has_default(forward[id]) && !is_floating(forward[id].type) && use.positions > 0)
            values.push_back({{forward[id].name, static_cast<double>((use.positions + 1) / 2)}});
    for (const auto& [name, array] : parameters)
        if (const auto found = numbers.find(name); found != numbers.end())
            for (const std::int64_t number : found->second)
                if (const auto value = static_cast<double>(number);
                    round_to(array->type, value) == value && value != *array->value)
                    values.push_back({{name, value}});
    if (parameters.empty()) return;
    values.resize(std::min(values.size(), kMostDraws));
    for (std::map<std::string, double>& each : values) {
        Draw draw;
        draw.parameters = std::move(each);
        draws.push_back(std::move(draw));
    }
}

void add_numbers(const std::map<std::string, std::set<std::int64_t>>& numbers,
                 const Diagram& forward, std::vector<Draw>& draws) {
    std::map<std::int64_t, std::set<std::string>> inputs;
    for (const auto& [name, all] : numbers)
        if (const auto array = find_array(forward, name);
            array && forward[*array].role == ArrayRole::Input)
            for (const std::int64_t number : all) inputs[number].insert(name);
    std::size_t count = 0;
    for (auto& [number, names] : inputs) {
        if (++count > kMostDraws) return;
        Draw draw;
        draw.number = number;
        draw.numbered = std::move(names);
        draws.push_back(std::move(draw));
    }
}

/// Signs stay: roots and logarithms are of positive numbers.
void move_near(Tensor& tensor, const Draw& draw, Random& random) {
    for (double& value : tensor.values)
        if (random.below(2) == 0)
            value = std::copysign(*draw.near + draw.width() * random.normal(), value);
}

void place_number(Tensor& tensor, std::int64_t number, Random& random) {
    for (double& value : tensor.values)
        if (tensor.values.size() == 1 || random.below(2) == 0) value = static_cast<double>(number);
}

}  // namespace

double elements_of(const Diagram& diagram) {
    double elements = 0;
    for (const Array& array : diagram.arrays) {
        double each = 1;
        for (const AxisId axis : array.axes) each *= static_cast<double>(diagram[axis].extent);
        elements += each;
    }
    return elements;
}

std::map<std::string, double> Draw::chosen() const {
    std::map<std::string, double> values = parameters;
    for (const std::string& name : numbered) values[name] = static_cast<double>(number);
    return values;
}

double Draw::width() const {
    return near ? std::min(1.0, *near / 4) : scale;
}

std::vector<Draw> draws_for(const Diagram& forward, const Diagram& backward) {
    constexpr std::uint64_t kPlainTrials = 4;
    std::vector<Draw> draws(1);
    draws.front().trials = kPlainTrials;
    if (std::max(elements_of(forward), elements_of(backward)) > kMostElements) return draws;
    add_sizes(forward, backward, draws);
    const auto numbers = compared_numbers(forward, backward);
    add_numbers(numbers, forward, draws);
    add_parameters(forward, numbers, draws);
    return draws;
}

Diagram with_parameters(Diagram diagram, const Draw& draw) {
    for (Array& array : diagram.arrays)
        if (const auto value = draw.parameters.find(array.name);
            value != draw.parameters.end() && has_default(array))
            array.value = value->second;
    return diagram;
}

Tensors drawn(const Diagram& diagram, const Draw& draw, std::uint64_t seed) {
    Tensors inputs = random_inputs(diagram, seed, draw.scale);
    Random random(seed ^ 0x6e656172);
    for (auto& [id, tensor] : inputs) {
        const Array& array = diagram[id];
        if (array.role != ArrayRole::Input) continue;
        if (draw.near && is_floating(array.type)) move_near(tensor, draw, random);
        if (draw.numbered.contains(array.name)) place_number(tensor, draw.number, random);
    }
    return inputs;
}

}  // namespace napkin
