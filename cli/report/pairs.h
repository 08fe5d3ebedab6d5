// What a report knows of two sliders that are moved together.
#pragma once

#include "cli/report/sliders.h"

namespace napkin::cli {

/// An object a pair of sliders that one kernel depends on, `{of, regions, points, bounds}`: `of`
/// are their ids, `points` go through the values of the first and, for each, of the second. A point
/// is null where one of them stands as it is, the reason where the derivation is refused, else what
/// is known of each of `regions`; with a rate of the machine, `[low, high]` of each. `bounds` are
/// there of what the bound depends on.
///
/// Kernels are made for this, which takes its time, and a page has its size: what is most likely to
/// be moved together comes first, chunks and groups of a kernel, and what is too much is left out.
///
/// Sliders whose formulas do not hold together are off.
[[nodiscard]] Json pairs_of(WhatIf& what, std::vector<Slider>& sliders);

}  // namespace napkin::cli
