#include "cli/mask_export.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "cli/messages.h"
#include "diagrams/checked.h"
#include "perfmodel/token_order.h"

namespace napkin::cli {

namespace {

using index::TileState;
using index::Tiling;

constexpr std::int64_t kMostCells = 2048;  // along a side
constexpr std::size_t kMostPanels = 16;
constexpr double kSide = 360;    // of a panel, in points
constexpr double kPixel = 0.75;  // of CSS
constexpr double kGap = 16;
constexpr std::size_t kPanelsInRow = 3;  // at most, which takes less than 1600 pixels

/// The tiles of queries, or of keys.
using Side = std::vector<Tiling>;
struct Sides {
    Side queries;
    Side keys;
};

Sides sides_of(const MaskReport& report) {
    const auto middle = report.tilings.begin() + static_cast<std::ptrdiff_t>(report.queries.size());
    return {{report.tilings.begin(), middle}, {middle, report.tilings.end()}};
}

std::vector<Tiling> all_tilings(const Sides& sides) {
    std::vector<Tiling> tilings = sides.queries;
    tilings.insert(tilings.end(), sides.keys.begin(), sides.keys.end());
    return tilings;
}

std::int64_t cells_of(const Diagram& diagram, const Side& side) {
    std::int64_t cells = 1;
    for (const auto& [axis, size] : side)
        cells = saturating_multiply(cells, (diagram[axis].extent + size - 1) / size);
    return cells;
}

std::int64_t tokens_of(const Diagram& diagram, const Side& side) {
    std::int64_t tokens = 1;
    for (const Tiling& tiling : side)
        tokens = saturating_multiply(tokens, diagram[tiling.axis].extent);
    return tokens;
}

/// Tiles doubled along the axes with most of them until there are no more than `most`.
Side coarse(const Diagram& diagram, Side side, std::int64_t most) {
    while (cells_of(diagram, side) > most) {
        const auto count = [&](const Tiling& tiling) {
            return diagram[tiling.axis].extent / tiling.size;
        };
        std::max_element(side.begin(), side.end(), [&](const Tiling& a, const Tiling& b) {
            return count(a) < count(b);
        })->size *= 2;
    }
    return side;
}

Sides coarse(const Diagram& diagram, const Sides& sides, std::int64_t most) {
    return {coarse(diagram, sides.queries, most), coarse(diagram, sides.keys, most)};
}

bool are_consecutive(const Diagram& diagram, const Sides& sides) {
    return napkin::are_consecutive(diagram, sides.queries) &&
           napkin::are_consecutive(diagram, sides.keys);
}

/// Pairs of the order of arrays in that of tiles.
TileGrid in_order_of_tiles(const Diagram& diagram, const Sides& sides, TileGrid grid) {
    if (are_consecutive(diagram, sides)) return grid;
    const std::vector<std::int64_t> columns = token_order(diagram, sides.keys);
    TileGrid ordered{grid.rows, grid.columns, {}};
    ordered.states.reserve(grid.states.size());
    for (const std::int64_t row : token_order(diagram, sides.queries))
        for (const std::int64_t column : columns) ordered.states.push_back(grid.at(row, column));
    return ordered;
}

/// A head's tiles, and its single pairs, tile by tile, where these are drawn.
struct Panel {
    std::size_t head = 0;
    TileGrid tiles;
    std::optional<TileGrid> pairs;
};

/// Of every head that looks like none before it, up to kMostPanels; nullopt where tiles cannot be
/// told.
std::optional<std::vector<Panel>> panels_of(const Diagram& diagram, const MaskReport& report,
                                            const Sides& sides, bool with_pairs) {
    std::vector<Panel> panels;
    for (std::size_t head = 0; head < report.counts.size() && panels.size() < kMostPanels; ++head) {
        std::optional<TileGrid> tiles = tile_grid(diagram, report, all_tilings(sides), head);
        if (!tiles) return std::nullopt;
        std::optional<TileGrid> pairs;
        if (with_pairs) {
            pairs = tile_grid(diagram, report, single_indices(report), head);
            if (!pairs) return std::nullopt;
            pairs = in_order_of_tiles(diagram, sides, std::move(*pairs));
        }
        if (std::none_of(panels.begin(), panels.end(), [&](const Panel& other) {
                return other.tiles == *tiles && other.pairs == pairs;
            }))
            panels.push_back({head, std::move(*tiles), std::move(pairs)});
    }
    return panels;
}

std::string head_text(const Diagram& diagram, const MaskReport& report, std::size_t head) {
    std::string text;
    for (const auto& [axis, index] : head_of(diagram, report, head))
        text += (text.empty() ? "" : ", ") + diagram[axis].name + " = " + std::to_string(index);
    return text;
}

/// Where the cells of a grid lie along both sides of a box, by the tokens in them.
class Places {
public:
    Places(const drawing::Box2& box, std::vector<std::int64_t> down,
           std::vector<std::int64_t> across)
        : box_(box), down_(std::move(down)), across_(std::move(across)) {}

