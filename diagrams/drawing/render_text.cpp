// The canvas on a grid of characters: a cell is 6 by 10 points, which is how Medium::Terminal lays
// out. Wires are kept as the directions in which a cell is left, so that crossings, corners and
// joints come out as the right box-drawing character.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/render.h"
#include "diagrams/drawing/turns.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr double kCellHeight = 10;

constexpr unsigned kUp = 1;
constexpr unsigned kDown = 2;
constexpr unsigned kLeft = 4;
constexpr unsigned kRight = 8;

struct Cell {
    unsigned ways = 0;
    bool framed = false;  ///< belongs to a box: square corners
    std::string sign;     ///< over the ways
    int rank = 0;         ///< of the sign: regions, dashes, glyphs, letters
    Color color = kBlack;
};

class Grid {
public:
    Grid(double width, double height)
        : columns_(static_cast<int>(std::ceil(width / kTerminalCell)) + 2),
          rows_(static_cast<int>(std::ceil(height / kCellHeight)) + 2),
          cells_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

    [[nodiscard]] static int row(double y) {
        return static_cast<int>(std::lround(y / kCellHeight));
    }

    Cell& at(int column, int row) {
        const int x = std::clamp(column, 0, columns_ - 1);
        const int y = std::clamp(row, 0, rows_ - 1);
        return cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) +
                      static_cast<std::size_t>(x)];
    }
    void sign(int column, int row, std::string text, int rank, Color color) {
        Cell& cell = at(column, row);
        if (cell.rank > rank) return;
        cell.sign = std::move(text);
        cell.rank = rank;
        cell.color = color;
    }
    void horizontal(int row, int from, int to, Color color, bool framed = false) {
        for (int x = from; x < to; ++x) {
            join(at(x, row), kRight, color, framed);
            join(at(x + 1, row), kLeft, color, framed);
        }
    }
    void vertical(int column, int from, int to, Color color, bool framed = false) {
        if (from > to) std::swap(from, to);
        for (int y = from; y < to; ++y) {
            join(at(column, y), kDown, color, framed);
            join(at(column, y + 1), kUp, color, framed);
        }
    }
    /// What a box covers is gone.
    void clear(int left, int top, int right, int bottom) {
        for (int y = top; y <= bottom; ++y)
            for (int x = left; x <= right; ++x) at(x, y) = {};
    }
    [[nodiscard]] std::string text(bool color) const;

private:
    static void join(Cell& cell, unsigned way, Color color, bool framed) {
        cell.ways |= way;
        cell.color = color;
        cell.framed = cell.framed || framed;
    }
    int columns_;
    int rows_;
    std::vector<Cell> cells_;
};

std::string wire_sign(const Cell& cell) {
    // By the sum of ways: up 1, down 2, left 4, right 8.
    static constexpr std::array<const char*, 16> kRound = {" ", "╵", "╷", "│", "╴", "╯", "╮", "┤",
                                                           "╶", "╰", "╭", "├", "─", "┴", "┬", "┼"};
    static constexpr std::array<const char*, 16> kSquare = {" ", "╵", "╷", "│", "╴", "┘", "┐", "┤",
                                                            "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
    // An end of a wire is a wire: half a character looks torn.
    if (cell.ways == kLeft || cell.ways == kRight) return "─";
    if (cell.ways == kUp || cell.ways == kDown) return "│";
    return cell.framed ? kSquare[cell.ways] : kRound[cell.ways];
}

std::string Grid::text(bool color) const {
    std::string out;
    for (int y = 0; y < rows_; ++y) {
        std::string line;
        Color pen = kBlack;
        std::size_t used = 0;
        for (int x = 0; x < columns_; ++x) {
            const Cell& cell =
                cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) +
                       static_cast<std::size_t>(x)];
            const bool covered = cell.rank == 0 && cell.ways != 0;  // wires go through borders
            const std::string sign = cell.sign.empty() || covered ? wire_sign(cell) : cell.sign;
            const bool blank = sign == " ";
            if (color && !blank && cell.color != pen) {
                pen = cell.color;
                line += pen == kBlack ? std::string("\x1b[39m")
                                      : "\x1b[38;2;" + std::to_string(pen >> 16U) + ";" +
                                            std::to_string((pen >> 8U) & 0xFFU) + ";" +
                                            std::to_string(pen & 0xFFU) + "m";
            }
            line += sign;
            if (!blank) used = line.size();
        }
        line.resize(used);
        if (color && pen != kBlack) line += "\x1b[39m";
        out += line + "\n";
    }
    while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
    return out;
}

/// The cells that a wire goes between.
struct Ends {
    int x0 = 0;
    int y0 = 0;
    int x1 = 0;
    int y1 = 0;
    [[nodiscard]] bool turns() const { return y0 != y1; }
    [[nodiscard]] int middle() const { return (x0 + x1) / 2; }
};

Ends ends_of(const Line& line) {
    const Point& from = line.points.front();
    const Point& to = line.points.back();
    return {column_at(from.x), Grid::row(from.y), column_at(to.x), Grid::row(to.y)};
}

