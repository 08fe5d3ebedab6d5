#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "diagrams/drawing/draw_rows.h"
#include "diagrams/drawing/painter.h"
#include "diagrams/statement_text.h"

namespace napkin::drawing {

namespace {

constexpr double kRegionAbove = 19;  // of a border over its first wire, with room for a label
constexpr double kRegionBelow = 7;
constexpr double kBorderTitleSize = 11;
constexpr double kTitleHeight = 16;
constexpr double kBoxLabelSize = kLabelSize + 1;
constexpr double kTagGap = 7;
constexpr double kTableTitles = 10 * kTerminalCell;  // in a terminal, left of the wires

std::string level_sign(Level level) {
    switch (level) {
    case Level::Device: return "ℓ0";
    case Level::Block: return "ℓ1";
    case Level::Warps: return "ℓ2";
    case Level::Cache:
    case Level::Cluster:
    case Level::Thread: return std::string(name_of(level));
    }
    return "";
}

}  // namespace

double box_line(const std::vector<MathText>& lines, Medium medium) {
    if (medium == Medium::Terminal) return kTerminalStep;
    constexpr double kLine = 18;
    constexpr double kClear = 0.5;
    double step = kLine;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto bounds = [](const MathText& line) {
            return bounds_of(Text{line, {}, Anchor::Middle, kBoxLabelSize});
        };
        step = std::max(step, bounds(lines[i - 1]).bottom - bounds(lines[i]).top + kClear);
    }
    return step;
}

/// A box of the diagram: what it computes, in the language's words, and where that was written.
void SystemPainter::add_handle(const Unit& unit, const Box2& bounds) {
    std::string text;
    for (StatementId id : unit.statements)
        text += (text.empty() ? "" : "; ") + statement_text(diagram_, diagram_[id]);
    Meaning meaning;
    meaning.array = diagram_[unit.outputs.front()].name;
    meaning.level = place_name(unit.place.value_or(Place{}));
    if (options_.where) meaning.source = options_.where(diagram_[unit.statements.front()].span);
    glyphs_.element("box-" + meaning.array, "box", text, bounds, meaning);
}

void SystemPainter::paint_triangle(std::size_t s) {
    const Stage& enter = stage(s);
    const double base = stage(s + 1).x;
    double top = 1e9;
    double bottom = -1e9;
    Color color = kBlack;
    for (const Track& track : enter.tracks)
        if (track.dead) {
            top = std::min(top, track.y);
            bottom = std::max(bottom, track.y);
            color = color_of(track.place_in);
        }
    const double middle = (top + bottom) / 2;
    const double half = (bottom - top) / 2 + kGlyphReach;
    for (const Track& track : enter.tracks) {
        const double inside = (base - enter.x) * std::abs(track.y - middle) / half;
        if (track.dead && inside > 0)
            wires_.line({enter.x, track.y}, {enter.x + inside, track.y}, {color, 1.2, Dash::Solid},
                        Part::Wire);
    }
    glyphs_.operations.push_back(
        {Polygon{{{enter.x, middle}, {base, middle - half}, {base, middle + half}},
                 kWhite,
                 {color, 1.3, Dash::Solid},
                 Part::Glyph},
         {}});
    const Unit& unit = list_.units[*enter.unit];
    add_handle(unit, {enter.x, middle - half, base, middle + half});
}

/// Beside the wires of each array what the box calls it.
void SystemPainter::paint_marks(const Stage& enter, const Block& block, const Unit& unit) {
    for (const UnitInput& input : unit.inputs) {
        if (input.mark.runs.empty()) continue;
        double top = 1e9;
        double bottom = -1e9;
        for (std::size_t i = block.first; i < block.first + block.count; ++i)
            if (enter.tracks[i].array == input.array) {
                top = std::min(top, enter.tracks[i].y);
                bottom = std::max(bottom, enter.tracks[i].y);
            }
        if (top > bottom) continue;
        texts_.text(
            input.mark,
            {enter.x + mark_inset(options_.medium), (top + bottom) / 2 + kMarkLabelSize * 0.3},
            Anchor::Left, kMarkLabelSize, kNameColor);
    }
}

