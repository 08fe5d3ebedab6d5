#include "schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagrams/memory_order.h"
#include "diagrams/overloaded.h"
#include "schedule/arrange.h"
#include "schedule/lane_folds.h"
#include "schedule/pairs.h"
#include "schedule/planner.h"
#include "schedule/stale_gauges.h"
#include "schedule/statements.h"

namespace napkin::schedule {

std::variant<Plan, Refusal> Planner::run() {
    try_plan();
    if (!refused_) return plan_;
    for (const AxisId axis : single_axes()) {
        Planner other(tiled_, limits_, wanted_);
        other.single_row_ = axis;
        other.try_plan();
        if (!other.refused_) return std::move(other.plan_);
        // What it was asked for is nearer than what the region is.
        if (!refused_->setting && other.refused_->setting) refused_ = other.refused_;
    }
    return *refused_;
}

std::vector<AxisId> Planner::single_axes() const {
    std::set<AxisId> folded;
    for (const auto& [leaf, compute] : computes_)
        for (const AxisId axis : folded_axes(compute->statement)) folded.insert(axis);
    std::vector<AxisId> axes;
    for (const auto& [leaf, compute] : computes_)
        for (const AxisId axis : array_of(compute->targets.front()).axes)
            if (!wide(axis) && !folded.contains(axis) &&
                std::find(axes.begin(), axes.end(), axis) == axes.end())
                axes.push_back(axis);
    return axes;
}

void Planner::refuse(std::string reason, std::string help, std::vector<Command> moves) {
    refuse(Refusal{std::move(reason), std::move(help), std::nullopt}, std::move(moves));
}

void Planner::refuse(Refusal refusal, std::vector<Command> moves) {
    if (refused_) return;
    refused_ = std::move(refusal);
    moves_ = std::move(moves);
}

const Array& Planner::array_of(VariableId variable) const {
    return region_.arrays[region_.variables[variable.index()].array.index()];
}

const std::string& Planner::name(AxisId axis) const {
    return region_.axes[axis.index()].name;
}

std::string Planner::names(const std::vector<AxisId>& axes) const {
    std::string text;
    for (std::size_t i = 0; i < axes.size(); ++i)
        text += (i == 0 ? "`" : i + 1 < axes.size() ? ", `" : " and `") + name(axes[i]) + "`";
    return text;
}

bool Planner::wide(AxisId axis) const {
    const auto found = plan_.extents.find(axis);
    return axis == single_row_ || (found != plan_.extents.end() && found->second > 1);
}

std::vector<AxisId> Planner::wide_axes(ArrayId array) const {
    std::vector<AxisId> result;
    for (const AxisId axis : region_.arrays[array.index()].axes)
        if (wide(axis)) result.push_back(axis);
    return result;
}

void Planner::try_plan() {
    collect();
    if (refused_) return;
    plan_.infinite = infinite_arrays(region_);
    find_products();
    if (!products_.empty()) refuse_ordered();
    if (refused_) return;
    const std::vector<std::optional<AxisId>> rows = row_candidates();
    if (rows.empty())
        return refuse("its products share no axis that could be the rows of all of them",
                      "compute them in regions of their own");
    const Plan start = plan_;
    std::optional<Plan> published;
    std::optional<Refusal> first;
    std::vector<Command> moves;
    for (const std::optional<AxisId>& row : rows)
        // Where registers do not hold what is computed too, the block publishes it.
        for (const bool left_in_registers : {true, false}) {
            if (left_in_registers && !limits_.warp_groups) continue;
            plan_ = start;
            refused_.reset();
            spread(row, left_in_registers);
            if (!refused_) {
                if (!limits_.warp_groups ||
                    (published ? makes_left_in_pairs() : !publishes_right_operands()))
                    return;
                if (!published) published = plan_;
                continue;
            }
            if (first && (first->setting || !refused_->setting)) continue;
            first = refused_;
            moves = moves_;
        }
    if (published) {
        plan_ = *std::move(published);
        refused_.reset();
        return;
    }
    refused_ = std::move(first);
    moves_ = std::move(moves);
}

/// Whether the block computes what a product's columns are made of. As its rows every warp group
/// has them in registers, and nobody waits for the others: better, where pairs can be made of them.
bool Planner::publishes_right_operands() const {
    return std::any_of(plan_.products.begin(), plan_.products.end(),
                       [](const auto& each) { return each.second.right.panel.has_value(); });
}

bool Planner::makes_left_in_pairs() const {
    return std::all_of(plan_.products.begin(), plan_.products.end(), [&](const auto& each) {
        const auto& [leaf, product] = each;
        return !product.right.panel && !product.left.panel &&
               (product.left.direct ||
                pairs_serve(region_, plan_, *computes_.at(leaf), product, product.left.value));
    });
}

/// Loads, computations and the extents of axes; refuses what no plan can hold.
void Planner::collect() {
    LeafId leaf;
    for_statements(region_.body, [&](const TileStatement& statement, const Loop* loop) {
        std::visit(overloaded{[&](const Load& load) { collect_load(load, loop); },
                              [&](const Compute& compute) {
                                  loop_of_[leaf] = loop;
                                  collect_compute(leaf, compute);
                              },
                              [&](const Save& save) {
                                  if (save.target) refuse_levels();
                              },
                              [](const auto&) {}},
                   statement.node);
        ++leaf.value;
    });
    for (const auto& [axis, extent] : plan_.extents) along_tiles_.insert(axis);
    widen_others(region_.body, {});
    for (const TileAxis& tile : plan_.tile_axes)
        for (const TilePart& part : tile.parts) widen(part.axis, part.extent);
}

/// Axes that stand only in sums of indices, such as a filter's, are along no tile.
void Planner::widen_others(const std::vector<TileStatement>& body,
                           const std::map<AxisId, std::int64_t>& parts) {
    const auto inside = [&](AxisId axis, std::int64_t size, const std::vector<TileStatement>& of) {
        std::map<AxisId, std::int64_t> own = parts;
        own[axis] = std::min(size, region_.axes[axis.index()].extent);
        if (!along_tiles_.contains(axis)) widen(axis, own[axis]);
        widen_others(of, own);
    };
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            inside(parallel->axis, parallel->size, parallel->body);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            inside(loop->axis, loop->size, loop->body);
        else if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const AxisId axis : folded_axes(compute->statement)) {
                if (along_tiles_.contains(axis)) continue;
                const auto part = parts.find(axis);
                widen(axis, part == parts.end() ? region_.axes[axis.index()].extent : part->second);
            }
    }
}

