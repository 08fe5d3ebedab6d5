#include "cli/cost_text.h"
#include "cli/messages.h"
#include "perfmodel/bound.h"

namespace napkin::cli {
namespace {

/// The machine's capacity in values of the average width that a region holds.
std::optional<std::int64_t> capacity_in_values(const RegionCost& region, const Machine& machine) {
    const std::optional<Bytes> capacity = machine.capacity(Level::Block);
    const Amount& memory = region.levels.at(Level::Block).memory;
    if (!capacity || memory.bits == 0) return std::nullopt;
    const double bits = static_cast<double>(memory.bits) / static_cast<double>(memory.values);
    return static_cast<std::int64_t>(capacity->value * 8 / bits);
}

}  // namespace

Ratios ratios_of(const Costed& costed) {
    Ratios ratios;
    const auto total = costed.cost.transferred.find(Level::Block);
    if (total == costed.cost.transferred.end()) return ratios;
    if (const auto bound = bound_of(costed.state.diagram); bound && bound->amount.bits > 0) {
        ratios.to_bound =
            static_cast<double>(total->second.bits) / static_cast<double>(bound->amount.bits);
        ratios.bound_citation = bound->citation;
    }
    if (costed.machine == nullptr || costed.cost.regions.size() != 1) return ratios;
    const RegionCost& region = costed.cost.regions.front();
    const std::optional<std::int64_t> capacity = capacity_in_values(region, *costed.machine);
    if (!capacity || region.levels.at(Level::Block).memory.values > *capacity) return ratios;
    if (const auto best = best_of(region, *capacity); best && best->values > 0) {
        ratios.to_best = static_cast<double>(total->second.values) / best->values;
        ratios.best_formula = best->formula;
        ratios.best_validity = best->validity;
    }
    return ratios;
}

Diagnostics capacity_warnings(const Costed& costed) {
    Diagnostics warnings;
    if (costed.machine == nullptr) return warnings;
    for (const RegionCost& region : costed.cost.regions)
        for (const Excess& excess : excesses_of(region, *costed.machine))
            warnings.add(capacity_exceeded(describe(excess), costed.machine->name));
    return warnings;
}

}  // namespace napkin::cli
