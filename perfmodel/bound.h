// Two figures beside every cost, never mixed. `bound` is proved for every schedule of the diagram
// as it was given; `best` is the least H of any relabelling of a known kind at a capacity, from its
// closed form.
//
// The bound is the larger of two:
//
//   * compulsory traffic: every element of an input without which some output is not known is
//     loaded once, and every output is saved once. Needs are followed backwards through masks, and
//     what only data can tell counts as not needed (diagrams/index/needs.h). Of a derivation whose
//     rules cancel what the diagram reads, as `S - S`, no more of an input than it still needs;
//   * of a single contraction, n products c += a * b in blocks that hold S bits, S counting shared
//     memory and registers: a block of w products moves 2 w sqrt(W / S) - 2 S bits at least (Smith,
//     Lowery, Langou and van de Geijn, 2019) and 3 (w sqrt(W))^(2/3) (Loomis and Whitney: it loads
//     or saves whatever it touches), W being the product of the three widths. Whatever the number
//     of blocks, the larger of the two is 1.66 w sqrt(W / S) at least.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "derive/state.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

struct TransferBound {
    std::int64_t values = 0;  ///< 0 where the bound is one of bits alone
    std::int64_t bits = 0;
    std::string citation;
    [[nodiscard]] std::int64_t bytes() const { return (bits + 7) / 8; }
};
/// Of every derivation from the plain diagram that has the types of this state (their declared
/// ones, where it does not say) and reads what this one reads, on a machine where one is given;
/// nullopt where counts do not fit in 64 bits.
[[nodiscard]] std::optional<TransferBound> bound_of(const Diagram& plain, const State& state,
                                                    const Machine* machine = nullptr);
/// The same on a machine, of what is known without one: that takes most of the time.
[[nodiscard]] TransferBound bound_on(const Machine& machine, const TransferBound& anywhere,
                                     const Diagram& plain, const State& state);

/// H and M of a region whose optimum has a closed form, in bits.
struct TransferKind {
    Monomial groups;
    Polynomial held;   ///< for each element of a group of each
    Polynomial fixed;  ///< transferred whatever the sizes
    /// By group; a single one, at the end of no group, shared by the product of all.
    std::map<Symbol, Polynomial> shares;
    std::optional<Polynomial> share_of_product;
};
/// The kind of a region's ideal forms at block level, or why it is of none.
[[nodiscard]] std::variant<TransferKind, NotApplicable> kind_of(const RegionCost& cost);

/// The continuous optimum of a two-level transfer cost.
struct BestTransfers {
    double bits = 0;
    std::string formula;  ///< in values, as if all had one width: `2qd + 4xq·d^2/M`
    /// The same, where no group is its whole axis; M is a symbol of kind Memory.
    std::optional<Polynomial> form;
    std::string validity;  ///< what it neglects, and the sizes that it asks for
};
/// For one region at block level with H and M of its ideal forms: the least H over group and
/// stream sizes with M at most the capacity, in closed form where the region is a matmul
/// (H ~ 2abc/sqrt(M)) or loads what one group size divides (attention), each wire in its own width,
/// groups no larger than their axes; else the reason why none is known.
[[nodiscard]] std::variant<BestTransfers, NotApplicable> best_of(const RegionCost& cost,
                                                                 Bytes capacity);

}  // namespace napkin
