#include "derive/divisors.h"

#include <algorithm>
#include <numeric>

#include "derive/contraction.h"
#include "diagrams/contains.h"

namespace napkin {

namespace {

/// k of the matrix instruction: 256 bits of an operand row; tf32 and wider operands are taken as
/// tf32.
std::int64_t depth_of(ElementType type) {
    return 256 / std::clamp<std::int64_t>(bits_of(type), 8, 32);
}

/// The greatest depth that an array of the operands asks for.
std::int64_t depth_of(const State& state, const Contraction& contraction) {
    std::int64_t depth = 1;
    for (const auto* factors : {&contraction.left, &contraction.right, &contraction.either})
        for (const Expression& factor : *factors)
            for (const ArrayId array : arrays_read(factor))
                depth = std::max(depth,
                                 depth_of(storage_type(state.diagram, state.relabelling, array)));
    return depth;
}

void add_tensor_core(const State& state, const Region& region, StatementId id, AxisId axis,
                     std::vector<Divisor>& divisors) {
    const Array& target = state.diagram[state.diagram[id].targets.front()];
    const std::optional<Contraction> contraction =
        contraction_of(state.diagram[id], target.axes, tiled_axes(state.diagram.axes, region));
    if (!contraction) return;
    const auto add = [&](std::int64_t value, const char* part) {
        divisors.push_back({value, std::string(part) + " of the matrix instruction, " +
                                       target.name + " on the tensor core"});
    };
    if (contains(contraction->depth, axis)) add(depth_of(state, *contraction), "depth");
    if (contains(contraction->rows, axis)) add(16, "rows");
    if (contains(contraction->columns, axis)) add(8, "columns");
}

}  // namespace

std::vector<Divisor> divisors_of(const State& state, const Region& region, AxisId axis) {
    std::vector<Divisor> divisors;
    for (StatementId id : region.statements) {
        const auto place = state.relabelling.places.find(id);
        if (place != state.relabelling.places.end() && place->second.tensor_core)
            add_tensor_core(state, region, id, axis, divisors);
    }
    return divisors;
}

std::int64_t combined(const std::vector<Divisor>& divisors) {
    std::int64_t multiple = 1;
    for (const Divisor& divisor : divisors) multiple = std::lcm(multiple, divisor.value);
    return multiple;
}

std::optional<NotApplicable> why_not_divided(const State& state, const Region& region, AxisId axis,
                                             std::int64_t size) {
    // A woven axis taken one by one is outside of the tile.
    if (size >= state.diagram[axis].extent || (size == 1 && state.diagram[axis].woven))
        return std::nullopt;
    const std::vector<Divisor> divisors = divisors_of(state, region, axis);
    const std::int64_t multiple = combined(divisors);
    if (size % multiple == 0) return std::nullopt;
    std::string causes;
    for (const Divisor& divisor : divisors)
        causes +=
            (causes.empty() ? "" : "; ") + std::to_string(divisor.value) + ": " + divisor.cause;
    return out_of_place(std::to_string(size) + " is no multiple of " + std::to_string(multiple) +
                            " (" + causes + ")",
                        "choose " + std::to_string((size / multiple + 1) * multiple));
}

}  // namespace napkin
