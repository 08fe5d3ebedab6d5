#include <algorithm>

#include "diagrams/drawing/listing.h"
#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kLeastCode = 24;  // columns
constexpr std::size_t kFactGap = 2;

std::string in_words(const std::string& label) {
    return to_unicode(parse_math(label));
}

std::string blanks(std::size_t count) {
    return std::string(count, ' ');
}

std::string padded(const std::string& text, std::size_t columns) {
    const std::size_t used = columns_in(text);
    return used < columns ? text + blanks(columns - used) : text;
}

/// What stands to the right of the program text: size, type and level of a variable.
struct Facts {
    std::size_t size = 0;
    std::size_t type = 0;
    std::size_t level = 0;

    void fit(const std::vector<ListingItem>& items) {
        for (const ListingItem& item : items) {
            size = std::max(size, columns_in(in_words(item.size)));
            type = std::max(type, columns_in(item.type));
            level = std::max(level, columns_in(item.level));
            fit(item.body);
        }
    }
    [[nodiscard]] std::size_t columns() const { return size + type + level + 3 * kFactGap; }
    [[nodiscard]] std::string text(const ListingItem& item) const {
        return blanks(kFactGap) + padded(in_words(item.size), size) + blanks(kFactGap) +
               padded(item.type, type) + blanks(kFactGap) + item.level;
    }
};

std::string trimmed(std::string line) {
    line.resize(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

/// One bar for each loop around it.
void write_items(std::string& out, const std::vector<ListingItem>& items, const std::string& bars,
                 const Facts& facts, std::size_t columns) {
    const std::size_t indent = columns_in(bars);
    const std::size_t used = indent + facts.columns();
    const std::size_t room = std::max(columns > used ? columns - used : 0, kLeastCode);
    for (const ListingItem& item : items) {
        const bool loops = item.kind == ItemKind::Loop || item.kind == ItemKind::Parallel;
        bool first = true;
        for (const std::string& line :
             broken_lines(item.text, loops ? room + facts.columns() : room)) {
            out += trimmed(bars + (first && !loops ? padded(line, room) + facts.text(item) : line));
            first = false;
        }
        write_items(out, item.body, bars + "│ ", facts, columns);
    }
}

void write_facts(std::string& out, const std::vector<ListingFact>& facts, std::size_t columns) {
    std::size_t titles = 0;
    std::size_t values = 0;
    for (const ListingFact& fact : facts) {
        titles = std::max(titles, columns_in(in_words(fact.title)));
        values = std::max(values, columns_in(fact.value));
    }
    const std::size_t used = titles + values + 3 * kFactGap;
    const std::size_t room = std::max(columns > used ? columns - used : 0, kLeastCode);
    for (const ListingFact& fact : facts) {
        std::string title = padded(in_words(fact.title), titles);
        std::string value = fact.value;
        for (const MathText& line :
             wrap_sum(fact.formula, kTerminalCell * static_cast<double>(room), kCellSize,
                      Medium::Terminal)) {
            out += trimmed(blanks(kFactGap) + title + blanks(kFactGap) +
                           padded(to_unicode(line), room) + blanks(kFactGap) + value);
            title = blanks(titles);
            value.clear();
        }
    }
}

}  // namespace

std::vector<std::string> broken_lines(const std::string& text, std::size_t columns) {
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

std::string listing_text(const std::vector<Listing>& listings, std::size_t columns) {
    std::string out;
    for (const Listing& listing : listings) {
        if (!out.empty()) out += "\n";
        if (!listing.title.empty()) out += listing.title + "\n";
        write_facts(out, listing.facts, columns);
        if (!out.empty()) out += "\n";
        Facts facts;
        facts.fit(listing.items);
        write_items(out, listing.items, "", facts, columns);
    }
    return out;
}

}  // namespace napkin::drawing
