#include "perfmodel/cost.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "derive/liveness.h"
#include "derive/operations.h"
#include "diagrams/checked.h"
#include "diagrams/overloaded.h"
#include "diagrams/rounding.h"
#include "perfmodel/affine_masks.h"
#include "perfmodel/amount.h"
#include "perfmodel/contraction.h"
#include "perfmodel/cost_messages.h"
#include "perfmodel/linear_width.h"
#include "perfmodel/memory_cost.h"
#include "perfmodel/moved.h"

namespace napkin {

namespace {

/// Adds to a total; false where it does not fit in 64 bits.
bool add(std::int64_t amount, std::int64_t& total) {
    return put(CheckedInt(total) + amount, total);
}

/// Tile sizes, then axes as declared, woven ones first.
std::vector<Symbol> symbol_order(const RegionProgram& region, const RegionCost& cost) {
    std::vector<Symbol> order;
    for (const auto& [symbol, size] : cost.sizes)
        if (is_tile_size(symbol)) order.push_back(symbol);
    std::sort(order.begin(), order.end(),
              [&](Symbol a, Symbol b) { return cost.names(a) < cost.names(b); });
    for (bool woven : {true, false})
        for (std::uint32_t i = 0; i < region.axes.size(); ++i)
            if (region.axes[i].woven == woven) order.push_back(axis_size(AxisId{i}));
    return order;
}

bool is_masked(const Partition& partition) {
    return !partition.visible.empty();
}

/// Whether a loop at the block's level with a mask stands anywhere in it.
bool has_masked_loop(const std::vector<TileStatement>& body) {
    return std::any_of(body.begin(), body.end(), [](const TileStatement& statement) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            return has_masked_loop(parallel->body);
        const Loop* loop = std::get_if<Loop>(&statement.node);
        return loop != nullptr &&
               ((loop->level == Level::Block && is_masked(partition_of(*loop))) ||
                has_masked_loop(loop->body));
    });
}

/// Walks a region with the partitions around each statement.
class RegionCoster {
public:
    RegionCoster(const RegionProgram& region, bool quick)
        : region_(region), quick_(quick), counter_(region.axes, sizes_of(region), quick) {
        cost_.name = region.name;
        cost_.sizes = sizes_of(region);
        if (quick) return;
        cost_.names = SymbolNames(region.axes);
        cost_.order = symbol_order(region, cost_);
        for (const Variable& variable : region.variables) add_width(variable.type);
        for (const auto& [array, type] : region.stored) add_width(type);
    }

    Result<RegionCost> run();

private:
    void walk(const std::vector<TileStatement>& body);
    void enter(Partition partition, const std::vector<TileStatement>& body);
    void load(const Load& load);
    void compute(const Compute& compute);
    void transfer(const Moved& moved, Transfer transfer);
    void note_chunks(const std::vector<TileStatement>& body);
    void note_rounded_sizes();
    void add_columns(const std::vector<Moment>& moments);
    void drop_woven_groups();
    [[nodiscard]] std::optional<TileCount> count(const std::vector<Footprint>& dimensions) {
        std::optional<TileCount> counted = counter_.count(path_, dimensions);
        if (counted) cost_.formulas.open.merge(counted->open);
        return counted;
    }
    void add_width(ElementType type) { cost_.sizes[bits_in(type)] = bits_of(type); }
    [[nodiscard]] bool overlaps(const Footprint& dimension) const;

