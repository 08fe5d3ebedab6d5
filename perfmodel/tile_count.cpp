#include "perfmodel/tile_count.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/checked.h"
#include "perfmodel/tile_component.h"

namespace napkin {

/// A component's sum in all forms.
struct ComponentCount {
    std::int64_t value = 0;
    Formula formula;
    std::optional<Polynomial> ideal;
    std::set<Symbol> open;
};

namespace {

/// Tiles visited to check a formula against; beyond it the formula stands alone.
constexpr double kMostInstances = 3000;
/// Tiles that take a tenth of a second to ask a mask about.
constexpr double kMostAsked = 100'000;
/// Boxes of tiles that take a hundredth of a second.
constexpr std::size_t kMostQuickBoxes = 4000;

std::set<AxisId> axes_of_dimension(const Footprint& dimension) {
    std::set<AxisId> axes;
    for (const Expression& index : dimension.index) axes.merge(axes_used(index));
    return axes;
}

/// Groups partitioned axes that meet in a dimension or a mask.
class Grouping {
public:
    explicit Grouping(const std::vector<Partition>& path) {
        for (const Partition& partition : path) roots_[partition.axis] = partition.axis;
    }
    AxisId root(AxisId axis) const {
        while (roots_.at(axis) != axis) axis = roots_.at(axis);
        return axis;
    }
    /// The partitioned ones among axes that meet.
    std::vector<AxisId> partitioned(const std::set<AxisId>& axes) const {
        std::vector<AxisId> result;
        for (AxisId axis : axes)
            if (roots_.contains(axis)) result.push_back(axis);
        return result;
    }
    void join(const std::set<AxisId>& axes) {
        const std::vector<AxisId> those = partitioned(axes);
        for (AxisId axis : those) roots_[root(axis)] = root(those.front());
    }

private:
    std::map<AxisId, AxisId> roots_;
};

std::vector<Component> components_of(const std::vector<Partition>& path,
                                     const std::vector<Footprint>& dimensions) {
    Grouping grouping(path);
    for (const Footprint& dimension : dimensions) grouping.join(axes_of_dimension(dimension));
    for (const Partition& partition : path)
        for (const Expression& mask : partition.visible) grouping.join(axes_used(mask));
    std::map<AxisId, Component> components;
    std::vector<Component> constant;
    for (const Partition& partition : path) {
        Component& component = components[grouping.root(partition.axis)];
        component.path.push_back(&partition);
        for (const Expression& mask : partition.visible) {
            const std::vector<AxisId> those = grouping.partitioned(axes_used(mask));
            Component& masked =
                those.empty() ? component : components[grouping.root(those.front())];
            masked.masks.push_back({&mask, masked.path.size()});
        }
    }
    for (const Footprint& dimension : dimensions) {
        const std::vector<AxisId> those = grouping.partitioned(axes_of_dimension(dimension));
        if (those.empty())
            constant.push_back({{}, {&dimension}, {}});
        else
            components[grouping.root(those.front())].dimensions.push_back(&dimension);
    }
    for (auto& [root, component] : components) constant.push_back(std::move(component));
    return constant;
}

/// Terms of a formula's sums, were there as many in each as in the first.
double terms_of(const Formula& formula, SymbolValues sizes) {
    double terms = 0;
    if (formula.op != FormulaOp::Sum) {
        for (const Formula& part : formula.args) terms += terms_of(part, sizes);
        return terms;
    }
    const std::optional<Rational> first = evaluate(formula.args[0], sizes);
    const std::optional<Rational> last = evaluate(formula.args[1], sizes);
    if (!first || !last || *last < *first) return 0;
    sizes[formula.symbol] = first->numerator / first->denominator;
    return (to_double(*last) - to_double(*first) + 1) *
           std::max(1.0, terms_of(formula.args[2], sizes));
}

/// Whether masks without a closed form would have to be asked of many tiles.
bool is_slow(const std::vector<Axis>& axes, const Component& component, KnownMasks& masks) {
    return !is_halved(axes, component) && instances_of(axes, component) > kMostAsked &&
           !boxes_value(axes, component, masks);
}

/// Every tile, seen or not.
std::optional<std::int64_t> value_without_masks(const std::vector<Axis>& axes,
                                                const Component& component) {
    std::vector<Partition> path;
    for (const Partition* partition : component.path) {
        path.push_back(*partition);
        path.back().visible.clear();
    }
    std::vector<Footprint> dimensions;
    for (const Footprint* dimension : component.dimensions) dimensions.push_back(*dimension);
    CheckedInt product = 1;
    for (const Component& part : components_of(path, dimensions))
        product = product * CheckedInt(closed_value(axes, part));
    return product.value;
}

std::optional<ComponentCount> count_exactly(const std::vector<Axis>& axes,
                                            const Component& component, const SymbolValues& sizes,
                                            bool quick, KnownMasks& masks) {
    if (quick)
        if (const std::optional<std::int64_t> value = closed_value(axes, component))
            return ComponentCount{*value, {}, {}, {}};
    const std::optional<Formula> formula = component_formula(axes, component, false);
    const double terms = formula ? terms_of(*formula, sizes) : 0;
    if (terms > kMostInstances)
        if (const std::optional<std::int64_t> value = boxes_value(axes, component, masks))
            return ComponentCount{*value, *formula, {}, {}};
    std::optional<std::int64_t> said;
    if (formula && !(quick && terms > kMostAsked)) {
        const std::optional<Rational> value = evaluate(*formula, sizes);
        if (!value && is_closed(axes, component)) return std::nullopt;
        if (value && value->denominator == 1) said = value->numerator;
    }
    const bool trusted = said && (quick || is_closed(axes, component) ||
                                  instances_of(axes, component) > kMostInstances);
    if (trusted) return ComponentCount{*said, *formula, {}, {}};
    const std::size_t most = quick ? kMostQuickBoxes : kAnyBoxes;
    const std::optional<std::int64_t> seen = quick && is_slow(axes, component, masks)
                                                 ? value_without_masks(axes, component)
                                                 : component_value(axes, component, masks, most);
    if (!seen) return std::nullopt;
    return ComponentCount{*seen, said == seen ? *formula : Formula(*seen), {}, {}};
}

std::optional<ComponentCount> count_component(const std::vector<Axis>& axes,
                                              const Component& component, const SymbolValues& sizes,
                                              bool quick, KnownMasks& masks) {
    std::optional<ComponentCount> counted = count_exactly(axes, component, sizes, quick, masks);
    if (!counted || quick) return counted;
    const std::optional<Formula> ideal = component_formula(axes, component, true);
    if (ideal) counted->ideal = idealise(*ideal);
    if (!holds_at_any_size(axes, component)) counted->open = symbols_of(axes, component);
    return counted;
}

/// Conditions that share no axis, each the conjunction of those that do: interval reasoning
/// intersects conjuncts about the same axes only, so it decides them apart as it does together.
std::vector<Expression> independent_masks(const std::vector<Expression>& visible) {
    std::vector<Expression> conjuncts;
    for (const Expression& condition : visible)
        for (Expression& part : conjuncts_of(condition)) conjuncts.push_back(std::move(part));
    std::vector<std::pair<std::set<AxisId>, Expression>> masks;
    for (const Expression& conjunct : conjuncts) {
        std::pair<std::set<AxisId>, Expression> mask{axes_used(conjunct), conjunct};
        const auto shares = [&](const auto& other) {
            return std::any_of(mask.first.begin(), mask.first.end(),
                               [&](AxisId axis) { return other.first.contains(axis); });
        };
        for (auto other = masks.begin(); other != masks.end();) {
            if (!shares(*other)) {
                ++other;
                continue;
            }
            mask.first.insert(other->first.begin(), other->first.end());
            mask.second = apply(Function::And, {other->second, mask.second});
            other = masks.erase(other);
        }
        masks.push_back(std::move(mask));
    }
    std::vector<Expression> result;
    for (auto& [axes, mask] : masks) result.push_back(std::move(mask));
    return result;
}

void collect_sizes(const std::vector<TileStatement>& body, SymbolValues& sizes) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            sizes[group_size(parallel->axis, parallel->level)] = parallel->size;
            collect_sizes(parallel->body, sizes);
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            sizes[stream_size(loop->axis, loop->level)] = loop->size;
            collect_sizes(loop->body, sizes);
        }
    }
}

}  // namespace

