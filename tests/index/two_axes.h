// Two axes, q and x, for conditions on pairs of indices.
#pragma once

#include <vector>

#include "diagrams/diagram.h"

namespace napkin::index {

inline const AxisId kQ{0};
inline const AxisId kX{1};

inline std::vector<Axis> two_axes(std::int64_t q, std::int64_t x, bool dynamic = false) {
    std::vector<Axis> axes(2);
    axes[0].name = "q";
    axes[0].extent = q;
    axes[1].name = "x";
    axes[1].extent = x;
    for (const AxisId id : {kQ, kX}) {
        axes[id.index()].size = axis_size(id);
        axes[id.index()].dynamic = dynamic;
    }
    return axes;
}

inline Expression q() {
    return axis_index(kQ);
}
inline Expression x() {
    return axis_index(kX);
}

}  // namespace napkin::index
