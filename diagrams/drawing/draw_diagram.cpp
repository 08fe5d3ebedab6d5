#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

namespace {

constexpr double kRowGap = 26;
constexpr double kDiagramTitleSize = 14;
constexpr double kNoteSize = 12;
constexpr double kNoteGap = 24;
constexpr double kLineHeight = 19;
constexpr double kMarkSize = 11;
constexpr std::size_t kMostCrossed = 1;  // by one wire, in a picture of several kernels
constexpr double kTerminalStep = 10;

/// Sizes one after another, in lines of the picture's width.
std::vector<MathText> legend_lines(const std::vector<MathText>& parts, const DrawOptions& options) {
    std::vector<MathText> lines;
    for (const MathText& part : parts) {
        if (!lines.empty()) {
            const MathText longer = lines.back() + plain_text(",  ") + part;
            if (label_width(longer, kNoteSize, options.medium) <= options.max_width - 2 * kMargin) {
                lines.back() = longer;
                continue;
            }
            lines.back() = lines.back() + plain_text(",");
        }
        lines.push_back(part);
    }
    return lines;
}

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

/// Terminals have whole rows: the next lower one.
double on_grid(double y, const DrawOptions& options) {
    return options.medium == Medium::Page ? y : kTerminalStep * std::floor(y / kTerminalStep);
}

/// Makes room for texts whose characters are wider than the type that canvases count with.
void fit_characters(Canvas& canvas) {
    double left = 0;
    for (const Operation& operation : canvas.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape)) {
            const double width = label_width(text->text, text->size, Medium::Terminal);
            const double start = text->anchor == Anchor::Left     ? text->at.x
                                 : text->anchor == Anchor::Middle ? text->at.x - width / 2
                                                                  : text->at.x - width;
            left = std::min(left, start);
            canvas.width = std::max(canvas.width, start + width);
        }
    const double shift = kTerminalCell * std::ceil(-left / kTerminalCell);
    translate(canvas, shift, 0);
    canvas.width += shift;
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

namespace {

/// A row that goes on says so where it ends and where it begins again.
void mark_break(Canvas& row, const System& system, const Box2& wires) {
    const auto mark = [&](const char* text, Point at, Anchor anchor) {
        row.text(plain_text(text, Face::Italic), at, anchor, kMarkSize, kGrey);
    };
    const Box2 box = bounds_of(row);
    if (!system.is_first) mark("→ from above", {box.left, box.top - 10}, Anchor::Left);
    if (!system.is_last) mark("goes on below →", {wires.right, box.bottom + 16}, Anchor::Right);
}

/// The sums of the table's rows, each on a line of its own.
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

/// Under a row of several kernels, how far each goes and what it is called.
void bracket_kernels(Canvas& row, const Diagram& diagram, const Relabelling& relabelling,
                     const System& system, const std::vector<Column>& columns) {
    std::map<std::size_t, std::pair<double, double>> spans;
    for (const Stage& stage : system.list.stages) {
        if (!stage.column) continue;
        const double left = stage.x - stage.left;
        const double right = stage.x + stage.right;
        const auto [span, fresh] =
            spans.try_emplace(columns[*stage.column].region, std::pair(left, right));
        span->second = {std::min(span->second.first, left), std::max(span->second.second, right)};
    }
    if (spans.size() < 2) return;
    const double y = bounds_of(row).bottom + 10;
    const Stroke stroke{kGrey, 0.9, Dash::Solid};
    for (const auto& [region, span] : spans) {
        const auto [left, right] = span;
        row.line({left, y}, {right, y}, stroke, Part::Rule);
        for (const double x : {left, right}) row.line({x, y - 4}, {x, y}, stroke, Part::Rule);
        row.text(plain_text(region_name(diagram, relabelling.regions[region])),
                 {(left + right) / 2, y + 13}, Anchor::Middle, kMarkSize, kGrey);
    }
}

struct Rows {
    Canvas picture;
    std::size_t count = 0;
    bool clear = true;  ///< no wire plunges through many others
};

/// A diagram, or one kernel of it, in as many rows as `width` asks for, with `totals` above.
Rows set_rows(const Diagram& diagram, const Relabelling& relabelling, const DrawOptions& options,
              std::optional<std::size_t> kernel, const Canvas& totals, double width) {
    StageList list = build_stages(diagram, relabelling, options, kernel);
    place_vertically(list);
    place_horizontally(list, diagram, options);
    const std::vector<Column> columns = columns_of(diagram, relabelling);
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
            const Canvas table = paint_table(system, options, columns);
            const double over = wires.top - 12 - bounds_of(table).bottom;
            add(row, table, 0, on_grid(over, options));
        }
        if (system.is_first && !totals.operations.empty())
            add(row, totals, bounds_of(row).left - bounds_of(totals).left,
                on_grid(bounds_of(row).top - 10 - bounds_of(totals).bottom, options));
        if (options.names && options.medium == Medium::Page)
            bracket_kernels(row, diagram, relabelling, system, columns);
        mark_break(row, system, wires);
        if (system.is_last) add_notes(row, options);
        const Box2 box = bounds_of(row);
        add(rows.picture, row, 0, on_grid(y - box.top, options));
        y += box.bottom - box.top + kRowGap;
        ++rows.count;
    }
    return rows;
}

