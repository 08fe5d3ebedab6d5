// What every picture owes its reader.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "diagrams/drawing/stages.h"
#include "diagrams/drawing/theme.h"

namespace napkin::test {

inline std::vector<std::string> overlapping_labels(const drawing::Canvas& canvas) {
    std::vector<std::pair<drawing::Box2, std::string>> labels;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
            labels.emplace_back(bounds_of(*text), to_unicode(text->text));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t j = i + 1; j < labels.size(); ++j)
            if (overlap(labels[i].first, labels[j].first))
                found.push_back(labels[i].second + " over " + labels[j].second);
    return found;
}

/// Labels that stand half on a box or a triangle: inside or outside is either.
inline std::vector<std::string> labels_on_glyphs(const drawing::Canvas& canvas) {
    std::vector<std::string> found;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Polygon* glyph = std::get_if<drawing::Polygon>(&operation.shape);
        if (glyph == nullptr || glyph->part != drawing::Part::Glyph) continue;
        const drawing::Box2 box = bounds_of(operation);
        for (const drawing::Operation& other : canvas.operations) {
            const drawing::Text* text = std::get_if<drawing::Text>(&other.shape);
            if (text == nullptr || !overlap(bounds_of(*text), box)) continue;
            if (united(bounds_of(*text), box) != box)
                found.push_back(to_unicode(text->text) + " on a glyph");
        }
    }
    return found;
}

/// Wires and dashed lines that double back; cups alone may.
inline std::size_t lines_going_back(const drawing::Canvas& canvas) {
    std::size_t found = 0;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Line* line = std::get_if<drawing::Line>(&operation.shape);
        if (line == nullptr) continue;
        if (line->part != drawing::Part::Wire && line->part != drawing::Part::Separator) continue;
        for (std::size_t i = 1; i < line->points.size(); ++i)
            found += line->points[i].x < line->points[i - 1].x - 1e-6 ? 1 : 0;
    }
    return found;
}

/// Each column of a load or a save says somewhere in its row what it is: as many kinds of columns,
/// so many titles.
inline void check_titles(const drawing::Canvas& canvas) {
    for (const std::string kind : {"load", "save"}) {
        std::set<std::string> levels;
        for (const drawing::Element& element : canvas.elements)
            if (element.kind == kind) levels.insert(element.meaning.level);
        std::set<std::string> titles;
        for (const drawing::Operation& operation : canvas.operations)
            if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
                if (const std::string words = to_unicode(text->text);
                    words.rfind(kind == "load" ? "Load to " : "Save to ", 0) == 0)
                    titles.insert(words);
        CHECK_EQ(titles.size(), levels.size());
    }
}

/// Signs of labels that the embedded letters lack, which a reader sees in some other type.
inline std::vector<std::string> signs_without_letters(const drawing::Canvas& canvas) {
    std::vector<std::string> found;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
            for (const drawing::Run& run : text->text.runs)
                for (std::string_view rest = run.text; !rest.empty();)
                    if (!drawing::has_letter(drawing::next_code_point(rest), run.face))
                        found.push_back(run.text +
                                        " is of signs that scripts/make-font leaves out");
    return found;
}

/// Labels of wires that touch a dot or, with a subscript's tail, the wire that they name.
inline std::vector<std::string> labels_on_lines(const drawing::Canvas& canvas) {
    std::vector<std::string> found;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape);
        if (text == nullptr || operation.meaning.axis.empty()) continue;
        const drawing::Box2 box = bounds_of(*text);
        for (const drawing::Operation& other : canvas.operations) {
            if (std::holds_alternative<drawing::Dot>(other.shape) && overlap(bounds_of(other), box))
                found.push_back(to_unicode(text->text) + " on a dot");
            const drawing::Line* line = std::get_if<drawing::Line>(&other.shape);
            if (line == nullptr || line->part != drawing::Part::Wire || line->smooth) continue;
            const drawing::Box2 wire = bounds_of(other);
            const bool over = wire.left < box.right && box.left < wire.right;
            const bool tail = to_unicode(text->text).find("_q") != std::string::npos;
            if (tail && over && wire.top > text->at.y && wire.top < text->at.y + 6)
                found.push_back(to_unicode(text->text) + " on its wire");
        }
    }
    return found;
}

