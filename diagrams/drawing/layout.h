// Draws a diagram under a relabelling, in the manner of neural circuit diagrams: a wire an axis, a
// stack of wires an array, columns of data and of functions in turn, colours for levels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"
#include "diagrams/relabelling.h"

namespace napkin::drawing {

enum class ColumnKind { Load, Boxes, Save };

/// A column to which a cost can belong: what a region loads, one box of it, what it saves.
struct Column {
    ColumnKind kind = ColumnKind::Boxes;
    std::size_t region = 0;
    Level level = Level::Block;           ///< of a load or a save: the lower end
    std::vector<StatementId> statements;  ///< of the diagram as it is drawn
    bool operator==(const Column&) const = default;
};
/// The columns from left to right, so that a caller can compute a table's cells.
[[nodiscard]] std::vector<Column> columns_of(const Diagram& diagram,
                                             const Relabelling& relabelling);

/// A row of the resource table.
struct TableRow {
    std::string title;               ///< `M_l1`, `H_l1`
    std::vector<std::string> cells;  ///< one a column of columns_of; empty ones stay blank
    std::string cumulative;
    bool tinted = false;                ///< cells of loads and saves carry their colours
    std::vector<std::string> totals{};  ///< one a region, where each has a picture of its own
};

/// What a drawing is made for: terminals count characters, pages points.
enum class Medium { Page, Terminal };
inline constexpr double kTerminalCell = 6;  ///< width of a terminal's character in points

struct DrawOptions {
    std::string title;
    std::vector<TableRow> rows;
    std::set<AxisId>
        overbars;  ///< axes to be partitioned later, beside the woven and partitioned ones
    std::vector<std::string> notes;          ///< formulas beside the diagram
    std::function<std::string(Span)> where;  ///< a place in the source in words, where known
    bool names = true;                       ///< names of arrays where they enter and leave
    std::vector<MathText> remarks;           ///< lines below
    bool legend = true;                      ///< the sizes of groups and streams below
    bool levels = true;                      ///< with it, on a page, what colours mean
    std::optional<std::size_t> kernel;       ///< the only region to be drawn
    /// Of the kernels: above them, where each has a picture of its own.
    std::optional<Canvas> overview;
    double max_width = 900;  ///< with its margin
    /// Names that the diagram has in place of longer ones, which stand below.
    std::map<std::string, std::string> key;
    Medium medium = Medium::Page;
};

/// The picture; every diagram and every relabelling of it can be drawn. Kernels that do not fit in
/// one row of `max_width`, or whose wires would plunge through others, get a picture each, and a
/// kernel that does not is broken into rows.
[[nodiscard]] Canvas draw_diagram(const Diagram& diagram, const Relabelling& relabelling,
                                  const DrawOptions& options = {});

/// In points: a page with its margins, a terminal's columns that are not blank.
[[nodiscard]] double width_on(Medium medium, const Canvas& picture);

/// The levels that wires of the pictures are drawn at, from far to near, each with its colour.
[[nodiscard]] Canvas draw_levels(const std::vector<Canvas>& pictures);

/// The colour of a place.
[[nodiscard]] Color color_of(const Place& place);
/// `block`, `tensor-core`.
[[nodiscard]] std::string place_name(const Place& place);

}  // namespace napkin::drawing
