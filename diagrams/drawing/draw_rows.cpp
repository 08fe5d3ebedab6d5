#include "diagrams/drawing/draw_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagrams/drawing/brackets.h"
#include "diagrams/drawing/painter.h"
#include "diagrams/drawing/render.h"

namespace napkin::drawing {

namespace {

constexpr double kNoteGap = 24;
constexpr std::size_t kMostCrossed = 1;  // by one wire, in a picture of several kernels

double totals_width(const DrawOptions& options) {
    double widest = 0;
    for (const TableRow& row : options.rows)
        widest = std::max(widest, cell_width(row.cumulative, options.medium));
    return widest;
}

void add_notes(Canvas& canvas, const DrawOptions& options) {
    if (options.notes.empty()) return;
    const Box2 box = bounds_of(canvas);
    double y = (box.top + box.bottom) / 2 -
               kLineHeight * (static_cast<double>(options.notes.size()) - 1) / 2;
    for (const std::string& note : options.notes) {
        canvas.text(parse_math(note), {box.right + kNoteGap, y}, Anchor::Left, kNoteSize);
        y += kLineHeight;
    }
}

/// A row that goes on says so where it ends and where it begins again.
void mark_break(Canvas& row, const System& system, const Box2& wires) {
    const auto mark = [&](const char* text, Point at, Anchor anchor) {
        row.text(plain_text(text, Face::Italic), at, anchor, kMarkSize, kGrey);
    };
    const Box2 box = bounds_of(row);
    if (!system.is_first) mark("→ from above", {box.left, box.top - 10}, Anchor::Left);
    if (!system.is_last) mark("goes on below →", {wires.right, box.bottom + 16}, Anchor::Right);
}

}  // namespace

SystemPainter::SystemPainter(const Diagram& diagram, const System& system,
                             const DrawOptions& options)
    : diagram_(diagram), system_(system), list_(system.list), options_(options) {
    top_ = 1e9;
    bottom_ = -1e9;
    for (const Stage& placed : list_.stages)
        for (const Track& track : placed.tracks) {
            top_ = std::min(top_, track.y);
            bottom_ = std::max(bottom_, track.y);
        }
}

Canvas SystemPainter::paint() {
    for (std::size_t s = 0; s < list_.stages.size(); ++s) {
        const bool more = s + 1 < list_.stages.size();
        paint_regions(s);
        paint_levels(s);
        if (more) paint_links(s);
        if (more) paint_glyph(s);
        paint_labels(s);
        paint_names(s);
    }
    paint_separators();
    paint_titles();
    Canvas canvas;
    join_lines(wires_);
    for (const Canvas* layer : {&regions_, &lines_, &wires_, &glyphs_, &texts_})
        add(canvas, *layer, 0, 0);
    return canvas;
}

double on_grid(double y, const DrawOptions& options) {
    return options.medium == Medium::Page ? y : kTerminalStep * std::floor(y / kTerminalStep);
}

Canvas draw_totals(const DrawOptions& options) {
    Canvas totals;
    double y = 0;
    for (const TableRow& row : options.rows) {
        if (row.cumulative.empty()) continue;
        const MathText title = parse_math(row.title) + plain_text(" = ");
        const double indent = label_width(title, kNoteSize, options.medium);
        totals.text(title, {0, y}, Anchor::Left, kNoteSize);
        for (const MathText& line :
             wrap_sum(row.cumulative, options.max_width - indent, kNoteSize, options.medium)) {
            totals.text(line, {indent, y}, Anchor::Left, kNoteSize);
            y += options.medium == Medium::Page ? kLineHeight : kTerminalStep;
        }
    }
    return totals;
}

double width_of(const Canvas& canvas) {
    const Box2 box = bounds_of(canvas);
    return box.right - box.left;
}

std::pair<int, int> columns_taken(const Canvas& canvas) {
    int first = std::numeric_limits<int>::max();
    int end = 0;
    const auto take = [&](int from, int to) {
        first = std::min(first, from);
        end = std::max(end, to);
    };
    for (const Operation& operation : canvas.operations) {
        if (const Text* text = std::get_if<Text>(&operation.shape)) {
            const int from = first_column(*text);
            take(from, from + static_cast<int>(columns_in(to_unicode(text->text))));
        } else if (std::holds_alternative<Line>(operation.shape)) {
            const Box2 box = bounds_of(operation);
            take(column_at(box.left), column_at(box.right) + 1);
        }
    }
    return {std::min(first, end), end};
}

namespace {

/// The rows' pictures, the first with `totals` above.
std::vector<Canvas> set_rows(const Contents& contents, const DrawOptions& options,
                             std::vector<System> systems, const Canvas& totals) {
    const Diagram& diagram = contents.diagram;
    std::vector<Canvas> rows;
    for (System& system : systems) {
        place_vertically(system.list);
        place_horizontally(system.list, diagram, options);
        Canvas row = SystemPainter(diagram, system, options).paint();
        const Box2 wires = bounds_of(row);
        if (!options.rows.empty()) {
            const Canvas table = paint_table(system, options, contents.columns);
            const double over = wires.top - 12 - bounds_of(table).bottom;
            add(row, table, 0, on_grid(over, options));
        }
        if (system.is_first && !totals.operations.empty())
            add(row, totals, bounds_of(row).left - bounds_of(totals).left,
                on_grid(bounds_of(row).top - 10 - bounds_of(totals).bottom, options));
        if (options.names && options.medium == Medium::Page)
            add_brackets(row, contents, options, system);
        mark_break(row, system, wires);
        if (system.is_last) add_notes(row, options);
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Rows one below the other: by their first wires, or by what stands furthest left.
enum class Alignment { Wires, Left };
Canvas stacked(const std::vector<Canvas>& rows, Alignment alignment, const DrawOptions& options) {
    Canvas picture;
    double y = 0;
    for (const Canvas& row : rows) {
        const Box2 box = bounds_of(row);
        add(picture, row, alignment == Alignment::Left ? -box.left : 0,
            on_grid(y - box.top, options));
        y += box.bottom - box.top + kRowGap;
    }
    return picture;
}

/// Terminals have characters that are wider than the type that canvases count with.
bool fits(const Canvas& picture, const DrawOptions& options) {
    if (options.medium == Medium::Page) return width_of(picture) <= options.max_width;
    Canvas framed = picture;
    fit(framed, 0);
    const auto [first, end] = columns_taken(framed);
    return end - std::min(first, 0) <= column_at(options.max_width);
}

/// In the fewest rows that fit, else as narrow as can be. Rows are set anew once they are broken,
/// and may come out wider or narrower: so each count of rows is tried, in ways that do not depend
/// on the width that is asked for, and more width never takes more rows.
Rows set_fewest_rows(const Contents& contents, const DrawOptions& options, StageList list,
                     std::size_t most_rows, const Canvas& totals = {}) {
    constexpr double kHopeless = 1.5;  // times as wide
    place_vertically(list);
    place_horizontally(list, contents.diagram, options);
    const RowBreaks breaks(list, totals_width(options));
    most_rows = std::min(most_rows, breaks.most_rows());
    Rows narrowest;
    narrowest.clear = most_crossed(list) <= kMostCrossed;
    for (std::size_t count = 1; count <= most_rows; ++count) {
        if (count < most_rows && breaks.widest_row(count) > kHopeless * options.max_width) continue;
        const std::vector<Canvas> rows =
            set_rows(contents, options, breaks.systems(count, options.names), totals);
        for (const Alignment alignment : {Alignment::Wires, Alignment::Left}) {
            Canvas picture = stacked(rows, alignment, options);
            if (narrowest.count == 0 || width_of(picture) < width_of(narrowest.picture))
                narrowest = {std::move(picture), count, narrowest.clear};
            if (fits(narrowest.picture, options)) return narrowest;
        }
    }
    return narrowest;
}

}  // namespace

Rows draw_rows(const Contents& contents, DrawOptions options, std::optional<std::size_t> kernel,
               std::size_t most_rows) {
    const StageList list = build_stages(contents, options, kernel);
    Rows beside = set_fewest_rows(contents, options, list, most_rows);
    const bool beside_fits = fits(beside.picture, options);
    if (beside.count == 1 && beside_fits) return beside;
    const Canvas totals = draw_totals(options);
    if (totals.operations.empty()) return beside;
    for (TableRow& row : options.rows) row.cumulative.clear();
    Rows above = set_fewest_rows(contents, options, list, most_rows, totals);
    return !beside_fits || above.count < beside.count ? above : beside;
}

}  // namespace napkin::drawing