/// Dashed lines so short that they part nothing.
inline std::size_t stubs(const drawing::Canvas& canvas) {
    std::size_t found = 0;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Line* line = std::get_if<drawing::Line>(&operation.shape))
            if (line->part == drawing::Part::Separator)
                found += line->points.back().x - line->points.front().x < 16 ? 1 : 0;
    return found;
}

/// Labels that are hard to tell from the fill that they stand on.
inline std::vector<std::string> pale_labels(const drawing::Canvas& canvas) {
    std::vector<std::string> found;
    drawing::Canvas below;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape);
        if (text == nullptr) {
            below.operations.push_back(operation);
            continue;
        }
        drawing::Color fill = drawing::kWhite;
        for (const drawing::Operation& under : below.operations)
            if (const drawing::Polygon* area = std::get_if<drawing::Polygon>(&under.shape))
                if (area->fill && overlap(bounds_of(under), bounds_of(*text))) fill = *area->fill;
        if (drawing::contrast(text->color, fill) < 3) found.push_back(to_unicode(text->text));
    }
    return found;
}

/// Dashed lines that end on a cup.
inline std::size_t separators_on_cups(const drawing::Canvas& canvas) {
    std::size_t found = 0;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Line* cup = std::get_if<drawing::Line>(&operation.shape);
        if (cup == nullptr || cup->part != drawing::Part::Cup) continue;
        const drawing::Point upper = cup->points.front();
        const drawing::Point lower = cup->points.back();
        const double middle = (upper.y + lower.y) / 2;
        const double depth = bounds_of(operation).right - upper.x;
        for (const drawing::Operation& other : canvas.operations) {
            const drawing::Line* line = std::get_if<drawing::Line>(&other.shape);
            if (line == nullptr || line->part != drawing::Part::Separator) continue;
            const drawing::Point end = line->points.back();
            if (line->points.front().x > upper.x || end.y < upper.y || end.y > lower.y) continue;
            const double away = (end.y - middle) / (lower.y - middle);
            const double curve = upper.x + depth * std::sqrt(1 - away * away);
            found += end.x > curve && end.x <= upper.x + depth ? 1 : 0;
        }
    }
    return found;
}

/// Short pieces of a line, each as the box around it.
inline std::vector<drawing::Box2> pieces_of(const drawing::Line& line) {
    constexpr int kPieces = 16;  // of a curve
    std::vector<drawing::Point> places;
    if (!line.smooth) places = line.points;
    for (std::size_t i = 0; line.smooth && i + 3 < line.points.size(); i += 3)
        for (int k = 0; k <= kPieces; ++k) {
            const double t = static_cast<double>(k) / kPieces;
            const double s = 1 - t;
            const double w[] = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
            drawing::Point place;
            for (std::size_t p = 0; p < 4; ++p) {
                place.x += w[p] * line.points[i + p].x;
                place.y += w[p] * line.points[i + p].y;
            }
            places.push_back(place);
        }
    std::vector<drawing::Box2> pieces;
    for (std::size_t i = 1; i < places.size(); ++i) {
        const auto [left, right] = std::minmax(places[i - 1].x, places[i].x);
        const auto [top, bottom] = std::minmax(places[i - 1].y, places[i].y);
        pieces.push_back({left, top, right, bottom});
    }
    return pieces;
}

/// A bar over a label that touches its letters or a line: that of another wire, dashed, or of a
/// box.
inline std::vector<std::string> faults_of(const drawing::Bar& bar, const drawing::Text& text,
                                          const drawing::Canvas& canvas) {
    constexpr double kClear = 1;
    std::vector<std::string> found;
    const std::string name = to_unicode(text.text);
    for (const drawing::Run& run : text.text.runs) {
        const bool low = run.text.find_first_not_of("acegmnopqrsuvwxyz") == std::string::npos;
        const double letters = (low ? 0.46 : 0.69) * text.size;
        if ((run.overbar || run.under_root) && bar.rise - drawing::kBarWidth / 2 < letters + kClear)
            found.push_back("the bar of " + name + " on its letters");
    }
    const double start = bounds_of(text).left;
    const double y = text.at.y - bar.rise;
    const double reach = drawing::kBarWidth / 2 + kClear;
    const drawing::Box2 around{start + bar.left, y - reach, start + bar.right, y + reach};
    for (const drawing::Operation& other : canvas.operations)
        if (const drawing::Line* line = std::get_if<drawing::Line>(&other.shape))
            for (const drawing::Box2& piece : pieces_of(*line)) {
                const drawing::Box2 inked{piece.left, piece.top - line->stroke.width / 2,
                                          piece.right, piece.bottom + line->stroke.width / 2};
                if (overlap(inked, around)) {
                    found.push_back("the bar of " + name + " on a line");
                    break;
                }
            }
    return found;
}

