#include "diagrams/drawing/listing.h"

#include <algorithm>
#include <cmath>

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kCode = 10;  // size of program text
constexpr double kText = 11.5;
constexpr double kProgramLine = 17;
constexpr double kLoopSpace = 2;  // around a loop
constexpr double kIndent = 16;
constexpr double kLeastFormula = 150;  // width of a formula that wraps
constexpr double kPad = 5;
constexpr double kColumnGap = 16;
constexpr double kTitle = 14;
constexpr double kListingsApart = 24;
constexpr double kCodeWidth = 0.6 * kCode;

/// Widths of the columns to the right of the program text.
struct Columns {
    double size = 0;
    double type = 0;
    double level = 0;
    double code = 0;  ///< of the widest line, indent and frames with it
    [[nodiscard]] double right() const { return size + type + level + 3 * kColumnGap; }
};

void measure(const std::vector<ListingItem>& items, double indent, Columns& columns) {
    for (const ListingItem& item : items) {
        columns.size = std::max(columns.size, width_of(parse_math(item.size), kText));
        columns.type = std::max(columns.type, width_of(plain_text(item.type), kText));
        columns.level = std::max(columns.level, width_of(plain_text(item.level), kText) + 12);
        columns.code = std::max(
            columns.code, indent + kCodeWidth * static_cast<double>(columns_in(item.text)) + kPad);
        measure(item.body, indent + kIndent, columns);
    }
}

class Writer {
public:
    Writer(Columns columns, double width) : columns_(columns), width_(width) {}

    void items(const std::vector<ListingItem>& list, double indent) {
        for (const ListingItem& item : list) {
            const bool loops = item.kind == ItemKind::Loop || item.kind == ItemKind::Parallel;
            loops ? loop(item, indent) : line(item, indent);
        }
    }
    Canvas take() {
        Canvas all;
        add(all, frames_, 0, 0);
        add(all, texts_, 0, 0);
        return all;
    }
    double y = 0;

private:
    [[nodiscard]] double right_of_code() const { return width_ - columns_.right(); }

    void code(const std::string& text, double indent) {
        const double room = std::max(right_of_code() - indent - kPad, 20 * kCodeWidth);
        for (const std::string& part :
             broken_lines(text, static_cast<std::size_t>(room / kCodeWidth))) {
            y += kProgramLine;
            const std::size_t lead = part.find_first_not_of(' ');
            const double skip =
                lead == std::string::npos ? 0 : kCodeWidth * static_cast<double>(lead);
            texts_.text(plain_text(part.substr(std::min(lead, part.size())), Face::Mono),
                        {indent + skip + kPad, y - 5}, Anchor::Left, kCode);
        }
    }
    void line(const ListingItem& item, double indent) {
        const double top = y;
        code(item.text, indent);
        const Box2 row{indent, top + 0.5, right_of_code(), y - 0.5};
        if (item.kind == ItemKind::Load || item.kind == ItemKind::Save)
            frames_.rectangle(row, item.kind == ItemKind::Load ? kLoadFill : kSaveFill,
                              {kBlack, 0.6, Dash::Dotted}, Part::Region);
        facts(item, top + kProgramLine - 5);
        texts_.element("line-" + (item.variable.empty() ? std::string("save") : item.variable),
                       "line", item.tooltip.empty() ? item.text : item.tooltip, row);
    }
    /// Size, type and level of the variable that the line defines.
    void facts(const ListingItem& item, double baseline) {
        double x = right_of_code() + kColumnGap;
        texts_.text(parse_math(item.size), {x, baseline}, Anchor::Left, kText);
        x += columns_.size + kColumnGap;
        texts_.text(plain_text(item.type), {x, baseline}, Anchor::Left, kText);
        x += columns_.type + kColumnGap;
        if (item.level.empty()) return;
        texts_.dot({x + 4, baseline - 3.5}, 3.5, item.color, kBlack);
        texts_.text(plain_text(item.level), {x + 12, baseline}, Anchor::Left, kText);
    }
    void loop(const ListingItem& item, double indent) {
        const bool parallel = item.kind == ItemKind::Parallel;
        y += kLoopSpace;
        const double top = y;
        // The frame is painted before what is in it.
        const std::size_t place = frames_.operations.size();
        code(item.text, indent);
        items(item.body, indent + kIndent);
        y += kLoopSpace;
        const double right = right_of_code();
        if (parallel) {
            Canvas frame;
            frame.rectangle({indent, top, right, y}, kSubAlgorithmFill, {kBlack, 0.6, Dash::Dotted},
                            Part::Region);
            frames_.operations.insert(
                frames_.operations.begin() + static_cast<std::ptrdiff_t>(place),
                frame.operations[0]);
        }
        // A bracket in the colour of the level where the loop runs.
        const Stroke bracket{item.color, 1.6, Dash::Solid};
        const double x = indent + 7;
        frames_.line({x, top + kProgramLine}, {x, y - 2}, bracket, Part::Rule);
        frames_.line({x, y - 2}, {x + 7, y - 2}, bracket, Part::Rule);
        y += kLoopSpace;
    }

