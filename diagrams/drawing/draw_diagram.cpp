#include <algorithm>
#include <cmath>

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

namespace {

constexpr double kRowGap = 26;
constexpr double kDiagramTitleSize = 14;
constexpr double kNoteSize = 12;
constexpr double kNoteGap = 24;
constexpr double kLineHeight = 19;
constexpr double kTerminalStep = 10;

MathText legend_line(const std::vector<MathText>& parts) {
    MathText line;
    for (const MathText& part : parts) {
        if (!line.runs.empty()) line = line + plain_text(",  ");
        line = line + part;
    }
    return line;
}

/// Room that does not belong to the stages: names and titles at the left, totals at the right.
double margins_of(const Diagram& diagram, const StageList& list, const DrawOptions& options) {
    double names = 0;
    for (const Stage& stage : list.stages)
        for (const NameTag& tag : stage.names)
            names = std::max(names, label_width(plain_text(diagram[tag.array].name), kLabelSize,
                                                options.medium));
    double rows = 0;
    for (const TableRow& row : options.rows)
        rows = std::max(rows, label_width(parse_math(row.cumulative), kLabelSize, options.medium));
    return 2 * names + rows + 40;
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

/// Terminals have whole rows: the next lower one.
double on_grid(double y, const DrawOptions& options) {
    return options.medium == Medium::Page ? y : kTerminalStep * std::floor(y / kTerminalStep);
}

double first_wire(const Canvas& canvas) {
    for (const Operation& operation : canvas.operations)
        if (const Line* line = std::get_if<Line>(&operation.shape);
            line != nullptr && line->part == Part::Wire)
            return line->points.front().y;
    return 0;
}

/// Where a row goes on, it says which arrays are live.
void name_arrays(Stage& stage) {
    stage.names.clear();
    for (const Block& block : stage.blocks)
        if (block.array)
            stage.names.push_back({block.first, block.first + block.count - 1, *block.array, true});
}

}  // namespace

std::vector<System> break_into_systems(const StageList& list, double width, bool names) {
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
            const double slack =
                width - (stages[end].x + stages[end].right - stages[start].x + stages[start].left);
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

Canvas draw_diagram(const Diagram& diagram, const Relabelling& relabelling,
                    const DrawOptions& options) {
    StageList list = build_stages(diagram, relabelling, options);
    place_vertically(list);
    place_horizontally(list, diagram, options);
    const std::vector<Column> columns = columns_of(diagram, relabelling);
    Canvas picture;
    double y = 0;
    const double width = options.max_width - margins_of(diagram, list, options);
    for (System& system : break_into_systems(list, width, options.names)) {
        place_vertically(system.list);
        place_horizontally(system.list, diagram, options);
        Canvas row = SystemPainter(diagram, system, options).paint();
        if (!options.rows.empty()) {
            const Canvas table = paint_table(system, options, columns);
            const double over = bounds_of(row).top - 12 - bounds_of(table).bottom;
            add(row, table, 0, on_grid(over, options));
        }
        if (system.is_last) add_notes(row, options);
        const Box2 box = bounds_of(row);
        add(picture, row, 0, on_grid(y - box.top, options));
        y += box.bottom - box.top + kRowGap;
    }
    const Labels labels(diagram, relabelling, options);
    if (const MathText legend = legend_line(labels.legend());
        options.legend && !legend.runs.empty())
        picture.text(legend, {bounds_of(picture).left, y}, Anchor::Left, kNoteSize, kGrey);
    if (!options.title.empty())
        picture.text(plain_text(options.title), {bounds_of(picture).left, -14}, Anchor::Left,
                     kDiagramTitleSize);
    fit(picture, kMargin);
    if (options.medium == Medium::Terminal) {
        // Wires stand on whole rows again.
        const double wire = first_wire(picture);
        translate(picture, 0, on_grid(wire, options) - wire + kTerminalStep);
        picture.height += kTerminalStep;
    }
    return picture;
}

}  // namespace napkin::drawing
