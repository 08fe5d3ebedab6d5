#include "diagrams/drawing/listing.h"

#include <algorithm>
#include <cmath>

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kCode = 10;  // size of program text
constexpr double kText = 11.5;
constexpr double kPageLine = 17;
constexpr double kTerminalLine = 10;
constexpr double kIndent = 16;
constexpr double kPad = 5;
constexpr double kColumnGap = 16;
constexpr double kTitle = 14;
constexpr double kListingsApart = 24;
constexpr double kCodeWidth = 0.6 * kCode;

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

void measure(const std::vector<ListingItem>& items, double indent, Medium medium,
             Columns& columns) {
    for (const ListingItem& item : items) {
        columns.size = std::max(columns.size, label_width(parse_math(item.size), kText, medium));
        columns.type = std::max(columns.type, label_width(plain_text(item.type), kText, medium));
        columns.level =
            std::max(columns.level, label_width(plain_text(item.level), kText, medium) + 12);
        columns.code = std::max(
            columns.code, indent + kCodeWidth * static_cast<double>(columns_in(item.text)) + kPad);
        measure(item.body, indent + kIndent, medium, columns);
    }
}

class Writer {
public:
    Writer(Columns columns, double width, Medium medium)
        : columns_(columns),
          width_(width),
          line_(medium == Medium::Page ? kPageLine : kTerminalLine),
          space_(medium == Medium::Page ? 2 : 0) {}

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
        for (const std::string& part : broken(text, static_cast<std::size_t>(room / kCodeWidth))) {
            y += line_;
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
        facts(item, top + line_ - 5);
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
        y += space_;
        const double top = y;
        // The frame is painted before what is in it.
        const std::size_t place = frames_.operations.size();
        code(item.text, indent);
        items(item.body, indent + kIndent);
        y += space_;
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
        frames_.line({x, top + line_}, {x, y - 2}, bracket, Part::Rule);
        frames_.line({x, y - 2}, {x + 7, y - 2}, bracket, Part::Rule);
        y += space_;
    }

    Columns columns_;
    double width_;
    double line_;
    double space_;  ///< around a loop
    Canvas frames_;
    Canvas texts_;
};

/// Titles, formulas and values in three columns between rules.
double draw_facts(Canvas& canvas, const std::vector<ListingFact>& facts, double width, double y,
                  Medium medium) {
    if (facts.empty()) return y;
    const Stroke rule{kBlack, 0.8, Dash::Solid};
    double titles = 0;
    double values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, label_width(parse_math(fact.title), kText, medium));
        values = std::max(values, label_width(plain_text(fact.value), kText, medium));
    }
    canvas.line({0, y}, {width, y}, rule, Part::Rule);
    for (const ListingFact& fact : facts) {
        y += medium == Medium::Page ? kPageLine + 2 : 2 * kTerminalLine;
        canvas.text(parse_math(fact.title), {2, y - 6}, Anchor::Left, kText);
        canvas.text(parse_math(fact.formula), {titles + 2 * kColumnGap, y - 6}, Anchor::Left,
                    kText);
        canvas.text(plain_text(fact.value), {width - 2, y - 6}, Anchor::Right, kText);
        canvas.line({0, y}, {width, y}, rule, Part::Rule);
    }
    return y + (medium == Medium::Page ? 8 : kTerminalLine);
}

/// How far the canvas' rows are from whole ones.
double first_row(const Canvas& canvas) {
    for (const Operation& operation : canvas.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape);
            text != nullptr && text->size == kCode)
            return std::fmod(text->at.y + 5, kTerminalLine);
    return 0;
}

double width_of_facts(const std::vector<ListingFact>& facts, Medium medium) {
    double titles = 0;
    double formulas = 0;
    double values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, label_width(parse_math(fact.title), kText, medium));
        formulas = std::max(formulas, label_width(parse_math(fact.formula), kText, medium));
        values = std::max(values, label_width(plain_text(fact.value), kText, medium));
    }
    return facts.empty() ? 0 : titles + formulas + values + 4 * kColumnGap;
}

}  // namespace

Canvas draw_listing(const Listing& listing, double max_width, Medium medium) {
    return draw_listings({listing}, max_width, medium);
}

Canvas draw_listings(const std::vector<Listing>& listings, double max_width, Medium medium) {
    Canvas picture;
    double y = 0;
    for (const Listing& listing : listings) {
        Columns columns;
        measure(listing.items, 0, medium, columns);
        const double limit = std::max(max_width - 2 * kMargin, 200.0);
        const double width = std::max(std::min(columns.code + columns.right() + kPad, limit),
                                      width_of_facts(listing.facts, medium));
        if (!listing.title.empty()) {
            picture.text(plain_text(listing.title), {0, y + kTitle}, Anchor::Left, kTitle);
            y += medium == Medium::Page ? kTitle + 10 : 3 * kTerminalLine;
        }
        y = draw_facts(picture, listing.facts, width, y, medium);
        Writer writer(columns, width, medium);
        writer.y = y;
        writer.items(listing.items, 0);
        y = writer.y + (medium == Medium::Page ? kListingsApart : 2 * kTerminalLine);
        add(picture, writer.take(), 0, 0);
    }
    fit(picture, kMargin);
    // Rows of a terminal are whole: the margin is undone but for a row and a column.
    if (medium == Medium::Terminal) translate(picture, 0, kTerminalLine - first_row(picture));
    return picture;
}

}  // namespace napkin::drawing
