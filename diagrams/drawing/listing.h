// Tile programs as pseudocode diagrams: loops as frames in the colour of their level, loads and
// saves on their colours, every variable with its size, type and level, a table above. The derive
// folder fills these plain structs.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/layout.h"

namespace napkin::drawing {

enum class ItemKind { Parallel, Loop, Load, Save, Step };

/// A line of the program, or a loop with lines in it.
struct ListingItem {
    ItemKind kind = ItemKind::Step;
    std::string text;      ///< `for x in chunks of s_x = 64`, `S = sum(d) Q * K`
    std::string variable;  ///< what it defines; empty for loops
    std::string size;      ///< `g_q d`, in the notation of labels
    std::string type;      ///< `bf16`
    std::string level;     ///< `block`
    Color color = kBlack;  ///< of the level
    std::string tooltip;   ///< where in the source it comes from
    std::vector<ListingItem> body;
};

/// A line of the table above: `H_l1`, `2qd + 2xqd/g_q`, `69.2 MB`.
struct ListingFact {
    std::string title;
    std::string formula;
    std::string value;
};

struct Listing {
    std::string title;
    std::vector<ListingFact> facts;
    std::vector<ListingItem> items;
};

/// Lines longer than `max_width` points allow are broken.
[[nodiscard]] Canvas draw_listing(const Listing& listing, double max_width = 760);
/// Several programs (the regions of one pipeline), one under the other.
[[nodiscard]] Canvas draw_listings(const std::vector<Listing>& listings, double max_width = 760);
/// The same as text, in at most so many columns where words allow it.
[[nodiscard]] std::string listing_text(const std::vector<Listing>& listings, std::size_t columns);

/// Lines of at most `columns` characters, broken at spaces; continuations are indented.
[[nodiscard]] std::vector<std::string> broken_lines(const std::string& text, std::size_t columns);

}  // namespace napkin::drawing
