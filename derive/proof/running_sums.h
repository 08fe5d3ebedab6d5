// Which states are sums of everything so far, found by computing with their updates.
//
// A state that is relative to a mean that moves takes in states of lower powers with every chunk.
// Intervals alone would let it grow without end. But where its seed is, for any elements x, what
// the fold's own terms come to at the new mean,
//
//   seed(c_0, c_1, ..., C, C') == sum(x) term(x, C'),    c_i = sum(x) term_i(x, C),
//
// it is the sum of its terms over all elements so far. The identity is one of sums of products; it
// is tried with random elements, weights and means. Conditions are drawn too, since what they read
// would seldom be at their edges.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "derive/region_program.h"

namespace napkin::proof {

class RunningSums {
public:
    explicit RunningSums(const RegionProgram& region);

    /// Whether what this array is folded to is the sum of the fold's terms over all so far.
    [[nodiscard]] bool is_sum(ArrayId target) const { return sums_.contains(target); }
    /// The mean of all so far whose value a statement forms; null where it forms none.
    [[nodiscard]] const Gauge* mean(const Statement& statement) const;

private:
    const std::vector<Array>& arrays_;
    const std::optional<Accumulator>& accumulator_;
    std::vector<const Statement*> statements_;    ///< of all levels, in order
    std::map<ArrayId, std::size_t> definitions_;  ///< the last of every array
    std::set<ArrayId> redefined_;                 ///< more than once
    std::map<ArrayId, ArrayId> copied_;           ///< from states to what they are set to last
    std::map<ArrayId, ArrayId> states_;           ///< the other way round
    std::set<ArrayId> sums_;
    mutable std::map<ArrayId, bool> varies_;  ///< by chunk, as far as it was asked

    void collect(const std::vector<TileStatement>& body);
    [[nodiscard]] bool is_state(ArrayId array) const;
    [[nodiscard]] const Fold* seeded_sum(ArrayId array) const;
    [[nodiscard]] bool begins_with_nothing(ArrayId target) const;
    [[nodiscard]] bool varies_by_chunk(const Expression& expression) const;
    [[nodiscard]] bool varies_by_chunk(ArrayId array) const;
    [[nodiscard]] bool moves_as_its_terms(ArrayId target, std::uint64_t seed) const;
    friend class Draw;
};

}  // namespace napkin::proof
