// Contractions: which sums are products of matrices, and of what. Everything that asks, asks here:
// rules, costs, the bound, and every target.
//
//   Y[b, i, j] = sum(k) exp(A[b, i, k]) * w[k] * B[b, j, k] * s[i]
//
//   batch b, rows i, columns j, depth k
//   left exp(A[b, i, k]), right B[b, j, k], either w[k], outside s[i]
//
// An operand may be any expression: it is computed before it is multiplied. A sum over what runs
// along rows and columns at once is none (`sum(k) A[i, k] * M[i, j, k]`), nor is one without rows
// or without columns: a matrix times a vector is read once and multiplied once.
//
// Which axes count is the caller's to say: for a target those of which a block holds several
// indices, for a rule all but woven ones taken one by one, for a cost, which is for tiles of every
// size, all.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "derive/region_program.h"
#include "diagrams/diagram.h"
#include "diagrams/relabelling.h"

namespace napkin {

/// target = seed + outside * sum(depth) left * right * either, each the product of its factors.
struct Contraction {
    std::vector<AxisId> batch;    ///< axes of the target along which both operands run
    std::vector<AxisId> rows;     ///< along which the left one runs
    std::vector<AxisId> columns;  ///< along which the right one runs; the target's last is here
    std::vector<AxisId> others;   ///< axes of the target that are none of these
    std::vector<AxisId> depth;    ///< what is summed
    std::vector<Expression> left;
    std::vector<Expression> right;
    std::vector<Expression> either;   ///< factors along the depth, but neither rows nor columns
    std::vector<Expression> outside;  ///< factors that do not run along the depth, numbers too
};

using AxisFilter = std::function<bool(AxisId)>;
using AxesAlong = std::function<std::set<AxisId>(const Expression&)>;

/// What a statement with these target axes contracts, looking only at axes that `count`; `along`
/// gives the axes that an expression runs along. nullopt where it is no contraction.
[[nodiscard]] std::optional<Contraction> contraction_of(const Statement& statement,
                                                        const std::vector<AxisId>& target,
                                                        const AxisFilter& counts,
                                                        const AxesAlong& along = axes_used);
/// The axes that count for a rule, whatever their sizes: all but the woven ones that the region
/// takes one by one. Refers to both.
[[nodiscard]] AxisFilter tiled_axes(const std::vector<Axis>& axes, const Region& region);

/// Exchanges rows and columns.
void swap_sides(Contraction& contraction);
/// Gives the factors of either side to the left operand where it is computed anyway, else to the
/// right one.
void place_either(Contraction& contraction);

/// An operand that is an element of a loaded array.
struct LoadedOperand {
    ElementType type = ElementType::F32;
    bool is_input = false;  ///< whose type a person wrote: it is not rounded
    /// Whether a tensor core multiplies it.
    [[nodiscard]] bool is_taken() const;
};
/// The type in which operands are multiplied that are computed, by what they are made of: of each
/// the loaded array of most axes tells, f32 only where it is an input. Of operands that are made of
/// nothing that is loaded, the first type of what is that a tensor core multiplies.
[[nodiscard]] std::optional<ElementType> type_beside(
    const RegionProgram& region, const std::array<const std::vector<Expression>*, 2>& operands,
    const std::vector<VariableId>& reads, const std::vector<VariableId>& loaded);
/// The type in which a tensor core multiplies two operands, of which those that are loaded are
/// taken: that of an input which it takes into parts, else theirs, tf32 for several, bf16 where
/// that holds them, else one that stands `beside` them.
[[nodiscard]] ElementType multiplied_type(const std::array<std::optional<LoadedOperand>, 2>& loaded,
                                          std::optional<ElementType> beside);

}  // namespace napkin
