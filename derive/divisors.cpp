#include "derive/divisors.h"

#include <algorithm>
#include <numeric>

namespace napkin {

namespace {

/// k of the matrix instruction: 256 bits of an operand row; tf32 and wider operands are taken as
/// tf32.
std::int64_t depth_of(ElementType type) {
    return 256 / std::clamp<std::int64_t>(bits_of(type), 8, 32);
}

/// The arrays that a contraction multiplies, in the order written.
std::vector<const Read*> operands_of(const Fold& fold) {
    std::vector<const Read*> operands;
    walk(fold.values.front(), [&](const Expression& node) {
        if (const Read* element = std::get_if<Read>(&node.node)) operands.push_back(element);
    });
    return operands;
}

void add_tensor_core(const State& state, StatementId id, AxisId axis,
                     std::vector<Divisor>& divisors) {
    const Diagram& diagram = state.diagram;
    const Fold* fold = std::get_if<Fold>(&diagram[id].body);
    if (fold == nullptr) return;
    const std::string& box = diagram[diagram[id].targets.front()].name;
    const auto uses = [&](const Read& element) {
        return std::any_of(
            element.index.begin(), element.index.end(),
            [&](const Expression& index) { return axes_used(index).count(axis) != 0; });
    };
    const std::vector<const Read*> operands = operands_of(*fold);
    if (operands.empty()) return;
    if (std::find(fold->over.begin(), fold->over.end(), axis) != fold->over.end()) {
        std::int64_t depth = 1;
        for (const Read* operand : operands)
            depth =
                std::max(depth, depth_of(storage_type(diagram, state.relabelling, operand->array)));
        divisors.push_back(
            {depth, "depth of the matrix instruction, " + box + " on the tensor core"});
        return;
    }
    const bool left = uses(*operands.front());
    const bool right =
        std::any_of(operands.begin() + 1, operands.end(), [&](const Read* r) { return uses(*r); });
    if (left && !right)
        divisors.push_back({16, "rows of the matrix instruction, " + box + " on the tensor core"});
    if (right && !left)
        divisors.push_back(
            {8, "columns of the matrix instruction, " + box + " on the tensor core"});
}

}  // namespace

std::vector<Divisor> divisors_of(const State& state, const Region& region, AxisId axis) {
    std::vector<Divisor> divisors;
    for (StatementId id : region.statements) {
        const auto place = state.relabelling.places.find(id);
        if (place != state.relabelling.places.end() && place->second.tensor_core)
            add_tensor_core(state, id, axis, divisors);
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
    return NotApplicable{std::to_string(size) + " is no multiple of " + std::to_string(multiple) +
                             " (" + causes + ")",
                         "choose " + std::to_string((size / multiple + 1) * multiple)};
}

}  // namespace napkin
