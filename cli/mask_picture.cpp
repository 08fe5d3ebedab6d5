#include "cli/mask_export.h"

#include <algorithm>
#include <map>

#include "cli/messages.h"
#include "diagrams/checked.h"

namespace napkin::cli {

namespace {

using index::TileState;
using index::Tiling;

constexpr std::int64_t kMostCells = 2048;  // along a side
constexpr std::size_t kMostPanels = 16;
constexpr double kSide = 360;  // of a panel, in points
constexpr double kGap = 16;
constexpr double kPanelsInRow = 4;

std::int64_t cells_of(const Diagram& diagram, const std::vector<Tiling>& tilings, std::size_t begin,
                      std::size_t end) {
    std::int64_t cells = 1;
    for (std::size_t k = begin; k < end; ++k)
        cells = saturating_multiply(
            cells, (diagram[tilings[k].axis].extent + tilings[k].size - 1) / tilings[k].size);
    return cells;
}

/// Tiles doubled along the axes with most of them until a side has no more than `most`.
void coarsen(const Diagram& diagram, std::vector<Tiling>& tilings, std::size_t begin,
             std::size_t end, std::int64_t most) {
    while (cells_of(diagram, tilings, begin, end) > most) {
        std::size_t finest = begin;
        const auto count = [&](std::size_t k) {
            return diagram[tilings[k].axis].extent / tilings[k].size;
        };
        for (std::size_t k = begin; k < end; ++k)
            if (count(k) > count(finest)) finest = k;
        tilings[finest].size *= 2;
    }
}

std::vector<Tiling> coarse(const Diagram& diagram, const MaskReport& report,
                           std::vector<Tiling> tilings, std::int64_t most) {
    const std::size_t queries = report.queries.size();
    coarsen(diagram, tilings, 0, queries, most);
    coarsen(diagram, tilings, queries, tilings.size(), most);
    return tilings;
}

/// A head's tiles, and its single pairs where these are drawn.
struct Panel {
    std::size_t head = 0;
    TileGrid tiles;
    std::optional<TileGrid> pairs;
};

/// Of every head that looks like none before it, up to kMostPanels; nullopt where tiles cannot be
/// told.
std::optional<std::vector<Panel>> panels_of(const Diagram& diagram, const MaskReport& report,
                                            const std::vector<Tiling>& tilings,
                                            const std::optional<std::vector<Tiling>>& pairs) {
    std::vector<Panel> panels;
    for (std::size_t head = 0; head < report.counts.size() && panels.size() < kMostPanels; ++head) {
        std::optional<TileGrid> tiles = tile_grid(diagram, report, tilings, head);
        std::optional<TileGrid> points = pairs ? tile_grid(diagram, report, *pairs, head) : tiles;
        if (!tiles || !points) return std::nullopt;
        if (!pairs) points.reset();
        if (std::none_of(panels.begin(), panels.end(), [&](const Panel& other) {
                return other.tiles == *tiles && other.pairs == points;
            }))
            panels.push_back({head, std::move(*tiles), std::move(points)});
    }
    return panels;
}

std::string head_text(const Diagram& diagram, const MaskReport& report, std::size_t head) {
    std::string text;
    for (const auto& [axis, index] : head_of(diagram, report, head))
        text += (text.empty() ? "" : ", ") + diagram[axis].name + " = " + std::to_string(index);
    return text;
}

/// Runs of equal cells of a row, as far down as each goes on: painted once.
class Painter {
public:
    Painter(drawing::Canvas& canvas, drawing::Box2 box, const TileGrid& grid)
        : canvas_(canvas), box_(box), grid_(grid) {}

    void paint(TileState state, drawing::Color color) {
        std::map<Run, std::int64_t> open;  // with the rows that they began in
        for (std::int64_t row = 0; row <= grid_.rows; ++row) {
            std::map<Run, std::int64_t> runs;
            if (row < grid_.rows)
                for (const Run& run : runs_of(row, state)) {
                    const auto above = open.find(run);
                    runs.emplace(run, above == open.end() ? row : above->second);
                }
            for (const auto& [run, since] : open)
                if (!runs.contains(run)) fill(since, row, run, color);
            open = std::move(runs);
        }
    }

private:
    using Run = std::pair<std::int64_t, std::int64_t>;  // of columns, the end not included