double width_of(const Canvas& canvas) {
    const Box2 box = bounds_of(canvas);
    return box.right - box.left;
}

/// Rows are set anew once they are broken, and may come out wider: then they are broken earlier.
Rows set_rows(const Diagram& diagram, const Relabelling& relabelling, const DrawOptions& options,
              std::optional<std::size_t> kernel, const Canvas& totals = {}) {
    Rows rows;
    for (double share = 1; share > 0.75; share -= 0.08) {
        rows = set_rows(diagram, relabelling, options, kernel, totals, share * options.max_width);
        if (rows.count == 1 || width_of(rows.picture) <= options.max_width) break;
    }
    return rows;
}

/// Totals stand beside the table, or above where they would take a row more or too much width.
Rows draw_rows(const Diagram& diagram, const Relabelling& relabelling, DrawOptions options,
               std::optional<std::size_t> kernel) {
    Rows beside = set_rows(diagram, relabelling, options, kernel);
    const bool wide = width_of(beside.picture) > options.max_width;
    if (beside.count == 1 && !wide) return beside;
    const Canvas totals = draw_totals(options);
    if (totals.operations.empty()) return beside;
    for (TableRow& row : options.rows) row.cumulative.clear();
    Rows above = set_rows(diagram, relabelling, options, kernel, totals);
    return wide || above.count < beside.count ? above : beside;
}

/// The picture of one kernel under its name.
Canvas draw_kernel(const Diagram& diagram, const Relabelling& relabelling, DrawOptions options,
                   std::size_t kernel) {
    for (TableRow& row : options.rows)
        row.cumulative = kernel < row.totals.size() ? row.totals[kernel] : "";
    Canvas picture = draw_rows(diagram, relabelling, options, kernel).picture;
    const Box2 box = bounds_of(picture);
    picture.text(plain_text(region_name(diagram, relabelling.regions[kernel])),
                 {box.left, box.top - 12}, Anchor::Left, kDiagramTitleSize);
    return picture;
}

double panel_gap(const DrawOptions& options) {
    return options.medium == Medium::Page ? 34 : 2 * kTerminalStep;
}

/// Pictures side by side as far as the width goes, then below.
Canvas pack(const std::vector<Canvas>& pictures, const DrawOptions& options) {
    Canvas page;
    double x = 0;
    double y = 0;
    double below = 0;
    for (const Canvas& picture : pictures) {
        const Box2 box = bounds_of(picture);
        const double width = box.right - box.left;
        if (x > 0 && x + width > options.max_width) {
            x = 0;
            y = below + panel_gap(options);
        }
        const double dy = on_grid(y - box.top, options);
        add(page, picture, x - box.left, dy);
        x += width + panel_gap(options);
        below = std::max(below, box.bottom + dy);
    }
    return page;
}

Canvas draw_kernels(const Diagram& diagram, const Relabelling& relabelling,
                    const DrawOptions& options) {
    std::vector<Canvas> pictures;
    for (std::size_t r = 0; r < relabelling.regions.size(); ++r)
        pictures.push_back(draw_kernel(diagram, relabelling, options, r));
    const Canvas kernels = pack(pictures, options);
    Canvas page;
    double y = 0;
    const Canvas totals = draw_totals(options);
    const Canvas none;
    for (const Canvas* part : {options.overview ? &*options.overview : &none, &totals, &kernels}) {
        if (part->operations.empty()) continue;
        const Box2 box = bounds_of(*part);
        add(page, *part, -box.left, on_grid(y - box.top, options));
        y += box.bottom - box.top + panel_gap(options);
    }
    return page;
}

