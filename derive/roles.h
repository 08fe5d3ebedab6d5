// Roles of axes inside a region. An axis is a bound index, so one name may be used in unrelated
// ways: attention's d is contracted in S and kept in O. Uses that data flow links (through an
// intermediate's or a loaded array's dimension) are one role. An axis is cut into parts only where
// what is computed along it is read where it is computed: reads_elsewhere says where it is not.
#pragma once

#include <functional>
#include <set>
#include <span>
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

/// A read of an array at another index along an axis than the axis's own, which it is computed at:
/// reversed, shifted, clamped, of another axis. It may lie in another part of the axis.
struct ReadElsewhere {
    ArrayId array;
    AxisId axis;
    Expression index;
    std::size_t reader = 0;  ///< into the statements
    bool operator==(const ReadElsewhere&) const = default;
};
/// Every such read of one of the arrays `computed` along one of the axes.
[[nodiscard]] std::vector<ReadElsewhere> reads_elsewhere(
    std::span<const Statement* const> statements, const std::set<ArrayId>& computed,
    const std::function<const Array&(ArrayId)>& array, const std::vector<AxisId>& axes);
/// Every such read of what the region computes, by its own statements.
[[nodiscard]] std::vector<ReadElsewhere> reads_elsewhere(const Diagram& diagram,
                                                         const Region& region,
                                                         const std::vector<AxisId>& axes);

}  // namespace napkin
