#include "codegen/tensor/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/tensor/arrange.h"
#include "codegen/tensor/scales.h"
#include "codegen/tensor/statements.h"
#include "diagrams/overloaded.h"

namespace napkin::tensor {
namespace {

struct Refused {
    std::string reason;
    std::string help;
};

constexpr std::int64_t kTile = 16;  // every padded extent is a multiple of it

std::int64_t padded(std::int64_t extent) {
    return (extent + kTile - 1) / kTile * kTile;
}

bool tensor_core_type(ElementType type) {
    return type == ElementType::BF16 || type == ElementType::F16 || type == ElementType::TF32;
}

void collect_factors(const Expression& expression, std::vector<Expression>& factors) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        for (const Expression& argument : call->arguments) collect_factors(argument, factors);
        return;
    }
    if (call != nullptr && call->function == Function::Negate) {
        factors.push_back(number(-1));
        collect_factors(call->arguments[0], factors);
        return;
    }
    factors.push_back(expression);
}

class Planner {
public:
    Planner(const RegionProgram& region, const EmitOptions& options)
        : region_(region), options_(options) {}

    std::variant<Plan, NotApplicable> run() {
        try_plan();
        if (refused_) return NotApplicable{refused_->reason, refused_->help};
        return std::move(plan_);
    }

private:
    void refuse(std::string reason, std::string help = {}) {
        if (!refused_) refused_ = Refused{std::move(reason), std::move(help)};
    }
    [[nodiscard]] const Array& array_of(VariableId variable) const {
        return region_.arrays[region_.variables[variable.index()].array.index()];
    }
    [[nodiscard]] const std::string& name(AxisId axis) const {
        return region_.axes[axis.index()].name;
    }
    [[nodiscard]] bool wide(AxisId axis) const {
        const auto found = plan_.extents.find(axis);
        return found != plan_.extents.end() && found->second > 1;
    }
    [[nodiscard]] std::set<AxisId> wide_of(const std::set<AxisId>& axes) const {
        std::set<AxisId> result;
        for (const AxisId axis : axes)
            if (wide(axis)) result.insert(axis);
        return result;
    }
    [[nodiscard]] std::vector<AxisId> wide_axes(ArrayId array) const {
        std::vector<AxisId> result;
        for (const AxisId axis : region_.arrays[array.index()].axes)
            if (wide(axis)) result.push_back(axis);
        return result;
    }

    void try_plan() {
        collect();
        if (refused_) return;
        plan_.infinite = infinite_arrays(region_);
        find_products();
        if (refused_) return;
        const std::vector<AxisId> rows = row_candidates();
        if (rows.empty() && !products_.empty())
            return refuse("its products share no axis that could be the rows of all of them");
        if (rows.empty()) return spread(std::nullopt);
        const Plan start = plan_;
        std::optional<Refused> first;
        for (const AxisId row : rows) {
            plan_ = start;
            refused_.reset();
            spread(row);
            if (!refused_) return;
            if (!first) first = refused_;
        }
        refused_ = first;
    }

