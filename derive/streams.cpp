#include "derive/streams.h"

#include <algorithm>

namespace napkin {

std::vector<AxisId> streamed_axes(const Region& region) {
    std::vector<AxisId> axes;
    for (const Stream& stream : region.streams)
        if (std::find(axes.begin(), axes.end(), stream.axis) == axes.end())
            axes.push_back(stream.axis);
    return axes;
}

}  // namespace napkin