void Planner::collect_load(const Load& load, const Loop* loop) {
    const Variable& variable = region_.variables[load.target.index()];
    if (load.source || variable.level != Level::Block) return refuse_levels();
    loads_[load.target] = {&load, loop};
    // What is read at an index and beside it reaches further than the axis.
    for (std::size_t d = 0; d < load.index.size(); ++d)
        if (load.index[d].size() == 1)
            if (const AxisIndex* axis = std::get_if<AxisIndex>(&load.index[d].front().node))
                widen(axis->axis, variable.capacity_extent[d]);
}

void Planner::collect_compute(LeafId leaf, const Compute& compute) {
    if (compute.level != Level::Block) return refuse_levels();
    const Array& target = array_of(compute.targets.front());
    const Fold* fold = std::get_if<Fold>(&compute.statement.body);
    const Select* select = std::get_if<Select>(&compute.statement.body);
    if (select != nullptr && select->rank)
        return refuse(fmt::format("`{}` is a selection of several elements", target.name));
    if ((compute.targets.size() != 1 && select == nullptr) ||
        std::holds_alternative<Opaque>(compute.statement.body))
        return refuse(fmt::format("`{}` has several parts", target.name));
    if (fold != nullptr && fold->monoid.index() > kMin.index())
        return refuse(fmt::format("`{}` folds with a monoid of your own", target.name));
    // Of what is no real number a row has what says where something stands, and what is made of it.
    if (!is_floating(target.type) && (fold != nullptr || select != nullptr))
        return refuse_type(target);
    if (sums_integers(scope_, compute.statement, limits_.dynamic_sizes))
        return refuse(fmt::format("`{}` adds up integers, of which f32 has not all", target.name),
                      "where that does not matter, add up reals: `1.0 * ...`");
    plan_.selects = plan_.selects || select != nullptr;
    for (const VariableId variable : compute.targets)
        for (std::size_t d = 0; d < array_of(variable).axes.size(); ++d)
            widen(array_of(variable).axes[d],
                  region_.variables[variable.index()].capacity_extent[d]);
    computes_[leaf] = &compute;
}

