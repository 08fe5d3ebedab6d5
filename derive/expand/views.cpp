#include "derive/expand/views.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "diagrams/check/bounds.h"
#include "diagrams/result.h"
#include "diagrams/rewrite_statement.h"

namespace napkin {

namespace {

bool depends_on_data(const std::vector<Expression>& index) {
    return std::any_of(index.begin(), index.end(), [](const Expression& expression) {
        return !arrays_read(expression).empty();
    });
}

}  // namespace

const View* ViewTable::find(ArrayId view) const {
    for (const View& known : views_)
        if (known.view == view) return &known;
    return nullptr;
}

Statement ViewTable::rewrite_reads(Statement statement) {
    for_each_expression(statement, [&](Expression& expression) {
        expression = rewrite_expression(std::move(expression));
    });
    return statement;
}

/// A gather asks for every element, and for what its index reads, before a condition around it is
/// looked at: where only that condition keeps it inside, it is the nearest element there is.
Expression ViewTable::inside(Expression gather) const {
    // An array that is an index elsewhere may be of a longer axis there.
    const auto has_contract = [&](const Read& element, AxisId dimension) {
        const std::optional<AxisId> indexes = arrays_[element.array.index()].indexes;
        if (!indexes || *indexes == dimension) return indexes.has_value();
        const Axis& most = diagram_[*indexes];
        return !most.dynamic && !diagram_[dimension].dynamic &&
               most.extent <= diagram_[dimension].extent;
    };
    const auto is_inside = [&](const Expression& index, AxisId dimension) {
        const Read* element = std::get_if<Read>(&index.node);
        return std::holds_alternative<AxisIndex>(index.node) ||
               (element != nullptr && has_contract(*element, dimension));
    };
    return rewrite(std::move(gather), [&](Expression node) {
        Read* element = std::get_if<Read>(&node.node);
        if (element == nullptr) return node;
        const std::vector<AxisId>& axes = arrays_[element->array.index()].axes;
        bool all_inside = true;
        bool needs_contract = false;  // of what counts as inside that may be so by one
        for (std::size_t k = 0; k < axes.size(); ++k) {
            const Expression& index = element->index[k];
            const bool inside = is_inside(index, axes[k]);
            all_inside = all_inside && inside;
            needs_contract =
                needs_contract || (std::holds_alternative<Read>(index.node) && !inside);
        }
        if (all_inside) return node;
        Diagram scope = diagram_;
        scope.arrays = arrays_;
        if (!needs_contract && checking::accesses_proved(scope, node, {})) return node;
        Read plain = *element;
        for (Expression& index : plain.index)
            if (!arrays_read(index).empty()) index = integer(0);
        const bool only_data = checking::accesses_proved(scope, {std::move(plain), {}}, {});
        for (std::size_t k = 0; k < axes.size(); ++k) {
            if (is_inside(element->index[k], axes[k])) continue;
            if (only_data && arrays_read(element->index[k]).empty()) continue;
            Expression last = apply(Function::Subtract, {size_of(axes[k]), integer(1)});
            Expression first = apply(Function::Max, {std::move(element->index[k]), integer(0)});
            element->index[k] = apply(Function::Min, {std::move(first), std::move(last)});
        }
        return node;
    });
}

Expression ViewTable::rewrite_expression(Expression expression) {
    expression = rewrite(std::move(expression), [&](Expression node) {
        const Read* element = std::get_if<Read>(&node.node);
        const bool gathers = element != nullptr && depends_on_data(element->index);
        return gathers ? inside(std::move(node)) : node;
    });
    // Leaves first: the index of a gather names views already when the gather is met.
    return rewrite(std::move(expression), [&](Expression node) {
        const Read* element = std::get_if<Read>(&node.node);
        if (element == nullptr || defined_.count(element->array) != 0) return node;
        if (arrays_[element->array.index()].role == ArrayRole::Parameter) return node;
        Expression replaced =
            depends_on_data(element->index) ? gather_read(*element) : view_read(*element);
        replaced.span = node.span;
        return replaced;
    });
}

/// The axis that an index runs over, where no group or chunk divides it.
std::optional<AxisId> ViewTable::whole_axis(const Expression& index) const {
    const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
    if (plain == nullptr) return std::nullopt;
    const auto divides = [&](const auto& part) { return part.axis == plain->axis; };
    if (std::any_of(region_.groups.begin(), region_.groups.end(), divides) ||
        std::any_of(region_.streams.begin(), region_.streams.end(), divides))
        return std::nullopt;
    return plain->axis;
}

/// Whether two indices run over the same elements: the same index, or an axis and its alias.
bool ViewTable::runs_alike(const Expression& a, const Expression& b) const {
    if (a == b) return true;
    const std::optional<AxisId> first = whole_axis(a);
    const std::optional<AxisId> second = whole_axis(b);
    return first && second && diagram_[*first].size == diagram_[*second].size;
}

/// A view whose tile is the same: `C[x, d]` serves `C[x, e]` where e is an alias of d.
const View* ViewTable::same_tile(const Read& element) const {
    const auto serves = [&](const View& view) {
        if (view.source != element.array || !view.gather.empty()) return false;
        for (std::size_t k = 0; k < element.index.size(); ++k)
            if (view.index[k].size() != 1 || !runs_alike(view.index[k][0], element.index[k]))
                return false;
        return true;
    };
    const auto found = std::find_if(views_.begin(), views_.end(), serves);
    return found == views_.end() ? nullptr : &*found;
}

Expression ViewTable::view_read(const Read& element) {
    if (const View* known = same_tile(element)) return read(known->view, element.index);
    std::vector<std::set<AxisId>> shape;
    for (const Expression& index : element.index) shape.push_back(axes_used(index));
    const auto [entry, fresh] = boxes_.try_emplace({element.array, shape}, views_.size());
    if (fresh) {
        const bool first = std::none_of(views_.begin(), views_.end(),
                                        [&](const View& v) { return v.source == element.array; });
        View view;
        view.source = element.array;
        view.view =
            first ? element.array : fresh_array(element.array, arrays_[element.array.index()].axes);
        view.index.resize(element.index.size());
        for (const std::set<AxisId>& axes : shape) view.axes.insert(axes.begin(), axes.end());
        views_.push_back(std::move(view));
    }
    View& view = views_[entry->second];
    for (std::size_t k = 0; k < element.index.size(); ++k) {
        std::vector<Expression>& seen = view.index[k];
        if (std::find(seen.begin(), seen.end(), element.index[k]) == seen.end())
            seen.push_back(element.index[k]);
    }
    return read(view.view, element.index);
}

Expression ViewTable::gather_read(const Read& element) {
    for (const View& view : views_)
        if (view.source == element.array && view.gather == element.index)
            return read_axes(view.view, arrays_[view.view.index()].axes);
    View view;
    view.source = element.array;
    view.gather = element.index;
    for (const Expression& index : element.index) {
        const std::set<AxisId> used = axes_used(index);
        view.axes.insert(used.begin(), used.end());
    }
    view.view = fresh_array(element.array, {view.axes.begin(), view.axes.end()});
    views_.push_back(view);
    return read_axes(view.view, arrays_[view.view.index()].axes);
}

ArrayId ViewTable::fresh_array(ArrayId source, std::vector<AxisId> axes) {
    Array array = arrays_[source.index()];
    const auto count = std::count_if(views_.begin(), views_.end(),
                                     [&](const View& v) { return v.source == source; });
    array.name += "'" + std::to_string(count + 1);
    array.role = ArrayRole::Intermediate;
    // What has the array's own axes lies as the array does.
    if (axes != array.axes) {
        array.layout.resize(axes.size());
        std::iota(array.layout.begin(), array.layout.end(), 0U);
    }
    array.axes = std::move(axes);
    arrays_.push_back(std::move(array));
    return ArrayId{static_cast<std::uint32_t>(arrays_.size() - 1)};
}

}  // namespace napkin
