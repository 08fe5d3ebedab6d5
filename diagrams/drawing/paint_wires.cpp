#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

namespace {

constexpr double kJointRadius = 2.6;
constexpr double kQuarterCurve = 0.5523;  // of a quarter circle as a cubic curve
constexpr double kSeparatorTail = 10;
constexpr double kShortestSeparator = 20;
constexpr double kForkOnwards = 2;  // of its dot, clear of the label before it

/// Half an ellipse that closes to the right.
void add_cup(Canvas& canvas, Point upper, Point lower, double depth, const Track& track,
             Meaning meaning) {
    const double middle = (upper.y + lower.y) / 2;
    const double radius = (lower.y - upper.y) / 2;
    const Point tip{upper.x + depth, middle};
    canvas.operations.push_back({Line{{upper,
                                       {upper.x + kQuarterCurve * depth, upper.y},
                                       {tip.x, middle - kQuarterCurve * radius},
                                       tip,
                                       {tip.x, middle + kQuarterCurve * radius},
                                       {lower.x + kQuarterCurve * depth, lower.y},
                                       lower},
                                      true,
                                      wire(color_of(track.place_out)),
                                      Part::Cup},
                                 std::move(meaning)});
}

}  // namespace

double SystemPainter::left_of(std::size_t s) const {
    const Stage& at = stage(s);
    if (s != 0) return at.x - at.left;
    double half = at.left;
    for (const Track& track : at.tracks)
        half = std::max(half, label_width(track.name, kLabelSize, options_.medium) / 2 + 4 +
                                  set_back(track, s));
    return at.x - half;
}

Meaning SystemPainter::meaning_of(const Track& track, const Place& place) const {
    Meaning meaning;
    if (track.axis) meaning.axis = diagram_[*track.axis].name;
    if (track.array) meaning.array = diagram_[*track.array].name;
    meaning.level = place_name(place);
    return meaning;
}

void SystemPainter::paint_levels(std::size_t s) {
    const Stage& at = stage(s);
    for (const Track& track : at.tracks) {
        if (track.hidden) continue;
        Stroke before = wire(color_of(track.place_in));
        Stroke after = wire(color_of(track.place_out));
        if (track.scalar) before.dash = after.dash = Dash::Dotted;
        const Point middle{at.x, track.y};
        const Point left{left_of(s), track.y};
        const Point right{track.dead ? at.x : at.x + at.right, track.y};
        if (track.place_in == track.place_out) {
            if (left.x < right.x)
                wires_.line(left, right, before, Part::Wire, meaning_of(track, track.place_in));
            continue;
        }
        wires_.line(left, middle, before, Part::Wire, meaning_of(track, track.place_in));
        wires_.line(middle, right, after, Part::Wire, meaning_of(track, track.place_out));
    }
}

void SystemPainter::paint_links(std::size_t s) {
    const Stage& from = stage(s);
    const Stage& to = stage(s + 1);
    std::map<Key, const Track*> sources;
    std::map<Key, int> uses;
    for (const Track& track : from.tracks)
        if (!track.dead) sources[track.key] = &track;
    for (const Track& track : to.tracks) {
        int joined = 0;
        for (const Key& key : track.sources) {
            const auto found = sources.find(key);
            if (found == sources.end()) continue;
            const Track& source = *found->second;
            const bool enters = to.kind == StageKind::Enter;
            const Place place = enters ? track.place_in : source.place_out;
            Stroke stroke = wire(color_of(place));
            if (source.scalar) stroke.dash = Dash::Dotted;
            wires_.curve({from.x + from.right, source.y}, {left_of(s + 1), track.y}, stroke,
                         Part::Wire, meaning_of(source, place));
            ++joined;
            if (++uses[key] == 2)
                glyphs_.dot({from.x + from.right + kForkOnwards, source.y}, kJointRadius,
                            stroke.color, stroke.color);
        }
        const Color color = color_of(track.place_in);
        if (joined > 1) glyphs_.dot({left_of(s + 1), track.y}, kJointRadius, color, color);
    }
}

void SystemPainter::paint_cups(std::size_t s) {
    const Stage& at = stage(s);
    for (const std::vector<std::size_t>& cup : at.cups) {
        const Track& first = at.tracks[cup.front()];
        const Track& last = at.tracks[cup.back()];
        const Point upper{at.x, first.y};
        const Point lower{at.x, last.y};
        const double depth = std::min((last.y - first.y) / 2, kDeepestCup);
        if (cup.size() == 2) {
            add_cup(wires_, upper, lower, depth, first, meaning_of(first, first.place_out));
            continue;
        }
        // One wire ends in a dot; three and more meet in one.
        const Point meet{at.x + (cup.size() == 1 ? 9 : std::max(depth, 14.0)),
                         (first.y + last.y) / 2};
        const Color color = color_of(first.place_out);
        for (std::size_t i : cup)
            wires_.curve({at.x, at.tracks[i].y}, meet, wire(color), Part::Wire,
                         meaning_of(at.tracks[i], first.place_out));
        glyphs_.dot(meet, kJointRadius, color, color);
    }
}

/// Right of the tip of a cup, clear of wires that go on there.
void SystemPainter::paint_factor(std::size_t s) {
    const Stage& at = stage(s);
    const MathText& factor = list_.units[*at.unit].factor;
    if (factor.runs.empty()) return;
    const std::vector<std::size_t>& cup = at.cups.front();
    double middle = (at.tracks[cup.front()].y + at.tracks[cup.back()].y) / 2;
    for (const Track& track : at.tracks)
        if (!track.dead && std::abs(track.y - middle) < kPitch / 2) {
            middle = track.y - kPitch / 2;
            break;
        }
    texts_.text(factor, {at.x + cup_depth(at) + 4, middle + kMarkLabelSize * 0.3}, Anchor::Left,
                kMarkLabelSize);
}

void SystemPainter::paint_separators() {
    const Stroke stroke{kBlack, 0.8, Dash::Dashed};
    const auto linked = [](const Separator& from, const Separator& to) {
        return from.right == to.left && from.right.first != -1 && from.right.second != -1;
    };
    for (std::size_t s = 0; s < list_.stages.size(); ++s)
        for (const Separator& start : stage(s).separators) {
            if (s > 0) {
                const std::vector<Separator>& before = stage(s - 1).separators;
                if (std::any_of(before.begin(), before.end(),
                                [&](const Separator& line) { return linked(line, start); }))
                    continue;
            }
            std::vector<Point> points;
            const Separator* line = &start;
            for (std::size_t t = s; line != nullptr; ++t) {
                points.push_back({left_of(t), line->y});
                const Separator* next = nullptr;
                if (t + 1 < list_.stages.size())
                    for (const Separator& candidate : stage(t + 1).separators)
                        if (linked(*line, candidate)) next = &candidate;
                const bool joins = next == nullptr && stage(t).kind == StageKind::Enter &&
                                   list_.units[*stage(t).unit].glyph == GlyphKind::Contraction;
                const double tail =
                    joins ? std::min(kSeparatorTail, stage(t).right) : stage(t).right;
                points.push_back({stage(t).x + tail, line->y});
                line = next;
            }
            if (points.back().x - points.front().x < kShortestSeparator) continue;
            lines_.operations.push_back(
                {Line{std::move(points), false, stroke, Part::Separator}, {}});
        }
}

}  // namespace napkin::drawing