void Planner::refuse_type(const Array& target) {
    refuse(fmt::format("it computes `{}`, which is {}", target.name, name_of(target.type)));
}

void Planner::widen(AxisId axis, std::int64_t extent) {
    std::int64_t& known = plan_.extents[axis];
    known = std::max(known, extent);
}

std::vector<std::optional<AxisId>> Planner::row_candidates() const {
    std::vector<std::optional<AxisId>> result;
    const auto all_have = [&](AxisId axis) {
        return std::all_of(products_.begin(), products_.end(), [&](const Candidate& product) {
            return product.contraction.rows.front() == axis ||
                   product.contraction.columns.front() == axis;
        });
    };
    if (single_row_) {
        if (all_have(*single_row_)) result.push_back(single_row_);
        return result;
    }
    if (!products_.empty()) {
        const Contraction& first = products_.front().contraction;
        for (const AxisId axis : {first.rows.front(), first.columns.front()})
            if (all_have(axis)) result.push_back(axis);
        return result;
    }
    // Rows are what is never folded, where there is such an axis.
    std::set<AxisId> folded;
    std::vector<AxisId> seen;
    for (const auto& [leaf, compute] : computes_) {
        for (const AxisId axis : folded_axes(compute->statement)) folded.insert(axis);
        const Array& target = array_of(compute->targets.front());
        for (std::size_t place = 0; place < target.axes.size(); ++place) {
            const AxisId axis = target.axes[dimension_at(target, place)];
            if (wide(axis) && std::find(seen.begin(), seen.end(), axis) == seen.end())
                seen.push_back(axis);
        }
    }
    // A lone axis runs along the columns, which vectors serve.
    std::vector<AxisId> kept;
    for (const AxisId axis : seen)
        if (!folded.contains(axis)) kept.push_back(axis);
    if (kept.size() == 1 && seen.size() == 1 && lies_in_memory(kept.front()))
        result.emplace_back(std::nullopt);
    // So does that along which neighbours of a result are neighbours in memory.
    std::set<AxisId> fastest;
    for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr) return;
        const Array& array = region_.arrays[save->array.index()];
        if (!array.axes.empty()) fastest.insert(array.axes[innermost_dimension(array)]);
    });
    std::stable_partition(kept.begin(), kept.end(),
                          [&](AxisId axis) { return !fastest.contains(axis); });
    for (const AxisId axis : kept) result.emplace_back(axis);
    if (!result.empty()) return result;
    result.emplace_back(std::nullopt);
    for (const AxisId axis : folded)
        if (wide(axis)) result.emplace_back(axis);
    return result;
}

/// Whether neighbours along the axis are neighbours in memory of everything that runs along it and
/// along something else.
bool Planner::lies_in_memory(AxisId axis) const {
    return std::all_of(loads_.begin(), loads_.end(), [&](const auto& entry) {
        const Load& load = *entry.second.load;
        const Array& array = region_.arrays[load.array.index()];
        std::size_t wide_dimensions = 0;
        bool runs = false;
        bool contiguous = false;
        const std::size_t last = array.axes.empty() ? 0 : innermost_dimension(array);
        for (std::size_t d = 0; d < load.index.size(); ++d)
            for (const Expression& index : load.index[d]) {
                const std::set<AxisId> used = axes_used(index);
                if (std::any_of(used.begin(), used.end(), [&](AxisId of) { return wide(of); }))
                    ++wide_dimensions;
                if (!used.contains(axis)) continue;
                runs = true;
                contiguous = contiguous || d == last;
            }
        return !runs || contiguous || wide_dimensions < 2;
    });
}