    Columns columns_;
    double width_;
    Canvas frames_;
    Canvas texts_;
};

/// Titles, formulas and values in three columns between rules; long formulas wrap.
double draw_facts(Canvas& canvas, const std::vector<ListingFact>& facts, double width, double y) {
    if (facts.empty()) return y;
    const Stroke rule{kBlack, 0.8, Dash::Solid};
    double titles = 0;
    double values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, width_of(parse_math(fact.title), kText));
        values = std::max(values, width_of(plain_text(fact.value), kText));
    }
    const double indent = titles + 2 * kColumnGap;
    const double room = std::max(width - indent - values - 2 * kColumnGap, kLeastFormula);
    canvas.line({0, y}, {width, y}, rule, Part::Rule);
    for (const ListingFact& fact : facts) {
        y += kProgramLine + 2;
        canvas.text(parse_math(fact.title), {2, y - 6}, Anchor::Left, kText);
        canvas.text(plain_text(fact.value), {width - 2, y - 6}, Anchor::Right, kText);
        const std::vector<MathText> lines = wrap_sum(fact.formula, room, kText, Medium::Page);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i > 0) y += kProgramLine - 2;
            canvas.text(lines[i], {indent, y - 6}, Anchor::Left, kText);
        }
        canvas.line({0, y}, {width, y}, rule, Part::Rule);
    }
    return y + 8;
}

double width_of_facts(const std::vector<ListingFact>& facts) {
    double titles = 0;
    double formulas = 0;
    double values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, width_of(parse_math(fact.title), kText));
        formulas = std::max(formulas, width_of(parse_math(fact.formula), kText));
        values = std::max(values, width_of(plain_text(fact.value), kText));
    }
    return facts.empty() ? 0 : titles + formulas + values + 4 * kColumnGap;
}

}  // namespace

Canvas draw_listing(const Listing& listing, double max_width) {
    return draw_listings({listing}, max_width);
}

Canvas draw_listings(const std::vector<Listing>& listings, double max_width) {
    Canvas picture;
    double y = 0;
    for (const Listing& listing : listings) {
        Columns columns;
        measure(listing.items, 0, columns);
        const double limit = std::max(max_width - 2 * kMargin, 200.0);
        const double wanted =
            std::max(columns.code + columns.right() + kPad, width_of_facts(listing.facts));
        const double width = std::min(wanted, limit);
        if (!listing.title.empty()) {
            picture.text(plain_text(listing.title), {0, y + kTitle}, Anchor::Left, kTitle);
            y += kTitle + 10;
        }
        y = draw_facts(picture, listing.facts, width, y);
        Writer writer(columns, width);
        writer.y = y;
        writer.items(listing.items, 0);
        y = writer.y + (kListingsApart);
        add(picture, writer.take(), 0, 0);
    }
    fit(picture, kMargin);
    return picture;
}

}  // namespace napkin::drawing
