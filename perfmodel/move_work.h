// What copies between device memory and a block's tiles cost, and saves.
#pragma once

#include "perfmodel/element_work.h"
#include "perfmodel/scattered_reads.h"
#include "perfmodel/work.h"
#include "schedule/program.h"

namespace napkin {

/// Of a region's scheduled program; all work is that of a block.
class MoveWork {
public:
    MoveWork(const RegionProgram& region, const schedule::Plan& plan,
             const schedule::Program& program, const ElementWork& elements,
             const ScatteredReads& scattered)
        : region_(region),
          plan_(plan),
          program_(program),
          elements_(elements),
          scattered_(scattered) {}

    /// Copies and saves: 16 bytes an instruction, and what computes its addresses; a box comes by
    /// itself.
    [[nodiscard]] UnitWork of(const schedule::Op& op, const TileStatement& leaf) const;

private:
    /// Whether a store is of what the lanes hold, not of what they have put together in vectors.
    [[nodiscard]] bool is_saved_one_by_one(const schedule::Op& op, VariableId variable) const;
    static void add_elements_saved(double elements, UnitWork& work);
    /// Instructions that move so many bytes of an array, in rows of registers as many at once as a
    /// thread has side by side.
    [[nodiscard]] double moves(VariableId variable, double bits, double bytes) const;
    /// Lines of a cache that rows are moved through, beyond those that neighbours fill.
    [[nodiscard]] double lines_beyond(const TileStatement& leaf, double bits, double bytes) const;
    [[nodiscard]] double side_by_side(const TileStatement& leaf, std::size_t dimension,
                                      AxisId axis) const;
    /// Whether a load is gathered along tile axes whose parts are told apart by bits.
    [[nodiscard]] bool in_powers_of_two(const Load& load) const;
    /// By threads, which are an agent of their own or those that compute.
    void add_own_copy(const Load& load, double bytes, bool apart, UnitWork& work) const;
    /// Bytes that memory gives for each of them.
    [[nodiscard]] double sectors(const TileStatement& leaf, double bits) const;

    const RegionProgram& region_;
    const schedule::Plan& plan_;
    const schedule::Program& program_;
    const ElementWork& elements_;
    const ScatteredReads& scattered_;
};

}  // namespace napkin
