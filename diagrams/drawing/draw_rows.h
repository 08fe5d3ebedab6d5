// A picture in rows, as music is set in staves.
#pragma once

#include <optional>
#include <utility>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

inline constexpr double kRowGap = 26;
inline constexpr double kNoteSize = 12;
inline constexpr double kLineHeight = 19;
inline constexpr double kMarkSize = 11;
inline constexpr double kTerminalStep = 10;

struct Rows {
    Canvas picture;
    std::size_t count = 0;
    bool clear = true;  ///< no wire plunges through many others
};

/// The diagram, or one kernel of it, in the fewest rows that fit. Totals stand beside the table, or
/// above where they would take a row more or too much width.
[[nodiscard]] Rows draw_rows(const Contents& contents, DrawOptions options,
                             std::optional<std::size_t> kernel, std::size_t most_rows);
/// The sums of the table's rows, each on a line of its own.
[[nodiscard]] Canvas draw_totals(const DrawOptions& options);
/// Terminals have whole rows: the next lower one.
[[nodiscard]] double on_grid(double y, const DrawOptions& options);
[[nodiscard]] double width_of(const Canvas& canvas);
/// The first column that texts and lines take, and the one after the last: a line takes all of the
/// one that it ends in.
[[nodiscard]] std::pair<int, int> columns_taken(const Canvas& canvas);

}  // namespace napkin::drawing