void SystemPainter::paint_box(std::size_t s) {
    const Stage& enter = stage(s);
    const Unit& unit = list_.units[*enter.unit];
    const auto block = std::find_if(enter.blocks.begin(), enter.blocks.end(),
                                    [](const Block& b) { return b.is_box; });
    if (block == enter.blocks.end()) return;
    const Box2 frame{enter.x, block->top - kGlyphReach, stage(s + 1).x,
                     block->top + block->height + kGlyphReach};
    const Color color = unit.place ? color_of(*unit.place) : kBlack;
    glyphs_.rectangle(frame, kWhite, {color, 1.2, Dash::Solid}, Part::Glyph);
    paint_marks(enter, *block, unit);
    const double left = frame.left + marks_width(unit, options_.medium);
    const double size = kBoxLabelSize;
    const double step = box_line(unit.label, options_.medium);
    double y = (frame.top + frame.bottom) / 2 + size * 0.3 -
               step * (static_cast<double>(unit.label.size()) - 1) / 2;
    for (const MathText& line : unit.label) {
        texts_.text(line, {(left + frame.right) / 2, y}, Anchor::Middle, size);
        y += step;
    }
    add_handle(unit, frame);
}

namespace {

/// Around the wires that end in a unit, else around all that go in; nothing where none does.
std::optional<Box2> bounds_of_joints(const Stage& enter, const Unit& unit) {
    const bool ends = std::any_of(enter.tracks.begin(), enter.tracks.end(),
                                  [](const Track& track) { return track.dead; });
    Box2 bounds{enter.x, 1e9, enter.x + 20, -1e9};
    for (const Track& track : enter.tracks) {
        const bool goes_in =
            std::any_of(unit.inputs.begin(), unit.inputs.end(),
                        [&](const UnitInput& input) { return input.array == track.array; });
        if (ends ? !track.dead : !goes_in) continue;
        bounds.top = std::min(bounds.top, track.y);
        bounds.bottom = std::max(bounds.bottom, track.y);
    }
    if (bounds.top > bounds.bottom) return std::nullopt;
    if (bounds.top < bounds.bottom) return bounds;
    return Box2{bounds.left, bounds.top - kGlyphReach, bounds.right, bounds.bottom + kGlyphReach};
}

}  // namespace

void SystemPainter::paint_glyph(std::size_t s) {
    if (stage(s).kind != StageKind::Enter) return;
    const Unit& unit = list_.units[*stage(s).unit];
    if (unit.glyph == GlyphKind::Triangle) return paint_triangle(s);
    if (unit.glyph == GlyphKind::Box) return paint_box(s);
    paint_cups(s);
    paint_factor(s);
    if (const std::optional<Box2> bounds = bounds_of_joints(stage(s), unit))
        add_handle(unit, *bounds);
}

namespace {

/// Lines are asked piece by piece: the box of a whole one is large.
bool covers(const Box2& box, const Operation& operation) {
    const Line* line = std::get_if<Line>(&operation.shape);
    if (line == nullptr) return overlap(bounds_of(operation), box);
    const std::size_t step = line->smooth ? 3 : 1;
    for (std::size_t i = 0; i + step < line->points.size(); i += step) {
        const auto first = line->points.begin() + static_cast<std::ptrdiff_t>(i);
        const Line piece{{first, first + static_cast<std::ptrdiff_t>(step) + 1}, false, {}, {}};
        if (overlap(bounds_of(Operation{piece, {}}), box)) return true;
    }
    return false;
}

}  // namespace

/// Whether a rectangle covers nothing of the row.
bool SystemPainter::is_free(const Box2& box) const {
    for (const Canvas* layer : {&regions_, &lines_, &wires_, &glyphs_, &texts_})
        for (const Operation& other : layer->operations)
            if (covers(box, other)) return false;
    return true;
}

/// Where the title of some of these borders goes: on top of one or under it, of one piece with it,
/// at the edges of the row where that is possible; else high enough above the first to cover
/// nothing.
SystemPainter::TitlePlace SystemPainter::place_title(const std::vector<const Border*>& borders,
                                                     double width) const {
    // In a terminal a border's lower line has a row of its own, and columns are dear.
    const bool page = options_.medium == Medium::Page;
    const double below = page ? 0 : kTerminalStep;
    const double rightmost =
        page ? 1e9 : bounds_of(wires_).left + options_.max_width - kTableTitles;
    for (const bool at_edge : {true, false})
        for (const Border* border : borders)
            for (const bool above : {true, false}) {
                if (at_edge && !(above ? border->topmost : border->lowest)) continue;
                const double top =
                    above ? border->box.top - kTitleHeight : border->box.bottom + below;
                for (const double left : {border->box.left, border->box.right - width}) {
                    const Box2 box{left, top, left + width, top + kTitleHeight};
                    if (box.right <= rightmost && is_free(box)) return {border, box};
                }
            }
    const Box2& border = borders.front()->box;
    const double left = std::min(border.left, rightmost - width);
    Box2 box{left, border.top - 2 * kTitleHeight, left + width, border.top - kTitleHeight};
    for (; !is_free(box); box.top -= kTitleHeight, box.bottom -= kTitleHeight) continue;
    return {borders.front(), box};
}