inline std::vector<std::string> bars_not_clear(const drawing::Canvas& canvas) {
    std::vector<std::string> found;
    for (const drawing::Operation& operation : canvas.operations) {
        const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape);
        if (text == nullptr) continue;
        for (const drawing::Bar& bar : drawing::bars_over(text->text, text->size))
            for (std::string& fault : faults_of(bar, *text, canvas))
                found.push_back(std::move(fault));
    }
    return found;
}

/// No two labels overlap, none stands on a glyph or a line, nor does the bar over one, all are of
/// embedded letters and dark enough, no line doubles back, none ends on a cup, nothing lies
/// outside.
inline void check_picture(const drawing::Canvas& canvas) {
    for (const std::string& pair : overlapping_labels(canvas)) FAIL_CHECK(pair);
    for (const std::string& label : labels_on_glyphs(canvas)) FAIL_CHECK(label);
    for (const std::string& label : labels_on_lines(canvas)) FAIL_CHECK(label);
    for (const std::string& label : bars_not_clear(canvas)) FAIL_CHECK(label);
    for (const std::string& label : signs_without_letters(canvas)) FAIL_CHECK(label);
    for (const std::string& label : pale_labels(canvas)) FAIL_CHECK(label, " is pale");
    CHECK_EQ(lines_going_back(canvas), 0);
    CHECK_EQ(separators_on_cups(canvas), 0);
    CHECK_EQ(stubs(canvas), 0);
    check_titles(canvas);
    const drawing::Box2 box = bounds_of(canvas);
    CHECK_GE(box.left, 0);
    CHECK_GE(box.top, 0);
    CHECK_LE(box.right, canvas.width);
    CHECK_LE(box.bottom, canvas.height);
}

/// Of a terminal, in the longest line.
inline std::size_t columns_of_text(const std::string& text) {
    std::istringstream lines(text);
    std::size_t most = 0;
    for (std::string line; std::getline(lines, line);)
        most = std::max(most, drawing::columns_in(line));
    return most;
}

/// Wires that do not bear their name where they end, or one stage before.
inline std::size_t nameless_ends(const std::vector<drawing::Stage>& stages) {
    std::size_t found = 0;
    const std::size_t last = stages.size() - 1;
    for (const drawing::Track& wire : stages[last].tracks) {
        bool named = wire.name.runs.empty();
        for (std::size_t s = last - std::min<std::size_t>(last, 1); s <= last; ++s)
            for (const drawing::Track& track : stages[s].tracks)
                named = named || (track.key == wire.key && !track.label.runs.empty());
        found += named ? 0 : 1;
    }
    return found;
}

/// The stages' wires: from top to bottom, those of one array in its own order, named to the end.
inline void check_order(const Diagram& diagram, const Relabelling& relabelling,
                        const drawing::DrawOptions& options) {
    drawing::StageList list =
        drawing::build_stages(drawing::contents_of(diagram, relabelling), options);
    CHECK_EQ(nameless_ends(list.stages), 0);
    place_vertically(list);
    for (const drawing::Stage& stage : list.stages) {
        for (std::size_t i = 1; i < stage.tracks.size(); ++i)
            CHECK_GE(stage.tracks[i].y, stage.tracks[i - 1].y + 19.9);
        for (const drawing::Block& block : stage.blocks) {
            if (!block.array) continue;
            std::vector<AxisId> drawn;
            for (std::size_t i = block.first; i < block.first + block.count; ++i)
                if (stage.tracks[i].axis) drawn.push_back(*stage.tracks[i].axis);
            std::vector<AxisId> declared;
            for (AxisId axis : diagram[*block.array].axes)
                if (std::find(list.common.begin(), list.common.end(), axis) == list.common.end())
                    declared.push_back(axis);
            CHECK_EQ(drawn, declared);
        }
    }
}

}  // namespace napkin::test
