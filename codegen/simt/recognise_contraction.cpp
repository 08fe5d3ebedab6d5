#include "codegen/simt/contraction_lowering.h"
#include "diagrams/contains.h"
#include "schedule/statements.h"

namespace napkin::lowering {

bool ContractionLowering::recognise() {
    const ArrayId target = compute_.statement.targets.front();
    if (!is_floating(region_.region_.arrays[target.index()].type) ||
        schedule::sums_integers(region_.scope_, compute_.statement, region_.options_.dynamic_sizes))
        return false;
    const std::vector<AxisId> axes = region_.target_axes(compute_);
    const auto single = [&](AxisId axis) { return region_.ranges_.at(axis).capacity == 1; };
    std::optional<Contraction> found = contraction_of(compute_.statement, axes, [&](AxisId axis) {
        return contains(fold_.over, axis) || !single(axis);
    });
    if (!found) return false;
    place_either(*found);
    // What no operand runs along is a row like any other.
    found->rows.insert(found->rows.end(), found->others.begin(), found->others.end());
    for (const AxisId axis : axes)
        if (single(axis) || contains(found->batch, axis)) batch_.push_back(axis);
    contraction_ = *std::move(found);
    return true;
}

}  // namespace napkin::lowering