/// Each title once a row; where it stands apart from its border a line leads there.
void SystemPainter::paint_titles() {
    std::map<std::string, std::vector<const Border*>> titled;
    for (const Border& border : borders_) titled[to_unicode(border.title)].push_back(&border);
    const Stroke stroke{kBlack, 0.7, Dash::Dotted};
    for (const auto& [text, borders] : titled) {
        const MathText& title = borders.front()->title;
        const double width = label_width(title, kBorderTitleSize, options_.medium) + 8;
        const auto [border, box] = place_title(borders, width);
        regions_.rectangle(box, border->fill, stroke, Part::Region);
        texts_.text(title, {(box.left + box.right) / 2, box.bottom - 4.5}, Anchor::Middle,
                    kBorderTitleSize);
        for (const double x : {border->box.left, border->box.right})
            if (box.bottom < border->box.top)
                regions_.line({x, box.bottom}, {x, border->box.top}, stroke, Part::Region);
    }
}

void SystemPainter::paint_regions(std::size_t s) {
    const Stage& crossing = stage(s);
    if (crossing.kind != StageKind::Load && crossing.kind != StageKind::Save) return;
    const bool load = crossing.kind == StageKind::Load;
    const Stroke stroke{kBlack, 0.7, Dash::Dotted};
    for (std::size_t i = 0; i < crossing.tracks.size(); ++i) {
        if (!crossing.tracks[i].changes) continue;
        std::size_t last = i;
        while (last + 1 < crossing.tracks.size() && crossing.tracks[last + 1].changes) ++last;
        const Box2 border{crossing.x - crossing.left, crossing.tracks[i].y - kRegionAbove,
                          crossing.x + crossing.right, crossing.tracks[last].y + kRegionBelow};
        regions_.rectangle(border, load ? kLoadFill : kSaveFill, stroke, Part::Region);
        const std::string level(name_of(load ? crossing.level : crossing.outer));
        regions_.element(load ? "load" : "save", load ? "load" : "save",
                         (load ? "load to " : "save to ") + level, border, {.level = level});
        borders_.push_back({border,
                            plain_text((load ? "Load to " : "Save to ") +
                                       level_sign(load ? crossing.level : crossing.outer)),
                            load ? kLoadFill : kSaveFill, crossing.tracks[i].y == top_,
                            crossing.tracks[last].y == bottom_});
        i = last;
    }
}

bool SystemPainter::shows(const Track& track, std::size_t s) const {
    return s == 0 && !system_.is_first && stage(s).kind == StageKind::Data
               ? !track.name.runs.empty()
               : !track.label.runs.empty();
}

/// How far left of its stage a wire's name stands where a line begins that goes on from another:
/// the stage may have room for a narrower label only, before a dot at its end.
double SystemPainter::set_back(const Track& track, std::size_t s) const {
    if (s != 0 || system_.is_first || !track.label.runs.empty()) return 0;
    const double half = label_width(track.name, kLabelSize, options_.medium) / 2 + 4;
    return std::max(half - stage(s).right, 0.0);
}

void SystemPainter::paint_labels(std::size_t s) {
    const Stage& at = stage(s);
    for (const Track& track : at.tracks) {
        if (!shows(track, s)) continue;
        const MathText& label = track.label.runs.empty() ? track.name : track.label;
        texts_.text(label,
                    {at.x - set_back(track, s), track.y - label_rise(label, options_.medium)},
                    Anchor::Middle, kLabelSize, kBlack, meaning_of(track, track.place_out));
    }
}

void SystemPainter::paint_names(std::size_t s) {
    const Stage& at = stage(s);
    for (const NameTag& tag : at.names) {
        const double middle = (at.tracks[tag.first].y + at.tracks[tag.last].y) / 2;
        const std::string& name = diagram_[tag.array].name;
        const Point place{tag.at_left ? left_of(s) - kTagGap : at.x + at.right + kTagGap,
                          middle + kLabelSize * 0.3};
        texts_.text(name_beside(diagram_, tag.array), place,
                    tag.at_left ? Anchor::Right : Anchor::Left, kLabelSize, kNameColor,
                    {.array = name});
        std::string axes;
        for (AxisId axis : diagram_[tag.array].axes) {
            if (!axes.empty()) axes += ", ";
            axes += diagram_[axis].name;
        }
        texts_.element("array-" + name, "array", name + "[" + axes + "]",
                       bounds_of(texts_.operations.back()), {.array = name});
    }
}

}  // namespace napkin::drawing