/// From an operation on: the wires that turn between the same columns as it does.
std::vector<const Line*> turning_with(const Canvas& canvas, std::size_t first) {
    std::vector<const Line*> wires;
    std::optional<Ends> channel;
    for (std::size_t i = first; i < canvas.operations.size(); ++i) {
        const Line* line = std::get_if<Line>(&canvas.operations[i].shape);
        if (line == nullptr || line->part != Part::Wire) break;
        const Ends ends = ends_of(*line);
        if (!ends.turns()) continue;
        if (!channel) channel = ends;
        if (ends.x0 != channel->x0 || ends.x1 != channel->x1) break;
        wires.push_back(line);
    }
    return wires;
}

class Plotter {
public:
    explicit Plotter(const Canvas& canvas) : grid_(canvas.width, canvas.height) {}

    void plot(const Line& line) {
        switch (line.part) {
        case Part::Separator: return dashed(line);
        case Part::Cup: return cup(line);
        case Part::Rule: return rule(line);
        case Part::Wire:
        case Part::Glyph:
        case Part::Region:
        case Part::Tint:
        case Part::Arrow: return wire(line);
        case Part::ArrowHead: return;  // smaller than a cell
        }
    }
    void plot(const Polygon& polygon) {
        const Box2 box = bounds_of({polygon, {}});
        if (polygon.points.size() == 3) {
            grid_.clear(column_at(box.left), Grid::row((box.top + box.bottom) / 2),
                        column_at(box.right) - 1, Grid::row((box.top + box.bottom) / 2));
            return triangle(box, polygon.stroke.color);
        }
        if (polygon.part == Part::Tint) return;
        if (polygon.part == Part::Region) {
            if (box.bottom - box.top > 2 * kCellHeight) region(box);  // titles stay bare
            return;
        }
        const int left = column_at(box.left);
        const int right = column_at(box.right);
        const int top = Grid::row(box.top);
        const int bottom = std::max(Grid::row(box.bottom), top + 2);
        grid_.clear(left, top, right, bottom);
        const Color ink = polygon.stroke.color;
        grid_.horizontal(top, left, right, ink, true);
        grid_.horizontal(bottom, left, right, ink, true);
        grid_.vertical(left, top, bottom, ink, true);
        grid_.vertical(right, top, bottom, ink, true);
    }
    void plot(const Boxes&) {}  // a tint
    void plot(const Dot& dot) {
        grid_.sign(column_at(dot.center.x), Grid::row(dot.center.y), dot.fill ? "●" : "○", 3,
                   dot.stroke.color);
    }
    void plot(const Text& label) {
        const std::string text = to_unicode(label.text);
        int x = first_column(label);
        // A baseline a little over a wire belongs to the row above it.
        const int y = static_cast<int>(std::floor((label.at.y - 2) / kCellHeight));
        std::string_view rest = text;
        std::string sign;
        while (!rest.empty()) {
            const std::string_view before = rest;
            (void)next_code_point(rest);
            sign = std::string(before.substr(0, before.size() - rest.size()));
            std::string_view ahead = rest;
            if (!ahead.empty() && next_code_point(ahead) == U'\u0305') {
                sign += "\u0305";
                rest = ahead;
            }
            grid_.sign(x++, y, sign, 4, label.color);
        }
    }
    /// Wires that turn between the same columns.
    void plot_turning(const std::vector<const Line*>& wires) {
        std::vector<Turn> turns;
        std::vector<std::size_t> order;
        for (const Line* line : wires) {
            order.push_back(turns.size());
            turns.push_back({ends_of(*line).y0, ends_of(*line).y1});
        }
        const std::vector<TurnPlace> places = places_of(turns);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return places[a].left < places[b].left;
        });
        std::vector<int> columns(wires.size(), 0);
        for (const std::size_t i : order) {
            const Ends ends = ends_of(*wires[i]);
            int first = ends.x0 + 1 + places[i].left;
            for (const std::size_t before : places[i].after)
                first = std::max(first, columns[before] + 1);
            std::optional<int> column = free_column(ends, first, ends.x1 - 1 - places[i].right);
            if (!column) column = free_column(ends, ends.x0 + 1, ends.x1 - 1);
            columns[i] = column.value_or(ends.middle());
            plot_turning(*wires[i], columns[i]);
        }
    }
    [[nodiscard]] std::string text(bool color) const { return grid_.text(color); }