    [[nodiscard]] drawing::Box2 box(std::int64_t top, std::int64_t bottom, std::int64_t left,
                                    std::int64_t right) const {
        return {along(across_, left, box_.left, box_.right),
                along(down_, top, box_.top, box_.bottom),
                along(across_, right, box_.left, box_.right),
                along(down_, bottom, box_.top, box_.bottom)};
    }
    /// Whether they have a pixel each, on average.
    [[nodiscard]] bool are_wide() const {
        const auto fit = [](const std::vector<std::int64_t>& edges, double length) {
            return static_cast<double>(edges.size() - 1) * kPixel <= length;
        };
        return fit(down_, box_.bottom - box_.top) && fit(across_, box_.right - box_.left);
    }

private:
    static double along(const std::vector<std::int64_t>& edges, std::int64_t at, double begin,
                        double end) {
        return begin + (end - begin) * static_cast<double>(edges[static_cast<std::size_t>(at)]) /
                           static_cast<double>(edges.back());
    }

    drawing::Box2 box_;
    std::vector<std::int64_t> down_;
    std::vector<std::int64_t> across_;
};

using Run = std::pair<std::int64_t, std::int64_t>;  // of columns, the end not included

std::vector<Run> runs_of(const TileGrid& grid, std::int64_t row, TileState least) {
    std::vector<Run> runs;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
        if (grid.at(row, column) < least) continue;
        if (runs.empty() || runs.back().second != column) runs.emplace_back(column, column);
        ++runs.back().second;
    }
    return runs;
}

/// Paints the cells of at least this state: runs of a row, as far down as each goes on.
void paint(drawing::Canvas& canvas, const Places& places, const TileGrid& grid, TileState least,
           drawing::Color color) {
    drawing::Boxes cells{{}, color, places.are_wide()};
    std::map<Run, std::int64_t> open;  // with the rows that they began in
    for (std::int64_t row = 0; row <= grid.rows; ++row) {
        std::map<Run, std::int64_t> runs;
        if (row < grid.rows)
            for (const Run& run : runs_of(grid, row, least)) {
                const auto above = open.find(run);
                runs.emplace(run, above == open.end() ? row : above->second);
            }
        for (const auto& [run, since] : open)
            if (!runs.contains(run))
                cells.boxes.push_back(places.box(since, row, run.first, run.second));
        open = std::move(runs);
    }
    if (!cells.boxes.empty()) canvas.operations.push_back({std::move(cells), {}});
}

/// What is visited, over it what is visible, and over that the tiles of which all is.
void paint(drawing::Canvas& canvas, const drawing::Box2& box, const Diagram& diagram,
           const Sides& sides, const Panel& panel) {
    const Places tiles(box, tile_edges(diagram, sides.queries), tile_edges(diagram, sides.keys));
    paint(canvas, tiles, panel.tiles, TileState::Partial, drawing::kHiddenFill);
    if (panel.pairs) {
        const auto singles = [](std::int64_t count) {
            std::vector<std::int64_t> edges(static_cast<std::size_t>(count) + 1);
            std::iota(edges.begin(), edges.end(), 0);
            return edges;
        };
        const Places pairs(box, singles(panel.pairs->rows), singles(panel.pairs->columns));
        paint(canvas, pairs, *panel.pairs, TileState::Full, drawing::kTensorCoreColor);
    }
    paint(canvas, tiles, panel.tiles, TileState::Full, drawing::kBlockColor);
    canvas.rectangle(box, std::nullopt, {drawing::kBlack, 0.8}, drawing::Part::Region);
}

std::string names_of(const Diagram& diagram, const Side& side) {
    std::string text;
    for (const Tiling& tiling : side)
        text += (text.empty() ? "" : ", ") + diagram[tiling.axis].name;
    return text;
}

/// What the colours mean, and what runs down and across.
void add_key(drawing::Canvas& canvas, double top, bool pairs, const Diagram& diagram,
             const Sides& sides) {
    constexpr double kBox = 9;
    constexpr double kLine = 15;
    constexpr double kFont = 10;
    const std::pair<drawing::Color, const char*> meanings[] = {
        {drawing::kBlockColor, "a tile of which all is visible"},
        {drawing::kTensorCoreColor, "what is visible of a tile that is tested"},
        {drawing::kHiddenFill, pairs ? "what is hidden of it" : "a tile that is tested"}};
    canvas.text(drawing::plain_text(names_of(diagram, sides.queries) + " down, " +
                                    names_of(diagram, sides.keys) + " across" +
                                    (are_consecutive(diagram, sides) ? "" : ", tile by tile") +
                                    "; white is left out"),
                {0, top + kBox}, drawing::Anchor::Left, kFont);
    for (const auto& [color, meaning] : meanings) {
        if (!pairs && color == drawing::kTensorCoreColor) continue;
        top += kLine;
        canvas.rectangle({0, top, kBox, top + kBox}, color, {drawing::kBlack, 0.4},
                         drawing::Part::Tint);
        canvas.text(drawing::plain_text(meaning), {kBox + 5, top + kBox - 1}, drawing::Anchor::Left,
                    kFont);
    }
}

}  // namespace