Footprint footprint_of(AxisId axis) {
    return {{axis_index(axis)}, std::nullopt, {}};
}

Partition partition_of(const Parallel& parallel) {
    return {parallel.axis, parallel.size, parallel.level, false, {}};
}

Partition partition_of(const Loop& loop) {
    return {loop.axis, loop.size, loop.level, true, independent_masks(loop.visible)};
}

SymbolValues sizes_of(const RegionProgram& region) {
    SymbolValues sizes = extents_of(region.axes);
    collect_sizes(region.body, sizes);
    return sizes;
}

namespace {

CountFactor factor_of(const Component& component) {
    CountFactor factor;
    for (const Partition* partition : component.path) factor.path.push_back(*partition);
    for (const Footprint* dimension : component.dimensions) factor.dimensions.push_back(*dimension);
    for (const VisibleWhen& mask : component.masks)
        factor.masks.emplace_back(*mask.condition, mask.depth);
    return factor;
}

/// Points into the factor.
Component component_of(const CountFactor& factor) {
    Component component;
    for (const Partition& partition : factor.path) component.path.push_back(&partition);
    for (const Footprint& dimension : factor.dimensions) component.dimensions.push_back(&dimension);
    for (const auto& [condition, depth] : factor.masks)
        component.masks.push_back({&condition, depth});
    return component;
}

}  // namespace

