// Sums over all tiles of a tile program: how many values a load moves, how many elements a
// statement computes.
//
// A statement inside parallel groups and loops runs once an instance, a choice of group and chunk
// for every block around it. What it moves in an instance is a product of footprint widths, one a
// dimension. Axes that meet in no dimension and in no mask vary independently, so the sum over
// instances is a product over *components* of axes:
//
//   * an axis that no dimension uses multiplies by its number of tiles, ceil(q/g_q);
//   * a dimension indexed by affine forms that stay inside the array sums to a closed form, since
//     the widths of an axis' tiles add up to its size: ragged last tiles need no case of their own;
//   * a loop whose chunks a mask skips sums over the other axes' tiles, with the visited chunks of
//     its own axis in closed form where the mask bounds them from above and below;
//   * indices that are clamped are summed over boxes of tiles within which they are affine
//     (tile_boxes.cpp);
//   * anything else is counted by enumerating the component's tiles with the same interval
//     reasoning (diagrams/index/mask.h) that decides which chunks a kernel visits.
//
// Formulas that are no closed forms are compared with that enumeration before they are given out.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "derive/tile_program.h"

namespace napkin {

/// One parallel or loop block around a statement, from the outermost in.
struct Partition {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    bool is_loop = false;
    std::vector<Expression> visible;
    /// Of its size, `g_q`.
    [[nodiscard]] Symbol symbol() const {
        return is_loop ? stream_size(axis, level) : group_size(axis, level);
    }
    /// Of the tile's number in formulas, `i_q`.
    [[nodiscard]] Symbol index() const {
        return {is_loop ? SymbolKind::ChunkIndex : SymbolKind::GroupIndex, level, axis};
    }
    bool operator==(const Partition&) const = default;
};

/// One dimension of what is moved or computed: the hull of index expressions, clipped to
/// [0, limit) where there is a limit.
struct Footprint {
    std::vector<Expression> index;
    std::optional<std::int64_t> limit;
    Formula limit_formula;  ///< of the limit
    bool operator==(const Footprint&) const = default;
};
/// The footprint of a plain axis.
[[nodiscard]] Footprint footprint_of(AxisId axis);

/// A sum over instances; nullopt where it does not fit in 64 bits.
struct TileCount {
    std::int64_t values = 0;
    Formula formula;                  ///< evaluates to `values`
    std::optional<Polynomial> ideal;  ///< where sizes divide; masks are taken as full
    std::set<Symbol> open;            ///< at other values of these the formula need not hold
};

/// Counts for one program, whose statements share most of their components.
class TileCounter {
public:
    /// `quick` gives numbers alone, without formulas, which it does not compare with enumeration;
    /// of many thousand boxes of tiles within which indices are not affine it takes the last for
    /// so.
    TileCounter(const std::vector<Axis>& axes, SymbolValues sizes, bool quick = false);
    ~TileCounter();
    TileCounter(const TileCounter&) = delete;
    TileCounter& operator=(const TileCounter&) = delete;

    [[nodiscard]] std::optional<TileCount> count(const std::vector<Partition>& path,
                                                 const std::vector<Footprint>& dimensions);

private:
    struct Known;
    const std::vector<Axis>& axes_;
    SymbolValues sizes_;
    bool quick_;
    std::unique_ptr<class KnownMasks> masks_;
    std::vector<std::unique_ptr<Known>> known_;
};

/// A factor of a count: what axes that meet in a dimension or a mask contribute to it. The sizes of
/// its partitions may be changed.
struct CountFactor {
    std::vector<Partition> path;
    std::vector<Footprint> dimensions;
    /// With the number of partitions in force; also of loops of other factors.
    std::vector<std::pair<Expression, std::size_t>> masks;
    bool operator==(const CountFactor&) const = default;
};
/// The factors whose product a count is.
[[nodiscard]] std::vector<CountFactor> factors_of(const std::vector<Partition>& path,
                                                  const std::vector<Footprint>& dimensions);
/// Its value at the sizes that its partitions have; nullopt where it does not fit in 64 bits. Masks
/// without a closed form are not asked of too many tiles: all of these are counted. Nor is it exact
/// where a quick count is not.
[[nodiscard]] std::optional<std::int64_t> value_of(const std::vector<Axis>& axes,
                                                   const CountFactor& factor,
                                                   class KnownMasks& masks);

/// The number of tiles that partitions make, as masks leave them; nullopt where these have no
/// affine form. Whoever shows it compares its value first.
[[nodiscard]] std::optional<Formula> tiles_formula(const std::vector<Axis>& axes,
                                                   const std::vector<Partition>& path);

/// Extents of axes and sizes of groups and streams.
[[nodiscard]] SymbolValues sizes_of(const RegionProgram& region);
/// The partition that a Parallel or a Loop makes.
[[nodiscard]] Partition partition_of(const Parallel& parallel);
[[nodiscard]] Partition partition_of(const Loop& loop);

}  // namespace napkin
