// The drawing between the diagram and the canvas: vertical stages from left to right, each a stack
// of tracks (places of wires) in blocks that move as one, with links to the stage before by keys.
//
//   Data    the live arrays, with labels
//   Load    the same, where arrays move to a lower level; Save likewise outwards
//   Enter   arrays brought together before a function; wires that pass around it set apart
//   Leave   the right side of a box or triangle; a contraction has none
//
// A track names the tracks it comes from: two of one source are a copy, two sources of one a join.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

inline constexpr Place kDevice{Level::Device, false};

inline constexpr double kPitch = 20;       // between wires of one array
inline constexpr double kArrayGap = 30;    // between arrays, a dashed line in it
inline constexpr double kGlyphReach = 12;  // of a glyph over its outer wires
inline constexpr double kLabelSize = 13;
/// Between the lines of a formula in a box, of which none touches the next.
[[nodiscard]] double box_line(const std::vector<MathText>& lines, Medium medium);
/// Of a label's baseline over its wire, which a subscript's tail keeps clear of.
[[nodiscard]] double label_rise(const MathText& label, Medium medium);

/// A wire as it lives from one stage to the next.
struct Key {
    int slot = -1;
    int wire = 0;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): as in id.h
};

struct Track {
    Key key;
    std::vector<Key> sources;
    double offset = 0;  ///< below the top of its block
    double y = 0;
    Place place_in = kDevice;
    Place place_out = kDevice;
    std::optional<AxisId> axis;
    std::optional<ArrayId> array{};  ///< none for wires that several carry
    bool scalar = false;             ///< stands for an array without axes
    bool changes = false;            ///< crosses the border of a level here
    bool dead = false;               ///< ends here: in a cup, a glyph, or unused
    bool hidden = false;             ///< stands for the inputs of a box that has none
    MathText name;                   ///< what the wire is called here
    MathText label;                  ///< the same where it is to be shown
};

struct Block {
    std::size_t first = 0;  ///< tracks [first, first + count)
    std::size_t count = 0;
    double height = 0;
    double gap = 0;  ///< least distance from the block above
    double weight = 1;
    double top = 0;
    bool is_box = false;
    std::optional<ArrayId> array{};  ///< the live array that it is
    bool flexible = false;           ///< its wires may keep the distances that they came with
};

/// A dashed line between arrays; the pairs of slots link it to its neighbours, -1 ends it.
struct Separator {
    std::pair<int, int> left{-1, -1};
    std::pair<int, int> right{-1, -1};
    std::size_t above = 0;  ///< tracks that it runs between
    std::size_t below = 0;
    double y = 0;
    std::optional<std::size_t> copied{};  ///< as high as this separator of the stage before
};

enum class StageKind { Data, Load, Save, Enter, Leave };

/// Name of an array beside its wires.
struct NameTag {
    std::size_t first = 0;  ///< tracks
    std::size_t last = 0;
    ArrayId array;
    bool at_left = true;
};

struct Stage {
    StageKind kind = StageKind::Data;
    Level level = Level::Block;  ///< the lower level of a Load or Save
    Level outer = Level::Device;
    std::optional<std::size_t> unit;
    std::optional<std::size_t> column;
    std::vector<Track> tracks;
    std::vector<Block> blocks;
    std::vector<Separator> separators;
    std::vector<std::vector<std::size_t>> cups;  ///< tracks that a contraction joins
    std::vector<NameTag> names;
    bool sinks = false;  ///< results stand low here: towards what comes, and at the end
    double left = 0;     ///< level to each side of x
    double right = 0;
    double x = 0;
};

struct StageList {
    std::vector<Stage> stages;
    std::vector<Unit> units;
    std::vector<AxisId> common;
    std::vector<ArrayId> entered;    ///< in the order in which arrays come into the picture
    std::vector<std::size_t> gaps;   ///< of each unit: the live array above which its results go
    std::vector<std::size_t> lives;  ///< likewise how many arrays are live there
};

/// What may be chosen of the order from top to bottom; what is not chosen is as it is declared, and
/// near where it comes from.
struct StageOrder {
    using Gaps = std::map<std::size_t, std::size_t>;
    std::vector<ArrayId> entering;
    Gaps gaps;  ///< of units
    auto operator<=>(const StageOrder&) const = default;
};

/// All stages of a diagram, or those of one kernel with only the arrays that it loads and saves,
/// without places yet, in an order in which few wires cross.
[[nodiscard]] StageList build_stages(const Contents& contents, const DrawOptions& options,
                                     std::optional<std::size_t> kernel = std::nullopt);

inline constexpr double kDeepestCup = 26;
inline constexpr double kLeastCrossing = 22;  ///< width of a load or a save

/// Gives every block and track its height on the page.
void place_vertically(StageList& list);
/// The most wires that one wire crosses between two stages, and of all that follow each other.
[[nodiscard]] std::size_t most_crossed(const Stage& from, const Stage& to);
[[nodiscard]] std::size_t most_crossed(const StageList& list);
/// Gives every stage its x, wide enough for labels, curves and the cells of the table.
void place_horizontally(StageList& list, const Diagram& diagram, const DrawOptions& options);

inline constexpr double kCellSize = 12;
/// A sum in lines of at most `width`, broken before its signs; what follows a line break is a text
/// of its own.
[[nodiscard]] std::vector<MathText> wrap_sum(const std::string& text, double width, double size,
                                             Medium medium);
/// A cell of the table: its lines, and the width of the widest.
[[nodiscard]] std::vector<MathText> cell_lines(const std::string& text, Medium medium);
[[nodiscard]] double cell_width(const std::string& text, Medium medium);

/// What is written beside an array's wires: its name, its middle left out where it is very long.
[[nodiscard]] MathText name_beside(const Diagram& diagram, ArrayId array);

inline constexpr double kMarkLabelSize = 11;
/// Of a mark from the box's edge.
inline double mark_inset(Medium medium) {
    return medium == Medium::Page ? 4 : 1.5 * kTerminalCell;
}
/// Room for the names of its arrays at the left of a box; nothing where it shows none.
[[nodiscard]] double marks_width(const Unit& unit, Medium medium);
/// How far the cups of a contraction reach; wires that go on bend only beyond them.
[[nodiscard]] double cup_depth(const Stage& stage);

/// Likewise a name beside wires in a box.
[[nodiscard]] MathText mark_beside(const MathText& name, Medium medium);

/// Width of a label on the medium.
[[nodiscard]] double label_width(const MathText& label, double size, Medium medium);

}  // namespace napkin::drawing
