// Components in closed form or as sums over tile indices.
#include "perfmodel/tile_component.h"

#include <algorithm>
#include <set>
#include <span>

#include "diagrams/checked.h"
#include "perfmodel/affine_masks.h"
#include "perfmodel/linear_width.h"

namespace napkin {

namespace {

/// Width of a dimension in one tile.
std::optional<Formula> tile_width(const std::vector<Axis>& axes, const Footprint& dimension,
                                  const SymbolicRanges& ranges, bool ideal) {
    if (const std::optional<LinearWidth> linear = linear_width(axes, dimension, ideal)) {
        Formula width = linear->rest.formula;
        for (const auto& [axis, factor] : linear->factors) {
            const auto range = ranges.find(axis);
            width = width + factor.formula * (range != ranges.end() ? range->second.width
                                                                    : size_formula(axes, axis));
        }
        return width;
    }
    const std::optional<std::vector<Affine>> forms = forms_of(axes, dimension, ideal);
    if (!forms) return ideal ? std::optional(dimension.limit_formula) : std::nullopt;
    Formula low = lowest(axes, forms->front(), ranges);
    Formula high = highest(axes, forms->front(), ranges);
    for (const Affine& form : *forms) {
        if (ideal) break;
        low = min_of(low, lowest(axes, form, ranges));
        high = max_of(high, highest(axes, form, ranges));
    }
    if (dimension.limit && !ideal) {
        low = max_of(low, 0);
        high = min_of(high, dimension.limit_formula - Formula(1));
        return max_of(0, high - low + Formula(1));
    }
    return high - low + Formula(1);
}

/// Indices of an axis in the innermost tile of a component, at the present sizes.
std::int64_t present_width(const std::vector<Axis>& axes, const Component& component, AxisId axis) {
    std::int64_t width = axes[axis.index()].extent;
    for (const Partition* partition : component.path)
        if (partition->axis == axis) width = std::min(width, partition->size);
    return width;
}

/// The ideal width of quotients by a number, `k // 64`: where sizes divide, as many as go into what
/// is divided, or one.
std::optional<Formula> quotients_in_tile(const std::vector<Axis>& axes, const Component& component,
                                         const Footprint& dimension, const SymbolicRanges& ranges) {
    std::int64_t by = 0;
    Footprint divided;
    for (const Expression& index : dimension.index) {
        const Apply* call = std::get_if<Apply>(&index.node);
        if (call == nullptr || call->function != Function::FloorDivide) return std::nullopt;
        const Number* number = std::get_if<Number>(&call->arguments[1].node);
        if (number == nullptr || !number->is_integer || number->value < 1) return std::nullopt;
        const auto value = static_cast<std::int64_t>(number->value);
        if (by != 0 && by != value) return std::nullopt;
        by = value;
        divided.index.push_back(call->arguments[0]);
    }
    const std::optional<LinearWidth> linear = linear_width(axes, divided, true);
    if (!linear) return std::nullopt;
    std::int64_t present = linear->rest.value;
    for (const auto& [axis, factor] : linear->factors)
        present += factor.value * present_width(axes, component, axis);
    if (present < 1) return std::nullopt;
    if (present % by == 0) {
        const std::optional<Formula> width = tile_width(axes, divided, ranges, true);
        return width ? std::optional(floor_divide(*width, Formula(by))) : std::nullopt;
    }
    return by % present == 0 ? std::optional(Formula(1)) : std::nullopt;
}

/// The number of partitions of each axis in a component.
std::map<AxisId, std::vector<Formula>> sizes_by_axis(const Component& component) {
    std::map<AxisId, std::vector<Formula>> sizes;
    for (const Partition* partition : component.path)
        sizes[partition->axis].push_back(partition->symbol());
    return sizes;
}

/// Without masks and with at most one dimension, itself affine, there is a closed form: products of
/// sizes and tile counts.
std::optional<LinearWidth> closed_width(const std::vector<Axis>& axes, const Component& component,
                                        bool ideal) {
    if ((!ideal && !component.masks.empty()) || component.dimensions.size() > 1)
        return std::nullopt;
    if (component.dimensions.empty()) return LinearWidth{};
    return linear_width(axes, *component.dimensions.front(), ideal);
}

std::optional<Formula> closed_form(const std::vector<Axis>& axes, const Component& component,
                                   bool ideal) {
    const std::optional<LinearWidth> width = closed_width(axes, component, ideal);
    if (!width) return std::nullopt;
    std::map<AxisId, Formula> tiles;
    for (const auto& [axis, sizes] : sizes_by_axis(component))
        tiles[axis] = tiles_of(size_formula(axes, axis), sizes);
    const auto tiles_but = [&](std::optional<AxisId> left_out) {
        Formula product{1};
        for (const auto& [axis, count] : tiles)
            if (axis != left_out) product = product * count;
        return product;
    };
    Formula total = width->rest.formula * tiles_but(std::nullopt);
    for (const auto& [axis, factor] : width->factors)
        total = total + factor.formula * size_formula(axes, axis) * tiles_but(axis);
    return total;
}

/// `tiles_of` in numbers, of partitions of one axis.
CheckedInt tiles_of(std::int64_t width, std::span<const std::int64_t> sizes) {
    const std::int64_t whole = width / sizes.front();
    const std::int64_t rest = width % sizes.front();
    if (sizes.size() == 1) return whole + (rest != 0 ? 1 : 0);
    const auto inner = sizes.subspan(1);
    return CheckedInt(whole) * tiles_of(sizes.front(), inner) + tiles_of(rest, inner);
}

/// Ranges of the component's axes where the first `depth` partitions are in force.
SymbolicRanges ranges_at(const std::vector<Axis>& axes, const Component& component,
                         std::size_t depth) {
    SymbolicRanges ranges;
    for (std::size_t k = 0; k < depth; ++k) {
        const Partition& partition = *component.path[k];
        SymbolicRange& range =
            ranges.try_emplace(partition.axis, SymbolicRange{0, size_formula(axes, partition.axis)})
                .first->second;
        const Formula start = Formula(partition.index()) * partition.symbol();
        range.low = range.low + start;
        range.width = min_of(partition.symbol(), range.width - start);
    }
    return ranges;
}

/// The last index of a partition's tiles.
Formula last_tile(const std::vector<Axis>& axes, const Component& component, std::size_t k) {
    const SymbolicRanges before = ranges_at(axes, component, k);
    const Partition& partition = *component.path[k];
    const auto range = before.find(partition.axis);
    const Formula width =
        range != before.end() ? range->second.width : size_formula(axes, partition.axis);
    return ceil_divide(width, partition.symbol()) - Formula(1);
}

/// Sums over one loop's chunks in closed form: the visited ones are an interval of chunk numbers.
class VisitedChunks {
public:
    VisitedChunks(const std::vector<Axis>& axes, const Component& component,
                  const std::vector<Conjunct>& conjuncts)
        : axes_(axes), component_(component), conjuncts_(conjuncts) {}

