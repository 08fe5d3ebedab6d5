#include "cli/cost_text.h"
#include "cli/messages.h"
#include "perfmodel/bound.h"

namespace napkin::cli {

Ratios ratios_of(const Costed& costed) {
    Ratios ratios;
    const auto total = costed.cost.transferred.find(Level::Block);
    if (total == costed.cost.transferred.end()) return ratios;
    const double moved = static_cast<double>(total->second.bits);
    ratios.bound = bound_of(costed.plain, costed.state, costed.machine);
    if (ratios.bound && ratios.bound->bits > 0)
        ratios.to_bound = moved / static_cast<double>(ratios.bound->bits);
    // What does not fit the memory that the bound is for may move less.
    if (ratios.to_bound && *ratios.to_bound < 1 && !capacity_warnings(costed).list.empty())
        ratios.to_bound.reset();
    const std::optional<Bytes> capacity =
        costed.machine != nullptr ? costed.machine->capacity(Level::Block) : std::nullopt;
    if (costed.cost.regions.size() != 1) {
        ratios.why_no_best = "it has several regions; `fuse` them";
    } else if (!capacity) {
        ratios.why_no_best = "nobody says what a block holds";
    } else {
        const RegionCost& region = costed.cost.regions.front();
        const auto best = best_of(region, *capacity);
        if (const NotApplicable* reason = std::get_if<NotApplicable>(&best))
            ratios.why_no_best = reason->reason + (reason->help.empty() ? "" : "; " + reason->help);
        else if (!capacity_warnings(costed).list.empty())
            ratios.why_no_best = "it does not fit the machine";
        else
            ratios.best = std::get<BestTransfers>(best);
    }
    if (ratios.best && ratios.best->bits > 0) ratios.to_best = moved / ratios.best->bits;
    return ratios;
}

Diagnostics capacity_warnings(const Costed& costed) {
    Diagnostics warnings;
    if (costed.machine == nullptr) return warnings;
    for (const RegionCost& region : costed.cost.regions)
        for (const Excess& excess : excesses_of(region, *costed.machine))
            warnings.add(capacity_exceeded(excess, costed.machine->name));
    return warnings;
}

}  // namespace napkin::cli
