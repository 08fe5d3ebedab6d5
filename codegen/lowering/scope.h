// What names mean while a region is lowered: ranges of axes, tiles of arrays.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/index_form.h"
#include "codegen/kernel_program.h"
#include "codegen/names.h"
#include "derive/tile_program.h"

namespace napkin::lowering {

/// Where an axis stands: the part that the block works on now.
struct AxisRange {
    IndexForm start;
    IndexForm count;            ///< may be less than the capacity at an edge
    std::int64_t capacity = 1;  ///< the most that count can be
    /// The axis whose run-time size the capacity bounds, where it is held whole.
    std::optional<AxisId> limits = std::nullopt;
    /// Whether every index below the capacity is there, so that none has to be tested.
    [[nodiscard]] bool exact() const { return count.is_constant(capacity); }
};
using AxisRanges = std::map<AxisId, AxisRange>;

/// A tile of an array in shared memory: element `index` stands at sum (index - origin) * stride.
struct TileView {
    kernel::TileId tile;
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<IndexForm> origin;
    std::vector<IndexForm> count;
    std::vector<std::int64_t> capacity;
    std::vector<std::int64_t> stride;
};

/// The element that is being computed.
struct ElementScope {
    std::map<AxisId, IndexForm> index;  ///< global index along each axis
    /// Where parts of long expressions are declared; without it they stay whole.
    kernel::Body* temporaries = nullptr;
    int* next_temporary = nullptr;
};

/// One axis of a loop over elements: its local index and how it is tested.
struct LocalIndex {
    AxisId axis;
    IndexForm local;
    kernel::Expression test = true;  ///< `iq < nq`
};

}  // namespace napkin::lowering