    /// The partition that can be summed in closed form, if there is one.
    [[nodiscard]] std::optional<std::size_t> choose() const {
        for (std::size_t k = component_.path.size(); k-- > 0;)
            if (fits(k)) return k;
        return std::nullopt;
    }
    /// Adds the chunks' number and the sum of their widths.
    void count(std::size_t k, Formula& number, Formula& widths) const;

private:
    [[nodiscard]] bool fits(std::size_t k) const {
        const AxisId axis = component_.path[k]->axis;
        const auto uses_axis = [&](const Partition* other) { return other->axis == axis; };
        if (std::count_if(component_.path.begin(), component_.path.end(), uses_axis) != 1)
            return false;
        const auto mentions = [&](const Footprint* dimension) {
            return std::any_of(dimension->index.begin(), dimension->index.end(),
                               [&](const Expression& e) { return axes_used(e).contains(axis); });
        };
        std::size_t uses = 0;
        for (const Footprint* dimension : component_.dimensions) {
            if (!mentions(dimension)) continue;
            ++uses;
            if (!linear_width(axes_, *dimension, false)) return false;
        }
        bool masked = false;
        for (const Conjunct& conjunct : conjuncts_) {
            if (!conjunct.form.factors.contains(axis)) continue;
            if (conjunct.depth <= k) return false;
            masked = true;
        }
        return uses <= 1 && masked;
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    const std::vector<Conjunct>& conjuncts_;
};

void VisitedChunks::count(std::size_t k, Formula& number, Formula& widths) const {
    const Partition& partition = *component_.path[k];
    const Formula size = partition.symbol();
    const Formula whole = size_formula(axes_, partition.axis);
    std::optional<Formula> upper;  // the greatest index that may be visible
    std::optional<Formula> lower;
    for (const Conjunct& conjunct : conjuncts_) {
        const auto factor = conjunct.form.factors.find(partition.axis);
        if (factor == conjunct.form.factors.end()) continue;
        Affine rest = conjunct.form;
        rest.factors.erase(partition.axis);
        const Formula slack = lowest(axes_, rest, ranges_at(axes_, component_, conjunct.depth));
        if (factor->second.value > 0) {
            const Formula most = floor_divide(Formula(0) - slack, factor->second.formula);
            upper = upper ? min_of(*upper, most) : most;
        } else {
            const Formula least = ceil_divide(slack, Formula(0) - factor->second.formula);
            lower = lower ? max_of(*lower, least) : least;
        }
    }
    Formula beyond = ceil_divide(whole, size);
    if (upper) beyond = min_of(beyond, floor_divide(*upper, size) + Formula(1));
    const Formula first = lower ? max_of(0, floor_divide(*lower, size)) : Formula(0);
    const Formula any = lower ? at_most(*lower, whole - Formula(1)) : Formula(1);
    number = any * max_of(0, beyond - first);
    const Formula end =
        upper ? min_of(whole, size * (floor_divide(*upper, size) + Formula(1))) : whole;
    widths = any * max_of(0, end - size * first);
}

/// Whether its width is linear at any size: one index, which is inside the array whatever the
/// sizes.
bool is_linear_at_any_size(const std::vector<Axis>& axes, const Footprint& dimension) {
    const std::optional<std::vector<Affine>> forms = forms_of(axes, dimension, false);
    if (!forms || forms->size() != 1) return false;
    const Affine& form = forms->front();
    return !dimension.limit ||
           (never_negative(lowest(axes, form, {})) &&
            never_negative(dimension.limit_formula - Formula(1) - highest(axes, form, {})));
}

/// Product of the widths of every dimension in one tile, but those that use `without`.
std::optional<Formula> widths_in_tile(const std::vector<Axis>& axes, const Component& component,
                                      std::optional<AxisId> without, bool ideal) {
    const SymbolicRanges ranges = ranges_at(axes, component, component.path.size());
    Formula product{1};
    for (const Footprint* dimension : component.dimensions) {
        const bool left_out =
            without &&
            std::any_of(dimension->index.begin(), dimension->index.end(),
                        [&](const Expression& e) { return axes_used(e).contains(*without); });
        if (left_out) continue;
        std::optional<Formula> width;
        if (ideal) width = quotients_in_tile(axes, component, *dimension, ranges);
        if (!width) width = tile_width(axes, *dimension, ranges, ideal);
        if (!width) return std::nullopt;
        product = product * *width;
    }
    return product;
}

/// The sum with the chunks of partition `k` counted in closed form.
std::optional<Formula> chunk_sum(const std::vector<Axis>& axes, const Component& component,
                                 const std::vector<Conjunct>& conjuncts, std::size_t k) {
    const AxisId axis = component.path[k]->axis;
    std::optional<Formula> term = widths_in_tile(axes, component, axis, false);
    if (!term) return std::nullopt;
    Formula number;
    Formula widths;
    VisitedChunks(axes, component, conjuncts).count(k, number, widths);
    Formula inner = number;
    const SymbolicRanges ranges = ranges_at(axes, component, component.path.size());
    for (const Footprint* dimension : component.dimensions) {
        const std::optional<LinearWidth> linear = linear_width(axes, *dimension, false);
        if (!linear || !linear->factors.contains(axis)) continue;
        Formula rest = linear->rest.formula;
        for (const auto& [other, factor] : linear->factors) {
            const auto range = ranges.find(other);
            if (other != axis)
                rest = rest + factor.formula * (range != ranges.end() ? range->second.width
                                                                      : size_formula(axes, other));
        }
        inner = linear->factors.at(axis).formula * widths + rest * number;
    }
    return *term * inner;
}

}  // namespace

bool holds_at_any_size(const std::vector<Axis>& axes, const Component& component) {
    const std::optional<std::vector<Conjunct>> conjuncts = conjuncts_of(axes, component);
    const bool plain = std::all_of(
        component.dimensions.begin(), component.dimensions.end(),
        [&](const Footprint* dimension) { return is_linear_at_any_size(axes, *dimension); });
    return plain && conjuncts && bound_one_form(*conjuncts) &&
           (!conjuncts->empty() || is_closed(axes, component));
}

std::set<Symbol> symbols_of(const std::vector<Axis>& axes, const Component& component) {
    std::set<Symbol> symbols;
    const auto add_size = [&](AxisId axis) {
        for (const Symbol symbol : symbols_of(size_formula(axes, axis))) symbols.insert(symbol);
    };
    const auto add_axes = [&](const Expression& expression) {
        walk(expression, [&](const Expression& node) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&node.node)) add_size(index->axis);
            if (const SizeOf* size = std::get_if<SizeOf>(&node.node)) add_size(size->axis);
        });
    };
    for (const Partition* partition : component.path) {
        symbols.insert(partition->symbol());
        add_size(partition->axis);
    }
    for (const Footprint* dimension : component.dimensions)
        for (const Expression& index : dimension->index) add_axes(index);
    for (const VisibleWhen& mask : component.masks) add_axes(*mask.condition);
    return symbols;
}

