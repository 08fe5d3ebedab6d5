#include "cli/resource_table.h"

#include <algorithm>
#include <set>

#include "cli/numbers.h"
#include "cli/picture.h"
#include "diagrams/factor.h"
#include "perfmodel/cost_table.h"

namespace napkin::cli {

std::vector<Polynomial> transfers_of(const RegionCost& region, Level level) {
    std::vector<Polynomial> parts;
    for (const Transfer& transfer : region.transfers)
        if (transfer.level == level && transfer.amount.ideal)
            parts.push_back(*transfer.amount.ideal);
    return parts;
}

namespace {

using drawing::Column;
using drawing::ColumnKind;
using drawing::TableRow;

/// What cells are written from.
struct Table {
    const Cost& cost;
    bool numbers = false;  ///< bytes under the formulas

    /// An amount as a formula, in which `parts` that are products stand as such.
    [[nodiscard]] std::string cell(const Amount& amount, const RegionCost& region,
                                   const std::vector<Polynomial>& parts) const {
        if (amount.values == 0) return "";
        const std::string formula =
            amount.ideal ? print_in_parts(*amount.ideal, parts, region.names, region.order)
                         : grouped(amount.values);
        return numbers ? formula + "\n" + bytes_text(static_cast<double>(amount.bytes())) : formula;
    }
    [[nodiscard]] std::string memory(const Column& column, const RegionCost& region,
                                     bool first) const;
    [[nodiscard]] std::string transferred(const Column& column, const RegionCost& region) const;
    [[nodiscard]] std::vector<TableRow> rows(Level level, const std::vector<Column>& columns) const;
};

const CostColumn* part_of(const RegionCost& region, CostColumn::Kind kind) {
    const auto found = std::find_if(region.columns.begin(), region.columns.end(),
                                    [&](const CostColumn& column) { return column.kind == kind; });
    return found == region.columns.end() ? nullptr : &*found;
}

/// M at the block level: around the loads, at the first box where that is more, around the saves.
std::string Table::memory(const Column& column, const RegionCost& region, bool first) const {
    const auto text = [&](CostColumn::Kind kind) {
        const CostColumn* part = part_of(region, kind);
        return part == nullptr ? "" : cell(part->memory, region, {});
    };
    switch (column.kind) {
    case ColumnKind::Load: return text(CostColumn::Kind::Load);
    case ColumnKind::Save: return text(CostColumn::Kind::Save);
    case ColumnKind::Boxes: break;
    }
    const std::string held = first ? text(CostColumn::Kind::Compute) : "";
    return held == text(CostColumn::Kind::Load) ? "" : held;
}

/// H of a load or a save, at the level that it belongs to.
std::string Table::transferred(const Column& column, const RegionCost& region) const {
    Amount total;
    total.ideal = Polynomial{};
    std::vector<Polynomial> parts;
    for (const Transfer& transfer : region.transfers) {
        if (transfer.level != column.level || transfer.is_save != (column.kind == ColumnKind::Save))
            continue;
        total.values += transfer.amount.values;
        total.bits += transfer.amount.bits;
        if (transfer.amount.ideal) parts.push_back(*transfer.amount.ideal);
        if (total.ideal && transfer.amount.ideal)
            total.ideal = *total.ideal + *transfer.amount.ideal;
        else
            total.ideal.reset();
    }
    return cell(total, region, parts);
}

/// M and H of one level, one cell a column of the drawing.
std::vector<TableRow> Table::rows(Level level, const std::vector<Column>& columns) const {
    TableRow held{"M_" + level_title(level), {}, "", false};
    TableRow moved{"H_" + level_title(level), {}, "", true};
    std::optional<std::size_t> boxes_of;
    for (const Column& column : columns) {
        const RegionCost& region = cost.regions[column.region];
        const bool boxes = column.kind == ColumnKind::Boxes;
        const bool first = boxes && boxes_of != column.region;
        if (boxes) boxes_of = column.region;
        const auto own = region.levels.find(level);
        held.cells.emplace_back();
        moved.cells.emplace_back();
        if (!boxes && column.level == level) moved.cells.back() = transferred(column, region);
        if (level == Level::Block && (boxes || column.level == level))
            held.cells.back() = memory(column, region, first);
        else if (first && own != region.levels.end())
            held.cells.back() = cell(own->second.memory, region, {});
    }
    std::vector<Polynomial> parts;
    for (const RegionCost& region : cost.regions) {
        const std::vector<Polynomial> more = transfers_of(region, level);
        parts.insert(parts.end(), more.begin(), more.end());
        const auto own = region.levels.find(level);
        moved.totals.push_back(
            own == region.levels.end() ? "" : cell(own->second.transferred, region, more));
    }
    if (const auto total = cost.transferred.find(level); total != cost.transferred.end())
        moved.cumulative = cell(total->second, cost.regions.front(), parts);
    return {held, moved};
}

}  // namespace

std::vector<TableRow> resource_rows(const State& state, const Cost& cost, bool numbers) {
    const Table table{cost, numbers};
    const std::vector<Column> columns = drawing::columns_of(state.diagram, state.relabelling);
    std::set<Level> levels;
    for (const Column& column : columns)
        if (column.kind == ColumnKind::Load) levels.insert(column.level);
    std::vector<TableRow> rows;
    for (const Level level : levels) {
        const std::vector<TableRow> more = table.rows(level, columns);
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
}

}  // namespace napkin::cli