/// The levels that wires are drawn at, from far to near, each with its colour.
Canvas draw_levels(const Canvas& picture) {
    constexpr std::array kLevels = {std::pair("device", "device memory"),
                                    std::pair("cache", "cache"),
                                    std::pair("cluster", "cluster"),
                                    std::pair("block", "block"),
                                    std::pair("warps", "warps"),
                                    std::pair("thread", "thread"),
                                    std::pair("tensor-core", "tensor core")};
    constexpr double kSample = 20;
    Canvas legend;
    double x = 0;
    for (const auto& [level, name] : kLevels) {
        const auto shows = [&, wanted = std::string(level)](const Operation& operation) {
            return std::holds_alternative<Line>(operation.shape) &&
                   operation.meaning.level == wanted;
        };
        const auto found =
            std::find_if(picture.operations.begin(), picture.operations.end(), shows);
        if (found == picture.operations.end()) continue;
        const Color color = std::get<Line>(found->shape).stroke.color;
        legend.line({x, -kMarkSize / 3}, {x + kSample, -kMarkSize / 3}, {color, 2, Dash::Solid},
                    Part::Rule);
        const MathText label = plain_text(name);
        legend.text(label, {x + kSample + 5, 0}, Anchor::Left, kMarkSize, kGrey);
        x += kSample + width_of(label, kMarkSize) + 22;
    }
    return legend;
}

/// What is drawn, for those who do not see it.
std::string describe(const Diagram& diagram, const Relabelling& relabelling,
                     std::optional<std::size_t> kernel) {
    const auto names = [&](const std::vector<ArrayId>& arrays) {
        std::string text;
        for (ArrayId array : arrays) text += (text.empty() ? "" : ", ") + diagram[array].name;
        return text;
    };
    std::string text;
    for (std::size_t r = 0; r < relabelling.regions.size(); ++r) {
        if (kernel && r != *kernel) continue;
        const Region& region = relabelling.regions[r];
        text += (text.empty() ? "" : " ") + ("Kernel " + region_name(diagram, region)) + " loads " +
                names(loads_of(diagram, region)) + " and saves " + names(saves_of(diagram, region));
        for (const Group& group : region.groups)
            text += "; " + diagram[group.axis].name + " in groups of " + std::to_string(group.size);
        for (const Stream& stream : region.streams)
            text +=
                "; " + diagram[stream.axis].name + " in chunks of " + std::to_string(stream.size);
        text += ".";
    }
    return text;
}

Canvas draw_parts(const Diagram& diagram, const Relabelling& relabelling, DrawOptions options) {
    options.max_width -= 2 * kMargin;
    if (options.kernel) return draw_kernel(diagram, relabelling, options, *options.kernel);
    Rows whole = draw_rows(diagram, relabelling, options, std::nullopt);
    const bool fits =
        whole.count == 1 && whole.clear && width_of(whole.picture) <= options.max_width;
    if (fits || relabelling.regions.size() == 1) return std::move(whole.picture);
    return draw_kernels(diagram, relabelling, options);
}

}  // namespace

Canvas draw_diagram(const Diagram& diagram, const Relabelling& relabelling,
                    const DrawOptions& options) {
    Canvas picture = draw_parts(diagram, relabelling, options);
    const Labels labels(diagram, relabelling, options);
    const Box2 box = bounds_of(picture);
    double below = box.bottom + kRowGap;
    const auto remark = [&](const MathText& line) {
        picture.text(line, {box.left, below}, Anchor::Left, kNoteSize, kGrey);
        below += options.medium == Medium::Page ? kLineHeight : kTerminalStep;
    };
    if (options.legend)
        for (const MathText& line : legend_lines(labels.legend(), options)) remark(line);
    for (const MathText& line : options.remarks) remark(line);
    if (options.legend && options.medium == Medium::Page)
        add(picture, draw_levels(picture), box.left, below);
    if (!options.title.empty())
        picture.text(plain_text(options.title), {box.left, box.top - 14}, Anchor::Left,
                     kDiagramTitleSize);
    fit(picture, kMargin);
    picture.title = options.title.empty() ? diagram.name : options.title;
    picture.description = describe(diagram, relabelling, options.kernel);
    if (options.medium == Medium::Terminal) {
        fit_characters(picture);
        // Wires stand on whole rows again.
        const double wire = first_wire(picture);
        translate(picture, 0, on_grid(wire, options) - wire + kTerminalStep);
        picture.height += kTerminalStep;
    }
    return picture;
}

}  // namespace napkin::drawing
