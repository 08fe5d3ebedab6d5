// Masks tile by tile: for pictures, block lists and compressed rows.
#pragma once

#include <memory>

#include "perfmodel/mask_report.h"
#include "perfmodel/progressions.h"

namespace napkin {

/// Tiles of queries by tiles of keys; of several axes the last is the fastest.
struct TileGrid {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<index::TileState> states;
    [[nodiscard]] index::TileState at(std::int64_t row, std::int64_t column) const {
        return states[static_cast<std::size_t>(row * columns + column)];
    }
    bool operator==(const TileGrid&) const = default;
};
/// More cells are refused.
inline constexpr std::int64_t kLargestGrid = std::int64_t{1} << 27;

/// The tiles of one head where the conditions over indices hold; nullopt where they cannot be told
/// or are too many.
[[nodiscard]] std::optional<TileGrid> tile_grid(const Diagram& diagram, const MaskReport& report,
                                                const std::vector<index::Tiling>& tilings,
                                                std::size_t head);
/// The report's tilings with tiles of a single index.
[[nodiscard]] std::vector<index::Tiling> single_indices(const MaskReport& report);

/// The rows of the single pairs of a head, one after the other, at sizes where all of them together
/// are too many for a grid too.
class MaskRows {
public:
    MaskRows(const Diagram& diagram, const MaskReport& report, std::size_t head);
    MaskRows(MaskRows&&) noexcept;
    ~MaskRows();
    [[nodiscard]] std::int64_t count() const;
    [[nodiscard]] std::int64_t columns() const;
    /// The visible columns, which rise; nullopt where they cannot be told or are too many.
    [[nodiscard]] std::optional<std::vector<ColumnRun>> visible(std::int64_t row);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace napkin
