#include <algorithm>
#include <map>

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

namespace {

constexpr double kRowHeight = 20;  // of one line
constexpr double kTitleGap = 12;
constexpr double kBaseline = 6;  // over a row's lower rule

double middle_of(const StageList& list, std::size_t s) {
    const bool wide = s + 1 < list.stages.size() && list.stages[s + 1].kind == StageKind::Leave;
    if (wide) return (list.stages[s].x + list.stages[s + 1].x) / 2;
    return list.stages[s].x + (list.stages[s].cups.empty() ? 0 : 10);
}

double line_step(Medium medium) {
    return medium == Medium::Page ? 15 : 10;
}

/// Of a row with its longest cell in this system.
double height_of(const TableRow& row, const std::map<std::size_t, double>& places,
                 const DrawOptions& options) {
    std::size_t lines = std::max<std::size_t>(1, cell_lines(row.cumulative, options.medium).size());
    for (const auto& [column, x] : places)
        if (column < row.cells.size())
            lines = std::max(lines, cell_lines(row.cells[column], options.medium).size());
    return kRowHeight + line_step(options.medium) * static_cast<double>(lines - 1);
}

}  // namespace

Canvas paint_table(const System& system, const DrawOptions& options,
                   const std::vector<Column>& columns) {
    Canvas table;
    const StageList& list = system.list;
    std::map<std::size_t, double> places;
    for (std::size_t s = 0; s + 1 < list.stages.size(); ++s)
        if (list.stages[s].column) places[*list.stages[s].column] = middle_of(list, s);
    double left = list.stages.front().x - list.stages.front().left;
    double right = list.stages.back().x + list.stages.back().right;
    const auto width = [&](const std::string& text) { return cell_width(text, options.medium); };
    for (const TableRow& row : options.rows)
        for (const auto& [column, x] : places)
            if (column < row.cells.size() && !row.cells[column].empty()) {
                left = std::min(left, x - width(row.cells[column]) / 2);
                right = std::max(right, x + width(row.cells[column]) / 2);
            }
    double titles = 0;
    double totals = 0;
    bool any_total = false;
    for (const TableRow& row : options.rows) {
        titles = std::max(titles, width(row.title));
        totals = std::max(totals, width(row.cumulative));
        any_total = any_total || !row.cumulative.empty();
    }
    left -= titles + kTitleGap;
    const double totals_at = right + kTitleGap;
    const MathText heading = plain_text("Cumulative", Face::Italic);
    const double end =
        system.is_last && any_total
            ? totals_at + std::max(totals, label_width(heading, kCellSize, options.medium))
            : right;
    const Stroke rule{kBlack, 0.8, Dash::Solid};
    double y = 0;
    bool headed = false;
    table.line({left, y}, {right, y}, rule, Part::Rule);
    for (const TableRow& row : options.rows) {
        const double top = y;
        y += height_of(row, places, options);
        const auto write = [&](const std::string& text, double x, Anchor anchor) {
            const std::vector<MathText> lines = cell_lines(text, options.medium);
            double baseline = top + kRowHeight - kBaseline;
            for (const MathText& line : lines) {
                table.text(line, {x, baseline}, anchor, kCellSize);
                baseline += line_step(options.medium);
            }
        };
        for (const auto& [column, x] : places) {
            if (column >= row.cells.size() || row.cells[column].empty()) continue;
            const double half = width(row.cells[column]) / 2 + 3;
            if (row.tinted && columns[column].kind != ColumnKind::Boxes)
                table.rectangle({x - half, top + 1, x + half, y - 1},
                                columns[column].kind == ColumnKind::Load ? kLoadFill : kSaveFill,
                                {kBlack, 0.7, Dash::Dotted}, Part::Tint);
            write(row.cells[column], x, Anchor::Middle);
        }
        write(row.title, left, Anchor::Left);
        const bool heads = row.cumulative.empty() && !headed;
        if (system.is_last && any_total && heads)
            table.text(heading, {totals_at, top + kRowHeight - kBaseline}, Anchor::Left, kCellSize);
        if (system.is_last) write(row.cumulative, totals_at, Anchor::Left);
        headed = true;
        table.line({left, y}, {end, y}, rule, Part::Rule);
    }
    return table;
}

}  // namespace napkin::drawing
