#include "codegen/tensor/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/tensor/arrange.h"
#include "codegen/tensor/planner.h"
#include "codegen/tensor/statements.h"
#include "diagrams/overloaded.h"

namespace napkin::tensor {

std::variant<Plan, NotApplicable> Planner::run() {
    try_plan();
    if (refused_) return NotApplicable{refused_->reason, refused_->help};
    return std::move(plan_);
}

void Planner::refuse(std::string reason, std::string help) {
    if (!refused_) refused_ = Refused{std::move(reason), std::move(help)};
}

void Planner::refuse_levels(VariableId variable) {
    refuse(fmt::format("it groups or streams `{}` below the block, whose warps share its tiles by "
                       "themselves",
                       array_of(variable).name),
           "`ungroup` or `unstream` at that level, or use `--target simt`");
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
    return found != plan_.extents.end() && found->second > 1;
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
    if (refused_) return;
    const std::vector<std::optional<AxisId>> rows = row_candidates();
    if (rows.empty())
        return refuse("its products share no axis that could be the rows of all of them",
                      "unfuse them");
    const Plan start = plan_;
    std::optional<Refused> first;
    for (const std::optional<AxisId>& row : rows) {
        plan_ = start;
        refused_.reset();
        spread(row);
        if (!refused_) return;
        if (!first) first = refused_;
    }
    refused_ = first;
}

/// Loads, computations and the extents of axes; refuses what no plan can hold.
void Planner::collect() {
    for_statements(region_.body, [&](const TileStatement& statement, const Loop* loop) {
        std::visit(overloaded{[&](const Load& load) { collect_load(load, loop); },
                              [&](const Compute& compute) { collect_compute(compute); },
                              [&](const Save& save) {
                                  if (save.target) refuse("it groups or streams below the block");
                              },
                              [](const auto&) {}},
                   statement.node);
    });
    // An axis that stands only in sums of indices, such as a filter's, is along no tile.
    const auto check = [&](AxisId axis) {
        if (!plan_.extents.contains(axis) && region_.axes[axis.index()].extent > 1)
            refuse(
                fmt::format("it folds or streams `{}`, along which nothing is that a block loads "
                            "or computes",
                            name(axis)),
                "unfuse what reads at sums of indices, or use `--target simt`");
        else
            plan_.extents.try_emplace(axis, 1);
    };
    for_statements(region_.body, [&](const TileStatement& statement, const Loop* loop) {
        if (loop != nullptr) check(loop->axis);
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const AxisId axis : folded_axes(compute->statement)) check(axis);
    });
}

void Planner::collect_load(const Load& load, const Loop* loop) {
    const Variable& variable = region_.variables[load.target.index()];
    if (load.source || variable.level != Level::Block) return refuse_levels(load.target);
    loads_[load.target] = {&load, loop};
    for (std::size_t d = 0; d < load.index.size(); ++d)
        for (const Expression& index : load.index[d])
            if (const AxisIndex* axis = std::get_if<AxisIndex>(&index.node))
                widen(axis->axis, variable.capacity_extent[d]);
}

void Planner::collect_compute(const Compute& compute) {
    if (compute.level != Level::Block) return refuse_levels(compute.targets.front());
    if (compute.targets.size() != 1 || std::holds_alternative<Select>(compute.statement.body) ||
        std::holds_alternative<Opaque>(compute.statement.body))
        return refuse(fmt::format("`{}` is a selection or has several parts",
                                  array_of(compute.targets.front()).name));
    const Fold* fold = std::get_if<Fold>(&compute.statement.body);
    const Array& target = array_of(compute.targets.front());
    if (fold != nullptr && (fold->every_prefix || fold->monoid.index() > kMin.index()))
        return refuse(
            fmt::format("`{}` is a scan or folds with a monoid of your own", target.name));
    if (!is_floating(target.type))
        return refuse(
            fmt::format("it computes `{}`, which is {}", target.name, name_of(target.type)));
    const Variable& variable = region_.variables[compute.targets.front().index()];
    for (std::size_t d = 0; d < target.axes.size(); ++d)
        widen(target.axes[d], variable.capacity_extent[d]);
    computes_.push_back(&compute);
}

void Planner::widen(AxisId axis, std::int64_t extent) {
    std::int64_t& known = plan_.extents[axis];
    known = std::max(known, extent);
}