/// A component by value, with its sum.
struct TileCounter::Known {
    CountFactor factor;
    std::optional<ComponentCount> counted;

    [[nodiscard]] bool is(const Component& component) const {
        const auto same = [](const auto& value, const auto* pointer) { return value == *pointer; };
        return std::equal(factor.path.begin(), factor.path.end(), component.path.begin(),
                          component.path.end(), same) &&
               std::equal(factor.dimensions.begin(), factor.dimensions.end(),
                          component.dimensions.begin(), component.dimensions.end(), same) &&
               std::equal(factor.masks.begin(), factor.masks.end(), component.masks.begin(),
                          component.masks.end(), [](const auto& mask, const VisibleWhen& when) {
                              return mask.first == *when.condition && mask.second == when.depth;
                          });
    }
};

std::vector<CountFactor> factors_of(const std::vector<Partition>& path,
                                    const std::vector<Footprint>& dimensions) {
    std::vector<CountFactor> factors;
    for (const Component& component : components_of(path, dimensions))
        factors.push_back(factor_of(component));
    return factors;
}

std::optional<std::int64_t> value_of(const std::vector<Axis>& axes, const CountFactor& factor,
                                     KnownMasks& masks) {
    const Component component = component_of(factor);
    if (const std::optional<std::int64_t> closed = closed_value(axes, component)) return closed;
    SymbolValues sizes = extents_of(axes);
    for (const Partition& partition : factor.path) sizes[partition.symbol()] = partition.size;
    const auto counted = count_exactly(axes, component, sizes, true, masks);
    return counted ? std::optional(counted->value) : std::nullopt;
}

TileCounter::TileCounter(const std::vector<Axis>& axes, SymbolValues sizes, bool quick)
    : axes_(axes),
      sizes_(std::move(sizes)),
      quick_(quick),
      masks_(std::make_unique<KnownMasks>(axes)) {}
TileCounter::~TileCounter() = default;

std::optional<Formula> tiles_formula(const std::vector<Axis>& axes,
                                     const std::vector<Partition>& path) {
    Formula product(1);
    for (const Component& component : components_of(path, {})) {
        const std::optional<Formula> formula = component_formula(axes, component, false);
        if (!formula) return std::nullopt;
        product = product * *formula;
    }
    return product;
}

std::optional<TileCount> TileCounter::count(const std::vector<Partition>& path,
                                            const std::vector<Footprint>& dimensions) {
    TileCount total;
    total.values = 1;
    if (!quick_) {
        total.formula = Formula(1);
        total.ideal = constant_polynomial(rational(1));
    }
    for (const Component& component : components_of(path, dimensions)) {
        auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& entry) { return entry->is(component); });
        if (known == known_.end()) {
            known_.push_back(std::make_unique<Known>(Known{
                factor_of(component), count_component(axes_, component, sizes_, quick_, *masks_)}));
            known = std::prev(known_.end());
        }
        const std::optional<ComponentCount>& counted = (*known)->counted;
        const CheckedInt values =
            counted ? CheckedInt(total.values) * counted->value : std::nullopt;
        if (!values) return std::nullopt;
        total.values = *values;
        if (quick_) continue;
        total.formula = total.formula * counted->formula;
        total.open.insert(counted->open.begin(), counted->open.end());
        total.ideal = total.ideal && counted->ideal ? std::optional(*total.ideal * *counted->ideal)
                                                    : std::nullopt;
    }
    return total;
}

}  // namespace napkin
