// Widths. Stages stand as close as their labels and the curves between them allow, and further
// apart where a cell of the table needs the room.

#include <algorithm>
#include <cmath>
#include <map>

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kWidestCell = 168;
constexpr std::size_t kLongestName = 19;
constexpr std::size_t kLongestMark = 6;  // in a terminal
constexpr double kMostColumns = 12;      // between two stages in a terminal
constexpr double kLabelPadding = 4;
constexpr double kCellGap = 12;
constexpr double kFactorGap = 6;      // on both sides of what a cup is multiplied by
constexpr double kCrossingRoom = 16;  // for each wire beyond the first that another crosses
constexpr double kTriangleWidth = 20;
constexpr double kLeastBox = 28;
constexpr double kBoxPadding = 9;

double widest_label(const Stage& stage, const DrawOptions& options) {
    double widest = 0;
    for (const Track& track : stage.tracks)
        widest = std::max(widest, label_width(track.label, kLabelSize, options.medium));
    return widest;
}

/// The steepest curve between two stages decides how far apart they are, and on a page what crosses
/// several at once, which is hard to follow where it is steep; in a terminal each wire that goes up
/// or down has a column of its own.
double distance_between(const Stage& from, const Stage& to, Medium medium) {
    std::map<Key, std::pair<double, int>> sources;
    for (const Track& track : from.tracks) sources[track.key] = {track.y, 0};
    double steepest = 0;
    double moving = 0;
    bool joint = false;
    for (const Track& track : to.tracks)
        for (const Key& key : track.sources)
            if (const auto found = sources.find(key); found != sources.end()) {
                steepest = std::max(steepest, std::abs(found->second.first - track.y));
                moving += found->second.first != track.y ? 1 : 0;
                joint = joint || ++found->second.second > 1 || track.sources.size() > 1;
            }
    const std::size_t crossed = medium == Medium::Page ? most_crossed(from, to) : 0;
    const double room = crossed > 1 ? kCrossingRoom * static_cast<double>(crossed - 1) : 0;
    const double distance = steepest > 0 ? std::min(16 + steepest * 0.4, 52.0) + room : 6;
    const double columns = medium == Medium::Terminal && moving > 0
                               ? kTerminalCell * std::min(moving + 2, kMostColumns)
                               : 0;
    return std::max({distance, columns, joint ? 16.0 : 0.0});
}

void set_extents(const StageList& list, Stage& stage, const DrawOptions& options) {
    const double label = widest_label(stage, options);
    const double half = label > 0 ? label / 2 + kLabelPadding : 2;
    switch (stage.kind) {
    case StageKind::Data: stage.left = stage.right = half; break;
    case StageKind::Load:
    case StageKind::Save: stage.left = stage.right = std::max(half + 1, kLeastCrossing / 2); break;
    case StageKind::Enter:
        stage.left = 4;
        stage.right = cup_depth(stage) > 0 ? cup_depth(stage) + 4 : 0;
        if (const MathText& factor = list.units[*stage.unit].factor; !factor.runs.empty())
            stage.right += label_width(factor, kMarkLabelSize, options.medium) + kFactorGap;
        break;
    case StageKind::Leave: stage.right = 4; break;
    }
}

/// Room for the names of arrays that enter in the middle of the picture.
double names_width(const Stage& stage, const Diagram& diagram, const DrawOptions& options) {
    double widest = 0;
    for (const NameTag& tag : stage.names)
        if (tag.at_left)
            widest = std::max(
                widest,
                label_width(name_beside(diagram, tag.array), kLabelSize, options.medium) + 8);
    return widest;
}

double glyph_width(const Unit& unit, const DrawOptions& options) {
    if (unit.glyph == GlyphKind::Triangle) return kTriangleWidth;
    double widest = 0;
    for (const MathText& line : unit.label)
        widest = std::max(widest, label_width(line, kLabelSize + 1, options.medium));
    const double marks = marks_width(unit, options.medium);
    const double tight = marks > 0 && options.medium == Medium::Terminal ? kTerminalCell : 0;
    return std::max(kLeastBox, marks + widest + 2 * kBoxPadding - tight);
}

/// Where cells of the table end in each row so far.
class CellGuard {
public:
    explicit CellGuard(const DrawOptions& options)
        : options_(options), ends_(options.rows.size(), -1e9) {}

    /// The least x at which a column's cells keep clear of those before it.
    [[nodiscard]] double least(std::size_t column) const {
        double x = -1e9;
        for (std::size_t r = 0; r < ends_.size(); ++r)
            if (const double half = half_width(r, column); half > 0)
                x = std::max(x, ends_[r] + kCellGap + half);
        return x;
    }
    void put(std::size_t column, double x) {
        for (std::size_t r = 0; r < ends_.size(); ++r)
            if (const double half = half_width(r, column); half > 0) ends_[r] = x + half;
    }

private:
    [[nodiscard]] double half_width(std::size_t row, std::size_t column) const {
        const std::vector<std::string>& cells = options_.rows[row].cells;
        if (column >= cells.size() || cells[column].empty()) return 0;
        return cell_width(cells[column], options_.medium) / 2;
    }
    const DrawOptions& options_;
    std::vector<double> ends_;
};

}  // namespace

