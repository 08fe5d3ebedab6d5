// Rows that are held as they were loaded: in shared memory, or, of 16 bits, two in a register.
#include <algorithm>

#include "diagrams/memory_order.h"
#include "schedule/arrange.h"
#include "schedule/planner.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"
#include "schedule/warp_shape.h"

namespace napkin::schedule {
namespace {

bool is_pairable(ElementType type) {
    return type == ElementType::BF16 || type == ElementType::F16;
}

/// Whether words are made of whole elements of it.
bool in_words(ElementType type) {
    return is_floating(type) && bits_of(type) >= 16;
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

/// The type in which a result is stored, where all that is done with it is to save it once.
std::optional<ElementType> Planner::saved_at_once(VariableId variable) const {
    std::optional<ElementType> type;
    int saves = 0;
    for_statements(region_.body, [&](const TileStatement& statement, const Loop* loop) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr || save->source != variable) return;
        const Array& array = region_.arrays[save->array.index()];
        ++saves;
        if (loop == nullptr && contiguous_along(array, *plan_.tiles.at(variable).column))
            type = region_.stored.at(save->array);
    });
    const bool at_once = saves == 1 && readers_of(variable) == 0 && is_mapped(variable);
    return at_once && type && in_words(*type) ? type : std::nullopt;
}

bool Planner::row_to_shared(VariableId variable, Tile& tile) {
    const auto load = loads_.find(variable);
    if (load == loads_.end()) {
        const std::optional<ElementType> type = saved_at_once(variable);
        tile.type = type.value_or(tile.type);
        return type.has_value();
    }
    const ElementType type = region_.variables[variable.index()].type;
    if (readers_of(variable) == 1) {
        tile = Tile{};
        tile.home = Home::Device;
        tile.type = type;
        return true;
    }
    const auto& [from, loop] = load->second;
    const Array& array = region_.arrays[from->array.index()];
    if (loop != nullptr || !in_words(type) || is_view(*from) ||
        !contiguous_along(array, *tile.column))
        return false;
    tile.type = type;
    plan_.bytes_in_shared += static_cast<std::int64_t>(bits_of(type)) / 8;
    return true;
}

/// Rows that are read more than once go to shared memory, as they are. False where something else
/// must be held, or where it is copied by less than 8 bytes at once.
bool Planner::rows_to_shared() {
    constexpr std::int64_t kLeastVector = 4;
    if (plan_.vector < kLeastVector || !plan_.tile_axes.empty()) return false;
    for (auto& [variable, tile] : plan_.tiles)
        if (tile.home == Home::Fragment && !row_to_shared(variable, tile)) return false;
    return plan_.bytes_in_shared > 0;
}

/// Where registers leave a processor to one block, rows are held in shared memory: one block
/// computes while the rows of others are on their way. Where that cannot be, in pairs, if two
/// blocks share a processor then or registers hold them in no other way.
std::optional<Refusal> Planner::hold_rows(std::optional<Refusal> refusal) {
    const auto resident = [&] { return kRegisters / (plan_.threads() * plan_.registers_of_rows); };
    const Plan whole = plan_;
    if (!refusal && resident() > 1) return std::nullopt;
    if (rows_to_shared() && !arrange(region_, limits_, wanted_, plan_)) return std::nullopt;
    plan_ = whole;
    if (pair_rows() && !arrange(region_, limits_, wanted_, plan_) && (refusal || resident() > 1)) {
        plan_.resident = resident();
        return std::nullopt;
    }
    plan_ = whole;
    return refusal;
}

}  // namespace napkin::schedule
