// What a page knows of time: no formula, but what the model said of kernels beforehand.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "perfmodel/time.h"

namespace napkin::cli {

class Timings {
public:
    /// Of a region's kernel, `[low, high, binds, [of each unit alone], [levels]]` in microseconds:
    /// `binds` is the number of a unit, -1 where waiting binds; the levels are those that it holds
    /// too much at, left out where there are none.
    [[nodiscard]] Json operator()(const RegionCost& region, const Machine& machine);
    /// `[low, high]` of the same, or `[low, high, -1]`.
    [[nodiscard]] static Json interval(const RegionCost& region, const Machine& machine);
    /// The units' names by number, of all kernels that were asked about.
    [[nodiscard]] const std::vector<std::string>& units() const { return units_; }

private:
    std::vector<std::string> units_;
};

/// What a kernel takes before its blocks begin, in microseconds.
[[nodiscard]] double launch_us(const Machine& machine);

}  // namespace napkin::cli
