#include "derive/widths.h"

#include <algorithm>

namespace napkin {

std::int64_t width_of(const Diagram& diagram, const Region& region, AxisId axis, Level level) {
    std::int64_t width = diagram[axis].extent;
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level) width = std::min(width, group.size);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level) width = std::min(width, stream.size);
    return width;
}

Formula width_formula(const Region& region, AxisId axis, Level level) {
    Formula width = axis_size(axis);
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level)
            width = min_of(group_size(axis, group.level), width);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level)
            width = min_of(stream_size(axis, stream.level), width);
    return width;
}

}  // namespace napkin
