#include "schedule/operation_cost.h"

#include <algorithm>

#include "derive/operations.h"

namespace napkin::schedule {
namespace {

/// Warps across of which each computes elements along these axes.
std::int64_t repeats(const Plan& plan, const Limits& limits, const std::vector<AxisId>& axes) {
    const bool shared = std::any_of(axes.begin(), axes.end(),
                                    [&](AxisId axis) { return plan.split.contains(axis); });
    return limits.warp_groups && !shared ? plan.warps_across : 1;
}

/// Masks of indices are tested in few chunks.
Statement without_tests(Statement statement) {
    const auto strip = [](Expression& value) {
        value = rewrite(std::move(value), [](Expression node) {
            Apply* call = std::get_if<Apply>(&node.node);
            if (call != nullptr && call->function == Function::Select &&
                arrays_read(call->arguments[0]).empty())
                call->arguments[0] = number(1);
            return node;
        });
    };
    if (Map* map = std::get_if<Map>(&statement.body)) strip(map->value);
    if (Fold* fold = std::get_if<Fold>(&statement.body))
        for (Expression& value : fold->values) strip(value);
    return statement;
}

}  // namespace

Rates rates_of(bool warp_groups) {
    Rates rates;
    if (warp_groups) rates.tensor *= 2;
    return rates;
}

double tensor_rate(bool warp_groups, const Product& product) {
    // In 8 bits twice as many, in parts of tf32 half as many of every product.
    double rate = rates_of(warp_groups).tensor;
    if (is_narrow(product)) rate *= 2;
    if (is_in_parts(product.type)) rate /= 2 * kProductsOfParts;
    return rate;
}

Cost elements_cost(const RegionProgram& region, const Plan& plan, const Limits& limits,
                   const Compute& compute) {
    const Rates rates = rates_of(limits.warp_groups);
    const OperationCounts counts = operations_of(without_tests(compute.statement));
    double elements = 1;
    for (const AxisId axis : region.arrays[compute.statement.targets.front().index()].axes)
        if (const auto extent = plan.extents.find(axis); extent != plan.extents.end())
            elements *= static_cast<double>(extent->second);
    double places = elements;
    if (!is_scan(compute.statement))
        for (const AxisId axis : folded_axes(compute.statement))
            if (const auto extent = plan.extents.find(axis); extent != plan.extents.end())
                places *= static_cast<double>(extent->second);
    std::vector<AxisId> axes = region.arrays[compute.statement.targets.front().index()].axes;
    for (const AxisId axis : folded_axes(compute.statement)) axes.push_back(axis);
    const auto share =
        static_cast<double>(plan.warps_down * plan.warps_across / repeats(plan, limits, axes));
    const double operations = places * static_cast<double>(counts.flops_each) +
                              elements * static_cast<double>(counts.flops_once);
    const double exponentials = places * static_cast<double>(counts.exponentials_each) +
                                elements * static_cast<double>(counts.exponentials_once);
    Cost cost;
    cost.of(Unit::Issue) = (operations + exponentials) / share / rates.lanes;
    cost.of(Unit::Exponential) = exponentials / share / rates.exponentials;
    return cost;
}

}  // namespace napkin::schedule
