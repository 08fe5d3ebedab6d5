// Roles of axes inside a region. An axis is a bound index, so one name may be used in unrelated
// ways: attention's d is contracted in S and kept in O. Uses that data flow links (through an
// intermediate's or a loaded array's dimension) are one role.
#pragma once

#include <vector>

#include "diagrams/relabelling.h"

namespace napkin {

/// One role of one axis in a region.
struct Role {
    AxisId axis;
    std::vector<StatementId> mapped;  ///< statements that keep the axis in their targets
    std::vector<StatementId> folded;  ///< statements that fold it (or select along it)
    std::vector<ArrayId> loaded;      ///< loaded arrays indexed by it
    bool operator==(const Role&) const = default;
};
/// All roles in a region, by axis in diagram order.
[[nodiscard]] std::vector<Role> roles_of(const Diagram& diagram, const Region& region);
[[nodiscard]] std::vector<Role> roles_of(const Diagram& diagram, const Region& region, AxisId axis);

}  // namespace napkin
