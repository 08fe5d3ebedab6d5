#include "perfmodel/prepared_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "derive/liveness.h"
#include "derive/operations.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"
#include "perfmodel/contraction.h"
#include "perfmodel/cost.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/moved.h"
#include "perfmodel/tile_component.h"

namespace napkin {
namespace prepared {

constexpr double kNotYet = -1;
constexpr double kTooLarge = std::numeric_limits<double>::infinity();

double number(const std::optional<std::int64_t>& value) {
    return value ? static_cast<double>(*value) : kTooLarge;
}

/// A number that depends on the sizes in some lists.
struct Factor {
    std::vector<std::pair<std::size_t, std::size_t>> lists;  ///< with their steps in the table
    std::vector<double> table;
    std::function<double(Picks)> value;
    double now = 0;

    void look_up(Picks picks) {
        std::size_t at = 0;
        for (const auto& [list, step] : lists) at += step * picks[list];
        if (table[at] == kNotYet) table[at] = value(picks);
        now = table[at];
    }
};

/// A constant times factors, by their places.
struct Term {
    double constant = 1;
    std::vector<std::size_t> factors;
};
using Sum = std::vector<Term>;

void add(double constant, const Term& term, Sum& sum) {
    if (constant == 0) return;
    const auto same = std::find_if(
        sum.begin(), sum.end(), [&](const Term& known) { return known.factors == term.factors; });
    if (same == sum.end())
        sum.push_back({constant * term.constant, term.factors});
    else
        same->constant += constant * term.constant;
}

/// Factors with the numbers that they have where one looked last.
class Factors {
public:
    void look_up(Picks picks) {
        for (Factor& factor : all_) factor.look_up(picks);
    }
    [[nodiscard]] double of(const Term& term) const {
        double product = term.constant;
        for (const std::size_t factor : term.factors) product *= all_[factor].now;
        return product;
    }
    [[nodiscard]] double of(const Sum& sum) const {
        double total = 0;
        for (const Term& term : sum) total += of(term);
        return total;
    }
    /// One more, which depends on these lists.
    std::size_t add(const std::set<std::size_t>& depends, const std::vector<SizeList>& lists,
                    std::function<double(Picks)> value) {
        Factor factor;
        std::size_t step = 1;
        for (const std::size_t list : depends) {
            factor.lists.emplace_back(list, step);
            step *= lists[list].sizes.size();
        }
        factor.table.assign(step, kNotYet);
        factor.value = std::move(value);
        all_.push_back(std::move(factor));
        return all_.size() - 1;
    }

private:
    std::vector<Factor> all_;
};

/// A load or a save at block level.
struct Moving {
    Term values;
    double bits = 0;  ///< of a value
    bool is_save = false;
    double once = 0;         ///< bits of the array, where this is what touches it first
    double piece = 0;        ///< elements of a row that a tile has; 0 where it has whole rows
    double row = 0;          ///< elements of it
    bool in_chunks = false;  ///< whether the block itself has the others later
    std::optional<std::size_t> pieces;  ///< the list that they are chosen from, where one is
    [[nodiscard]] double pieces_of(const std::vector<SizeList>& lists, Picks picks) const {
        return pieces ? static_cast<double>(lists[*pieces].sizes[picks[*pieces]]) : piece;
    }
};

struct Tables {
    std::vector<SizeList> lists;
    std::vector<Axis> axes;
    KnownMasks masks{axes};
    Factors capacities;
    std::vector<Sum> moments;  ///< what is held then, in bits
    Factors counts;
    std::vector<Moving> moving;
    Sum operations;
    Sum exponentials;
    std::map<ElementType, Sum> products;
    Sum operands;
    Term blocks;
    bool data_decides = false;

    [[nodiscard]] std::optional<std::size_t> list_of(Symbol symbol) const {
        const auto found = std::find_if(lists.begin(), lists.end(), [&](const SizeList& list) {
            return list.symbol == symbol;
        });
        if (found == lists.end()) return std::nullopt;
        return static_cast<std::size_t>(found - lists.begin());
    }
};

/// Walks a region with the partitions around each statement.
class Preparation {
public:
    Preparation(const RegionProgram& region, MaskCounts masks, Tables& tables)
        : region_(region), masks_(masks), tables_(tables) {}

    void run() {
        prepare_moments();
        walk(region_.body);
    }

private:
    void prepare_moments() {
        std::map<VariableId, Term> held;
        for (const Moment& moment : liveness(region_)) {
            Sum sum;
            for (const VariableId id : moment.during) {
                const Variable& variable = region_.variables[id.index()];
                if (variable.level != Level::Block) continue;
                if (!held.contains(id)) held.emplace(id, capacity_of(variable));
                add(static_cast<double>(bits_of(variable.type)), held.at(id), sum);
            }
            tables_.moments.push_back(std::move(sum));
        }
    }

