#include "codegen/export/selftest.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "diagrams/evaluate/input_uses.h"
#include "diagrams/memory_order.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

// Elements that the reference may visit for one case, and the most results that are stored of an
// output.
constexpr double kMostWork = 1e7;
// An output of which an element costs the reference more is computed whole by the fast one, with no
// more multiplications and evaluated parts of expressions (some tens of seconds); else no results
// of it are stored.
constexpr double kMostWorkOfOne = 3e8;
constexpr double kMostMultiplications = 5e11;
constexpr double kMostSteps = 1e11;
constexpr double kMostValues = 5e8;
constexpr double kMostResults = 1024;
constexpr double kUnlimited = 1e30;  // visits

InputRecipe recipe_for(const Diagram& diagram, ArrayId id, const InputUse& use, std::uint64_t key) {
    const Array& array = diagram[id];
    InputRecipe recipe;
    recipe.key = key;
    if (is_floating(array.type)) {
        recipe.kind = use.positive ? InputRecipe::Kind::Positive : InputRecipe::Kind::Normal;
        recipe.bits = static_cast<int>(-std::log2(unit_roundoff(array.type)));
        return recipe;
    }
    recipe.kind = InputRecipe::Kind::Range;
    if (array.type == ElementType::Bool) {
        recipe.count = 2;
    } else if (array.indexes) {
        recipe.count = diagram[*array.indexes].extent;
    } else if (use.positions > 0) {
        recipe.count = use.positions + (use.ordered ? 1 : 0);
    } else if (use.document) {
        recipe.kind = InputRecipe::Kind::Documents;
    } else {
        recipe.low = -8;
        recipe.count = 17;
    }
    // What the type cannot hold would not be exact.
    if (array.type == ElementType::I8) recipe.count = std::min<std::int64_t>(recipe.count, 128);
    if (array.type == ElementType::I4)
        recipe.count = std::min<std::int64_t>(recipe.count, 8 - recipe.low);
    return recipe;
}

std::uint64_t draw(const InputRecipe& recipe, std::int64_t index) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
    return Random(recipe.key + static_cast<std::uint64_t>(index) * kStep).next();
}

std::int64_t draw_below(const InputRecipe& recipe, std::int64_t index, std::int64_t count) {
    return static_cast<std::int64_t>(draw(recipe, index) % static_cast<std::uint64_t>(count));
}

/// The same arithmetic as in codegen/export/templates: to the bit.
double real_value(const InputRecipe& recipe, std::int64_t index) {
    std::int64_t sum = -131070;
    for (std::uint64_t bits = draw(recipe, index), part = 0; part < 4; ++part, bits >>= 16)
        sum += static_cast<std::int64_t>(bits & 0xffff);
    constexpr int kEightBitTypes = 4;
    if (recipe.bits <= kEightBitTypes) sum = sum / 64 * 64;
    const float value = static_cast<float>(sum) / 32768.0F;
    const std::uint32_t kept = ~((std::uint32_t{1} << (24 - recipe.bits)) - 1);
    const float cut = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & kept);
    if (recipe.kind == InputRecipe::Kind::Normal) return static_cast<double>(cut);
    return std::max(static_cast<double>(std::abs(cut)), 0x1p-6);
}

double value_at(const InputRecipe& recipe, std::int64_t index, std::int64_t row_length) {
    switch (recipe.kind) {
    case InputRecipe::Kind::Range:
        return static_cast<double>(recipe.low + draw_below(recipe, index, recipe.count));
    case InputRecipe::Kind::Documents: {
        const std::int64_t row = index / row_length;
        int number = 0;
        for (std::int64_t end = 0; end < 3; ++end)
            if (index % row_length >= 1 + draw_below(recipe, 3 * row + end, row_length)) ++number;
        return number;
    }
    case InputRecipe::Kind::Normal:
    case InputRecipe::Kind::Positive: return real_value(recipe, index);
    }
    throw InternalError("unknown recipe");
}

/// Where the results are worth storing.
std::vector<std::int64_t> offsets_of(const State& state, ArrayId array, double budget,
                                     std::uint64_t seed) {
    Sampling sampling;
    for (const Region& region : state.relabelling.regions) {
        for (const Stream& stream : region.streams) sampling.tiles[stream.axis].insert(stream.size);
        for (const Group& group : region.groups) sampling.tiles[group.axis].insert(group.size);
    }
    sampling.budget = budget;
    sampling.most = static_cast<std::int64_t>(kMostResults);
    sampling.seed = seed;
    return sample_offsets(state.diagram, array, sampling);
}

/// Whether all elements of an output are known now.
bool compute_whole(Reference& reference, ArrayId array) {
    const std::optional<WholeWork> work =
        reference.whole_work({array}, {.most_values = kMostValues});
    if (!work || work->multiplications > kMostMultiplications || work->steps > kMostSteps)
        return false;
    reference.compute_whole({array});
    return true;
}

bool decides(const Reference::Elements& elements) {
    return is_enough(judgeable(elements), static_cast<std::int64_t>(elements.values.size()));
}

