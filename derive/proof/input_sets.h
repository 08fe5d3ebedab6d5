// Sets of inputs, as many as a proof makes: binary trees over the inputs' numbers, of which equal
// subtrees are kept once. A fold that takes in one input after the other adds a path to the tree of
// the set before, so that memory grows with the sets' differences and not with their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "diagrams/id.h"

namespace napkin::proof {

using InputSet = Id<struct InputSetTag>;  ///< 0 is the empty set

class InputSets {
public:
    explicit InputSets(std::size_t inputs);
    [[nodiscard]] InputSet single(std::size_t input);
    /// Throws TooMuchWork where the trees have become too many.
    [[nodiscard]] InputSet unite(InputSet a, InputSet b);
    /// The inputs that are in the first set and not in the second, in rising order.
    [[nodiscard]] std::vector<std::size_t> missing(InputSet from, InputSet in) const;

private:
    /// Two numbers in one word: the plain hash of a word would put many of them together.
    struct Mixed {
        std::size_t operator()(std::uint64_t word) const {
            word *= 0x9e3779b97f4a7c15;
            return word ^ word >> 32;
        }
    };
    using Table = std::unordered_map<std::uint64_t, InputSet, Mixed>;

    [[nodiscard]] InputSet intern(std::uint64_t node);
    [[nodiscard]] InputSet unite_at(int height, InputSet a, InputSet b);
    void collect_missing(int height, std::size_t first, InputSet from, InputSet in,
                         std::vector<std::size_t>& missing) const;

    int height_ = 0;  ///< of every tree
    /// At height 0 the inputs themselves, 64 bits; above, the nodes that make up the left and the
    /// right half.
    std::vector<std::uint64_t> nodes_;
    Table known_;
    Table unions_;  ///< of whole trees
};

}  // namespace napkin::proof
