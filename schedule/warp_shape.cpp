#include "schedule/warp_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/program.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

/// Whether a product goes along the axis in shared memory, on both sides.
bool multiplies_matrices(const Plan& plan, LeafId leaf, AxisId axis) {
    const auto product = plan.products.find(leaf);
    if (product == plan.products.end() || product->second.depth != axis) return false;
    return in_matrix(plan, product->second.left) && in_matrix(plan, product->second.right);
}

/// Whether something needs whole rows along an axis of fragments, which it folds.
bool folded(const RegionProgram& region, const Plan& plan, AxisId axis) {
    bool found = false;
    LeafId leaf;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* compute = std::get_if<Compute>(&statement.node)) {
            const std::vector<AxisId> over = folded_axes(compute->statement);
            found = found || (std::find(over.begin(), over.end(), axis) != over.end() &&
                              !multiplies_matrices(plan, leaf, axis));
        }
        ++leaf.value;
    });
    return found;
}

/// Whether something that runs along other columns is saved.
bool is_saved_along_another(const RegionProgram& region, const Plan& plan, AxisId axis) {
    bool found = false;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr) return;
        const Tile& tile = plan.tiles.at(save->source);
        found = found || (tile.home == Home::Fragment && tile.column != axis);
    });
    return found;
}

bool is_chosen(const RegionSchedule& wanted, const std::string& field) {
    const std::vector<Setting> settings = settings_of(wanted);
    return std::any_of(settings.begin(), settings.end(),
                       [&](const Setting& setting) { return setting.name.field == field; });
}

bool is_count(const Limits& limits, std::int64_t number, bool across) {
    const std::int64_t unit = across ? 1 : kWarpsOfGroup;
    if (limits.warp_groups && number > 0 && number <= kCounts.back() && number % unit == 0)
        return true;
    return std::find(kCounts.begin(), kCounts.end(), number) != kCounts.end();
}

}  // namespace

Refusal refused(const Objection& objection, const RegionSchedule& wanted, std::string help) {
    for (const std::vector<const char*>& choices :
         {objection.choices, {"warps", "warps_down", "warps_across"}})
        for (const char* choice : choices)
            if (is_chosen(wanted, choice))
                return {objection.reason, std::move(help), SettingName{choice, ""}};
    return {objection.reason, std::move(help), std::nullopt};
}

std::optional<Refusal> why_no_shape(const Limits& limits, const RegionSchedule& wanted) {
    for (const auto& [field, number] : {std::pair("warps", wanted.warps),
                                        {"warps_down", wanted.warps_down},
                                        {"warps_across", wanted.warps_across}})
        if (number && !is_count(limits, *number, field == std::string_view("warps_across")))
            return Refusal{fmt::format("{} is no power of two up to {}{}", *number, kCounts.back(),
                                       limits.warp_groups ? " and no number of warp groups" : ""),
                           "", SettingName{field, ""}};
    const std::int64_t product = wanted.warps_down.value_or(1) * wanted.warps_across.value_or(1);
    const bool both = wanted.warps_down && wanted.warps_across;
    if (product > kCounts.back())
        return Refusal{fmt::format("a block has at most {} warps, not {}", kCounts.back(), product),
                       "", SettingName{"warps_across", ""}};
    if (wanted.warps && (both ? product != *wanted.warps : product > *wanted.warps))
        return Refusal{fmt::format("they are `warps_down` times `warps_across`, {}{}",
                                   both ? "" : "at least ", product),
                       "leave one of the three out", SettingName{"warps", ""}};
    if (wanted.warps && limits.threads > 0 && *wanted.warps * 32 != limits.threads)
        return Refusal{fmt::format("`--threads` asks for {}", limits.threads / 32),
                       "leave one of the two out", SettingName{"warps", ""}};
    return std::nullopt;
}

bool as_wanted(const WarpShape& shape, const RegionSchedule& wanted) {
    return shape.down == wanted.warps_down.value_or(shape.down) &&
           shape.across == wanted.warps_across.value_or(shape.across) &&
           shape.warps() == wanted.warps.value_or(shape.warps());
}

std::int64_t extent_of(const Plan& plan, AxisId axis) {
    return padded(plan.extents.at(axis), kTile);
}

/// if nothing needs a whole row of it. Where other results run along other axes, every warp
/// computes all of these, which it may not save.
std::optional<AxisId> shareable(const RegionProgram& region, const Plan& plan) {
    std::optional<AxisId> widest;
    for (const auto& [compute, product] : plan.products)
        if (!widest || extent_of(plan, product.column) > extent_of(plan, *widest))
            widest = product.column;
    if (!widest || folded(region, plan, *widest)) return std::nullopt;
    const bool others =
        std::any_of(plan.products.begin(), plan.products.end(),
                    [&](const auto& each) { return each.second.column != *widest; });
    if (others && is_saved_along_another(region, plan, *widest)) return std::nullopt;
    return widest;
}

/// many warps share those along some axes.
std::int64_t columns_held(const Plan& plan, const std::set<AxisId>& split, std::int64_t across) {
    const auto of_warp = [&](AxisId axis) {
        return extent_of(plan, axis) / (split.contains(axis) ? across : 1);
    };
    std::int64_t columns = 0;
    std::set<AxisId> counted;
    for (const auto& [compute, product] : plan.products)
        columns += of_warp(product.column) * (is_narrow(product) ? 2 : 1);
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column) counted.insert(*tile.column);
    for (const auto& [compute, product] : plan.products) counted.erase(product.column);
    for (const AxisId axis : counted) columns += of_warp(axis);
    return columns;
}

}  // namespace napkin::schedule
