// One picture of a diagram: its rows, or its kernels one by one, with legend, title and remarks.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "diagrams/drawing/draw_rows.h"
#include "diagrams/drawing/factors_apart.h"
#include "diagrams/drawing/labels.h"
#include "diagrams/drawing/render.h"
#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kDiagramTitleSize = 14;
constexpr std::size_t kAnyRows = std::numeric_limits<std::size_t>::max();
constexpr double kLeastKernel = 2 * kLeastCrossing;  // wide, a load and a save

/// Parts one after another, in lines of the picture's width.
std::vector<MathText> lines_of(const std::vector<MathText>& parts, const DrawOptions& options) {
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

/// Makes room for texts whose characters are wider than the type that canvases count with, if need
/// be in the margins.
void fit_characters(Canvas& canvas, double max_width) {
    const auto [first, end] = columns_taken(canvas);
    const int most = static_cast<int>(max_width / kTerminalCell);
    const int shift = first < 0 ? -first : -std::clamp(end - most, 0, first);
    translate(canvas, shift * kTerminalCell, 0);
    canvas.width = std::max(canvas.width, end * kTerminalCell) + shift * kTerminalCell;
}

/// Whether a text has a name between signs that are none of a name's.
bool mentions(std::string_view text, std::string_view name) {
    const auto ends = [&](std::size_t at) {
        return at >= text.size() || (std::isalnum(static_cast<unsigned char>(text[at])) == 0);
    };
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
        if ((at == 0 || ends(at - 1)) && ends(at + name.size())) return true;
    return false;
}

/// What the short names of the picture stand for.
std::vector<MathText> key_of(const Canvas& picture, const DrawOptions& options) {
    std::vector<std::string> texts;
    for (const Operation& operation : picture.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape))
            texts.push_back(to_unicode(text->text));
    std::vector<MathText> parts;
    for (const auto& [name, whole] : options.key)
        if (std::any_of(texts.begin(), texts.end(),
                        [&](const std::string& text) { return mentions(text, name); }))
            parts.push_back(plain_text(name + " = " + whole));
    return parts;
}

double first_wire(const Canvas& canvas) {
    for (const Operation& operation : canvas.operations)
        if (const Line* line = std::get_if<Line>(&operation.shape);
            line != nullptr && line->part == Part::Wire)
            return line->points.front().y;
    return 0;
}

/// The picture of one kernel under its name.
Canvas draw_kernel(const Contents& contents, DrawOptions options, std::size_t kernel) {
    for (TableRow& row : options.rows)
        row.cumulative = kernel < row.totals.size() ? row.totals[kernel] : "";
    Canvas picture = draw_rows(contents, options, kernel, kAnyRows).picture;
    const Box2 box = bounds_of(picture);
    picture.text(plain_text(region_name(contents.diagram, contents.relabelling.regions[kernel])),
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

Canvas draw_kernels(const Contents& contents, const DrawOptions& options) {
    std::vector<Canvas> pictures;
    for (std::size_t r = 0; r < contents.relabelling.regions.size(); ++r)
        pictures.push_back(draw_kernel(contents, options, r));
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

/// Of the wires of a level, where there are any.
std::optional<Color> wire_color(const std::vector<Canvas>& pictures, std::string_view level) {
    for (const Canvas& picture : pictures)
        for (const Operation& operation : picture.operations)
            if (const Line* line = std::get_if<Line>(&operation.shape);
                line != nullptr && operation.meaning.level == level)
                return line->stroke.color;
    return std::nullopt;
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

Canvas draw_parts(const Contents& contents, DrawOptions options) {
    options.max_width -= 2 * kMargin;
    if (options.kernel) return draw_kernel(contents, options, *options.kernel);
    const std::size_t kernels = contents.relabelling.regions.size();
    if (kernels > 1 && static_cast<double>(kernels) * kLeastKernel > options.max_width)
        return draw_kernels(contents, options);
    Rows whole = draw_rows(contents, options, std::nullopt, kernels == 1 ? kAnyRows : 1);
    const bool fits = whole.clear && width_of(whole.picture) <= options.max_width;
    if (fits || kernels == 1) return std::move(whole.picture);
    return draw_kernels(contents, options);
}

}  // namespace

double width_on(Medium medium, const Canvas& picture) {
    return medium == Medium::Page ? picture.width : kTerminalCell * columns_taken(picture).second;
}

Canvas draw_levels(const std::vector<Canvas>& pictures) {
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
        const std::optional<Color> color = wire_color(pictures, level);
        if (!color) continue;
        legend.line({x, -kMarkSize / 3}, {x + kSample, -kMarkSize / 3}, {*color, 2, Dash::Solid},
                    Part::Rule);
        const MathText label = plain_text(name);
        legend.text(label, {x + kSample + 5, 0}, Anchor::Left, kMarkSize, kGrey);
        x += kSample + width_of(label, kMarkSize) + 22;
    }
    return legend;
}

Canvas draw_diagram(const Diagram& given, const Relabelling& given_relabelling,
                    const DrawOptions& options) {
    const auto [diagram, relabelling] = with_factors_apart(given, given_relabelling);
    Canvas picture = draw_parts(contents_of(diagram, relabelling), options);
    const Labels labels(diagram, relabelling, options);
    const Box2 box = bounds_of(picture);
    double below = box.bottom + kRowGap;
    const auto remark = [&](const MathText& line) {
        picture.text(line, {box.left, below}, Anchor::Left, kNoteSize, kGrey);
        below += options.medium == Medium::Page ? kLineHeight : kTerminalStep;
    };
    if (options.legend)
        for (const MathText& line : lines_of(labels.legend(), options)) remark(line);
    for (const MathText& line : options.remarks) remark(line);
    for (const MathText& line : lines_of(key_of(picture, options), options)) remark(line);
    if (options.legend && options.levels && options.medium == Medium::Page)
        add(picture, draw_levels({picture}), box.left, below);
    if (!options.title.empty())
        picture.text(plain_text(options.title), {box.left, box.top - 14}, Anchor::Left,
                     kDiagramTitleSize);
    fit(picture, kMargin);
    picture.title = options.title.empty() ? diagram.name : options.title;
    picture.description = describe(diagram, relabelling, options.kernel);
    if (options.medium == Medium::Terminal) {
        fit_characters(picture, options.max_width);
        // Wires stand on whole rows again.
        const double wire = first_wire(picture);
        translate(picture, 0, on_grid(wire, options) - wire + kTerminalStep);
        picture.height += kTerminalStep;
    }
    return picture;
}

}  // namespace napkin::drawing
