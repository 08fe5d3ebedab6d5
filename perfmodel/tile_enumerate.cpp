// Components counted by visiting their tiles.
#include <algorithm>

#include "diagrams/checked.h"
#include "diagrams/index/mask.h"
#include "perfmodel/tile_component.h"

namespace napkin {

namespace {

/// Chunks of an axis past which those that a mask leaves are found in closed form.
constexpr std::int64_t kManyChunks = 64;

class Enumeration {
public:
    Enumeration(const std::vector<Axis>& axes, const Component& component)
        : axes_(axes), component_(component) {
        for (std::size_t depth = 0; depth <= component.path.size(); ++depth) {
            std::vector<Expression> conditions;
            for (const VisibleWhen& mask : component.masks)
                if (mask.depth == depth) conditions.push_back(*mask.condition);
            if (conditions.empty()) continue;
            const index::Mask& mask =
                masks_.emplace(depth, index::Mask(axes, conditions)).first->second;
            if (depth == 0) continue;
            const Partition& partition = *component.path[depth - 1];
            if (axes[partition.axis.index()].extent / partition.size < kManyChunks) continue;
            if (auto chunks = mask.chunks_met(partition.axis, partition.size, true))
                chunks_.emplace(depth - 1, std::move(*chunks));
        }
    }

    std::optional<std::int64_t> total() {
        if (!visible(0)) return 0;
        return from(0);
    }

private:
    std::optional<std::int64_t> from(std::size_t k) {
        if (k == component_.path.size()) return tile();
        const Partition& partition = *component_.path[k];
        const auto outer = ranges_.find(partition.axis);
        const bool nested = outer != ranges_.end();
        const Interval whole =
            nested ? outer->second : Interval{0, axes_[partition.axis.index()].extent - 1};
        const auto known = nested ? chunks_.end() : chunks_.find(k);
        const auto next = [&](std::int64_t number) -> std::int64_t {
            if (known == chunks_.end()) return number;
            ranges_.erase(partition.axis);
            return index::next_chunk(known->second, masks_.at(k + 1).box(ranges_), number)
                .value_or(whole.high / partition.size + 1);
        };
        CheckedInt sum = 0;
        for (std::int64_t number = next(0); whole.low + number * partition.size <= whole.high;
             number = next(number + 1)) {
            const std::int64_t low = whole.low + number * partition.size;
            ranges_[partition.axis] = {low, std::min(whole.high, low + partition.size - 1)};
            if (known == chunks_.end() && !visible(k + 1)) continue;
            sum = sum + from(k + 1);
            if (!sum) return std::nullopt;
        }
        if (nested)
            ranges_[partition.axis] = whole;
        else
            ranges_.erase(partition.axis);
        return sum.value;
    }
    [[nodiscard]] bool visible(std::size_t depth) const {
        const auto mask = masks_.find(depth);
        return mask == masks_.end() || mask->second.meets(ranges_);
    }
    [[nodiscard]] std::optional<std::int64_t> tile() const {
        CheckedInt product = 1;
        for (const Footprint* dimension : component_.dimensions)
            product = product * width(*dimension);
        return product.value;
    }
    [[nodiscard]] std::int64_t width(const Footprint& dimension) const {
        std::optional<Interval> hull;
        for (const Expression& index : dimension.index) {
            const std::optional<Interval> range = bounds(axes_, index, ranges_);
            if (!range && dimension.limit) return *dimension.limit;
            if (!range) continue;
            hull =
                hull ? Interval{std::min(hull->low, range->low), std::max(hull->high, range->high)}
                     : *range;
        }
        if (!hull) return dimension.limit.value_or(1);
        if (dimension.limit)
            hull = Interval{std::max<std::int64_t>(hull->low, 0),
                            std::min(hull->high, *dimension.limit - 1)};
        return std::max<std::int64_t>(0, hull->high - hull->low + 1);
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    std::map<std::size_t, index::Mask> masks_;     // by the number of partitions in force
    std::map<std::size_t, index::Chunks> chunks_;  // of partitions of a whole axis
    Ranges ranges_;
};

}  // namespace

std::optional<std::int64_t> component_value(const std::vector<Axis>& axes,
                                            const Component& component) {
    return Enumeration(axes, component).total();
}

double instances_of(const std::vector<Axis>& axes, const Component& component) {
    double count = 1;
    for (const Partition* partition : component.path)
        count *= static_cast<double>(axes[partition->axis.index()].extent) /
                     static_cast<double>(partition->size) +
                 1;
    return count;
}

}  // namespace napkin