double cup_depth(const Stage& stage) {
    double depth = 0;
    for (const std::vector<std::size_t>& cup : stage.cups) {
        const double height = stage.tracks[cup.back()].y - stage.tracks[cup.front()].y;
        depth = std::max(depth,
                         cup.size() == 1 ? 9 : std::max(14.0, std::min(height / 2, kDeepestCup)));
    }
    return depth;
}

double marks_width(const Unit& unit, Medium medium) {
    double widest = 0;
    for (const UnitInput& input : unit.inputs)
        if (!input.mark.runs.empty())
            widest = std::max(widest,
                              label_width(input.mark, kMarkLabelSize, medium) + mark_inset(medium));
    return widest;
}

namespace {

std::string without_middle(const std::string& name, std::size_t longest) {
    if (name.size() <= longest) return name;
    const std::size_t half = (longest - 1) / 2;
    return name.substr(0, half) + "…" + name.substr(name.size() - half);
}

}  // namespace

MathText name_beside(const Diagram& diagram, ArrayId array) {
    return plain_text(without_middle(diagram[array].name, kLongestName));
}

MathText mark_beside(const MathText& name, Medium medium) {
    const std::string text = to_unicode(name);
    const std::size_t longest = medium == Medium::Page ? kLongestName : kLongestMark;
    return columns_in(text) <= longest ? name : plain_text(without_middle(text, longest));
}

double label_width(const MathText& label, double size, Medium medium) {
    if (medium == Medium::Page) return width_of(label, size);
    return kTerminalCell * static_cast<double>(columns_in(to_unicode(label)));
}

namespace {

/// Where the next sign outside brackets stands, or the end.
std::size_t end_of_term(const std::string& text, std::size_t begin) {
    int depth = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        const bool sign = text.compare(i, 3, " + ") == 0 || text.compare(i, 3, " - ") == 0;
        if (sign && depth == 0 && i > begin) return i;
    }
    return text.size();
}

/// Where a quotient's stroke stands outside brackets, or the end.
std::size_t stroke_of(const std::string& text, std::size_t begin, std::size_t end) {
    int depth = 0;
    for (std::size_t i = begin + 1; i < end; ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] == '/' && depth == 0) return i;
    }
    return end;
}

}  // namespace

std::vector<MathText> wrap_sum(const std::string& text, double width, double size, Medium medium) {
    if (const std::size_t end = text.find('\n'); end != std::string::npos) {
        std::vector<MathText> lines = wrap_sum(text.substr(0, end), width, size, medium);
        lines.push_back(plain_text(text.substr(end + 1)));
        return lines;
    }
    std::vector<MathText> lines;
    std::string line;
    const auto fits = [&](const std::string& longer) {
        return label_width(parse_math(longer), size, medium) <= width;
    };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = end_of_term(text, at);
        // In a terminal a term that is too wide goes on below with its divisor.
        if (medium == Medium::Terminal && !fits(text.substr(at, end - at)))
            end = stroke_of(text, at, end);
        const std::string term = text.substr(at, end - at);
        if (!line.empty() && !fits(line + term)) {
            lines.push_back(parse_math(line));
            line = term.substr(term[0] == ' ' ? 1 : 0);
        } else {
            line += term;
        }
        at = end;
    }
    if (!line.empty()) lines.push_back(parse_math(line));
    return lines;
}

std::vector<MathText> cell_lines(const std::string& text, Medium medium) {
    return wrap_sum(text, kWidestCell, kCellSize, medium);
}

double cell_width(const std::string& text, Medium medium) {
    double widest = 0;
    for (const MathText& line : cell_lines(text, medium))
        widest = std::max(widest, label_width(line, kCellSize, medium));
    return widest;
}

void place_horizontally(StageList& list, const Diagram& diagram, const DrawOptions& options) {
    CellGuard cells(options);
    for (Stage& stage : list.stages) set_extents(list, stage, options);
    for (std::size_t s = 0; s < list.stages.size(); ++s) {
        Stage& stage = list.stages[s];
        if (s == 0) {
            stage.x = stage.left;
            continue;
        }
        const Stage& before = list.stages[s - 1];
        stage.x =
            before.x + before.right + stage.left + distance_between(before, stage, options.medium);
        stage.x += names_width(stage, diagram, options);
        if (stage.kind == StageKind::Leave)
            stage.x = before.x + glyph_width(list.units[*stage.unit], options);
        if (!stage.column) continue;
        // A cell stands over the middle of its glyph.
        const bool wide = s + 1 < list.stages.size() && list.stages[s + 1].kind == StageKind::Leave;
        const double middle = wide ? glyph_width(list.units[*stage.unit], options) / 2
                              : stage.cups.empty() ? 0
                                                   : 10;
        stage.x = std::max(stage.x, cells.least(*stage.column) - middle);
        cells.put(*stage.column, stage.x + middle);
    }
}

}  // namespace napkin::drawing
