// What threads read from device memory one element at a time, where no copy brings it: how long
// they wait for it, and how many lines of the cache it lies in.
#pragma once

#include <optional>
#include <set>

#include "derive/tile_program.h"
#include "perfmodel/element_work.h"
#include "perfmodel/work.h"
#include "schedule/plan.h"

namespace napkin {

/// Of a region's plan; all work is that of a block.
class ScatteredReads {
public:
    ScatteredReads(const RegionProgram& region, const schedule::Plan& plan,
                   const ElementWork& elements)
        : region_(region), plan_(plan), elements_(elements) {}

    /// Whether threads load their elements one by one: columns that are no neighbours in memory.
    [[nodiscard]] bool comes_one_by_one(const Load& load) const;
    /// Of such a load, but for the bytes.
    [[nodiscard]] UnitWork loaded(const Load& load) const;
    /// Lines that a save's elements are in, of each of a warp's: of columns that are no neighbours.
    [[nodiscard]] double lines_saved(const Save& save) const;
    /// Of a statement where no product is: each thread reads along all that it folds by itself,
    /// whatever lanes have nothing of their own. Neighbouring columns of a thread come together.
    [[nodiscard]] UnitWork read_by(const Compute& compute, schedule::LeafId leaf) const;
    /// Of so many elements of a product's operand, where their neighbours in memory are not read.
    [[nodiscard]] UnitWork of_operand(const Compute& compute, const Expression& operand,
                                      double count) const;

private:
    /// So many elements of every thread, of which a warp's lie in so many lines.
    [[nodiscard]] UnitWork reads(double of_thread, double apart, double lines,
                                 double together) const;
    [[nodiscard]] double of_thread(const Compute& compute, const schedule::Serial* serial,
                                   const std::set<AxisId>& along) const;
    /// Whether threads read neighbours along the columns at once.
    [[nodiscard]] bool in_vectors(const Read& read, AxisId column) const;
    [[nodiscard]] std::vector<bool> run_time_sizes() const;
    [[nodiscard]] double sectors_of(const Read& read, double bits) const;
    [[nodiscard]] double lines_of(const Read& read, std::optional<AxisId> along,
                                  std::optional<AxisId> shared = std::nullopt) const;
    [[nodiscard]] std::optional<AxisId> shared_axis(const schedule::Serial* serial) const;
    [[nodiscard]] double columns(AxisId axis) const;
    [[nodiscard]] double warps() const;

    const RegionProgram& region_;
    const schedule::Plan& plan_;
    const ElementWork& elements_;
};

}  // namespace napkin
