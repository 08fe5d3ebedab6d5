#include <algorithm>

#include "codegen/emit.h"

namespace napkin {

std::int64_t blocks_of(const EmittedKernel& kernel, const std::vector<std::int64_t>& extents) {
    std::int64_t blocks = 1;
    for (const GridAxis& axis : kernel.grid) {
        const std::int64_t extent = extents[axis.axis.index()];
        const std::int64_t divided = axis.within ? std::min(*axis.within, extent) : extent;
        blocks *= (divided + axis.size - 1) / axis.size;
    }
    return blocks;
}

std::vector<std::int64_t> strides_of(const Array& array, const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> strides(array.axes.size(), 1);
    std::int64_t next = 1;
    for (std::size_t i = array.axes.size(); i-- > 0;) {
        const std::size_t dimension = array.layout.empty() ? i : array.layout[i];
        strides[dimension] = next;
        next *= extents[array.axes[dimension].index()];
    }
    return strides;
}

}  // namespace napkin