Formula tiles_of(const Formula& width, const std::vector<Formula>& sizes) {
    if (sizes.size() == 1) return ceil_divide(width, sizes.front());
    const std::vector<Formula> inner(sizes.begin() + 1, sizes.end());
    return floor_divide(width, sizes.front()) * tiles_of(sizes.front(), inner) +
           tiles_of(modulo(width, sizes.front()), inner);
}

bool is_closed(const std::vector<Axis>& axes, const Component& component) {
    return closed_width(axes, component, false).has_value();
}

std::optional<std::int64_t> closed_value(const std::vector<Axis>& axes,
                                         const Component& component) {
    const std::optional<LinearWidth> width = closed_width(axes, component, false);
    if (!width) return std::nullopt;
    std::map<AxisId, std::vector<std::int64_t>> sizes;
    for (const Partition* partition : component.path)
        sizes[partition->axis].push_back(partition->size);
    const auto tiles_but = [&](std::optional<AxisId> left_out) {
        CheckedInt product = 1;
        for (const auto& [axis, own] : sizes)
            if (axis != left_out) product = product * tiles_of(axes[axis.index()].extent, own);
        return product;
    };
    CheckedInt total = CheckedInt(width->rest.value) * tiles_but(std::nullopt);
    for (const auto& [axis, factor] : width->factors)
        total = total + CheckedInt(factor.value) * axes[axis.index()].extent * tiles_but(axis);
    return total.value;
}