    Term capacity_of(const Variable& variable) {
        Term term;
        for (std::size_t k = 0; k < variable.capacity.size(); ++k) {
            const Formula& formula = variable.capacity[k];
            std::set<std::size_t> depends;
            for (const Symbol symbol : symbols_of(formula))
                if (const auto list = tables_.list_of(symbol)) depends.insert(*list);
            if (depends.empty()) {
                term.constant *= static_cast<double>(variable.capacity_extent[k]);
                continue;
            }
            const auto known =
                std::find_if(formulas_.begin(), formulas_.end(),
                             [&](const auto& entry) { return entry.first == formula; });
            if (known != formulas_.end()) {
                term.factors.push_back(known->second);
                continue;
            }
            auto value = [&lists = tables_.lists, formula, depends,
                          sizes = sizes_of(region_)](Picks picks) mutable {
                for (const std::size_t list : depends)
                    sizes[lists[list].symbol] = lists[list].sizes[picks[list]];
                return static_cast<double>(evaluate_integer(formula, sizes));
            };
            term.factors.push_back(
                tables_.capacities.add(depends, tables_.lists, std::move(value)));
            formulas_.emplace_back(formula, term.factors.back());
        }
        std::sort(term.factors.begin(), term.factors.end());
        return term;
    }

    void walk(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { enter(partition_of(node), node.body); },
                           [&](const Loop& node) {
                               if (!node.data_masks.empty()) tables_.data_decides = true;
                               enter(partition_of(node), node.body);
                           },
                           [&](const Load& node) { move(moved_by(region_, node)); },
                           [&](const Compute& node) { compute(node); },
                           [&](const Save& node) { move(moved_by(region_, node)); },
                       },
                       statement.node);
    }

    void enter(Partition partition, const std::vector<TileStatement>& body) {
        const bool is_group = !partition.is_loop && partition.level == Level::Block;
        if (is_group && grouped_.insert(partition.axis).second)
            for (const CountFactor& factor : factors_of({partition}, {}))
                multiply(factor, tables_.blocks);
        path_.push_back(std::move(partition));
        walk(body);
        path_.pop_back();
    }

    void move(const Moved& moved) {
        if (moved.level != Level::Block) return;
        Moving moving{count(moved.dimensions),
                      static_cast<double>(bits_of(moved.type)),
                      moved.is_save,
                      0,
                      0,
                      0,
                      false,
                      std::nullopt};
        if (const std::optional<AxisId> along = axis_along(moved))
            for (const Partition& partition : path_)
                if (partition.axis == *along) {
                    moving.piece = static_cast<double>(partition.size);
                    moving.row = static_cast<double>(region_.axes[partition.axis.index()].extent);
                    moving.in_chunks = partition.is_loop;
                    moving.pieces = tables_.list_of(partition.symbol());
                }
        if (touched_.emplace(moved.array, moved.is_save).second) {
            moving.once = moving.bits;
            for (const AxisId axis : region_.arrays[moved.array.index()].axes)
                moving.once *= static_cast<double>(region_.axes[axis.index()].extent);
        }
        tables_.moving.push_back(std::move(moving));
    }

    void compute(const Compute& compute) {
        const OperationCounts counts = operations_of(compute.statement);
        const std::vector<AxisId>& axes =
            region_.arrays[compute.statement.targets.front().index()].axes;
        std::vector<AxisId> all = axes;
        for (const AxisId axis : folded_axes(compute.statement))
            if (!contains(all, axis)) all.push_back(axis);
        const Term once = count(footprints_of(axes));
        const Term each = count(footprints_of(all));
        const auto times = [](std::int64_t factor, const Term& elements, Sum& sum) {
            add(static_cast<double>(factor), elements, sum);
        };
        times(counts.flops_each, each, tables_.operations);
        times(counts.flops_once, once, tables_.operations);
        times(counts.exponentials_each, each, tables_.exponentials);
        times(counts.exponentials_once, once, tables_.exponentials);
        if (const auto operands = type_of_products(region_, compute)) {
            const std::int64_t own = std::min(counts.flops_each, kMultiplyAdd);
            times(own, each, tables_.products[*operands]);
            times(counts.flops_each - own, each, tables_.operands);
        }
    }

    Term count(const std::vector<Footprint>& dimensions) {
        Term term;
        const std::vector<CountFactor> exact = factors_of(path_, dimensions);
        const auto has_mask = [](const CountFactor& factor) { return !factor.masks.empty(); };
        const bool shares =
            masks_ == MaskCounts::Mean && std::any_of(exact.begin(), exact.end(), has_mask);
        for (const CountFactor& factor : exact)
            if (shares && has_mask(factor)) term.constant *= share_of(factor);
        for (const CountFactor& factor : shares ? factors_of(unmasked(path_), dimensions) : exact)
            multiply(factor, term);
        std::sort(term.factors.begin(), term.factors.end());
        return term;
    }

