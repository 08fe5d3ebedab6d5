// Components counted by visiting their tiles.
#include <algorithm>

#include "diagrams/checked.h"
#include "diagrams/index/box_count.h"
#include "perfmodel/tile_component.h"

namespace napkin {

namespace {

/// Chunks of an axis past which those that a mask leaves are found in closed form.
constexpr std::int64_t kManyChunks = 64;

/// Tiles that are sooner visited than counted otherwise.
constexpr double kFewTiles = 1000;

/// Components in which every axis is cut once, all masks are decided where all of their axes are,
/// and every dimension is an axis: the tiles that masks leave are counted without visiting them,
/// and only the last tile of an axis has another width. A mask that loops around ask too, of all
/// that is within a chunk of theirs, says no more there.
class BoxSum {
public:
    BoxSum(const std::vector<Axis>& axes, const Component& component, KnownMasks& masks)
        : axes_(axes), component_(component), masks_(masks) {}

    std::optional<std::int64_t> total() {
        std::vector<Expression> conditions;
        for (const VisibleWhen& mask : component_.masks) {
            if (is_asked_further_in(mask)) continue;
            if (mask.depth != component_.masks.back().depth) return std::nullopt;
            for (std::size_t k = mask.depth; k < component_.path.size(); ++k)
                if (axes_used(*mask.condition).contains(component_.path[k]->axis))
                    return std::nullopt;
            conditions.push_back(*mask.condition);
        }
        std::vector<index::Tiling> tilings;
        for (const Partition* partition : component_.path) {
            for (const index::Tiling& other : tilings)
                if (other.axis == partition->axis) return std::nullopt;
            tilings.push_back({partition->axis, partition->size});
        }
        for (const Footprint* dimension : component_.dimensions)
            if (!is_axis(*dimension)) return std::nullopt;
        const index::Mask& mask = masks_.of(conditions);
        if (!mask.is_exact()) return std::nullopt;  // more is visited
        return sum(masks_.counter(mask, tilings), {}, 0).value;
    }

private:
    [[nodiscard]] bool is_asked_further_in(const VisibleWhen& mask) const {
        return std::any_of(
            component_.masks.begin(), component_.masks.end(), [&](const VisibleWhen& other) {
                return other.depth > mask.depth && *other.condition == *mask.condition;
            });
    }
    [[nodiscard]] bool is_axis(const Footprint& dimension) const {
        const AxisIndex* index = dimension.index.size() == 1
                                     ? std::get_if<AxisIndex>(&dimension.index.front().node)
                                     : nullptr;
        return index != nullptr &&
               (!dimension.limit || *dimension.limit == axes_[index->axis.index()].extent);
    }
    /// The width of all dimensions along an axis in a tile of `size`.
    [[nodiscard]] CheckedInt width(AxisId axis, std::int64_t size) const {
        CheckedInt product = 1;
        for (const Footprint* dimension : component_.dimensions)
            if (std::get<AxisIndex>(dimension->index.front().node).axis == axis)
                product = product * size;
        return product;
    }
    /// With the last tiles of the first `decided` axes chosen or left out.
    [[nodiscard]] CheckedInt sum(index::BoxCounter& counter, const Ranges& within,
                                 std::size_t decided) const {
        if (decided == component_.path.size()) {
            const std::optional<index::BoxCounts> counts = counter.count({}, within);
            return counts ? CheckedInt(counts->met) : CheckedInt(std::nullopt);
        }
        const Partition& partition = *component_.path[decided];
        const std::int64_t extent = axes_[partition.axis.index()].extent;
        const std::int64_t whole = extent / partition.size * partition.size;
        const auto part = [&](std::int64_t first, std::int64_t size) -> CheckedInt {
            if (size == 0) return 0;
            Ranges inner = within;
            inner[partition.axis] = {first, first + size - 1};
            return sum(counter, inner, decided + 1) *
                   width(partition.axis, std::min(size, partition.size));
        };
        return part(0, whole) + part(whole, extent - whole);
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    KnownMasks& masks_;
};

class Enumeration {
public:
    Enumeration(const std::vector<Axis>& axes, const Component& component, KnownMasks& known)
        : axes_(axes), component_(component) {
        for (std::size_t depth = 0; depth <= component.path.size(); ++depth) {
            std::vector<Expression> conditions;
            for (const VisibleWhen& mask : component.masks)
                if (mask.depth == depth) conditions.push_back(*mask.condition);
            if (conditions.empty()) continue;
            const index::Mask& mask = *masks_.emplace(depth, &known.of(conditions)).first->second;
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
            return index::next_chunk(known->second, masks_.at(k + 1)->box(ranges_), number)
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
        return mask == masks_.end() || mask->second->meets(ranges_);
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
    std::map<std::size_t, const index::Mask*> masks_;  // by the number of partitions in force
    std::map<std::size_t, index::Chunks> chunks_;      // of partitions of a whole axis
    Ranges ranges_;
};

}  // namespace

index::BoxCounter& KnownMasks::counter(const index::Mask& mask,
                                       const std::vector<index::Tiling>& tilings) {
    for (const Counter& known : counters_)
        if (known.mask == &mask && known.tilings == tilings) return *known.counter;
    counters_.push_back(
        {&mask, tilings, std::make_unique<index::BoxCounter>(axes_, mask, tilings)});
    return *counters_.back().counter;
}

const index::Mask& KnownMasks::of(const std::vector<Expression>& conditions) {
    for (const auto& [known, mask] : known_)
        if (known == conditions) return *mask;
    return *known_.emplace_back(conditions, std::make_unique<index::Mask>(axes_, conditions))
                .second;
}

std::optional<std::int64_t> boxes_value(const std::vector<Axis>& axes, const Component& component,
                                        KnownMasks& masks) {
    return BoxSum(axes, component, masks).total();
}

std::optional<std::int64_t> component_value(const std::vector<Axis>& axes,
                                            const Component& component, KnownMasks& masks) {
    if (instances_of(axes, component) > kFewTiles)
        if (const std::optional<std::int64_t> sum = boxes_value(axes, component, masks)) return sum;
    return Enumeration(axes, component, masks).total();
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
