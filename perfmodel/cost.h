// What a tile program costs: transfers H, memory M, allocation A, arithmetic.
//
// H of a level counts the values that cross the edge to it from the next outer level and back:
// loads into its variables, saves out of them. It follows from the program's structure alone
// (perfmodel/tile_count.h), and equals what the interpreter counts, to the value.
//
// A of a level is the most that one of its processors holds at once: at each statement the
// capacities of the variables held *during* it (derive/liveness.h), so the inputs and outputs of a
// box both count. It equals the interpreter's peak.
//
// M is the paper's memory: the most held *between* statements, when what a box was the last to use
// is gone. Its ideal form keeps leading terms as the paper does: in the largest column, a term that
// divides another is dropped (row statistics beside tiles), and so are terms of tile sizes alone
// where others carry a whole axis (the chunk of scores `g_q s_x` beside `g_q d`).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/symbol_names.h"
#include "perfmodel/tile_count.h"
#include "perfmodel/work.h"

namespace napkin {

/// One quantity: in numbers, as an exact formula and in the paper's form.
struct Amount {
    std::int64_t values = 0;
    std::int64_t bits = 0;
    std::map<ElementType, std::int64_t> by_type;  ///< values of each type
    Formula formula;                              ///< evaluates to `values`
    Formula bit_formula;                          ///< evaluates to `bits`
    /// Where sizes divide; masks count as full. Groups of 1 of woven axes are left out.
    std::optional<Polynomial> ideal;
    std::optional<Polynomial> ideal_bits;  ///< likewise, each value in its own width
    bool leads = false;                    ///< the ideal forms lack lesser terms
    [[nodiscard]] std::int64_t bytes() const { return (bits + 7) / 8; }
};

/// Adds values of a type, but to the ideal form; false where a number no longer fits in 64 bits.
[[nodiscard]] bool add_values(std::int64_t values, const Formula& formula, ElementType type,
                              Amount& total);

/// One load or save of the program, summed over all its instances.
struct Transfer {
    bool is_save = false;
    ArrayId array;
    std::string name;
    Level level = Level::Block;  ///< the inner end
    ElementType type = ElementType::F32;
    Amount amount;
    /// Groups and chunks that repeat it because its array lacks their axis.
    std::vector<Partition> repeats;
    bool has_halo = false;   ///< tiles overlap: an affine index reaches beyond its own tile
    bool is_gather = false;  ///< element by element, at an index from data
    bool is_masked = false;  ///< inside a loop whose chunks a mask may skip
    /// Bytes that memory gives for each, where tiles have pieces of rows shorter than its sectors.
    double sectors = 1;
    /// Share by which device memory takes longer, where those pieces are short (apart_share).
    double apart = 0;
};

struct LevelCost {
    Amount transferred;  ///< H
    Amount memory;       ///< M
    Amount allocated;    ///< A
};

/// A column of the resource table: the loads before a region's boxes, the boxes, the saves.
struct CostColumn {
    enum class Kind { Load, Compute, Save };
    Kind kind = Kind::Load;
    std::string title;
    std::vector<ArrayId> arrays;
    Amount transferred;  ///< H at block level; nothing for Compute
    Amount memory;       ///< M at block level around it
};

/// A group or stream size in use.
struct SizeInUse {
    std::string axis;
    Symbol symbol;
    Level level = Level::Block;
    std::int64_t size = 1;
    std::int64_t count = 1;  ///< tiles of the axis, within the next outer one of the same axis
};

/// Arithmetic of one kind of unit.
struct ArithmeticCost {
    std::int64_t operations = 0;
    std::int64_t exponentials = 0;
    std::map<ElementType, std::int64_t> products;  ///< of `operations`: contractions, by operands
    /// Of `operations`: what contractions compute of their operands. Kernels do that as they fetch
    /// these, not for every product.
    std::int64_t operands = 0;
    /// What units do for results whatever the kernel.
    [[nodiscard]] std::int64_t useful() const { return operations - operands; }
};

/// The counts of a region that are no amounts, as exact formulas.
struct CountFormulas {
    Formula operations;
    Formula exponentials;
    std::map<ElementType, Formula> products;
    Formula operands;
    Formula blocks{1};
    Formula compulsory_bits;
    /// Symbols of counts that are no closed forms: at other values of these the formulas, those of
    /// amounts too, need not hold.
    std::set<Symbol> open;
};

struct RegionCost {
    std::string name;
    SymbolValues sizes;         ///< values of every symbol in the formulas, bits of types too
    SymbolNames names;          ///< of symbols in printed formulas
    std::vector<Symbol> order;  ///< likewise
    std::vector<SizeInUse> groups;
    std::vector<SizeInUse> streams;
    std::vector<Transfer> transfers;  ///< in program order
    std::vector<CostColumn> columns;
    std::map<Level, LevelCost> levels;
    ArithmeticCost arithmetic;
    std::int64_t blocks = 1;           ///< processors of the block level in use
    std::int64_t chunks_visited = 0;   ///< of block-level loops with a mask, over all blocks
    std::int64_t chunks = 0;           ///< visited or not
    std::int64_t compulsory_bits = 0;  ///< every array that it touches, once
    bool data_decides = false;         ///< kernels may visit fewer chunks, as integers say
    std::optional<KernelWork> work;    ///< where the kernel is known
    /// Why there is no kernel as it was asked for.
    std::optional<schedule::Refusal> refused;
    CountFormulas formulas;  ///< empty of costs in numbers alone
};

struct Cost {
    std::vector<RegionCost> regions;
    /// Sum of H over regions; a group or stream size that differs between regions is replaced by
    /// its number.
    std::map<Level, Amount> transferred;
    std::int64_t operations = 0;
    std::int64_t exponentials = 0;
};

/// The model's numbers; a diagnostic where a count does not fit in 64 bits.
[[nodiscard]] Result<Cost> cost_of(const TileProgram& program);
[[nodiscard]] Result<RegionCost> cost_of(const RegionProgram& region);
/// The costs of all regions of the program with this name as one.
[[nodiscard]] Result<Cost> cost_of(const std::string& program, std::vector<RegionCost> regions);
/// Transfers and arithmetic in numbers, and the bits of A at block level, for search: no formulas,
/// no M, no columns.
[[nodiscard]] Result<RegionCost> quick_cost_of(const RegionProgram& region);

/// Leading terms as the paper keeps them (see above).
[[nodiscard]] Polynomial leading_terms(const Polynomial& polynomial);

}  // namespace napkin
