#include "derive/widths.h"

#include <algorithm>

#include "derive/size_symbols.h"

namespace napkin {

std::int64_t width_of(const Diagram& diagram, const Region& region, AxisId axis, Level level) {
    std::int64_t width = diagram[axis].extent;
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level) width = std::min(width, group.size);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level) width = std::min(width, stream.size);
    return width;
}

Formula width_formula(const Diagram& diagram, const Region& region, AxisId axis, Level level) {
    const std::string& name = diagram[axis].name;
    Formula width = symbol(name);
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level)
            width = min_of(symbol(group_symbol(name, group.level)), width);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level)
            width = min_of(symbol(stream_symbol(name, stream.level)), width);
    return width;
}

}  // namespace napkin
