#include "diagrams/value_bounds.h"

namespace napkin {

namespace {

Interval sizes_of(const Axis& axis, bool any_size) {
    if (any_size || axis.dynamic) return {1, kAny32.high};
    return {axis.extent, axis.extent};
}

}  // namespace

std::optional<Interval> integer_bounds(const Diagram& diagram, const Expression& expression,
                                       bool any_size) {
    return value_range(expression, [&](const Expression& leaf) -> std::optional<Interval> {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&leaf.node))
            return Interval{0, sizes_of(diagram[index->axis], any_size).high - 1};
        if (const SizeOf* size = std::get_if<SizeOf>(&leaf.node))
            return sizes_of(diagram[size->axis], any_size);
        const Read* element = std::get_if<Read>(&leaf.node);
        if (element == nullptr || is_floating(diagram[element->array].type)) return std::nullopt;
        return range_of(diagram[element->array].type);
    });
}

Interval element_count(const Diagram& diagram, const std::vector<AxisId>& axes, bool any_size) {
    Interval count{1, 1};
    for (const AxisId axis : axes) count = count * sizes_of(diagram[axis], any_size);
    return count;
}

Interval exact_integers(ElementType type) {
    const auto up_to = [](int bits) {
        return Interval{-(std::int64_t{1} << bits), std::int64_t{1} << bits};
    };
    switch (type) {
    case ElementType::F64: return up_to(53);
    case ElementType::F32: return up_to(24);
    case ElementType::TF32:
    case ElementType::F16: return up_to(11);
    case ElementType::BF16: return up_to(8);
    case ElementType::E4M3: return up_to(4);
    case ElementType::E5M2: return up_to(3);
    default: return range_of(type);
    }
}

}  // namespace napkin
