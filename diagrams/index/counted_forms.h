// Counts of a mask's condition over blocks of points (diagrams/index/box_count.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagrams/index/block_forms.h"
#include "diagrams/index/box_count.h"

namespace napkin::index {

/// The tiling that an expression is the index of, if it is one.
[[nodiscard]] std::optional<std::size_t> tiling_of(const Expression& what,
                                                   const std::vector<Tiling>& tilings);

struct SignatureHash {
    std::size_t operator()(const Signature& signature) const {
        std::uint64_t hash = signature.size();
        for (const std::int64_t each : signature) {
            hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
        }
        return hash;
    }
};

/// The conditions about some axes, with what was counted.
class CountedForms {
public:
    CountedForms(BlockForms conditions, const std::vector<Tiling>& tilings, std::size_t most_blocks)
        : forms(std::move(conditions)), tilings_(tilings), most_blocks_(most_blocks) {
        for (const std::size_t axis : forms.axes()) {
            between_[axis] = {tilings[axis].size};
            for (const std::int64_t period : forms.periods(axis))
                between_[axis].push_back(std::lcm(period, tilings[axis].size));
        }
    }

    /// Forgets nothing but which values coordinates have.
    void set_values(std::vector<std::int64_t> values) {
        values_ = std::move(values);
        steps_ = 0;
    }
    [[nodiscard]] std::optional<BoxCounts> count(const Block& block);
    [[nodiscard]] bool draw(const Block& block, TileMap& map);
    [[nodiscard]] bool list(const Block& block, std::vector<Block>& points);

    BlockForms forms;

private:
    /// Visits the parts of a block in which something is left, each decided or of one tile, as long
    /// as it is told to go on.
    template <class Visit>
    [[nodiscard]] bool for_each_part(const Block& block, const Visit& visit);
    void mark(const Block& block, TileState state, TileMap& map) const;
    [[nodiscard]] std::optional<BoxCounts> count_open(const Block& block);
    [[nodiscard]] std::optional<BoxCounts> whole(const Block& block) const;
    [[nodiscard]] std::pair<Block, Block> halves(const Block& block) const;
    /// The longest axis that holds several tiles.
    [[nodiscard]] std::optional<std::size_t> longest_of_tiles(const Block& block) const;
    [[nodiscard]] std::int64_t tiles(std::size_t axis, const Block& block) const {
        return (block.count[axis] + tilings_[axis].size - 1) / tilings_[axis].size;
    }

    const std::vector<Tiling>& tilings_;
    std::size_t most_blocks_;
    std::map<std::size_t, std::vector<std::int64_t>> between_;  // lengths of whole tiles, by axis
    std::vector<std::int64_t> values_;
    std::unordered_map<Signature, BoxCounts, SignatureHash> known_;
    std::size_t steps_ = 0;
};

/// A condition whose choices are counted together where they share an axis, and else apart.
class CountedCondition {
public:
    /// Coordinates that are indices of axes that are cut; of others values are given. Of a question
    /// so many blocks are looked at.
    CountedCondition(std::vector<std::optional<std::size_t>> axis_of,
                     const std::vector<Tiling>& tilings, const BoxCondition& condition,
                     std::size_t most_blocks);
    CountedCondition(const CountedCondition&) = delete;
    CountedCondition& operator=(const CountedCondition&) = delete;

    /// Nullopt where there is no end to counting.
    [[nodiscard]] std::optional<BoxCounts> count(const Block& block,
                                                 const std::vector<std::int64_t>& values);
    [[nodiscard]] std::optional<std::vector<TileMap>> maps(const Block& block,
                                                           const std::vector<std::int64_t>& values);
    [[nodiscard]] std::optional<std::vector<PointBlocks>> points(
        const Block& block, const std::vector<std::int64_t>& values);

private:
    void add(const Choice& choice);

    std::vector<std::optional<std::size_t>> axis_of_;
    const std::vector<Tiling>& tilings_;
    std::size_t most_blocks_;
    std::vector<std::unique_ptr<CountedForms>> components_;
};

}  // namespace napkin::index