std::optional<Formula> component_formula(const std::vector<Axis>& axes, const Component& component,
                                         bool ideal) {
    if (const std::optional<Formula> closed = closed_form(axes, component, ideal)) return closed;
    std::optional<std::vector<Conjunct>> conjuncts = std::vector<Conjunct>{};
    if (!ideal) conjuncts = conjuncts_of(axes, component);
    if (!conjuncts) return std::nullopt;
    const std::optional<std::size_t> chunks = VisitedChunks(axes, component, *conjuncts).choose();
    std::optional<Formula> total = chunks ? chunk_sum(axes, component, *conjuncts, *chunks)
                                          : widths_in_tile(axes, component, std::nullopt, ideal);
    if (!total) return std::nullopt;
    for (const Conjunct& conjunct : *conjuncts) {
        if (chunks && conjunct.form.factors.contains(component.path[*chunks]->axis)) continue;
        const SymbolicRanges ranges = ranges_at(axes, component, conjunct.depth);
        total = *total * at_most(lowest(axes, conjunct.form, ranges), 0);
    }
    for (std::size_t k = component.path.size(); k-- > 0;)
        if (k != chunks)
            total = sum_over(component.path[k]->index(), 0, last_tile(axes, component, k), *total);
    return total;
}

}  // namespace napkin
