#include "diagrams/drawing/listing.h"

#include <algorithm>

namespace napkin::drawing {

namespace {

constexpr double kCode = 10;  // size of program text
constexpr double kText = 11.5;
constexpr double kLine = 17;
constexpr double kIndent = 16;
constexpr double kPad = 5;
constexpr double kColumnGap = 16;
constexpr double kTitle = 14;
constexpr double kMargin = 8;
constexpr double kApart = 24;
constexpr double kCellWidth = 0.6 * kCode;

/// Lines of at most `columns` characters, broken at spaces; continuations are indented.
std::vector<std::string> broken(const std::string& text, std::size_t columns) {
    std::vector<std::string> lines;
    std::string rest = text;
    while (columns_in(rest) > columns) {
        std::size_t bytes = 0;
        std::string_view view = rest;
        for (std::size_t i = 0; i < columns && !view.empty(); ++i) (void)next_code_point(view);
        bytes = rest.size() - view.size();
        std::size_t at = rest.rfind(' ', bytes);
        if (at == std::string::npos || rest.find_first_not_of(' ') >= at) at = bytes;
        lines.push_back(rest.substr(0, at));
        rest = "    " + rest.substr(rest[at] == ' ' ? at + 1 : at);
    }
    lines.push_back(rest);
    return lines;
}

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
            columns.code, indent + kCellWidth * static_cast<double>(columns_in(item.text)) + kPad);
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
        const double room = std::max(right_of_code() - indent - kPad, 20 * kCellWidth);
        for (const std::string& part : broken(text, static_cast<std::size_t>(room / kCellWidth))) {
            y += kLine;
            const std::size_t lead = part.find_first_not_of(' ');
            const double skip =
                lead == std::string::npos ? 0 : kCellWidth * static_cast<double>(lead);
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
        facts(item, top + kLine - 5);
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
        y += 2;
        const double top = y;
        // The frame is painted before what is in it.
        const std::size_t place = frames_.operations.size();
        code(item.text, indent);
        items(item.body, indent + kIndent);
        y += 3;
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
        frames_.line({x, top + kLine}, {x, y - 3}, bracket, Part::Rule);
        frames_.line({x, y - 3}, {x + 7, y - 3}, bracket, Part::Rule);
        y += 2;
    }

    Columns columns_;
    double width_;
    Canvas frames_;
    Canvas texts_;
};

/// Titles, formulas and values in three columns between rules.
double draw_facts(Canvas& canvas, const std::vector<ListingFact>& facts, double width, double y) {
    if (facts.empty()) return y;
    const Stroke rule{kBlack, 0.8, Dash::Solid};
    double titles = 0;
    double values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, width_of(parse_math(fact.title), kText));
        values = std::max(values, width_of(plain_text(fact.value), kText));
    }
    canvas.line({0, y}, {width, y}, rule, Part::Rule);
    for (const ListingFact& fact : facts) {
        y += kLine + 2;
        canvas.text(parse_math(fact.title), {2, y - 6}, Anchor::Left, kText);
        canvas.text(parse_math(fact.formula), {titles + 2 * kColumnGap, y - 6}, Anchor::Left,
                    kText);
        canvas.text(plain_text(fact.value), {width - 2, y - 6}, Anchor::Right, kText);
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
        const double width = std::max(std::min(columns.code + columns.right() + kPad, limit),
                                      width_of_facts(listing.facts));
        if (!listing.title.empty()) {
            picture.text(plain_text(listing.title), {0, y + kTitle}, Anchor::Left, kTitle);
            y += kTitle + 10;
        }
        y = draw_facts(picture, listing.facts, width, y);
        Writer writer(columns, width);
        writer.y = y;
        writer.items(listing.items, 0);
        y = writer.y + kApart;
        add(picture, writer.take(), 0, 0);
    }
    fit(picture, kMargin);
    return picture;
}

}  // namespace napkin::drawing
