// The pairs that a mask shows, looked at one by one: where it reads arrays whose values are given,
// and where its conditions have no closed form.
#pragma once

#include <cstdint>
#include <vector>

#include "diagrams/evaluate.h"
#include "diagrams/index/box_count.h"
#include "diagrams/result.h"

namespace napkin {

struct MaskReport;
struct TileCounts;
struct TileGrid;

/// A bit for every pair of a query and a key, of every head; of several axes the last is fastest.
class MaskPairs {
public:
    /// More pairs, of all heads together, are refused.
    static constexpr std::int64_t kMost = std::int64_t{1} << 28;

    /// Of a report's conditions, and if `by_data` those that read arrays, each evaluated at every
    /// pair; a diagnostic where an array is missing, an index leaves its axis, or pairs are too
    /// many.
    static Result<MaskPairs> evaluate(const Diagram& diagram, const MaskReport& report,
                                      const Tensors& given);

    [[nodiscard]] bool visible(std::size_t head, std::int64_t row, std::int64_t column) const {
        return heads_[head][static_cast<std::size_t>(row * columns_ + column)];
    }
    [[nodiscard]] std::size_t heads() const { return heads_.size(); }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t columns() const { return columns_; }

    /// A head's tiles: of queries, then of keys.
    [[nodiscard]] TileGrid grid(const Diagram& diagram, const MaskReport& report,
                                const std::vector<index::Tiling>& tilings, std::size_t head) const;
    [[nodiscard]] TileCounts count(const Diagram& diagram, const MaskReport& report,
                                   std::size_t head) const;

private:
    std::int64_t rows_ = 1;
    std::int64_t columns_ = 1;
    std::vector<std::vector<bool>> heads_;
};

}  // namespace napkin
