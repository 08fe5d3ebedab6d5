// Rows that are held two numbers in a register: where registers do not hold them as f32, and where
// two blocks share a processor then.
#include <algorithm>

#include "diagrams/memory_order.h"
#include "schedule/arrange.h"
#include "schedule/planner.h"
#include "schedule/statements.h"
#include "schedule/warp_shape.h"

namespace napkin::schedule {
namespace {

bool is_pairable(ElementType type) {
    return type == ElementType::BF16 || type == ElementType::F16;
}

bool contiguous_along(const Array& array, AxisId axis) {
    const std::size_t last = innermost_dimension(array);
    for (std::size_t d = 0; d < array.axes.size(); ++d)
        if (array.axes[d] == axis) return d == last;
    return false;
}

}  // namespace

std::int64_t Planner::readers_of(VariableId variable) const {
    return std::count_if(computes_.begin(), computes_.end(), [&](const auto& each) {
        const std::vector<VariableId>& reads = each.second->reads;
        return std::find(reads.begin(), reads.end(), variable) != reads.end();
    });
}

/// Whether every element is written once.
bool Planner::is_mapped(VariableId variable) const {
    return std::all_of(computes_.begin(), computes_.end(), [&](const auto& each) {
        const Compute& compute = *each.second;
        return compute.targets.front() != variable ||
               (std::holds_alternative<Map>(compute.statement.body) &&
                loop_of_.at(each.first) == nullptr);
    });
}

/// The type of 16 bits in which all that is saved of a variable is stored.
std::optional<ElementType> Planner::saved_in_pairs(VariableId variable) const {
    std::optional<ElementType> type;
    bool same = true;
    for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr || save->source != variable) return;
        const ElementType stored = region_.stored.at(save->array);
        same = same && (!type || type == stored);
        type = stored;
    });
    return type && same && is_pairable(*type) ? type : std::nullopt;
}

/// Rows that registers do not hold as f32: those of 16-bit numbers are held as they were loaded,
/// what is read once is read where it is used, and results are rounded as they are computed. False
/// where something else must be held.
bool Planner::pair_rows() {
    if (!plan_.products.empty()) return false;
    plan_.rows_in_pairs = 0;
    for (auto& [variable, tile] : plan_.tiles) {
        if (tile.home != Home::Fragment) continue;
        const auto load = loads_.find(variable);
        const ElementType type = region_.variables[variable.index()].type;
        if (load == loads_.end()) {
            if (readers_of(variable) > 0 || !is_mapped(variable)) return false;
            tile.type = saved_in_pairs(variable).value_or(ElementType::F32);
        } else if (readers_of(variable) == 1) {
            tile = Tile{};
            tile.home = Home::Device;
            tile.type = type;
        } else {
            const Array& array = region_.arrays[load->second.load->array.index()];
            if (!is_pairable(type) || is_tiled(plan_.tile_axes, *load->second.load) ||
                !contiguous_along(array, *tile.column))
                return false;
            tile.type = type;
            ++plan_.rows_in_pairs;
        }
    }
    return plan_.rows_in_pairs > 0;
}

/// Rows that leave a processor to one block are held in pairs where two share it then: one computes
/// while the rows of the other are on their way.
void Planner::share_processor() {
    const auto resident = [&] { return kRegisters / (plan_.threads() * plan_.registers_of_rows); };
    if (plan_.rows_in_pairs > 0 || resident() > 1) return;
    const Plan whole = plan_;
    if (pair_rows() && !arrange(region_, limits_, wanted_, plan_) && resident() > 1) {
        plan_.resident = resident();
        return;
    }
    plan_ = whole;
}

}  // namespace napkin::schedule
