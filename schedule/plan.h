// How a region's tiles are spread over warps, registers and shared memory on targets with tensor
// cores, decided before anything is printed.
//
// Every array of a region has at most two *wide* axes, those of which a block holds more than one
// index; several axes on one side of a product are one, a tile axis (schedule/tile_axes.h). One
// axis of the region is its *row* axis: the one along which every product's left operand and result
// run. Warps own rows, and parts of the columns too where nothing needs a whole row, or where what
// does is put together (schedule/share_columns.h). What an array's wide axes are decides where its
// tile lives:
//
//   {}            a register of every thread
//   {row}         registers of the threads that hold the row, the same in each
//   {row, other}  a fragment: the layout of mma's results, or vectors of a row where no product is
//   {other}       shared memory, computed by the block together or brought by bulk copies
//   {two others}  a swizzled matrix in shared memory, computed by the block together; so is what
//                 only products read and no thread's registers are needed for, whatever its axes
//
// Loaded arrays that a product reads are matrices in shared memory, filled by asynchronous copies;
// others are read from device memory where they are used.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/rounding.h"
#include "schedule/limits.h"
#include "schedule/region_schedule.h"
#include "schedule/statements.h"
#include "schedule/tile_axes.h"
#include "schedule/tile_order.h"

namespace napkin::schedule {

/// Extents of tiles in shared memory and of fragments are padded to multiples of it.
inline constexpr std::int64_t kTile = 16;
/// Of what warp groups multiply in 8 bits, along the depth.
inline constexpr std::int64_t kNarrowTile = 32;
/// So many of these products the tensor core sums by itself (prelude/panels.cuh).
inline constexpr std::int64_t kNarrowDepth = 128;
/// Of a row of the part of a result that a warp stages at once, where blocks take several tiles.
inline constexpr std::int64_t kSliceBytes = 128;

/// Where a variable's tile lives.
enum class Home {
    Thread,    // one value, computed by every thread
    Row,       // a value a row
    Fragment,  // rows x columns in registers
    Shared,    // a vector in shared memory
    Matrix,    // rows x columns in shared memory
    Device,    // not copied
};

struct Tile {
    Home home = Home::Thread;
    ElementType type = ElementType::F32;  ///< of its elements there
    /// Of a fragment: its column axis; of a shared vector: its axis.
    std::optional<AxisId> column;
    /// Of a matrix: its rows and columns, which are dimensions of the array.
    std::size_t row_dimension = 0;
    std::size_t column_dimension = 0;
    std::int64_t rows = 1;     ///< of a matrix, padded
    std::int64_t columns = 1;  ///< of a matrix, padded
    bool streamed = false;     ///< copied, and filled again by a loop for every chunk
    bool turned = false;       ///< of a matrix: threads hold vectors of its columns
    /// Whether a view that reaches past the end of its array is zero there, not its last element.
    bool zero_past_end = false;
    /// Of a gathered matrix: where its elements are read; elsewhere it is zero.
    std::optional<Expression> guard;
    bool operator==(const Tile&) const = default;
};

/// A matrix in shared memory that the block computes: the axes along which it runs.
struct Panel {
    AxisId rows;
    AxisId columns;
    bool operator==(const Panel&) const = default;
};

/// One side of a product.
struct Operand {
    Expression value;
    /// The array, where the value is one of its elements and the tensor core can take it from
    /// there.
    std::optional<VariableId> direct;
    /// Where the block publishes the value otherwise; of a left operand that has neither, every
    /// warp computes its own rows in registers.
    std::optional<Panel> panel;
    /// Of a panel: whether threads publish what they hold of `direct`.
    bool from_registers = false;
    bool operator==(const Operand&) const = default;
};

/// target = seed + scale * outside * sum(depth) left * right.
struct Product {
    Operand left;
    Operand right;
    double scale = 1;
    std::vector<Expression> outside;
    AxisId column;
    AxisId depth;
    ElementType type = ElementType::BF16;  ///< of both operands; in 8 bits of the left one
    /// Why operands of 8 bits are widened, where warp groups carry it out.
    std::string widened;
    bool operator==(const Product&) const = default;
};
/// Whether operands are multiplied as numbers of 8 bits.
[[nodiscard]] bool is_narrow(const Product& product);

/// A fold along axes that no tile in registers runs along: every thread goes along them in a loop.
struct Serial {
    std::vector<AxisId> axes;
    std::optional<AxisId> over;  ///< an axis of fragments along which it folds too
    /// What is folded, in terms of what can be read at any index of `axes`.
    Expression value;
    std::vector<VariableId> reads;
    bool operator==(const Serial&) const = default;
};

/// A maximum that chunks are not taken into while what is relative to it keeps in range
/// (schedule/stale_gauges.h), by the leaves of its loop.
struct StaleGauge {
    std::string name;
    VariableId state;
    VariableId next;
    LeafId take;                   ///< the chunk's maximum is taken in
    std::vector<LeafId> members;   ///< what follows it right away, in order: the four below
    std::vector<LeafId> beside;    ///< what has nothing to do with it
    std::vector<LeafId> repairs;   ///< factors of what is relative to it
    std::vector<LeafId> weights;   ///< exponentials relative to it
    std::vector<LeafId> sums;      ///< folds along rows into states relative to it
    std::vector<LeafId> products;  ///< those into states of fragments
    std::optional<LeafId> keep;    ///< the maximum becomes the new one
    bool bounded = false;          ///< whether a sum bounds what is relative to it
    double most = 0;               ///< that a lane's sums may come to
    double headroom = 0;           ///< by which a maximum that is taken in stands above the chunk's
    bool operator==(const StaleGauge&) const = default;
};

struct Plan {
    std::vector<TileAxis> tile_axes;
    std::optional<AxisId> row;
    std::map<AxisId, std::int64_t> extents;  ///< of wide axes: the most a block holds
    std::map<VariableId, Tile> tiles;
    std::map<LeafId, Product> products;
    std::map<LeafId, Serial> serial;
    /// Folds that lanes combine behind their loop, not in it (schedule/lane_folds.h):
    /// the loop, counted in the order of the text.
    std::map<LeafId, std::uint32_t> lane_folds;
    std::vector<StaleGauge> stale;
    std::int64_t warps_down = 4;    ///< warps along the rows
    std::int64_t warps_across = 1;  ///< warps along the columns of results
    std::set<AxisId> split;         ///< the column axes that warps_across share
    bool repeated = false;          ///< whether each of them computes what lies along others
    /// Folds along those axes, which are put together from what each warp has
    /// (schedule/share_columns.h).
    std::set<LeafId> shared_folds;
    std::int64_t rows_of_warp = 16;
    std::int64_t lanes_per_row = 4;  ///< threads of a row where no product is; warps where > 32
    std::int64_t vector = 8;         ///< neighbouring columns of a thread there
    /// Arrays of 16-bit numbers whose rows threads hold as they were loaded, two in a register;
    /// results are rounded as they are computed. 0 where rows are held as f32.
    std::int64_t rows_in_pairs = 0;
    /// Bytes of an element of all arrays whose rows lie in shared memory as they were loaded, where
    /// each thread has its own; results are saved as they are computed. 0 where there are none.
    std::int64_t bytes_in_shared = 0;
    /// The columns of rows that begin at no multiple of a vector. Vectors do: column 0 is one of
    /// the first vector's elements, the same one in all arrays, and what stands before it is no
    /// column.
    std::optional<AxisId> skewed;
    std::int64_t registers_of_rows = 0;  ///< of a thread, where no product is
    std::set<ArrayId> stageable;         ///< arrays that can be saved through shared memory
    std::set<ArrayId> staged;            ///< those that are
    std::set<ArrayId> infinite;          ///< arrays that masks may make infinite
    bool across_warps = false;           ///< whether folds combine what several warps hold
    bool selects = false;                ///< whether one of them is a selection
    std::set<AxisId> scanned;            ///< axes of rows along which every prefix is kept
    TileOrder order;
    bool persistent = false;    ///< whether a block takes one tile after another
    std::int64_t resident = 1;  ///< blocks that share the registers of a multiprocessor
    [[nodiscard]] int threads() const { return static_cast<int>(32 * warps_down * warps_across); }
    [[nodiscard]] bool has_products() const { return !products.empty(); }
    /// Threads that hold the same columns where there are no rows: of what is folded serially each
    /// takes its part. 1 where there are rows.
    [[nodiscard]] std::int64_t sharers() const {
        return row || has_products() ? 1 : threads() / lanes_per_row;
    }
    /// Where no product is.
    [[nodiscard]] std::int64_t rows_of_thread() const {
        return lanes_per_row > 32 ? rows_of_warp : rows_of_warp * lanes_per_row / 32;
    }
};

/// Columns along an axis that threads have room for at least, where no product is.
[[nodiscard]] std::int64_t room_along(const Plan& plan, AxisId axis);

/// How the columns along an axis are shared by warps and their threads.
struct ColumnShare {
    std::int64_t padded = 0;     ///< of the block's tile
    std::int64_t of_warp = 0;    ///< of one warp
    std::int64_t of_thread = 0;  ///< that one thread holds
    bool split = false;          ///< whether several warps share them
};
[[nodiscard]] ColumnShare columns_of(const Plan& plan, AxisId axis);
/// Whether the tensor core takes an operand from shared memory.
[[nodiscard]] bool in_matrix(const Plan& plan, const Operand& side);
/// What a product goes along: the block's part of its depth, padded.
[[nodiscard]] std::int64_t padded_depth(const Plan& plan, const Product& product);
/// Of a product in 8 bits: the sums that are added up in f32.
[[nodiscard]] std::int64_t narrow_parts(const Plan& plan, const Product& product);
/// Indices along an axis of a panel: those of the block, padded; along the rows, of all warps.
[[nodiscard]] std::int64_t panel_extent(const Plan& plan, AxisId axis);
/// Floats through which a block's warps combine what they have folded: a value of every warp, of a
/// selection with its index, of a scan one of every vector, or the columns of every warp that
/// shares them.
[[nodiscard]] std::int64_t scratch_values(const Plan& plan);
/// Elements of a vector in shared memory along an axis, 0 beyond the block's: as many as panels
/// and fragments beside it read, and such that whole warps share the folds that make them.
[[nodiscard]] std::int64_t vector_extent(const Plan& plan, AxisId axis);
/// Rows of which a thread holds elements.
[[nodiscard]] std::int64_t rows_of_thread(const Plan& plan);

/// The plan as it is wanted, or the reason why the region does not fit the tensor core's way of
/// working.
[[nodiscard]] std::variant<Plan, Refusal> make_plan(const TiledRegion& region, const Limits& limits,
                                                    const RegionSchedule& wanted = {});

/// Arrays whose elements a mask may make infinite, if the inputs are finite and nothing overflows.
[[nodiscard]] std::set<ArrayId> infinite_arrays(const RegionProgram& region);

}  // namespace napkin::schedule