Result<drawing::Canvas> mask_picture(const State& state, const MaskReport& report) {
    const Diagram& diagram = state.diagram;
    const Sides sides = coarse(diagram, sides_of(report), kMostCells);
    const std::int64_t rows = tokens_of(diagram, sides.queries);
    const std::int64_t columns = tokens_of(diagram, sides.keys);
    const bool with_pairs = std::max(rows, columns) <= kMostCells;
    drawing::Canvas canvas;
    canvas.title = "mask of " + report.statement;
    canvas.description = "rows are queries, columns keys";
    const auto panels = panels_of(diagram, report, sides, with_pairs);
    if (!panels) return uncounted_mask(report.statement);
    const std::size_t lines = (panels->size() + kPanelsInRow - 1) / kPanelsInRow;
    const std::size_t in_line = (panels->size() + lines - 1) / lines;
    const double height =
        kSide * std::clamp(static_cast<double>(rows) / static_cast<double>(columns), 0.1, 4.0);
    for (std::size_t i = 0; i < panels->size(); ++i) {
        const Panel& panel = (*panels)[i];
        const double left = static_cast<double>(i % in_line) * (kSide + kGap);
        const double top = static_cast<double>(i / in_line) * (height + 2 * kGap);
        const drawing::Box2 box{left, top, left + kSide, top + height};
        paint(canvas, box, diagram, sides, panel);
        const TileCounts& counts = report.counts[panel.head];
        const std::string name = head_text(diagram, report, panel.head);
        canvas.text(
            drawing::plain_text((name.empty() ? "" : name + ": ") + std::to_string(counts.visited) +
                                " visited, " + std::to_string(counts.full) + " full, " +
                                std::to_string(counts.partial()) + " partial"),
            {left, box.bottom + 14}, drawing::Anchor::Left, 10);
    }
    add_key(canvas, static_cast<double>(lines) * (height + 2 * kGap), with_pairs, diagram, sides);
    drawing::fit(canvas, drawing::kMargin);
    return canvas;
}

Result<std::string> mask_characters(const State& state, const MaskReport& report,
                                    std::int64_t width) {
    std::string text;
    const Sides sides = coarse(state.diagram, sides_of(report), std::max<std::int64_t>(1, width));
    const auto panels = panels_of(state.diagram, report, sides, false);
    if (!panels) return uncounted_mask(report.statement);
    for (const auto& [head, grid, pairs] : *panels) {
        const std::string name = head_text(state.diagram, report, head);
        if (!name.empty()) text += name + "\n";
        for (std::int64_t row = 0; row < grid.rows; ++row) {
            for (std::int64_t column = 0; column < grid.columns; ++column) {
                const TileState tile = grid.at(row, column);
                text += tile == TileState::Full ? "█" : tile == TileState::Partial ? "▒" : ".";
            }
            text += "\n";
        }
    }
    return text;
}

}  // namespace napkin::cli
