// FlashAttention-4's lists of blocks. Its blocks are consecutive tokens: where tiles are not,
// tokens are put into their order, which is written beside the lists, with the mask over tokens so
// numbered.
#include <algorithm>

#include "cli/files.h"
#include "cli/mask_export.h"
#include "cli/messages.h"
#include "diagrams/contains.h"
#include "diagrams/npy.h"
#include "perfmodel/token_order.h"

namespace napkin::cli {

namespace {

using index::TileState;
using index::Tiling;

/// Of the woven axes that the mask depends on, the first of several is the batch.
std::int64_t batches_of(const Diagram& diagram, const MaskReport& report) {
    std::vector<AxisId> woven;
    for (std::uint32_t k = 0; k < diagram.axes.size(); ++k)
        if (diagram.axes[k].woven) woven.push_back(AxisId{k});
    if (woven.size() < 2 || report.heads.empty() || report.heads.front() != woven.front()) return 1;
    return diagram[woven.front()].extent;
}

/// Counts and indices of the tiles of one state.
struct BlockList {
    Tensor count;
    Tensor index;
};

void add_row(const TileGrid& grid, std::int64_t row, std::size_t place, TileState state,
             BlockList& list) {
    std::size_t count = 0;
    const auto begin = place * static_cast<std::size_t>(grid.columns);
    for (std::int64_t column = 0; column < grid.columns; ++column)
        if (grid.at(row, column) == state)
            list.index.values[begin + count++] = static_cast<double>(column);
    list.count.values[place] = static_cast<double>(count);
}

/// The first of one side whose last tile is shorter, though other tiles follow it, or axes outside
/// of it have several indices: these would go on at another distance there.
std::optional<Tiling> shorter_between(const Diagram& diagram, const std::vector<Tiling>& tilings) {
    const auto is_tiled = [&](const Tiling& tiling) {
        return tiling.size < diagram[tiling.axis].extent;
    };
    const auto is_long = [&](const Tiling& tiling) { return diagram[tiling.axis].extent > 1; };
    for (auto at = tilings.begin(); at != tilings.end(); ++at)
        if (diagram[at->axis].extent % at->size != 0 &&
            (std::any_of(tilings.begin(), at, is_long) ||
             std::any_of(std::next(at), tilings.end(), is_tiled)))
            return *at;
    return std::nullopt;
}

Tensor order_of(const Diagram& diagram, const std::vector<Tiling>& tilings) {
    const std::vector<std::int64_t> order = token_order(diagram, tilings);
    Tensor tensor = zeros({static_cast<std::int64_t>(order.size())});
    std::copy(order.begin(), order.end(), tensor.values.begin());
    return tensor;
}

}  // namespace

std::optional<Diagnostics> write_block_lists(const State& state, const MaskReport& report,
                                             const std::string& folder) {
    if (!report.data.empty() && !report.by_data)
        return Diagnostics{{data_in_mask(report.statement)}};
    struct Side {
        const char* file = nullptr;
        std::vector<Tiling> tilings;
    };
    const auto keys = report.tilings.begin() + static_cast<std::ptrdiff_t>(report.queries.size());
    const Side sides[] = {{"q_order", {report.tilings.begin(), keys}},
                          {"kv_order", {keys, report.tilings.end()}}};
    for (const Side& side : sides)
        if (const auto tiling = shorter_between(state.diagram, side.tilings))
            return Diagnostics{{blocks_differ(state.diagram[tiling->axis].name,
                                              state.diagram[tiling->axis].extent, tiling->size)}};
    std::vector<TileGrid> grids;
    for (std::size_t head = 0; head < report.counts.size(); ++head) {
        std::optional<TileGrid> grid = tile_grid(state.diagram, report, report.tilings, head);
        if (!grid) return Diagnostics{{uncounted_mask(report.statement)}};
        grids.push_back(std::move(*grid));
    }
    const std::int64_t batches = batches_of(state.diagram, report);
    const std::int64_t heads = static_cast<std::int64_t>(grids.size()) / batches;
    const std::int64_t rows = grids.front().rows;
    const BlockList nothing{zeros({batches, heads, rows}),
                            zeros({batches, heads, rows, grids.front().columns})};
    BlockList partial = nothing;
    BlockList full = nothing;
    std::size_t place = 0;
    for (const TileGrid& grid : grids)
        for (std::int64_t row = 0; row < rows; ++row, ++place) {
            add_row(grid, row, place, TileState::Partial, partial);
            add_row(grid, row, place, TileState::Full, full);
        }
    NamedTensors files = {{"mask_block_cnt", partial.count},
                          {"mask_block_idx", partial.index},
                          {"full_block_cnt", full.count},
                          {"full_block_idx", full.index}};
    for (const Side& side : sides)
        if (!are_consecutive(state.diagram, side.tilings))
            files.emplace_back(side.file, order_of(state.diagram, side.tilings));
    const ExportedFile mask{"mask_mod.py", mask_mod_text(state, report, TokenOrder::Tiles)};
    if (const auto failure = write_mask_folder(folder, mask, files)) return Diagnostics{{*failure}};
    return std::nullopt;
}

}  // namespace napkin::cli