std::vector<std::optional<AxisId>> Planner::row_candidates() const {
    std::vector<std::optional<AxisId>> result;
    if (!products_.empty()) {
        for (const AxisId axis : products_.front().axes)
            if (std::all_of(products_.begin(), products_.end(), [&](const Candidate& other) {
                    return std::find(other.axes.begin(), other.axes.end(), axis) !=
                           other.axes.end();
                }))
                result.push_back(axis);
        return result;
    }
    // Rows are what is never folded, where there is such an axis.
    std::set<AxisId> folded;
    std::vector<AxisId> seen;
    for (const Compute* compute : computes_) {
        for (const AxisId axis : folded_axes(compute->statement)) folded.insert(axis);
        for (const AxisId axis : array_of(compute->targets.front()).axes)
            if (wide(axis) && std::find(seen.begin(), seen.end(), axis) == seen.end())
                seen.push_back(axis);
    }
    // A lone axis runs along the columns, which vectors serve.
    if (seen.size() == 1 && folded.empty()) result.emplace_back(std::nullopt);
    for (const AxisId axis : seen)
        if (!folded.contains(axis)) result.emplace_back(axis);
    if (!result.empty()) return result;
    result.emplace_back(std::nullopt);
    for (const AxisId axis : folded)
        if (wide(axis)) result.emplace_back(axis);
    return result;
}

/// Everything that follows from the choice of the row axis.
void Planner::spread(std::optional<AxisId> row) {
    plan_.row = row;
    for (const Compute* compute : computes_) place_computed(compute->targets.front());
    for (const Candidate& candidate : products_) orient(candidate);
    if (refused_) return;
    for (const auto& [variable, load] : loads_) place_loaded(variable);
    for (auto& [compute, product] : plan_.products) settle(*compute, product);
    if (refused_) return;
    check_folds();
    check_reads();
    if (refused_) return;
    if (plan_.products.empty()) choose_vector();
    if (std::optional<std::string> reason = arrange(region_, options_, plan_))
        refuse(*reason, "choose smaller groups, stream, or use `--target simt`");
    if (!refused_) extend_rows();
}

/// Matrices along the row axis hold the rows of all warps.
void Planner::extend_rows() {
    if (!plan_.row) return;
    const std::int64_t rows = plan_.rows_of_warp * plan_.warps_down;
    for (auto& [variable, tile] : plan_.tiles) {
        if (tile.home != Home::Matrix) continue;
        const auto load = loads_.find(variable);
        const std::vector<AxisId>& own = array_of(variable).axes;
        const auto axis = [&](std::size_t dimension) {
            return load == loads_.end() ? own[dimension]
                                        : *axes_of_load(*load->second.load)[dimension];
        };
        if (axis(tile.row_dimension) == *plan_.row) tile.rows = rows;
        if (axis(tile.column_dimension) == *plan_.row) tile.columns = rows;
    }
}

/// Folds run along the columns of rows, or over everything that the block holds.
void Planner::check_folds() {
    for (const Compute* compute : computes_) {
        if (plan_.products.contains(compute)) continue;
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold == nullptr) continue;
        const std::string& target = array_of(compute->targets.front()).name;
        const Home home = plan_.tiles.at(compute->targets.front()).home;
        std::vector<AxisId> along;
        bool rows = false;
        for (const AxisId axis : fold->over) {
            if (!wide(axis)) continue;
            rows = rows || axis == plan_.row;
            if (axis != plan_.row) along.push_back(axis);
        }
        if (along.empty() && !rows) continue;
        if (rows && home != Home::Thread)
            refuse(
                fmt::format("`{}` folds along `{}`, which warps share", target, name(*plan_.row)),
                fmt::format("stream `{}`, or unfuse `{}`", name(*plan_.row), target));
        else if (along.size() > 1 || home == Home::Fragment || home == Home::Matrix)
            refuse(fmt::format("`{}` folds along {} axes of which a block holds several "
                               "indices",
                               target, along.size()),
                   "group or stream all but one of them by 1, or use `--target simt`");
        plan_.across_warps = plan_.across_warps || rows;
    }
}

/// What threads hold in registers is read at their own rows and columns.
void Planner::check_reads() {
    for (const Compute* compute : computes_)
        for (const VariableId variable : compute->reads) {
            const Tile& tile = plan_.tiles.at(variable);
            if (tile.home != Home::Row && tile.home != Home::Fragment) continue;
            const Array& array = array_of(variable);
            const ArrayId id = region_.variables[variable.index()].array;
            const auto check = [&](const Expression& node) {
                const Read* read = std::get_if<Read>(&node.node);
                if (read == nullptr || read->array != id) return;
                for (std::size_t d = 0; d < array.axes.size(); ++d) {
                    const AxisId axis = array.axes[d];
                    if (!wide(axis) || (axis != plan_.row && axis != tile.column)) continue;
                    const AxisIndex* index = std::get_if<AxisIndex>(&read->index[d].node);
                    if (index == nullptr || index->axis != axis)
                        refuse(fmt::format("`{}` reads `{}` at an index of `{}` that another "
                                           "thread holds",
                                           array_of(compute->targets.front()).name, array.name,
                                           name(axis)),
                               fmt::format("unfuse `{}`, or use `--target simt`", array.name));
                }
            };
            for (const Expression* expression : expressions_of(compute->statement))
                walk(*expression, check);
        }
}

std::variant<Plan, NotApplicable> make_plan(const RegionProgram& region,
                                            const EmitOptions& options) {
    return Planner(region, options).run();
}

}  // namespace napkin::tensor
