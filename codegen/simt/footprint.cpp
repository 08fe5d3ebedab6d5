#include <algorithm>

#include "codegen/simt/simt_lowering.h"

namespace napkin::lowering {
namespace {

/// How much wider than one element an index can be over a tile, whatever its place; nullopt where
/// that is not known.
std::optional<std::int64_t> spread(const Expression& expression, const AxisRanges& ranges) {
    if (std::holds_alternative<Number>(expression.node) ||
        std::holds_alternative<SizeOf>(expression.node))
        return 0;
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node))
        return ranges.at(index->axis).capacity - 1;
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    std::vector<std::int64_t> parts;
    for (const Expression& argument : call->arguments) {
        const std::optional<std::int64_t> part = spread(argument, ranges);
        if (!part) return std::nullopt;
        parts.push_back(*part);
    }
    const auto constant = [&](std::size_t at) -> std::optional<std::int64_t> {
        const Number* number = std::get_if<Number>(&call->arguments[at].node);
        if (number == nullptr || !number->is_integer) return std::nullopt;
        return static_cast<std::int64_t>(number->value);
    };
    switch (call->function) {
    case Function::Negate: return parts[0];
    case Function::Add:
    case Function::Subtract: return parts[0] + parts[1];
    case Function::Multiply:
        for (const std::size_t side : {0U, 1U})
            if (const std::optional<std::int64_t> factor = constant(side))
                return parts[1 - side] * (*factor < 0 ? -*factor : *factor);
        return parts[0] == 0 && parts[1] == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
    case Function::Min:
    case Function::Max:
        // A clamp by something fixed.
        if (parts[0] == 0 || parts[1] == 0) return std::max(parts[0], parts[1]);
        return std::nullopt;
    case Function::FloorDivide:
        if (const std::optional<std::int64_t> divisor = constant(1); divisor && *divisor > 0)
            return parts[0] / *divisor + 1;
        return std::nullopt;
    case Function::Modulo:
        if (const std::optional<std::int64_t> divisor = constant(1); divisor && *divisor > 0)
            return *divisor - 1;
        return std::nullopt;
    default: return std::nullopt;
    }
}

}  // namespace

/// The part of the array that a load's readers can touch: along each dimension the hull of their
/// indices, clipped to the array.
std::vector<AxisRange> SimtLowering::footprint(const Load& load, Body& body) {
    const Array& array = region_.arrays[load.array.index()];
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    std::vector<AxisRange> dims;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisId axis = array.axes[d];
        const IndexForm& size = sizes_[axis.index()];
        const std::vector<Expression>& readers = load.index[d];
        const AxisIndex* plain =
            readers.size() == 1 ? std::get_if<AxisIndex>(&readers.front().node) : nullptr;
        // An index along an axis of another size may leave the array.
        if (plain != nullptr &&
            region_.axes[plain->axis.index()].size == region_.axes[axis.index()].size) {
            dims.push_back(ranges_[plain->axis]);
            continue;
        }
        const std::int64_t extent = region_.axes[axis.index()].extent;
        std::optional<IntervalCode> hull;
        std::int64_t width = 0;
        bool known = true;
        for (const Expression& reader : readers) {
            const std::optional<IntervalCode> part = intervals.bounds(reader);
            const std::optional<std::int64_t> more = spread(reader, ranges_);
            if (!part || !more) {
                hull = IntervalCode{0, size - 1};
                known = false;
                break;
            }
            if (!hull) {
                hull = part;
                width = *more;
                continue;
            }
            const IndexForm apart = part->low - hull->low;
            hull = IntervalCode{minimum(hull->low, part->low), maximum(hull->high, part->high)};
            known = known && apart.is_constant();
            width = std::max(width, *more + apart.constant) +
                    std::max<std::int64_t>(0, -apart.constant);
        }
        AxisRange range;
        range.capacity = known ? std::min(width + 1, extent) : extent;
        if (run_time_[axis.index()] && known) range.capacity = width + 1;
        if (run_time_[axis.index()] && !known) range.limits = axis;
        IndexForm low = maximum(hull->low, 0);
        IndexForm end = minimum(hull->high + 1, size);
        // What lies far outside the array still counts in 32 bits.
        if (is_wide(low)) low = minimum(low, size);
        if (is_wide(end)) end = maximum(end, 0);
        range.start = low;
        range.count = end - low;
        if (low == IndexForm(0) && end.is_constant()) {
            dims.push_back(range);
            continue;
        }
        const std::string base = array.name + "_" + region_.axes[axis.index()].name;
        if (!low.is_constant()) {
            const std::string name = names_.fresh(base + "_low");
            range.start = index_along(axis, name);
            body.push_back(kernel::define("int", name, expression_of(low)));
        }
        const std::string count = names_.fresh(base + "_count");
        range.count = counted(count, range.capacity);
        body.push_back(kernel::define("int", count, expression_of(end - range.start)));
        dims.push_back(range);
    }
    return dims;
}

}  // namespace napkin::lowering