/// Everything that follows from the choice of the row axis.
void Planner::spread(std::optional<AxisId> row, bool left_in_registers) {
    plan_.row = row;
    left_in_registers_ = left_in_registers;
    for (const auto& [leaf, compute] : computes_)
        for (const VariableId target : compute->targets) place_computed(target);
    for (const Candidate& candidate : products_) orient(candidate);
    if (refused_) return;
    find_serial();
    if (refused_) return;
    for (const auto& [variable, load] : loads_) place_loaded(variable);
    publish_operands();
    for (auto& [leaf, product] : plan_.products) settle(*computes_.at(leaf), product);
    if (refused_) return;
    settle_shared();
    check_folds();
    check_reads();
    if (refused_) return;
    if (plan_.products.empty()) choose_vector();
    ProductSides sides{plan_.row, {}, {}};
    for (const auto& [leaf, product] : plan_.products) {
        sides.columns.insert(product.column);
        const std::vector<VariableId>& reads = computes_.at(leaf)->reads;
        sides.operands.insert(reads.begin(), reads.end());
    }
    plan_.order = tile_order(region_, sides);
    std::optional<Refusal> refusal = arrange(region_, limits_, wanted_, plan_);
    if (plan_.products.empty() && !limits_.warp_groups) refusal = hold_rows(std::move(refusal));
    if (refusal) return refuse(*std::move(refusal), shrinking());
    std::optional<std::int64_t> blocks;
    if (plan_.persistent) blocks = kProcessors * plan_.resident;
    refusal = choose_band(region_, wanted_.band, blocks, plan_.order);
    if (refusal) return refuse(*std::move(refusal), {});
    extend_rows();
    place_vectors();
    choose_staged();
}

/// Fragments whose columns are neighbours in device memory can be saved in whole vectors.
void Planner::choose_staged() {
    if (!plan_.has_products()) return;
    // Slices of warps are of rows that lie at one stride.
    if (plan_.persistent && find_tile_axis(plan_.tile_axes, *plan_.row) != nullptr) return;
    for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr) return;
        const Tile& tile = plan_.tiles.at(save->source);
        const Array& array = region_.arrays[save->array.index()];
        if (tile.home != Home::Fragment || !tile.column || array.axes.empty()) return;
        // Nor are those of tiles whose columns are of several axes.
        const TileAxis* columns = find_tile_axis(plan_.tile_axes, *tile.column);
        if (columns != nullptr && plan_.persistent) return;
        const AxisId fastest = columns == nullptr ? *tile.column : columns->parts.back().axis;
        constexpr std::int64_t kLeastBits = 16;
        if (array.axes[innermost_dimension(array)] == fastest &&
            bits_of(region_.stored.at(save->array)) >= kLeastBits)
            plan_.stageable.insert(save->array);
    });
    for (const ArrayId array : plan_.stageable)
        if (choice_of(wanted_.staged, region_.arrays[array.index()].name).value_or(true))
            plan_.staged.insert(array);
}

/// Matrices along the row axis hold the rows of all warps, and along the axis of a vector as many
/// as the vector, whose elements are made of theirs; turned ones as many as threads hold columns.
void Planner::extend_rows() {
    std::map<AxisId, std::int64_t> least;
    for (const auto& [variable, tile] : plan_.tiles) {
        if (tile.home == Home::Shared) least[*tile.column] = vector_extent(plan_, *tile.column);
        if (tile.home == Home::Fragment && !plan_.has_products())
            least[*tile.column] = padded(columns_of(plan_, *tile.column).padded, kTile);
    }
    if (plan_.row)
        least[*plan_.row] =
            std::max(least[*plan_.row], padded(plan_.rows_of_warp * plan_.warps_down, kTile));
    for (auto& [variable, tile] : plan_.tiles) {
        if (tile.home != Home::Matrix) continue;
        const auto load = loads_.find(variable);
        const std::vector<AxisId>& own = array_of(variable).axes;
        const auto axis = [&](std::size_t dimension) {
            return load == loads_.end() ? own[dimension]
                                        : *axes_of_load(*load->second.load)[dimension];
        };
        if (const auto rows = least.find(axis(tile.row_dimension)); rows != least.end())
            tile.rows = std::max(tile.rows, rows->second);
        if (const auto columns = least.find(axis(tile.column_dimension)); columns != least.end())
            tile.columns = std::max(tile.columns, columns->second);
    }
    // What an operand reads along the rows may be loaded along another axis.
    for (const auto& [leaf, product] : plan_.products)
        for (const Operand* side : {&product.left, &product.right}) {
            const Read* read = std::get_if<Read>(&side->value.node);
            if (!side->direct || read == nullptr || !plan_.row) continue;
            Tile& tile = plan_.tiles.at(*side->direct);
            if (tile.home != Home::Matrix) continue;
            const auto runs = [&](std::size_t dimension) {
                return axes_along(plan_.tile_axes, read->index[dimension]).contains(*plan_.row);
            };
            if (runs(tile.row_dimension)) tile.rows = std::max(tile.rows, least.at(*plan_.row));
            if (runs(tile.column_dimension))
                tile.columns = std::max(tile.columns, least.at(*plan_.row));
        }
}