    const RegionProgram& region_;
    bool quick_;
    TileCounter counter_;
    RegionCost cost_;
    std::vector<Partition> path_;
    std::set<std::pair<ArrayId, bool>> touched_;
    bool fits_ = true;
};

void RegionCoster::enter(Partition partition, const std::vector<TileStatement>& body) {
    SizeInUse use;
    use.axis = region_.axes[partition.axis.index()].name;
    use.symbol = partition.symbol();
    use.level = partition.level;
    use.size = partition.size;
    std::int64_t width = region_.axes[partition.axis.index()].extent;
    Formula width_formula = quick_ ? Formula() : size_formula(region_.axes, partition.axis);
    for (const Partition& outer : path_) {
        if (outer.axis != partition.axis) continue;
        width = std::min(width, outer.size);
        if (!quick_) width_formula = min_of(width_formula, outer.symbol());
    }
    use.count = ceil_quotient(width, partition.size);
    std::vector<SizeInUse>& uses = partition.is_loop ? cost_.streams : cost_.groups;
    const auto same = [&](const SizeInUse& other) { return other.symbol == use.symbol; };
    const bool known = std::any_of(uses.begin(), uses.end(), same);
    if (!known && !partition.is_loop && partition.level == Level::Block) {
        fits_ = fits_ && put(CheckedInt(cost_.blocks) * use.count, cost_.blocks);
        Formula& blocks = cost_.formulas.blocks;
        if (!quick_) blocks = blocks * ceil_divide(width_formula, partition.symbol());
    }
    if (!known) uses.push_back(std::move(use));
    path_.push_back(std::move(partition));
    note_chunks(body);
    walk(body);
    path_.pop_back();
}

/// Counts the chunks of a loop, as `mask` counts tiles: of loops with masks inside each other what
/// all of them leave, which the innermost one knows.
void RegionCoster::note_chunks(const std::vector<TileStatement>& body) {
    const Partition& loop = path_.back();
    if (!loop.is_loop || loop.level != Level::Block || has_masked_loop(body)) return;
    const bool is_inside = std::any_of(path_.begin(), path_.end(), is_masked);
    if (is_inside && !is_masked(loop)) return;
    const std::optional<TileCount> visited = count({});
    std::vector<Partition> unmasked = path_;
    for (Partition& partition : unmasked) partition.visible.clear();
    const std::optional<TileCount> all = counter_.count(unmasked, {});
    fits_ = fits_ && visited && all && add(visited->values, cost_.chunks_visited) &&
            add(all->values, cost_.chunks);
}

/// At other sizes the last part of an axis that is taken apart may be cut off, which is another
/// program.
void RegionCoster::note_rounded_sizes() {
    for (const Axis& axis : region_.axes)
        if (!is_polynomial(axis.size))
            for (const Symbol symbol : symbols_of(axis.size)) cost_.formulas.open.insert(symbol);
}

void RegionCoster::walk(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        std::visit(
            overloaded{
                [&](const Parallel& parallel) { enter(partition_of(parallel), parallel.body); },
                [&](const Loop& loop) {
                    cost_.data_decides = cost_.data_decides || !loop.data_masks.empty();
                    enter(partition_of(loop), loop.body);
                },
                [&](const Load& node) { load(node); },
                [&](const Compute& node) { compute(node); },
                [&](const Save& node) { transfer(moved_by(region_, node), {}); },
            },
            statement.node);
}

void RegionCoster::load(const Load& load) {
    const Moved moved = moved_by(region_, load);
    Transfer result;
    result.is_gather = !load.gather.empty();
    result.has_halo = !result.is_gather &&
                      std::any_of(moved.dimensions.begin(), moved.dimensions.end(),
                                  [&](const Footprint& dimension) { return overlaps(dimension); });
    transfer(moved, std::move(result));
}

/// Whether a tile of a dimension is wider than the step to the next one.
bool RegionCoster::overlaps(const Footprint& dimension) const {
    const std::vector<Expression>& index = dimension.index;
    if (index.size() == 1 && std::holds_alternative<AxisIndex>(index.front().node)) return false;
    const std::optional<LinearWidth> linear = linear_width(region_.axes, dimension, false);
    std::map<AxisId, std::int64_t> sizes;  // of the innermost tiles
    for (const Partition& partition : path_) sizes[partition.axis] = partition.size;
    std::int64_t width = linear ? linear->rest.value : 0;
    if (linear)
        for (const auto& [axis, factor] : linear->factors) {
            const auto size = sizes.find(axis);
            width += std::abs(factor.value) *
                     (size != sizes.end() ? size->second : region_.axes[axis.index()].extent);
        }
    return std::any_of(path_.begin(), path_.end(), [&](const Partition& partition) {
        if (!linear)
            return std::any_of(index.begin(), index.end(), [&](const Expression& each) {
                return axes_used(each).contains(partition.axis);
            });
        const auto factor = linear->factors.find(partition.axis);
        return factor != linear->factors.end() &&
               width > std::abs(factor->second.value) * sizes.at(partition.axis);
    });
}

void RegionCoster::transfer(const Moved& moved, Transfer transfer) {
    const std::vector<Footprint>& dimensions = moved.dimensions;
    transfer.is_save = moved.is_save;
    transfer.array = moved.array;
    transfer.level = moved.level;
    transfer.type = moved.type;
    const std::optional<TileCount> counted = count(dimensions);
    std::int64_t bits = 0;
    if (!counted || !put(CheckedInt(counted->values) * bits_of(transfer.type), bits)) {
        fits_ = false;
        return;
    }
    transfer.name = region_.arrays[transfer.array.index()].name;
    transfer.amount = {counted->values,
                       bits,
                       {{transfer.type, counted->values}},
                       counted->formula,
                       Formula(bits_in(transfer.type)) * counted->formula,
                       counted->ideal,
                       in_bits(counted->ideal, transfer.type)};
    std::set<AxisId> used;
    for (const Footprint& dimension : dimensions)
        for (const Expression& index : dimension.index) used.merge(axes_used(index));
    for (const Partition& partition : path_) {
        if (!used.contains(partition.axis)) transfer.repeats.push_back(partition);
        if (!partition.visible.empty()) transfer.is_masked = true;
    }
    if (const std::optional<AxisId> along = axis_along(moved))
        for (const Partition& partition : path_)
            if (partition.axis == *along) {
                const auto piece = static_cast<double>(partition.size);
                const auto each = static_cast<double>(bits_of(transfer.type));
                const auto row = static_cast<double>(region_.axes[along->index()].extent);
                transfer.sectors = sector_share(piece, each);
                transfer.apart = apart_share(piece, row, each, partition.is_loop);
            }
    LevelCost& level =
        cost_.levels.try_emplace(transfer.level, LevelCost{nothing(), nothing(), nothing()})
            .first->second;
    fits_ = fits_ && add(transfer.amount, level.transferred);
    const bool is_outermost = transfer.level == Level::Block;
    if (is_outermost && touched_.emplace(transfer.array, transfer.is_save).second) {
        CheckedInt once = bits_of(transfer.type);
        Formula formula(bits_in(transfer.type));
        for (AxisId axis : region_.arrays[transfer.array.index()].axes) {
            once = once * region_.axes[axis.index()].extent;
            if (!quick_) formula = formula * size_formula(region_.axes, axis);
        }
        fits_ = fits_ && once && add(std::min(*once, bits), cost_.compulsory_bits);
        Formula& total = cost_.formulas.compulsory_bits;
        if (!quick_) total = total + min_of(formula, transfer.amount.bit_formula);
    }
    cost_.transfers.push_back(std::move(transfer));
}

void RegionCoster::compute(const Compute& compute) {
    const OperationCounts operations = operations_of(compute.statement);
    const std::vector<AxisId>& axes =
        region_.arrays[compute.statement.targets.front().index()].axes;
    std::vector<AxisId> all = axes;
    for (AxisId axis : folded_axes(compute.statement))
        if (std::find(all.begin(), all.end(), axis) == all.end()) all.push_back(axis);
    const std::optional<TileCount> once = count(footprints_of(axes));
    const std::optional<TileCount> each = count(footprints_of(all));
    if (!once || !each) {
        fits_ = false;
        return;
    }
    const auto times = [&](const TileCount& elements, std::int64_t factor, std::int64_t& total,
                           Formula& formula) {
        fits_ = fits_ && put(CheckedInt(total) + CheckedInt(elements.values) * factor, total);
        if (!quick_) formula = formula + Formula(factor) * elements.formula;
    };
    ArithmeticCost& total = cost_.arithmetic;
    CountFormulas& formulas = cost_.formulas;
    times(*each, operations.flops_each, total.operations, formulas.operations);
    times(*once, operations.flops_once, total.operations, formulas.operations);
    times(*each, operations.exponentials_each, total.exponentials, formulas.exponentials);
    times(*once, operations.exponentials_once, total.exponentials, formulas.exponentials);
    if (const std::optional<ElementType> operands = type_of_products(region_, compute)) {
        const std::int64_t own = std::min(operations.flops_each, kMultiplyAdd);
        times(*each, own, total.products[*operands], formulas.products[*operands]);
        times(*each, operations.flops_each - own, total.operands, formulas.operands);
    }
}

void RegionCoster::add_columns(const std::vector<Moment>& moments) {
    CostColumn load{CostColumn::Kind::Load, "load", {}, nothing(), nothing()};
    CostColumn work{CostColumn::Kind::Compute, cost_.name, {}, nothing(), nothing()};
    CostColumn save{CostColumn::Kind::Save, "save", {}, nothing(), nothing()};
    for (const Transfer& transfer : cost_.transfers) {
        if (transfer.level != Level::Block) continue;
        CostColumn& column = transfer.is_save ? save : load;
        column.arrays.push_back(transfer.array);
        fits_ = fits_ && add(transfer.amount, column.transferred);
    }
    std::vector<Amount> loaded;
    std::vector<Amount> saved;
    for (const Moment& moment : moments) {
        const Load* into = std::get_if<Load>(&moment.statement->node);
        const Save* out = std::get_if<Save>(&moment.statement->node);
        if (into == nullptr && out == nullptr) continue;
        std::optional<Amount> held =
            held_by(region_, into != nullptr ? moment.after : moment.during, Level::Block);
        if (held) (into != nullptr ? loaded : saved).push_back(std::move(*held));
    }
    load.memory = leading_most_of(loaded, cost_.sizes);
    save.memory = leading_most_of(saved, cost_.sizes);
    work.memory = cost_.levels[Level::Block].memory;
    cost_.columns = {std::move(load), std::move(work), std::move(save)};
}

/// Woven axes are grouped by 1 from the start; ideal forms need no symbol for it.
void RegionCoster::drop_woven_groups() {
    std::vector<Amount*> amounts;
    for (Transfer& transfer : cost_.transfers) amounts.push_back(&transfer.amount);
    for (CostColumn& column : cost_.columns) {
        amounts.push_back(&column.transferred);
        amounts.push_back(&column.memory);
    }
    for (auto& [level, cost] : cost_.levels)
        for (Amount* amount : {&cost.transferred, &cost.memory, &cost.allocated})
            amounts.push_back(amount);
    for (const SizeInUse& group : cost_.groups) {
        if (group.size != 1) continue;
        if (!region_.axes[group.symbol.axis.index()].woven) continue;
        for (Amount* amount : amounts) substitute_size(*amount, group.symbol, 1);
    }
}

Result<RegionCost> RegionCoster::run() {
    cost_.levels[Level::Block] = {nothing(), nothing(), nothing()};
    walk(region_.body);
    if (quick_) {
        const std::optional<std::int64_t> held = allocated_bits(region_, Level::Block);
        if (!fits_ || !held) return messages::cost_overflows(region_.name);
        cost_.levels[Level::Block].allocated.bits = *held;
        return std::move(cost_);
    }
    note_rounded_sizes();
    const std::vector<Moment> moments = liveness(region_);
    fits_ = fits_ && add_memory(region_, moments, cost_);
    if (fits_) add_columns(moments);
    drop_woven_groups();
    if (!fits_) return messages::cost_overflows(region_.name);
    return std::move(cost_);
}

/// Symbols of tile sizes on which regions disagree.
SymbolValues disputed_symbols(const std::vector<RegionCost>& regions) {
    SymbolValues seen;
    std::set<Symbol> disputed;
    for (const RegionCost& region : regions)
        for (const std::vector<SizeInUse>* uses : {&region.groups, &region.streams})
            for (const SizeInUse& use : *uses)
                if (!seen.emplace(use.symbol, use.size).second && seen[use.symbol] != use.size)
                    disputed.insert(use.symbol);
    std::erase_if(seen, [&](const auto& entry) { return !disputed.contains(entry.first); });
    return seen;
}

/// The amount with a region's own sizes in place of disputed symbols.
Amount settled(Amount amount, const SymbolValues& disputed, const SymbolValues& own) {
    for (const auto& [symbol, unused] : disputed) {
        const auto size = own.find(symbol);
        if (size == own.end()) continue;
        amount.formula = substitute(amount.formula, symbol, size->second);
        amount.bit_formula = substitute(amount.bit_formula, symbol, size->second);
        substitute_size(amount, symbol, size->second);
    }
    return amount;
}

}  // namespace

Result<RegionCost> cost_of(const RegionProgram& region) {
    return RegionCoster(region, false).run();
}

Result<RegionCost> quick_cost_of(const RegionProgram& region) {
    return RegionCoster(region, true).run();
}

Result<Cost> cost_of(const TileProgram& program) {
    std::vector<RegionCost> regions;
    for (const RegionProgram& region : program.regions) {
        Result<RegionCost> cost = cost_of(region);
        if (!cost) return cost.error();
        regions.push_back(std::move(*cost));
    }
    return cost_of(program.name, std::move(regions));
}

Result<Cost> cost_of(const std::string& program, std::vector<RegionCost> regions) {
    Cost total;
    total.regions = std::move(regions);
    const SymbolValues disputed = disputed_symbols(total.regions);
    bool fits = true;
    for (const RegionCost& region : total.regions) {
        for (const auto& [level, cost] : region.levels)
            fits = fits && add(settled(cost.transferred, disputed, region.sizes),
                               total.transferred.try_emplace(level, nothing()).first->second);
        fits = fits && add(region.arithmetic.operations, total.operations) &&
               add(region.arithmetic.exponentials, total.exponentials);
    }
    if (!fits) return messages::cost_overflows(program);
    return total;
}

}  // namespace napkin
