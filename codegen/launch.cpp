#include <algorithm>
#include <limits>

#include "codegen/emit.h"
#include "diagrams/checked.h"
#include "diagrams/memory_order.h"
#include "diagrams/rounding.h"

namespace napkin {

std::int64_t blocks_of(const EmittedKernel& kernel, const std::vector<std::int64_t>& extents) {
    std::int64_t blocks = 1;
    for (const GridAxis& axis : kernel.grid) {
        const std::int64_t extent = extents[axis.axis.index()];
        const std::int64_t divided = axis.within ? std::min(*axis.within, extent) : extent;
        blocks = saturating_multiply(blocks, ceil_quotient(divided, axis.size));
    }
    return blocks;
}

std::int64_t most_tiles(const EmittedKernel& kernel) {
    // A kernel that counts tiles looks for the next ones in 32 bits.
    return kernel.persistent ? std::int64_t{1} << 30 : std::numeric_limits<std::int32_t>::max();
}

std::int64_t grid_of(const EmittedKernel& kernel, const std::vector<std::int64_t>& extents,
                     std::int64_t resident) {
    const std::int64_t tiles = blocks_of(kernel, extents);
    return kernel.persistent ? std::min(tiles, std::max<std::int64_t>(resident, 1)) : tiles;
}

std::vector<std::int64_t> strides_of(const Array& array, const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> strides(array.axes.size(), 1);
    std::int64_t next = 1;
    for (std::size_t i = array.axes.size(); i-- > 0;) {
        const std::size_t dimension = dimension_at(array, i);
        strides[dimension] = next;
        next *= extents[array.axes[dimension].index()];
    }
    return strides;
}

DriverValue tensor_map_type(ElementType type) {
    if (type == ElementType::F32) return {7, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"};
    if (type == ElementType::F16) return {6, "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"};
    if (bits_of(type) <= 8) return {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"};
    invariant(type == ElementType::BF16, "no tensor map holds ", std::string(name_of(type)));
    return {9, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"};
}

std::int64_t map_elements(ElementType type, std::int64_t elements) {
    return type == ElementType::I4 ? elements / 2 : elements;
}

DriverValue tensor_map_swizzle(std::int64_t bytes) {
    if (bytes == 0) return {0, "CU_TENSOR_MAP_SWIZZLE_NONE"};
    if (bytes == 128) return {3, "CU_TENSOR_MAP_SWIZZLE_128B"};
    if (bytes == 64) return {2, "CU_TENSOR_MAP_SWIZZLE_64B"};
    invariant(bytes == 32, "no swizzle of ", std::to_string(bytes), " bytes");
    return {1, "CU_TENSOR_MAP_SWIZZLE_32B"};
}

}  // namespace napkin
