#include "schedule/straight_reads.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "diagrams/integer_range.h"
#include "schedule/limits.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

using Extents = std::map<AxisId, std::int64_t>;  // indices that a block holds; all where absent

/// Whether the expression is at least 0 whatever the sizes.
bool never_negative(const Expression& expression) {
    if (const Number* number = std::get_if<Number>(&expression.node)) return number->value >= 0;
    if (std::holds_alternative<SizeOf>(expression.node) ||
        std::holds_alternative<AxisIndex>(expression.node))
        return true;
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr &&
           (call->function == Function::Add || call->function == Function::Multiply) &&
           std::all_of(call->arguments.begin(), call->arguments.end(), never_negative);
}

/// What a sum adds up.
void collect_addends(const Expression& expression, std::vector<Expression>& addends) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || call->function != Function::Add) return addends.push_back(expression);
    for (const Expression& argument : call->arguments) collect_addends(argument, addends);
}

class Straightener {
public:
    explicit Straightener(RegionProgram region) : region_(std::move(region)) {}

    RegionProgram run() {
        find_reads();
        visit(region_.body);
        for (const auto& [variable, view] : views_)
            region_.variables[variable.index()].array = view;
        if (!views_.empty()) redirect(region_.body);
        return std::move(region_);
    }

private:
    void find_reads() {
        for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
            if (const Load* load = std::get_if<Load>(&statement.node))
                for (const Expression& index : load->gather) note_reads(index, all_variables());
            const Compute* compute = std::get_if<Compute>(&statement.node);
            if (compute == nullptr) return;
            for (const Expression* value : expressions_of(compute->statement))
                note_reads(*value, compute->reads);
        });
    }

    void note_reads(const Expression& expression, const std::vector<VariableId>& among) {
        walk(expression, [&](const Expression& part) {
            const Read* read = std::get_if<Read>(&part.node);
            if (read == nullptr) return;
            for (const VariableId variable : among)
                if (region_.variables[variable.index()].array == read->array)
                    reads_[variable].push_back(read->index);
        });
    }

    [[nodiscard]] std::vector<VariableId> all_variables() const {
        std::vector<VariableId> all;
        for (std::uint32_t v = 0; v < region_.variables.size(); ++v) all.emplace_back(v);
        return all;
    }

    /// Whether all that is read of a variable is read where it is loaded: an axis and another one
    /// that is equal to it may go through the same dimension.
    bool is_read_at(VariableId variable, const std::vector<Expression>& place) const {
        const auto found = reads_.find(variable);
        return found == reads_.end() ||
               std::all_of(found->second.begin(), found->second.end(),
                           [&](const std::vector<Expression>& index) { return index == place; });
    }

    bool wide(AxisId axis) const {
        const auto found = extents_.find(axis);
        return (found == extents_.end() ? region_.axes[axis.index()].extent : found->second) > 1;
    }

    void visit(std::vector<TileStatement>& body) {
        for (TileStatement& statement : body) {
            if (Parallel* parallel = std::get_if<Parallel>(&statement.node))
                inside(parallel->axis, parallel->size, parallel->body);
            else if (Loop* loop = std::get_if<Loop>(&statement.node))
                inside(loop->axis, loop->size, loop->body);
            else if (Load* load = std::get_if<Load>(&statement.node))
                straighten(*load);
        }
    }

    void inside(AxisId axis, std::int64_t size, std::vector<TileStatement>& body) {
        const Extents outer = extents_;
        extents_[axis] = std::min(size, region_.axes[axis.index()].extent);
        visit(body);
        extents_ = outer;
    }

    /// Copies count in 32 bits, also what of a part lies past an array's end.
    bool of_32_bits(const Expression& index) const {
        const LeafRange leaf = [&](const Expression& part) -> std::optional<Interval> {
            const AxisIndex* plain = std::get_if<AxisIndex>(&part.node);
            const SizeOf* size = std::get_if<SizeOf>(&part.node);
            if (plain == nullptr && size == nullptr) return std::nullopt;
            const Axis& axis =
                region_.axes[plain != nullptr ? plain->axis.index() : size->axis.index()];
            return Interval{0, axis.dynamic ? kMostRunTimeSize : axis.extent};
        };
        const std::optional<Interval> range = value_range(index, leaf);
        return range && range->within(kAny32);
    }

    /// The axis that an index runs along: it stands in the index once, by itself, and of what is
    /// added to it a block holds one index. What reads data is inside its array by contract.
    std::optional<AxisId> axis_along(const Expression& index) const {
        if (arrays_read(index).empty() && (!never_negative(index) || !of_32_bits(index)))
            return std::nullopt;
        std::vector<Expression> addends;
        collect_addends(index, addends);
        std::optional<AxisId> along;
        std::optional<AxisId> single;
        for (const Expression& addend : addends) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&addend.node);
            if (plain != nullptr && wide(plain->axis)) {
                if (along) return std::nullopt;
                along = plain->axis;
                continue;
            }
            for (const AxisId axis : axes_used(addend)) {
                if (wide(axis)) return std::nullopt;
                single = axis;
            }
        }
        return along ? along : single;
    }

    void straighten(Load& load) {
        if (load.source) return;
        const Array& array = region_.arrays[load.array.index()];
        std::vector<AxisId> axes;
        std::vector<Expression> gather;
        bool straight = true;
        for (std::size_t d = 0; d < array.axes.size(); ++d) {
            if (load.gather.empty() && load.index[d].size() != 1) return;
            const Expression& index = load.gather.empty() ? load.index[d].front() : load.gather[d];
            straight = straight && std::holds_alternative<AxisIndex>(index.node) &&
                       (index == axis_index(array.axes[d]) || !is_floating(array.type));
            const std::optional<AxisId> axis =
                axis_along(clamped(index, array.axes[d]).value_or(index));
            if (!axis || std::find(axes.begin(), axes.end(), *axis) != axes.end()) return;
            axes.push_back(*axis);
            gather.push_back(index);
        }
        if (straight || (load.gather.empty() && !is_read_at(load.target, gather))) return;
        const ArrayId view{static_cast<std::uint32_t>(region_.arrays.size())};
        Variable& target = region_.variables[load.target.index()];
        Array made = region_.arrays[target.array.index()];
        if (!load.gather.empty()) hold_along(axes, made.axes, target);
        made.axes = std::move(axes);
        made.layout = array.layout;
        load.index.clear();
        for (const AxisId axis : made.axes) load.index.push_back({axis_index(axis)});
        region_.arrays.push_back(std::move(made));
        load.gather = std::move(gather);
        was_[load.target] = target.array;
        views_[load.target] = view;
    }

    /// What a gather holds along its own axes, in the order of the array's dimensions.
    static void hold_along(const std::vector<AxisId>& axes, const std::vector<AxisId>& own,
                           Variable& target) {
        const Variable was = target;
        target.capacity.clear();
        target.capacity_extent.clear();
        for (const AxisId axis : axes) {
            const auto d =
                static_cast<std::size_t>(std::find(own.begin(), own.end(), axis) - own.begin());
            target.capacity.push_back(was.capacity.at(d));
            target.capacity_extent.push_back(was.capacity_extent.at(d));
        }
    }

    void redirect(std::vector<TileStatement>& body) {
        for (TileStatement& statement : body) {
            if (Parallel* parallel = std::get_if<Parallel>(&statement.node))
                redirect(parallel->body);
            else if (Loop* loop = std::get_if<Loop>(&statement.node))
                redirect(loop->body);
            else if (Compute* compute = std::get_if<Compute>(&statement.node))
                redirect(*compute);
            else if (Load* load = std::get_if<Load>(&statement.node))
                for (Expression& index : load->gather)
                    index = rewrite(std::move(index), by_views(all_variables()));
        }
    }

    /// What reads the views of these variables, each at its own axes, instead of their arrays.
    [[nodiscard]] std::function<Expression(Expression)> by_views(
        const std::vector<VariableId>& variables) const {
        std::map<ArrayId, ArrayId> views;
        for (const VariableId variable : variables)
            if (const auto view = views_.find(variable); view != views_.end())
                views[was_.at(variable)] = view->second;
        return [this, views = std::move(views)](Expression node) -> Expression {
            const Read* element = std::get_if<Read>(&node.node);
            const auto view = element == nullptr ? views.end() : views.find(element->array);
            if (view == views.end()) return node;
            return read_axes(view->second, region_.arrays[view->second.index()].axes);
        };
    }

    void redirect(Compute& compute) {
        const auto plain = by_views(compute.reads);
        if (Map* map = std::get_if<Map>(&compute.statement.body))
            map->value = rewrite(std::move(map->value), plain);
        if (Fold* fold = std::get_if<Fold>(&compute.statement.body)) {
            for (Expression& value : fold->values) value = rewrite(std::move(value), plain);
            for (Expression& seed : fold->seed) seed = rewrite(std::move(seed), plain);
        }
        if (Select* select = std::get_if<Select>(&compute.statement.body))
            select->value = rewrite(std::move(select->value), plain);
    }

    RegionProgram region_;
    std::map<VariableId, std::vector<std::vector<Expression>>> reads_;  ///< their indices
    Extents extents_;
    std::map<VariableId, ArrayId> views_;
    std::map<VariableId, ArrayId> was_;  // the array of such a variable as it was
};

}  // namespace

