#include "diagrams/drawing/draw_rows.h"

#include <algorithm>
#include <cmath>

#include "diagrams/drawing/brackets.h"
#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

namespace {

constexpr double kNoteGap = 24;
constexpr std::size_t kMostCrossed = 1;  // by one wire, in a picture of several kernels

/// Room that does not belong to the stages: names on both sides and titles at the left of each row,
/// totals at the right of the last.
struct Margins {
    double each = 0;
    double last = 0;
};

Margins margins_of(const Diagram& diagram, const StageList& list, const DrawOptions& options) {
    double names = 0;
    for (const Stage& stage : list.stages)
        for (const NameTag& tag : stage.names)
            names = std::max(
                names, label_width(name_beside(diagram, tag.array), kLabelSize, options.medium));
    double rows = 0;
    for (const TableRow& row : options.rows)
        rows = std::max(rows, cell_width(row.cumulative, options.medium));
    return {2 * names + 40, rows};
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

/// Where a row goes on, it says which arrays are live.
void name_arrays(Stage& stage) {
    stage.names.clear();
    for (const Block& block : stage.blocks)
        if (block.array)
            stage.names.push_back({block.first, block.first + block.count - 1, *block.array, true});
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

std::vector<System> break_into_systems(const StageList& list, double width, double totals,
                                       bool names) {
    const std::vector<Stage>& stages = list.stages;
    // Least total of squared slack over all ways to break; inside[i] ends a row at stage i.
    std::vector<double> cost(stages.size(), 1e18);
    std::vector<std::size_t> from(stages.size(), 0);
    cost[0] = 0;
    for (std::size_t end = 1; end < stages.size(); ++end) {
        const bool last = end + 1 == stages.size();
        if (stages[end].kind != StageKind::Data && !last) continue;
        if (!stages[end].names.empty() && !last) continue;  // what enters there is of the next row
        for (std::size_t start = 0; start < end; ++start) {
            if (cost[start] >= 1e18) continue;
            const double used =
                stages[end].x + stages[end].right - stages[start].x + stages[start].left;
            const double slack = width - used - (last ? totals : 0);
            // Too wide is allowed where nothing narrower exists, and costs accordingly.
            double penalty = slack < 0 ? 1e6 + slack * slack * 100 : slack * slack / width;
            if (!last && !stages[end].boundary) penalty += width;
            if (cost[start] + penalty >= cost[end]) continue;
            cost[end] = cost[start] + penalty;
            from[end] = start;
        }
    }
    std::vector<System> systems;
    for (std::size_t end = stages.size() - 1;; end = from[end]) {
        System system;
        system.list.units = list.units;
        system.list.common = list.common;
        const auto first = stages.begin() + static_cast<std::ptrdiff_t>(from[end]);
        system.list.stages.assign(first, stages.begin() + static_cast<std::ptrdiff_t>(end) + 1);
        system.is_first = from[end] == 0;
        system.is_last = end + 1 == stages.size();
        if (!system.is_first && names) name_arrays(system.list.stages.front());
        systems.insert(systems.begin(), std::move(system));
        if (from[end] == 0) break;
    }
    return systems;
}

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

namespace {

/// A diagram, or one kernel of it, in as many rows as `width` asks for, with `totals` above.
Rows set_rows(const Contents& contents, const DrawOptions& options, StageList list,
              const Canvas& totals, double width) {
    const Diagram& diagram = contents.diagram;
    place_vertically(list);
    place_horizontally(list, diagram, options);
    Rows rows;
    rows.clear = most_crossed(list) <= kMostCrossed;
    double y = 0;
    const Margins margins = margins_of(diagram, list, options);
    for (System& system :
         break_into_systems(list, width - margins.each, margins.last, options.names)) {
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
        const Box2 box = bounds_of(row);
        add(rows.picture, row, 0, on_grid(y - box.top, options));
        y += box.bottom - box.top + kRowGap;
        ++rows.count;
    }
    return rows;
}

/// Rows are set anew once they are broken, and may come out wider: then they are broken earlier.
Rows set_rows(const Contents& contents, const DrawOptions& options, const StageList& list,
              const Canvas& totals = {}) {
    Rows rows;
    for (double share = 1; share > 0.75; share -= 0.08) {
        rows = set_rows(contents, options, list, totals, share * options.max_width);
        const double width = width_of(rows.picture);
        // One row may take the margins, and where its totals are too wide they go above it.
        const bool goes_above = rows.count == 1 && totals.operations.empty();
        const double room = options.max_width + (rows.count == 1 ? 2 * kMargin : 0);
        if (goes_above || width <= room) break;
    }
    return rows;
}

}  // namespace

Rows draw_rows(const Contents& contents, DrawOptions options, std::optional<std::size_t> kernel) {
    const StageList list = build_stages(contents, options, kernel);
    Rows beside = set_rows(contents, options, list);
    const bool wide = width_of(beside.picture) > options.max_width;
    if (beside.count == 1 && !wide) return beside;
    const Canvas totals = draw_totals(options);
    if (totals.operations.empty()) return beside;
    for (TableRow& row : options.rows) row.cumulative.clear();
    Rows above = set_rows(contents, options, list, totals);
    return wide || above.count < beside.count ? above : beside;
}

}  // namespace napkin::drawing
