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

/// Rows are copied to shared memory by 8 bytes at least, of 16-bit numbers.
constexpr std::int64_t kLeastVector = 4;

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

/// How many elements, up to whole vectors, the row moves that an index of each axis is of; nullopt
/// where that is not known, or the array has no rows of these columns.
std::optional<std::map<AxisId, std::int64_t>> Planner::begins_of_rows(const Array& array,
                                                                      AxisId columns,
                                                                      std::int64_t vector) const {
    if (array.axes.empty() || !contiguous_along(array, columns)) return std::nullopt;
    std::vector<std::uint32_t> order(array.layout.begin(), array.layout.end());
    if (order.empty())
        for (std::uint32_t d = 0; d < array.axes.size(); ++d) order.push_back(d);
    std::map<AxisId, std::int64_t> steps;
    std::optional<std::int64_t> stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        const AxisId id = array.axes[order[i]];
        const Axis& axis = region_.axes[id.index()];
        const bool outer = id != columns;
        if (!stride || (outer && axis.woven)) return std::nullopt;
        if (outer && *stride != 0) steps[id] = *stride;
        if (axis.dynamic || (outer && limits_.dynamic_sizes))
            stride.reset();
        else
            stride = *stride * axis.extent % vector;
    }
    return steps;
}

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

/// Vectors of 16 bytes of rows that begin at no multiple of them. False where rows of two arrays
/// may begin at different places of a vector, or a block has several rows.
bool Planner::skew_rows() {
    if (plan_.row || limits_.free_strides || plan_.selects || !plan_.serial.empty() ||
        !plan_.scanned.empty())
        return false;
    const bool shares = std::any_of(plan_.tiles.begin(), plan_.tiles.end(), [](const auto& each) {
        return each.second.home == Home::Shared || each.second.home == Home::Matrix;
    });
    if (shares) return false;
    constexpr std::int64_t kVectorBits = 128;
    std::optional<AxisId> columns;
    std::int64_t narrowest = kVectorBits;
    std::vector<const Array*> arrays;
    bool alike = true;
    const auto note = [&](VariableId variable, const Array& array, ElementType type) {
        const Tile& tile = plan_.tiles.at(variable);
        if (tile.home != Home::Fragment) return;
        alike = alike && columns.value_or(*tile.column) == *tile.column;
        columns = *tile.column;
        if (loads_.contains(variable) && readers_of(variable) == 1) return;
        narrowest = std::min(narrowest, static_cast<std::int64_t>(bits_of(type)));
        arrays.push_back(&array);
    };
    for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Load* load = std::get_if<Load>(&statement.node)) {
            const ElementType type = region_.variables[load->target.index()].type;
            alike = alike && !is_view(*load) && type != ElementType::I4;
            note(load->target, region_.arrays[load->array.index()], type);
        }
        if (const Save* save = std::get_if<Save>(&statement.node))
            note(save->source, region_.arrays[save->array.index()], region_.stored.at(save->array));
    });
    if (!alike || !columns || plan_.extents.at(*columns) != region_.axes[columns->index()].extent)
        return false;
    const std::int64_t vector = kVectorBits / narrowest;
    std::optional<std::map<AxisId, std::int64_t>> begins;  // how far a step along an axis moves it
    for (const Array* array : arrays) {
        const std::optional<std::map<AxisId, std::int64_t>> own =
            begins_of_rows(*array, *columns, vector);
        if (!own || begins.value_or(*own) != *own) return false;
        begins = own;
    }
    plan_.vector = vector;
    plan_.skewed = columns;
    return true;
}

/// Rows that are read more than once go to shared memory, as they are. False where something else
/// must be held, or where it is copied by less than 8 bytes at once.
bool Planner::rows_to_shared() {
    if (!plan_.tile_axes.empty() || (plan_.vector < kLeastVector && !skew_rows())) return false;
    for (auto& [variable, tile] : plan_.tiles)
        if (tile.home == Home::Fragment && !row_to_shared(variable, tile)) return false;
    return plan_.bytes_in_shared > 0;
}

/// Whether rows are moved by one 16-bit number at a time, and so long that vectors of theirs in
/// shared memory are faster: from 16000 columns on an H200 (bench/results/2026-11-29-odd-rows.md).
bool Planner::is_read_by_elements() const {
    constexpr std::int64_t kLong = 16000;
    return plan_.vector == 1 &&
           std::any_of(plan_.tiles.begin(), plan_.tiles.end(), [&](const auto& each) {
               const auto& [variable, tile] = each;
               return tile.home == Home::Fragment && tile.column &&
                      is_pairable(region_.variables[variable.index()].type) &&
                      plan_.extents.at(*tile.column) >= kLong;
           });
}

/// Where registers leave a processor to one block, rows are held in shared memory: one block
/// computes while the rows of others are on their way. Where that cannot be, in pairs, if two
/// blocks share a processor then or registers hold them in no other way.
std::optional<Refusal> Planner::hold_rows(std::optional<Refusal> refusal) {
    const auto resident = [&] { return kRegisters / (plan_.threads() * plan_.registers_of_rows); };
    const Plan whole = plan_;
    const bool shares = !refusal && resident() > 1;
    if (shares && !is_read_by_elements()) return std::nullopt;
    if (rows_to_shared() && !arrange(region_, limits_, wanted_, plan_)) return std::nullopt;
    plan_ = whole;
    if (shares) return std::nullopt;
    if (pair_rows() && !arrange(region_, limits_, wanted_, plan_) && (refusal || resident() > 1)) {
        plan_.resident = resident();
        return std::nullopt;
    }
    plan_ = whole;
    return refusal;
}

}  // namespace napkin::schedule
