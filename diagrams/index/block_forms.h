// A mask's condition over blocks of points (diagrams/index/box_count.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/index/box_count.h"

namespace napkin::index {

enum class Truth { False, True, Open };

/// What decides which points of a block are left, beside its size: blocks with the same have the
/// same points, relative to their corners.
using Signature = std::vector<std::int64_t>;

/// Choices about the same axes.
class BlockForms {
public:
    /// Coordinates that are indices of `axes`; of others values are given.
    BlockForms(const std::vector<std::optional<std::size_t>>& axis_of, BoxCondition choices);

    /// The axes on which it depends.
    [[nodiscard]] const std::vector<std::size_t>& axes() const { return axes_; }
    [[nodiscard]] const BoxCondition& choices() const { return choices_; }
    /// Lengths at which blocks of an axis begin with the same remainders.
    [[nodiscard]] const std::vector<std::int64_t>& periods(std::size_t axis) const {
        return periods_.at(axis);
    }
    /// `values` of coordinates that are no indices of axes.
    [[nodiscard]] Truth judge(const Block& block, const std::vector<std::int64_t>& values,
                              Signature& signature);

private:
    /// A value in the corner of a block, and how far it goes from there.
    struct Reach {
        std::int64_t corner = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;
    };
    void note(const Linear& form, std::optional<std::int64_t> divisor);
    [[nodiscard]] Reach reach_of(const Linear& form) const;
    [[nodiscard]] Truth judge(const Choice& choice, Signature& signature);
    [[nodiscard]] Truth judge(const Clause& clause, Signature& signature);

    const std::vector<std::optional<std::size_t>>& axis_of_;
    BoxCondition choices_;
    std::vector<std::size_t> axes_;
    std::map<std::size_t, std::vector<std::int64_t>> periods_;
    const Block* block_ = nullptr;
    const std::vector<std::int64_t>* values_ = nullptr;
    std::vector<Reach> quotients_;
};

}  // namespace napkin::index