bool is_view(const Load& load) {
    return !load.gather.empty() && !load.index.empty();
}

std::optional<Expression> clamped(const Expression& expression, AxisId dimension) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || call->function != Function::Min) return std::nullopt;
    const auto is_last = [&](const Expression& e) {
        const Apply* last = std::get_if<Apply>(&e.node);
        if (last == nullptr || last->function != Function::Subtract) return false;
        const SizeOf* size = std::get_if<SizeOf>(&last->arguments[0].node);
        const Number* one = std::get_if<Number>(&last->arguments[1].node);
        return size != nullptr && size->axis == dimension && one != nullptr && one->value == 1;
    };
    for (const std::size_t side : {0U, 1U})
        if (is_last(call->arguments[side])) return call->arguments[1 - side];
    return std::nullopt;
}

std::optional<Expression> inside_of(const RegionProgram& region, const Load& load) {
    std::optional<Expression> inside;
    if (!is_view(load)) return inside;
    const std::vector<AxisId>& axes = region.arrays[load.array.index()].axes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const std::optional<Expression> index = clamped(load.gather[d], axes[d]);
        if (!index) continue;
        if (inside) return std::nullopt;
        inside = apply(Function::Less, {*index, size_of(axes[d])});
    }
    return inside;
}

RegionProgram with_straight_reads(RegionProgram region) {
    return Straightener(std::move(region)).run();
}

}  // namespace napkin::schedule
