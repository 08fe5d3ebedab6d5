#include "derive/symbols.h"

#include <algorithm>

namespace napkin {

namespace {

std::string with_level(const std::string& name, Level level) {
    return level == Level::Block ? name : name + "." + std::string(name_of(level));
}

}  // namespace

std::string group_symbol(const Diagram& diagram, const Group& group) {
    return with_level("g_" + diagram[group.axis].name, group.level);
}

std::string stream_symbol(const Diagram& diagram, const Stream& stream) {
    return with_level("s_" + diagram[stream.axis].name, stream.level);
}

Sizes sizes_of(const Diagram& diagram, const Region& region) {
    Sizes sizes = sizes_of(diagram);
    for (const Group& group : region.groups) sizes[group_symbol(diagram, group)] = group.size;
    for (const Stream& stream : region.streams) sizes[stream_symbol(diagram, stream)] = stream.size;
    return sizes;
}

std::int64_t width_of(const Diagram& diagram, const Region& region, AxisId axis, Level level) {
    std::int64_t width = diagram[axis].extent;
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level) width = std::min(width, group.size);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level) width = std::min(width, stream.size);
    return width;
}

Formula width_formula(const Diagram& diagram, const Region& region, AxisId axis, Level level) {
    Formula width = symbol(diagram[axis].name);
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= level)
            width = min_of(symbol(group_symbol(diagram, group)), width);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= level)
            width = min_of(symbol(stream_symbol(diagram, stream)), width);
    return width;
}

}  // namespace napkin