private:
    void wire(const Line& line) {
        const Ends ends = ends_of(line);
        if (!ends.turns()) return grid_.horizontal(ends.y0, ends.x0, ends.x1, line.stroke.color);
        plot_turning({&line});
    }
    void plot_turning(const Line& line, int turn) {
        const auto [x0, y0, x1, y1] = ends_of(line);
        grid_.horizontal(y0, x0, turn, line.stroke.color);
        grid_.vertical(turn, y0, y1, line.stroke.color);
        grid_.horizontal(y1, turn, x1, line.stroke.color);
    }
    /// The column nearest to the middle, of those from `first` to `last`, in which a wire touches
    /// none that goes up or down.
    std::optional<int> free_column(const Ends& ends, int first, int last) {
        const auto is_free = [&](int x) {
            for (int y = std::min(ends.y0, ends.y1); y <= std::max(ends.y0, ends.y1); ++y)
                if ((grid_.at(x, y).ways & (kUp | kDown)) != 0) return false;
            return true;
        };
        const int middle = ends.middle();
        for (int off = 0; off <= ends.x1 - ends.x0; ++off)
            for (const int x : {middle - off, middle + off})
                if (x >= first && x <= last && is_free(x)) return x;
        return std::nullopt;
    }
    void cup(const Line& line) {
        const Box2 box = bounds_of({line, {}});
        const int left = column_at(box.left);
        const int right = std::max(column_at(box.right), left + 1);
        const int top = Grid::row(box.top);
        const int bottom = Grid::row(box.bottom);
        grid_.horizontal(top, left, right, line.stroke.color);
        grid_.vertical(right, top, bottom, line.stroke.color);
        grid_.horizontal(bottom, left, right, line.stroke.color);
    }
    void rule(const Line& line) {
        const int y = Grid::row(line.points[0].y);
        const int end = column_at(line.points[1].x);
        if (line.points[0].x == line.points[1].x)
            return grid_.vertical(end, y, Grid::row(line.points[1].y), line.stroke.color);
        for (int x = column_at(line.points[0].x); x <= end; ++x)
            grid_.sign(x, y, "━", 1, line.stroke.color);
    }
    void dashed(const Line& line) {
        for (std::size_t i = 0; i + 1 < line.points.size(); ++i) {
            const Point& from = line.points[i];
            const Point& to = line.points[i + 1];
            const int x0 = column_at(from.x);
            const int x1 = column_at(to.x);
            for (int x = x0; x <= x1; ++x) {
                const double along = x1 > x0 ? static_cast<double>(x - x0) / (x1 - x0) : 0;
                const double y = from.y + (to.y - from.y) * along;
                if (grid_.at(x, Grid::row(y)).ways == 0)
                    grid_.sign(x, Grid::row(y), "╌", 0, kBlack);
            }
        }
    }
    void region(const Box2& box) {
        const int left = column_at(box.left);
        const int right = column_at(box.right);
        const int top = static_cast<int>(std::floor(box.top / kCellHeight));
        const int bottom = static_cast<int>(std::ceil(box.bottom / kCellHeight));
        for (int x = left; x <= right; ++x) {
            grid_.sign(x, top, "┄", 0, kBlack);
            grid_.sign(x, bottom, "┄", 0, kBlack);
        }
        for (int y = top + 1; y < bottom; ++y) {
            grid_.sign(left, y, "┆", 0, kBlack);
            grid_.sign(right, y, "┆", 0, kBlack);
        }
    }
    void triangle(const Box2& box, Color ink) {
        const int y = Grid::row((box.top + box.bottom) / 2);
        const int x = (column_at(box.left) + column_at(box.right)) / 2;
        grid_.horizontal(y, column_at(box.left) - 1, column_at(box.right) + 1, ink);
        grid_.sign(x, y, "◁", 3, ink);
    }

    Grid grid_;
};

}  // namespace

int column_at(double x) {
    return static_cast<int>(std::lround(x / kTerminalCell));
}

int first_column(const Text& text) {
    const int width = static_cast<int>(columns_in(to_unicode(text.text)));
    switch (text.anchor) {
    case Anchor::Left: return column_at(text.at.x);
    case Anchor::Middle: return column_at(text.at.x) - width / 2;
    case Anchor::Right: return column_at(text.at.x) - width;
    }
    return 0;
}

namespace {

/// Moved to the right where a text, which is wider in cells than in points, would begin outside.
Canvas with_room(const Canvas& canvas) {
    int first = 0;
    for (const Operation& operation : canvas.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape))
            first = std::min(first, first_column(*text));
    if (first == 0) return canvas;
    Canvas moved;
    add(moved, canvas, -first * kTerminalCell, 0);
    moved.width = canvas.width - first * kTerminalCell;
    moved.height = canvas.height;
    return moved;
}

}  // namespace

std::string render_text(const Canvas& picture, bool color) {
    const Canvas canvas = with_room(picture);
    Plotter plotter(canvas);
    std::set<const Line*> turned;
    for (std::size_t i = 0; i < canvas.operations.size(); ++i) {
        const Shape& shape = canvas.operations[i].shape;
        const Line* line = std::get_if<Line>(&shape);
        if (line == nullptr || line->part != Part::Wire || !ends_of(*line).turns()) {
            std::visit([&](const auto& known) { plotter.plot(known); }, shape);
        } else if (!turned.contains(line)) {
            const std::vector<const Line*> wires = turning_with(canvas, i);
            plotter.plot_turning(wires);
            turned.insert(wires.begin(), wires.end());
        }
    }
    return plotter.text(color);
}

}  // namespace napkin::drawing