    /// Loads, computations and the extents of axes; refuses what no plan can hold.
    void collect() {
        for_statements(region_.body, [&](const TileStatement& statement, const Loop* loop) {
            std::visit(overloaded{[&](const Load& load) { collect_load(load, loop); },
                                  [&](const Compute& compute) { collect_compute(compute); },
                                  [&](const Save& save) {
                                      if (save.target)
                                          refuse("it groups or streams below the block");
                                  },
                                  [](const auto&) {}},
                       statement.node);
        });
    }
    void collect_load(const Load& load, const Loop* loop) {
        const Variable& variable = region_.variables[load.target.index()];
        if (load.source || variable.level != Level::Block)
            return refuse("it groups or streams below the block");
        loads_[load.target] = {&load, loop};
        for (std::size_t d = 0; d < load.index.size(); ++d)
            for (const Expression& index : load.index[d])
                if (const AxisIndex* axis = std::get_if<AxisIndex>(&index.node))
                    widen(axis->axis, variable.capacity_extent[d]);
    }
    void collect_compute(const Compute& compute) {
        if (compute.level != Level::Block) return refuse("it computes below the block");
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
                fmt::format("`{}` of type {} is computed", target.name, name_of(target.type)));
        const Variable& variable = region_.variables[compute.targets.front().index()];
        for (std::size_t d = 0; d < target.axes.size(); ++d)
            widen(target.axes[d], variable.capacity_extent[d]);
        computes_.push_back(&compute);
    }
    void widen(AxisId axis, std::int64_t extent) {
        std::int64_t& known = plan_.extents[axis];
        known = std::max(known, extent);
    }

    struct Candidate {
        const Compute* compute = nullptr;
        AxisId depth;
        std::vector<AxisId> axes;  // the two wide ones of the target
        std::vector<Expression> factors;
    };

    void find_products() {
        for (const Compute* compute : computes_) {
            const Fold* fold = std::get_if<Fold>(&compute->statement.body);
            if (fold == nullptr) continue;
            const std::vector<AxisId> axes = wide_axes(compute->statement.targets.front());
            if (axes.size() < 2) continue;
            std::vector<AxisId> depth;
            for (const AxisId axis : fold->over)
                if (wide(axis)) depth.push_back(axis);
            const std::string& target = array_of(compute->targets.front()).name;
            if (fold->monoid != kSum || axes.size() > 2 || depth.size() > 1)
                return refuse(fmt::format(
                    "`{}` is not a sum over one axis of products of two matrices", target));
            if (depth.empty()) continue;
            Candidate candidate{compute, depth.front(), axes, {}};
            collect_factors(fold->values.front(), candidate.factors);
            products_.push_back(std::move(candidate));
        }
    }

    [[nodiscard]] std::vector<AxisId> row_candidates() const {
        std::vector<AxisId> result;
        if (!products_.empty()) {
            for (const AxisId axis : products_.front().axes)
                if (std::all_of(products_.begin(), products_.end(), [&](const Candidate& other) {
                        return std::find(other.axes.begin(), other.axes.end(), axis) !=
                               other.axes.end();
                    }))
                    result.push_back(axis);
            return result;
        }
        // Rows are what is never folded.
        std::set<AxisId> folded;
        std::vector<AxisId> seen;
        for (const Compute* compute : computes_) {
            for (const AxisId axis : folded_axes(compute->statement)) folded.insert(axis);
            for (const AxisId axis : array_of(compute->targets.front()).axes)
                if (wide(axis) && std::find(seen.begin(), seen.end(), axis) == seen.end())
                    seen.push_back(axis);
        }
        for (const AxisId axis : seen)
            if (!folded.contains(axis)) result.push_back(axis);
        return result;
    }

    /// Everything that follows from the choice of the row axis.
    void spread(std::optional<AxisId> row) {
        plan_.row = row;
        for (const Compute* compute : computes_) place_computed(compute->targets.front());
        for (const Candidate& candidate : products_) orient(candidate);
        if (refused_) return;
        for (const auto& [variable, load] : loads_) place_loaded(variable);
        for (auto& [compute, product] : plan_.products) settle(*compute, product);
        if (refused_) return;
        check_folds();
        if (refused_) return;
        if (plan_.products.empty()) choose_vector();
        if (std::optional<std::string> reason = arrange(region_, options_, plan_)) refuse(*reason);
        if (!refused_) extend_rows();
    }

    /// Matrices along the row axis hold the rows of all warps.
    void extend_rows() {
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

    void place_computed(VariableId variable) {
        const Variable& info = region_.variables[variable.index()];
        const std::vector<AxisId> axes = wide_axes(info.array);
        Tile tile;
        tile.type = ElementType::F32;
        std::vector<AxisId> others;
        for (const AxisId axis : axes)
            if (axis != plan_.row) others.push_back(axis);
        const bool has_row = others.size() < axes.size();
        if (others.size() > 2 || (has_row && others.size() > 1))
            return refuse(fmt::format("`{}` has more than two axes in one block",
                                      region_.arrays[info.array.index()].name));
        if (!others.empty()) tile.column = others.front();
        if (has_row || (!plan_.row && products_.empty())) {
            tile.home = others.empty() ? Home::Row : Home::Fragment;
        } else if (others.size() == 2) {
            shape_matrix(variable, tile);
        } else {
            tile.home = others.empty() ? Home::Thread : Home::Shared;
        }
        plan_.tiles[variable] = tile;
    }

    /// Rows and columns of a matrix: its two wide dimensions, the faster one is the columns.
    void shape_matrix(VariableId variable, Tile& tile) {
        const Variable& info = region_.variables[variable.index()];
        const Array& array = region_.arrays[info.array.index()];
        std::vector<std::size_t> order(array.layout.begin(), array.layout.end());
        if (order.empty())
            for (std::size_t d = 0; d < array.axes.size(); ++d) order.push_back(d);
        std::vector<std::size_t> dims;
        for (const std::size_t d : order)
            if (info.capacity_extent[d] > 1) dims.push_back(d);
        if (dims.size() != 2)
            return refuse(
                fmt::format("`{}` has not two axes of more than one index in a block", array.name));
        tile.home = Home::Matrix;
        tile.row_dimension = dims[0];
        tile.column_dimension = dims[1];
        tile.rows = padded(info.capacity_extent[dims[0]]);
        tile.columns = padded(info.capacity_extent[dims[1]]);
    }

    /// Which factors stand on which side.
    void orient(const Candidate& candidate) {
        const AxisId row = *plan_.row;
        const AxisId column =
            candidate.axes.front() == row ? candidate.axes.back() : candidate.axes.front();
        Product product;
        product.column = column;
        product.depth = candidate.depth;
        std::vector<Expression> left;
        std::vector<Expression> right;
        std::vector<Expression> either;
        for (const Expression& factor : candidate.factors) {
            const std::set<AxisId> uses = axes_used(factor);
            if (const std::optional<double> value = constant_value(region_, factor)) {
                product.scale *= *value;
            } else if (!uses.contains(candidate.depth)) {
                product.outside.push_back(factor);
            } else if (uses.contains(row) && uses.contains(column)) {
                return refuse(fmt::format("a factor of `{}` runs along `{}`, `{}` and `{}`",
                                          array_of(candidate.compute->targets.front()).name,
                                          name(row), name(column), name(candidate.depth)));
            } else {
                (uses.contains(row)      ? left
                 : uses.contains(column) ? right
                                         : either)
                    .push_back(factor);
            }
        }
        if (left.empty() || right.empty())
            return refuse(fmt::format("`{}` is not a product of two matrices",
                                      array_of(candidate.compute->targets.front()).name));
        for (Expression& factor : either) (left.size() > 1 ? left : right).push_back(factor);
        const auto whole = [](const std::vector<Expression>& factors) {
            Expression value = factors.front();
            for (std::size_t i = 1; i < factors.size(); ++i)
                value = apply(Function::Multiply, {value, factors[i]});
            return value;
        };
        product.left.value = whole(left);
        product.right.value = whole(right);
        plan_.products[candidate.compute] = std::move(product);
    }

    /// Axes along the dimensions of a load, where every reader agrees on one.
    [[nodiscard]] std::vector<std::optional<AxisId>> axes_of_load(const Load& load) const {
        std::vector<std::optional<AxisId>> axes(load.index.size());
        for (std::size_t d = 0; d < load.index.size(); ++d) {
            const AxisIndex* first = nullptr;
            bool agree = !load.index[d].empty();
            for (const Expression& index : load.index[d]) {
                const AxisIndex* axis = std::get_if<AxisIndex>(&index.node);
                agree = agree && axis != nullptr && (first == nullptr || first->axis == axis->axis);
                first = axis;
            }
            if (agree && first != nullptr) axes[d] = first->axis;
        }
        return axes;
    }

    [[nodiscard]] bool read_by_product(VariableId variable) const {
        const ArrayId array = region_.variables[variable.index()].array;
        for (const auto& [compute, product] : plan_.products) {
            if (std::find(compute->reads.begin(), compute->reads.end(), variable) ==
                compute->reads.end())
                continue;
            for (const Operand* side : {&product.left, &product.right})
                if (arrays_read(side->value).contains(array)) return true;
        }
        return false;
    }

    /// Whether something in shared memory is computed from the variable.
    [[nodiscard]] bool read_by_block(VariableId variable) const {
        return std::any_of(computes_.begin(), computes_.end(), [&](const Compute* compute) {
            const Home home = plan_.tiles.at(compute->targets.front()).home;
            return (home == Home::Shared || home == Home::Matrix) &&
                   std::find(compute->reads.begin(), compute->reads.end(), variable) !=
                       compute->reads.end();
        });
    }

    void place_loaded(VariableId variable) {
        const auto [load, loop] = loads_.at(variable);
        const Variable& info = region_.variables[variable.index()];
        Tile tile;
        tile.type = info.type;
        tile.home = Home::Device;
        const std::vector<std::optional<AxisId>> axes = axes_of_load(*load);
        std::size_t wide_dimensions = 0;
        bool plain = load->gather.empty();
        for (std::size_t d = 0; d < axes.size(); ++d) {
            if (info.capacity_extent[d] > 1) ++wide_dimensions;
            plain = plain && axes[d];
        }
        const bool operand = read_by_product(variable);
        if (wide_dimensions == 2 && plain) {
            const bool is_row = std::any_of(axes.begin(), axes.end(),
                                            [&](const auto& axis) { return axis == plan_.row; });
            if (operand || (loop != nullptr && !plan_.products.empty())) {
                shape_matrix(variable, tile);
                tile.streamed = loop != nullptr;
            } else if (plan_.products.empty() && is_row) {
                tile.home = Home::Fragment;
                for (std::size_t d = 0; d < axes.size(); ++d)
                    if (info.capacity_extent[d] > 1 && axes[d] != plan_.row) tile.column = axes[d];
                tile.type = ElementType::F32;
            }
        } else if (wide_dimensions == 1 && plain && plan_.products.empty()) {
            std::optional<AxisId> along;
            for (std::size_t d = 0; d < axes.size(); ++d)
                if (info.capacity_extent[d] > 1) along = axes[d];
            if (along != plan_.row && !read_by_block(variable)) {
                tile.home = Home::Fragment;
                tile.column = along;
                tile.type = ElementType::F32;
            }
        }
        plan_.tiles[variable] = tile;
    }

    /// The operands' type and whether the tensor core takes them as they stand.
    void settle(const Compute& compute, Product& product) {
        std::optional<ElementType> type;
        for (Operand* side : {&product.left, &product.right}) {
            const Read* read = std::get_if<Read>(&side->value.node);
            if (read == nullptr) continue;
            const auto variable = std::find_if(
                compute.reads.begin(), compute.reads.end(),
                [&](VariableId v) { return region_.variables[v.index()].array == read->array; });
            if (variable == compute.reads.end()) continue;
            const Tile& tile = plan_.tiles.at(*variable);
            const bool loaded = loads_.contains(*variable);
            if (loaded && tile.home == Home::Matrix) {
                if (!tensor_core_type(tile.type))
                    return refuse(fmt::format("`{}` is {}, which its tensor core does not multiply",
                                              array_of(*variable).name, name_of(tile.type)),
                                  fmt::format("`retype {} to bf16`, f16 or tf32, or give the input "
                                              "such a type",
                                              array_of(*variable).name));
                if (type && *type != tile.type)
                    return refuse(fmt::format("the operands of `{}` are {} and {}",
                                              array_of(compute.targets.front()).name,
                                              name_of(*type), name_of(tile.type)),
                                  "retype one of them");
                type = tile.type;
                side->direct = *variable;
            } else if (!loaded && side == &product.left && tile.home == Home::Fragment &&
                       tile.column == product.depth) {
                side->direct = *variable;
            } else if (!loaded && side == &product.right && tile.home == Home::Matrix) {
                side->direct = *variable;
            }
        }
        product.type = type.value_or(operand_type(compute));
        if (product.right.direct && !loads_.contains(*product.right.direct))
            plan_.tiles.at(*product.right.direct).type = product.type;
    }
    /// The type of the product's inputs, where both sides are computed.
    [[nodiscard]] ElementType operand_type(const Compute& compute) const {
        for (const VariableId variable : compute.reads)
            if (const ElementType type = region_.variables[variable.index()].type;
                tensor_core_type(type))
                return type;
        for (const auto& [variable, load] : loads_)
            if (const ElementType type = region_.variables[variable.index()].type;
                tensor_core_type(type))
                return type;
        return ElementType::TF32;
    }

    /// The widest vectors that every row in device memory and every group of columns is made of.
    void choose_vector() {
        const auto divides = [&](std::int64_t extent) {
            while (extent % plan_.vector != 0) plan_.vector /= 2;
        };
        const auto fit = [&](const Array& array, AxisId column) {
            const std::size_t last =
                array.layout.empty() ? array.axes.size() - 1 : array.layout.back();
            divides(region_.axes[array.axes[last].index()].extent);
            if (plan_.extents.at(column) < region_.axes[column.index()].extent)
                divides(plan_.extents.at(column));
        };
        for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
            if (const Load* load = std::get_if<Load>(&statement.node)) {
                const Tile& tile = plan_.tiles.at(load->target);
                if (tile.home == Home::Fragment)
                    fit(region_.arrays[load->array.index()], *tile.column);
            }
            if (const Save* save = std::get_if<Save>(&statement.node)) {
                const Tile& tile = plan_.tiles.at(save->source);
                if (tile.home == Home::Fragment)
                    fit(region_.arrays[save->array.index()], *tile.column);
            }
        });
    }

    /// Sums along the rows of a fragment would cross warps.
    void check_folds() {
        for (const Compute* compute : computes_) {
            if (plan_.products.contains(compute)) continue;
            const Fold* fold = std::get_if<Fold>(&compute->statement.body);
            if (fold == nullptr) continue;
            const Tile& tile = plan_.tiles.at(compute->targets.front());
            std::vector<AxisId> over;
            for (const AxisId axis : fold->over)
                if (wide(axis)) over.push_back(axis);
            const bool across =
                tile.home == Home::Row || tile.home == Home::Thread || tile.home == Home::Shared;
            const bool folds_rows = std::find(over.begin(), over.end(), plan_.row) != over.end();
            if (!over.empty() && (!across || folds_rows || over.size() > 1))
                refuse(fmt::format("`{}` folds along the rows, or along two axes at once",
                                   array_of(compute->targets.front()).name));
        }
    }

    struct LoadPlace {
        const Load* load = nullptr;
        const Loop* loop = nullptr;
    };
    const RegionProgram& region_;
    const EmitOptions& options_;
    Plan plan_;
    std::optional<Refused> refused_;
    std::map<VariableId, LoadPlace> loads_;
    std::vector<const Compute*> computes_;
    std::vector<Candidate> products_;
};

}  // namespace

std::variant<Plan, NotApplicable> make_plan(const RegionProgram& region,
                                            const EmitOptions& options) {
    return Planner(region, options).run();
}

}  // namespace napkin::tensor
