// What evaluating some elements of an array costs the reference, which keeps everything that it has
// computed: two elements of one row of attention share the row's scores, maximum and sum.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin {

/// A statement's share: it is evaluated once for every distinct projection of the wanted elements
/// on `dimensions` of the wanted array, and visits that many indices each time.
struct Demand {
    std::vector<std::size_t> dimensions;
    double visits = 1;
    bool operator==(const Demand&) const = default;
};
/// The shares of all statements that an array depends on. An upper bound: an index that mixes axes
/// is taken to reach the whole dimension.
[[nodiscard]] std::vector<Demand> demands_of(const Diagram& diagram, ArrayId array);

/// What a growing set of elements of one array costs.
class DemandLedger {
public:
    DemandLedger(const Diagram& diagram, ArrayId array);
    /// Visits for one element alone.
    [[nodiscard]] double of_one() const;
    /// Visits for one element more that differs from a known one in `dimension` alone.
    [[nodiscard]] double of_moving(std::size_t dimension) const;
    /// Adds an element by its row-major offset.
    void add(std::int64_t offset);
    [[nodiscard]] double spent() const { return spent_; }

private:
    std::vector<std::int64_t> extents_;
    std::vector<Demand> demands_;
    std::vector<std::set<std::int64_t>> projections_;  // a demand each
    double spent_ = 0;
};

}  // namespace napkin
