// What the elements that a scheduled region computes cost: how many there are, and the instructions
// of each.
#pragma once

#include <set>
#include <vector>

#include "perfmodel/work.h"
#include "schedule/plan.h"

namespace napkin {

constexpr double kLanes = 32;  ///< of a warp, whose reads of an element each take a turn together
constexpr double kCopiesTogether = 4;  ///< copies of a thread that are on their way at once
constexpr double kPublish = 1;         ///< instructions that round and store an element

class ElementWork {
public:
    ElementWork(const RegionProgram& region, const schedule::Plan& plan)
        : region_(region), plan_(plan) {}

    /// Elements of a variable that are read in pairs for a product stand in registers for others.
    void read_in_pairs(VariableId variable) { in_pairs_.insert(variable); }
    /// Forgets what was read: of an operation, every element is read once. Operands of products are
    /// read in vectors.
    void start(bool is_product);
    /// Of one element of what an expression computes. Masks of indices are tested in the chunks
    /// that they cut alone, and are not counted.
    [[nodiscard]] UnitWork instructions_of(const Compute& compute, const Expression& expression,
                                           bool is_compared = false);
    /// What testing its masks of indices costs an element: two comparisons for every axis along the
    /// row, whose ends are computed before, and what takes the place of what is hidden.
    [[nodiscard]] double mask_of(const Compute& compute) const;
    /// Elements that all warps compute or fold.
    [[nodiscard]] double places_of(const Compute& compute) const;
    /// Elements of an array that a block holds.
    [[nodiscard]] double elements(ArrayId array) const;
    /// Indices along an axis that a block holds.
    [[nodiscard]] double extent(AxisId axis) const;
    /// Indices along an array's axis that a block reaches by an expression.
    [[nodiscard]] double reached(const Expression& index, AxisId axis) const;
    /// How many of them lie side by side: one where data decides, or where each step is longer.
    [[nodiscard]] double neighbours(const Expression& index, AxisId axis) const;
    /// Elements that a block reads of an array by these indices.
    [[nodiscard]] double elements(const Read& read) const;

private:
    [[nodiscard]] std::vector<AxisId> axes_of(const Compute& compute) const;
    [[nodiscard]] bool varies_in_row(const Compute& compute, const Expression& expression) const;
    [[nodiscard]] double turned_bytes() const;
    [[nodiscard]] bool varies_down(const Expression& read) const;
    [[nodiscard]] UnitWork reading(const Compute& compute, ArrayId array, const Expression& read,
                                   bool is_compared) const;

    const RegionProgram& region_;
    const schedule::Plan& plan_;
    std::set<VariableId> in_pairs_;
    bool is_product_ = false;
    std::vector<Read> read_;
};

}  // namespace napkin
