#include "cli/picture.h"

#include <algorithm>

#include "cli/console.h"
#include "cli/numbers.h"
#include "diagrams/graphviz/overview.h"

namespace napkin::cli {
namespace {

using drawing::Column;
using drawing::ColumnKind;
using drawing::TableRow;

/// Two-level titles for two-level relabellings, `M_block` and the like where there are more.
std::string level_title(Level level) {
    switch (level) {
    case Level::Device: return "l0";
    case Level::Block: return "l1";
    case Level::Warps: return "l2";
    default: return std::string(name_of(level));
    }
}

std::string cell_of(const Amount& amount, const RegionCost& cost) {
    if (amount.values == 0) return "";
    return amount.ideal ? print(*amount.ideal, cost.names, cost.order) : grouped(amount.values);
}

/// H and M at the block level, one cell a column of the drawing.
std::vector<TableRow> rows_of(const State& state, const Cost& cost) {
    const std::vector<Column> columns = drawing::columns_of(state.diagram, state.relabelling);
    const std::string title = level_title(Level::Block);
    TableRow memory{"M_" + title, {}, "", false};
    TableRow transferred{"H_" + title, {}, "", true};
    std::vector<bool> has_boxes(cost.regions.size(), false);
    for (const Column& column : columns) {
        memory.cells.emplace_back();
        transferred.cells.emplace_back();
        const RegionCost& region = cost.regions[column.region];
        for (const CostColumn& part : region.columns) {
            const bool is_load = part.kind == CostColumn::Kind::Load;
            const bool is_save = part.kind == CostColumn::Kind::Save;
            if ((column.kind == ColumnKind::Load && is_load && column.level == Level::Block) ||
                (column.kind == ColumnKind::Save && is_save && column.level == Level::Block))
                transferred.cells.back() = cell_of(part.transferred, region);
            if (column.kind == ColumnKind::Boxes && part.kind == CostColumn::Kind::Compute &&
                !has_boxes[column.region]) {
                has_boxes[column.region] = true;
                memory.cells.back() = cell_of(part.memory, region);
            }
        }
    }
    if (const auto total = cost.transferred.find(Level::Block); total != cost.transferred.end())
        transferred.cumulative = cell_of(total->second, cost.regions.front());
    for (const RegionCost& region : cost.regions) {
        const auto own = region.levels.find(Level::Block);
        transferred.totals.push_back(
            own == region.levels.end() ? "" : cell_of(own->second.transferred, region));
    }
    return {memory, transferred};
}

}  // namespace

Result<Cost> cost_of_state(const State& state) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    return cost_of(*program);
}

Result<Cost> CostOfSteps::operator()(const State& state) {
    const bool same = last_ && last_->diagram == state.diagram &&
                      last_->relabelling.places == state.relabelling.places &&
                      last_->relabelling.wire_types == state.relabelling.wire_types;
    std::vector<RegionCost> regions;
    for (const Region& region : state.relabelling.regions) {
        const std::vector<Region> none;
        const std::vector<Region>& known = same ? last_->relabelling.regions : none;
        const auto found = std::find(known.begin(), known.end(), region);
        if (found != known.end()) {
            regions.push_back(regions_[static_cast<std::size_t>(found - known.begin())]);
            continue;
        }
        const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
        if (!program) return program.error();
        Result<RegionCost> cost = cost_of(*program);
        if (!cost) return cost.error();
        regions.push_back(std::move(*cost));
    }
    last_ = state;
    regions_ = regions;
    return cost_of(state.diagram.name, std::move(regions));
}

namespace {

drawing::DrawOptions options_of(const State& state, const Cost& cost,
                                const PictureOptions& wanted) {
    drawing::DrawOptions options;
    options.title = wanted.title;
    options.rows = rows_of(state, cost);
    options.medium = wanted.medium;
    options.kernel = wanted.kernel;
    if (wanted.max_width) options.max_width = *wanted.max_width;
    if (wanted.sources != nullptr)
        options.where = [&sources = *wanted.sources](Span span) { return sources.describe(span); };
    return options;
}

}  // namespace

Result<drawing::Canvas> picture_of(const State& state, const Cost& cost,
                                   const PictureOptions& wanted) {
    drawing::DrawOptions options = options_of(state, cost, wanted);
    // A terminal has no room for a graph: there each kernel's arrays say what flows.
    if (wanted.medium == drawing::Medium::Page && !wanted.kernel &&
        state.relabelling.regions.size() > 1) {
        Result<drawing::Canvas> overview =
            drawing::draw_overview(state.diagram, state.relabelling, options.max_width);
        if (!overview) return overview;
        options.overview = std::move(*overview);
    }
    drawing::Canvas canvas = drawing::draw_diagram(state.diagram, state.relabelling, options);
    canvas.step = wanted.step;
    return canvas;
}

double columns(int count) {
    return drawing::kTerminalCell * count;
}

std::string terminal_picture(const State& state, const Cost& cost, bool color) {
    PictureOptions options;
    options.medium = drawing::Medium::Terminal;
    options.max_width = columns(terminal_width());
    const drawing::DrawOptions drawn = options_of(state, cost, options);
    return drawing::render_text(drawing::draw_diagram(state.diagram, state.relabelling, drawn),
                                color);
}

}  // namespace napkin::cli
