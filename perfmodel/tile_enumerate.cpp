// Components counted by visiting their tiles.
#include <algorithm>
#include <map>
#include <set>

#include "diagrams/checked.h"
#include "perfmodel/tile_component.h"

namespace napkin {

namespace {

/// Chunks of an axis past which those that a mask leaves are found in closed form.
constexpr std::int64_t kManyChunks = 64;

/// Tiles that are sooner visited than counted otherwise.
constexpr double kFewTiles = 1000;

/// Components whose masks are all decided where all of their axes are cut, and every dimension is
/// an axis: the tiles that masks leave are counted without visiting them, and only the last tile of
/// an axis has another width. Cuts further out than a mask are one with the finest of them, those
/// further in the same in every tile. A mask that loops around ask too, of all that is within a
/// chunk of theirs, says no more there.
class BoxSum {
public:
    BoxSum(const std::vector<Axis>& axes, const Component& component, KnownMasks& masks)
        : axes_(axes), component_(component), masks_(masks) {}

    std::optional<std::int64_t> total() {
        if (!collect_conditions() || !collect_cuts()) return std::nullopt;
        if (!has_plain_widths(axes_, component_)) return std::nullopt;
        return sum(masks_.of(conditions_), {}, 0).value;
    }

private:
    /// False where some are decided further out than others.
    bool collect_conditions() {
        for (const VisibleWhen& mask : component_.masks) {
            if (is_asked_further_in(mask)) continue;
            if (mask.depth != component_.masks.back().depth) return false;
            conditions_.push_back(*mask.condition);
        }
        return true;
    }
    /// False where masks are decided before their axes are cut, or cuts do not divide each other.
    bool collect_cuts() {
        std::set<AxisId> asked;
        for (const Expression& condition : conditions_) asked.merge(axes_used(condition));
        const std::size_t depth = component_.masks.empty() ? 0 : component_.masks.back().depth;
        for (std::size_t k = 0; k < component_.path.size(); ++k) {
            const AxisId axis = component_.path[k]->axis;
            const std::int64_t size = component_.path[k]->size;
            const auto outer =
                std::find_if(tilings_.begin(), tilings_.end(),
                             [&](const index::Tiling& other) { return other.axis == axis; });
            const bool matters = asked.contains(axis);
            if (outer == tilings_.end()) {
                if (matters && k >= depth) return false;
                tilings_.push_back({axis, size});
            } else if (matters && k < depth) {
                if (outer->size % size != 0) return false;
                outer->size = size;
            } else {
                inner_[axis].push_back(size);
            }
        }
        return true;
    }
    [[nodiscard]] bool is_asked_further_in(const VisibleWhen& mask) const {
        return std::any_of(
            component_.masks.begin(), component_.masks.end(), [&](const VisibleWhen& other) {
                return other.depth > mask.depth && *other.condition == *mask.condition;
            });
    }
    /// The widths of all dimensions along an axis in a tile of `size`, over the parts of it.
    [[nodiscard]] CheckedInt width(AxisId axis, std::int64_t size, std::size_t cut = 0) const {
        const auto cuts = inner_.find(axis);
        if (cuts != inner_.end() && cut < cuts->second.size()) {
            const std::int64_t part = std::min(cuts->second[cut], size);
            const CheckedInt whole = CheckedInt(size / part) * width(axis, part, cut + 1);
            return size % part == 0 ? whole : whole + width(axis, size % part, cut + 1);
        }
        CheckedInt product = 1;
        for (const Footprint* dimension : component_.dimensions)
            if (std::get<AxisIndex>(dimension->index.front().node).axis == axis)
                product = product * size;
        return product;
    }
    /// With the last tiles of the first `decided` axes chosen or left out.
    [[nodiscard]] CheckedInt sum(const index::Mask& mask, const Ranges& within,
                                 std::size_t decided) const {
        if (decided == tilings_.size()) return mask.boxes_met(axes_, tilings_, within);
        const auto& [axis, size] = tilings_[decided];
        const std::int64_t extent = axes_[axis.index()].extent;
        const std::int64_t whole = extent / size * size;
        const auto part = [&, axis = axis, size = size](std::int64_t first,
                                                        std::int64_t length) -> CheckedInt {
            if (length == 0) return 0;
            Ranges inner = within;
            inner[axis] = {first, first + length - 1};
            return sum(mask, inner, decided + 1) * width(axis, std::min(length, size));
        };
        return part(0, whole) + part(whole, extent - whole);
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    KnownMasks& masks_;
    std::vector<Expression> conditions_;
    std::vector<index::Tiling> tilings_;                 ///< of each axis, as masks see it
    std::map<AxisId, std::vector<std::int64_t>> inner_;  ///< what their tiles are cut into
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
        Turns turns;
        for (const Footprint* dimension : component_.dimensions)
            product = product * width_of(axes_, *dimension, ranges_, turns);
        return product.value;
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    std::map<std::size_t, const index::Mask*> masks_;  // by the number of partitions in force
    std::map<std::size_t, index::Chunks> chunks_;      // of partitions of a whole axis
    Ranges ranges_;
};

}  // namespace

const index::Mask& KnownMasks::of(const std::vector<Expression>& conditions) {
    for (const auto& [known, mask] : known_)
        if (known == conditions) return *mask;
    return *known_.emplace_back(conditions, std::make_unique<index::Mask>(axes_, conditions))
                .second;
}

bool has_plain_widths(const std::vector<Axis>& axes, const Component& component) {
    return std::all_of(
        component.dimensions.begin(), component.dimensions.end(), [&](const Footprint* dimension) {
            const AxisIndex* index = dimension->index.size() == 1
                                         ? std::get_if<AxisIndex>(&dimension->index.front().node)
                                         : nullptr;
            return index != nullptr &&
                   (!dimension->limit || *dimension->limit == axes[index->axis.index()].extent);
        });
}

std::int64_t width_of(const std::vector<Axis>& axes, const Footprint& dimension,
                      const Ranges& ranges, Turns& turns) {
    std::optional<Interval> all;
    for (const Expression& index : dimension.index) {
        const std::optional<Interval> range = bounds(axes, index, ranges, turns);
        if (!range && dimension.limit) return *dimension.limit;
        if (!range) continue;
        if (all) turns.compare(*all, *range);
        all = all ? hull(*all, *range) : *range;
    }
    if (!all) return dimension.limit.value_or(1);
    if (dimension.limit) {
        const Interval array = {0, *dimension.limit - 1};
        turns.compare(*all, array);
        all = Interval{std::max(all->low, array.low), std::min(all->high, array.high)};
    }
    const std::int64_t width = all->high - all->low + 1;
    turns.compare(width, 0);
    return std::max<std::int64_t>(0, width);
}

std::optional<std::int64_t> boxes_value(const std::vector<Axis>& axes, const Component& component,
                                        KnownMasks& masks) {
    return BoxSum(axes, component, masks).total();
}

std::optional<std::int64_t> enumerated_value(const std::vector<Axis>& axes,
                                             const Component& component, KnownMasks& masks) {
    return Enumeration(axes, component, masks).total();
}

std::optional<std::int64_t> component_value(const std::vector<Axis>& axes,
                                            const Component& component, KnownMasks& masks,
                                            std::size_t most) {
    if (instances_of(axes, component) <= kFewTiles) return enumerated_value(axes, component, masks);
    if (const std::optional<std::int64_t> sum = boxes_value(axes, component, masks)) return sum;
    if (is_halved(axes, component)) return halved_value(axes, component, masks, most).sum;
    return enumerated_value(axes, component, masks);
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
