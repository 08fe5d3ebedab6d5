#include "diagrams/index/box_count.h"

#include <algorithm>

#include "diagrams/index/counted_forms.h"

namespace napkin::index {

namespace {

/// Some seconds; ordinary masks need some thousands.
constexpr std::size_t kMostBlocks = 8'000'000;

}  // namespace

struct BoxCounter::Parts {
    Parts(const std::vector<Axis>& all_axes, const Mask& mask, const std::vector<Tiling>& cut)
        : axes(all_axes), coordinates(mask.coordinates()), tilings(cut) {
        for (const Expression& what : coordinates) axis_of.push_back(tiling_of(what, tilings));
        if (const std::optional<BoxCondition> holds = mask.where_holds())
            condition.emplace(axis_of, tilings, *holds, kMostBlocks);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    /// Of coordinates that are no index of an axis that is cut; nullopt where one has none.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> values(
        const std::map<AxisId, std::int64_t>& at) const {
        std::vector<std::int64_t> result(coordinates.size(), 0);
        Ranges ranges;
        for (const auto& [axis, index] : at) ranges[axis] = {index, index};
        for (std::size_t c = 0; c < coordinates.size(); ++c) {
            if (axis_of[c]) continue;
            const std::optional<Interval> value = bounds(axes, coordinates[c], ranges);
            if (!value || !value->is_one()) return std::nullopt;
            result[c] = value->low;
        }
        return result;
    }
    [[nodiscard]] Block block(const Ranges& within) const {
        Block whole;
        for (const Tiling& tiling : tilings) {
            const auto part = within.find(tiling.axis);
            const Interval range = part != within.end()
                                       ? part->second
                                       : Interval{0, axes[tiling.axis.index()].extent - 1};
            whole.first.push_back(range.low);
            whole.count.push_back(range.high - range.low + 1);
        }
        return whole;
    }

    const std::vector<Axis>& axes;
    std::vector<Expression> coordinates;
    std::vector<Tiling> tilings;
    std::vector<std::optional<std::size_t>> axis_of;  // of coordinates, into the tilings
    std::optional<CountedCondition> condition;        // where there is a closed form
};

BoxCounter::BoxCounter(const std::vector<Axis>& axes, const Mask& mask,
                       const std::vector<Tiling>& tilings)
    : parts_(std::make_unique<Parts>(axes, mask, tilings)) {}
BoxCounter::BoxCounter(BoxCounter&&) noexcept = default;
BoxCounter::~BoxCounter() = default;

std::optional<BoxCounts> BoxCounter::count(const std::map<AxisId, std::int64_t>& at,
                                           const Ranges& within) {
    const std::optional<std::vector<std::int64_t>> values = parts_->values(at);
    if (!parts_->condition || !values) return std::nullopt;
    return parts_->condition->count(parts_->block(within), *values);
}

std::optional<std::vector<TileMap>> BoxCounter::maps(const std::map<AxisId, std::int64_t>& at) {
    const std::optional<std::vector<std::int64_t>> values = parts_->values(at);
    if (!parts_->condition || !values) return std::nullopt;
    return parts_->condition->maps(parts_->block({}), *values);
}

std::optional<std::vector<PointBlocks>> BoxCounter::points(
    const std::map<AxisId, std::int64_t>& at) {
    const std::optional<std::vector<std::int64_t>> values = parts_->values(at);
    if (!parts_->condition || !values) return std::nullopt;
    return parts_->condition->points(parts_->block({}), *values);
}

}  // namespace napkin::index