std::int64_t largest_tile(const Relabelling& relabelling, AxisId axis) {
    std::int64_t size = 1;
    for (const Region& region : relabelling.regions) {
        for (const Stream& stream : region.streams)
            if (stream.axis == axis) size = std::max(size, stream.size);
        for (const Group& group : region.groups)
            if (group.axis == axis) size = std::max(size, group.size);
    }
    return size;
}

/// Whether bytes hold two numbers each along the axis.
bool pairs_up(const Diagram& diagram, AxisId axis) {
    return std::any_of(diagram.arrays.begin(), diagram.arrays.end(), [&](const Array& array) {
        if (array.type != ElementType::I4 || array.axes.empty()) return false;
        return array.axes[innermost_dimension(array)] == axis;
    });
}

}  // namespace

Tensor made_input(const Diagram& diagram, ArrayId array, const InputRecipe& recipe) {
    Tensor tensor = make_tensor(diagram, array);
    const std::int64_t row_length = tensor.extents.empty() ? 1 : tensor.extents.back();
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
        tensor.values[i] = value_at(recipe, static_cast<std::int64_t>(i), row_length);
    return tensor;
}

SelfTestCase self_test_case(const State& state, const EmittedProgram& program, std::uint64_t seed) {
    const Diagram& diagram = state.diagram;
    SelfTestCase result;
    result.sizes = sizes_of(diagram);
    const std::map<ArrayId, InputUse> uses = input_uses(diagram);
    Tensors inputs;
    std::uint64_t ordinal = 0;
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const Array& array = diagram[id];
        if (array.role != ArrayRole::Input && array.role != ArrayRole::Parameter) continue;
        const auto use = uses.find(id);
        const std::uint64_t key = Random(seed + 0x632be59bd9b4e019 * ++ordinal).next();
        const InputRecipe recipe =
            recipe_for(diagram, id, use == uses.end() ? InputUse{} : use->second, key);
        Tensor tensor = made_input(diagram, id, recipe);
        if (array.role == ArrayRole::Parameter && array.value)
            tensor.values.assign(tensor.values.size(), round_to(array.type, *array.value));
        // An input without axes is an array of one element; parameters are passed by value.
        if (array.role == ArrayRole::Parameter)
            result.scalars[id] = tensor.values.front();
        else
            result.recipes[id] = recipe;
        inputs.emplace(id, std::move(tensor));
    }
    const Precision precision = precision_of(state, program);
    Reference reference(diagram, inputs, precision);
    const std::vector<ArrayId> outputs = outputs_of(diagram);
    for (const ArrayId array : outputs) {
        SelfTestCase::Output& output = result.outputs[array];
        double budget = kMostWork / static_cast<double>(outputs.size());
        if (const double visits = visits_of_one(diagram, array); visits > kMostWorkOfOne) {
            if (!compute_whole(reference, array)) {
                output.too_dear = visits;
                continue;
            }
            budget = kUnlimited;
        }
        output.offsets = offsets_of(state, array, budget, seed);
        Reference::Elements elements = reference.elements(array, output.offsets);
        if (!decides(elements) && !precision.handed_over.empty()) {
            const RoundedDiagram rounded = round_handed_over(diagram, precision);
            Reference nearer(rounded.diagram, inputs, rounded.precision);
            if (budget == kUnlimited) nearer.compute_whole({array});
            elements = nearer.elements(array, output.offsets);
        }
        output.undecided = !decides(elements);
        output.values = std::move(elements.values);
        output.tolerances = std::move(elements.tolerances);
    }
    return result;
}

std::vector<Sizes> self_test_sizes(const State& state, const EmittedProgram& program) {
    Sizes ragged;
    Sizes tiny;
    std::int64_t number = 0;
    const auto served = [&](const std::string& axis, std::int64_t size) {
        for (const EmittedKernel& kernel : program.kernels) {
            const auto most = kernel.at_most.find(axis);
            if (most != kernel.at_most.end()) size = std::min(size, most->second);
        }
        return size;
    };
    for (std::size_t at = 0; at < state.diagram.axes.size(); ++at) {
        const Axis& axis = state.diagram.axes[at];
        const std::int64_t least =
            least_size(state.diagram, AxisId{static_cast<std::uint32_t>(at)});
        if (!axis.dynamic || !has_own_size(state.diagram, AxisId{static_cast<std::uint32_t>(at)}))
            continue;
        const std::int64_t tile =
            largest_tile(state.relabelling, AxisId{static_cast<std::uint32_t>(at)});
        ++number;
        // One tile and a piece of the next: two more would only repeat.
        ragged[axis.name] =
            served(axis.name, tile == 1 ? 2 + number % 2 : tile + tile / 2 + 3 + number % 5);
        tiny[axis.name] = served(axis.name, std::max(least, 1 + number % 3));
        ragged[axis.name] = std::max(least, ragged[axis.name]);
        if (!pairs_up(state.diagram, AxisId{static_cast<std::uint32_t>(at)})) continue;
        for (Sizes* sizes : {&ragged, &tiny}) {
            std::int64_t& size = (*sizes)[axis.name];
            size = std::max<std::int64_t>(2, size - size % 2);
        }
    }
    if (ragged.empty()) return {};
    return {ragged, tiny};
}

}  // namespace napkin