    [[nodiscard]] std::vector<Run> runs_of(std::int64_t row, TileState state) const {
        std::vector<Run> runs;
        for (std::int64_t column = 0; column < grid_.columns; ++column) {
            if (grid_.at(row, column) != state) continue;
            if (runs.empty() || runs.back().second != column) runs.emplace_back(column, column);
            ++runs.back().second;
        }
        return runs;
    }
    void fill(std::int64_t top, std::int64_t bottom, const Run& run, drawing::Color color) {
        const double width = (box_.right - box_.left) / static_cast<double>(grid_.columns);
        const double height = (box_.bottom - box_.top) / static_cast<double>(grid_.rows);
        canvas_.rectangle({box_.left + width * static_cast<double>(run.first),
                           box_.top + height * static_cast<double>(top),
                           box_.left + width * static_cast<double>(run.second),
                           box_.top + height * static_cast<double>(bottom)},
                          color, {color, 0}, drawing::Part::Tint);
    }

    drawing::Canvas& canvas_;
    drawing::Box2 box_;
    const TileGrid& grid_;
};

std::string names_of(const Diagram& diagram, const std::vector<Tiling>& tilings, std::size_t begin,
                     std::size_t end) {
    std::string text;
    for (std::size_t k = begin; k < end; ++k)
        text += (text.empty() ? "" : ", ") + diagram[tilings[k].axis].name;
    return text;
}

/// What the colours mean, and what runs down and across.
void add_key(drawing::Canvas& canvas, double top, bool pairs, const std::string& down,
             const std::string& across) {
    constexpr double kBox = 9;
    constexpr double kLine = 15;
    constexpr double kFont = 10;
    const std::pair<drawing::Color, const char*> meanings[] = {
        {drawing::kBlockColor, "a tile of which all is visible"},
        {drawing::kTensorCoreColor, "what is visible of a tile that is tested"},
        {drawing::kSubAlgorithmFill, pairs ? "what is hidden of it" : "a tile that is tested"}};
    canvas.text(drawing::plain_text(down + " down, " + across + " across; white is left out"),
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
    const std::vector<Tiling> singles = single_indices(report);
    const std::size_t queries = report.queries.size();
    const bool pairs = cells_of(diagram, singles, 0, queries) <= kMostCells &&
                       cells_of(diagram, singles, queries, singles.size()) <= kMostCells;
    drawing::Canvas canvas;
    canvas.title = "mask of " + report.statement;
    canvas.description = "rows are queries, columns keys";
    double left = 0;
    double top = 0;
    double lowest = 0;
    const auto panels =
        panels_of(diagram, report, coarse(diagram, report, report.tilings, kMostCells),
                  pairs ? std::optional(singles) : std::nullopt);
    if (!panels) return uncounted_mask(report.statement);
    for (const auto& [head, tiles, points] : *panels) {
        const TileGrid& finest = points ? *points : tiles;
        const double height = kSide * std::clamp(static_cast<double>(finest.rows) /
                                                     static_cast<double>(finest.columns),
                                                 0.1, 4.0);
        const drawing::Box2 box{left, top, left + kSide, top + height};
        Painter shades(canvas, box, tiles);
        shades.paint(TileState::Partial, drawing::kSubAlgorithmFill);
        if (points) Painter(canvas, box, *points).paint(TileState::Full, drawing::kTensorCoreColor);
        shades.paint(TileState::Full, drawing::kBlockColor);
        canvas.rectangle(box, std::nullopt, {drawing::kBlack, 0.8}, drawing::Part::Region);
        const TileCounts& counts = report.counts[head];
        const std::string name = head_text(diagram, report, head);
        canvas.text(
            drawing::plain_text((name.empty() ? "" : name + ": ") + std::to_string(counts.visited) +
                                " visited, " + std::to_string(counts.full) + " full, " +
                                std::to_string(counts.partial()) + " partial"),
            {left, box.bottom + 14}, drawing::Anchor::Left, 10);
        lowest = std::max(lowest, box.bottom);
        left += kSide + kGap;
        if (left < kPanelsInRow * kSide) continue;
        left = 0;
        top = box.bottom + 2 * kGap;
    }
    add_key(canvas, lowest + 2 * kGap, pairs, names_of(diagram, report.tilings, 0, queries),
            names_of(diagram, report.tilings, queries, report.tilings.size()));
    drawing::fit(canvas, drawing::kMargin);
    return canvas;
}

Result<std::string> mask_characters(const State& state, const MaskReport& report,
                                    std::int64_t width) {
    std::string text;
    const auto panels = panels_of(
        state.diagram, report,
        coarse(state.diagram, report, report.tilings, std::max<std::int64_t>(1, width)), {});
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