std::int64_t room_along(const Plan& plan, AxisId axis) {
    return plan.extents.at(axis) + (plan.skewed == axis ? plan.vector - 1 : 0);
}

ColumnShare columns_of(const Plan& plan, AxisId axis) {
    if (!plan.has_products()) {
        const std::int64_t columns =
            padded(room_along(plan, axis), plan.lanes_per_row * plan.vector);
        return {columns, columns, columns / plan.lanes_per_row, false};
    }
    const std::int64_t extent = plan.extents.at(axis);
    constexpr std::int64_t kLanesOfRow = 4;
    ColumnShare share;
    share.padded = padded(extent, kTile);
    share.split = plan.split.contains(axis);
    share.of_warp = share.padded / (share.split ? plan.warps_across : 1);
    share.of_thread = share.of_warp / kLanesOfRow;
    return share;
}

std::int64_t scratch_values(const Plan& plan) {
    const std::int64_t warps = plan.warps_down * plan.warps_across;
    std::int64_t values = warps * (plan.selects ? 2 : 1);
    for (const AxisId axis : plan.scanned)
        values = std::max(values, warps * (columns_of(plan, axis).of_thread / plan.vector));
    if (plan.sharers() == 1) return values;
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment)
            values = std::max(values, plan.warps_down * columns_of(plan, *tile.column).padded);
    return values;
}

std::int64_t vector_extent(const Plan& plan, AxisId axis) {
    return padded(columns_of(plan, axis).padded, kTile);
}

bool in_matrix(const Plan& plan, const Operand& side) {
    return side.panel || (side.direct && plan.tiles.at(*side.direct).home == Home::Matrix);
}

std::int64_t padded_depth(const Plan& plan, const Product& product) {
    return padded(plan.extents.at(product.depth), is_narrow(product) ? kNarrowTile : kTile);
}

std::int64_t narrow_parts(const Plan& plan, const Product& product) {
    return ceil_quotient(padded_depth(plan, product), kNarrowDepth);
}

std::int64_t panel_extent(const Plan& plan, AxisId axis) {
    if (axis == plan.row) return plan.rows_of_warp * plan.warps_down;
    return padded(plan.extents.at(axis), kTile);
}

std::int64_t rows_of_thread(const Plan& plan) {
    constexpr std::int64_t kRowsAtOnce = 8;
    return plan.has_products() ? plan.rows_of_warp / kRowsAtOnce : plan.rows_of_thread();
}

std::variant<Plan, Refusal> make_plan(const TiledRegion& region, const Limits& limits,
                                      const RegionSchedule& wanted) {
    // With rows that are asked for, warp groups may leave some idle: what is chosen without asking
    // goes first, so that asking for just that makes the same plan.
    RegionSchedule free = wanted;
    free.warps_down.reset();
    std::variant<Plan, Refusal> made = Planner(region, limits, free).run();
    const Plan* chosen = std::get_if<Plan>(&made);
    if (wanted.warps_down && (chosen == nullptr || chosen->warps_down != *wanted.warps_down))
        made = Planner(region, limits, wanted).run();
    Plan* plan = std::get_if<Plan>(&made);
    if (plan == nullptr) return made;
    plan->lane_folds = lane_folds(region.region, *plan);
    auto stale = stale_gauges(region.region, *plan, wanted);
    if (Refusal* refusal = std::get_if<Refusal>(&stale)) return std::move(*refusal);
    plan->stale = std::get<std::vector<StaleGauge>>(std::move(stale));
    return made;
}

}  // namespace napkin::schedule