    void multiply(const CountFactor& factor, Term& term) {
        std::set<std::size_t> depends;
        for (const Partition& partition : factor.path)
            if (const auto list = tables_.list_of(partition.symbol())) depends.insert(*list);
        const auto known = std::find_if(known_.begin(), known_.end(),
                                        [&](const auto& entry) { return entry.first == factor; });
        if (known != known_.end()) {
            term.factors.push_back(known->second);
            return;
        }
        auto value = [&tables = tables_, own = factor](Picks picks) mutable {
            for (Partition& partition : own.path)
                if (const auto list = tables.list_of(partition.symbol()))
                    partition.size = tables.lists[*list].sizes[picks[*list]];
            return number(value_of(tables.axes, own, tables.masks));
        };
        if (depends.empty()) {
            term.constant *= value(Picks());
            return;
        }
        term.factors.push_back(tables_.counts.add(depends, tables_.lists, std::move(value)));
        known_.emplace_back(factor, term.factors.back());
    }

    /// What the masks of a factor leave at middling sizes.
    double share_of(CountFactor factor) {
        constexpr std::int64_t kTiles = 32;
        const auto known = std::find_if(shares_.begin(), shares_.end(),
                                        [&](const auto& entry) { return entry.first == factor; });
        if (known != shares_.end()) return known->second;
        const CountFactor key = factor;
        for (Partition& partition : factor.path)
            partition.size =
                std::max<std::int64_t>(tables_.axes[partition.axis.index()].extent / kTiles, 1);
        double all = 1;
        for (const CountFactor& part : factors_of(unmasked(factor.path), factor.dimensions))
            all *= number(value_of(tables_.axes, part, tables_.masks));
        const double share =
            all > 0 ? number(value_of(tables_.axes, factor, tables_.masks)) / all : 1;
        shares_.emplace_back(key, std::isfinite(share) ? share : 1);
        return shares_.back().second;
    }
    static std::vector<Partition> unmasked(std::vector<Partition> path) {
        for (Partition& partition : path) partition.visible.clear();
        return path;
    }

    const RegionProgram& region_;
    MaskCounts masks_;
    Tables& tables_;
    std::vector<std::pair<Formula, std::size_t>> formulas_;
    std::vector<std::pair<CountFactor, std::size_t>> known_;
    std::vector<std::pair<CountFactor, double>> shares_;
    std::vector<Partition> path_;
    std::set<AxisId> grouped_;
    std::set<std::pair<ArrayId, bool>> touched_;
};

/// What fits in 64 bits.
std::int64_t whole(double count) {
    constexpr double kMost = 9e18;
    return static_cast<std::int64_t>(std::min(count, kMost));
}

}  // namespace prepared

PreparedCost::PreparedCost(const RegionProgram& region, std::vector<SizeList> lists,
                           MaskCounts masks)
    : tables_(std::make_unique<prepared::Tables>()) {
    tables_->lists = std::move(lists);
    tables_->axes = region.axes;
    prepared::Preparation(region, masks, *tables_).run();
}
PreparedCost::~PreparedCost() = default;
PreparedCost::PreparedCost(PreparedCost&&) noexcept = default;

double PreparedCost::held_bits(Picks picks) {
    tables_->capacities.look_up(picks);
    double most = 0;
    for (const prepared::Sum& moment : tables_->moments)
        most = std::max(most, tables_->capacities.of(moment));
    return most;
}

KernelWork PreparedCost::work(Picks picks) {
    const prepared::Factors& counts = tables_->counts;
    tables_->counts.look_up(picks);
    KernelWork work;
    double compulsory = 0;
    for (const prepared::Moving& moving : tables_->moving) {
        const double values = counts.of(moving.values);
        const double bits = values * moving.bits;
        work.values += values;
        (moving.is_save ? work.saved : work.loaded) += std::ceil(bits / 8);
        const double pieces = moving.pieces_of(tables_->lists, picks);
        if (pieces > 0)
            work.sectors += (sector_share(pieces, moving.bits) - 1) * std::ceil(bits / 8);
        work.apart +=
            apart_share(pieces, moving.row, moving.bits, moving.in_chunks) * std::ceil(bits / 8);
        compulsory += std::min(moving.once, bits);
    }
    work.compulsory = compulsory / 8;
    work.blocks = prepared::whole(counts.of(tables_->blocks));
    work.data_decides = tables_->data_decides;
    ArithmeticCost arithmetic;
    arithmetic.operations = prepared::whole(counts.of(tables_->operations));
    arithmetic.exponentials = prepared::whole(counts.of(tables_->exponentials));
    for (const auto& [type, sum] : tables_->products)
        arithmetic.products[type] = prepared::whole(counts.of(sum));
    arithmetic.operands = prepared::whole(counts.of(tables_->operands));
    return general_work(std::move(work), arithmetic, std::ceil(held_bits(picks) / 8));
}

}  // namespace napkin
