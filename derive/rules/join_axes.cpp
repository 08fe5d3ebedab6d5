// join-axes: two adjacent axes are one axis.
//
//   ── a ──     ==>     ── c ──        a = c // size(b), b = c % size(b)
//   ── b ──
//
// Side conditions: every array that has one of the two has both, b right after a, in memory too; a
// reduction takes both or neither, and in that order where its monoid is not commutative; neither
// is grouped, streamed or a run-time size. Citation: arXiv 2412.03317, section 2.3 (an open circle
// splits and joins an axis).
#include <algorithm>

#include "derive/rules/draft.h"
#include "diagrams/overloaded.h"
#include "diagrams/rewrite_statement.h"

namespace napkin::rules {

namespace {

std::ptrdiff_t position(const std::vector<AxisId>& axes, AxisId axis) {
    const auto at = std::find(axes.begin(), axes.end(), axis);
    return at == axes.end() ? -1 : at - axes.begin();
}

std::optional<std::string> why_not_adjacent(const Diagram& diagram, AxisId first, AxisId second) {
    for (const Array& array : diagram.arrays) {
        const std::ptrdiff_t a = position(array.axes, first);
        const std::ptrdiff_t b = position(array.axes, second);
        if (a < 0 && b < 0) continue;
        if (b != a + 1 || a < 0)
            return "`" + array.name + "` does not have the two axes side by side";
        const auto slow =
            std::find(array.layout.begin(), array.layout.end(), static_cast<std::uint32_t>(a));
        if (slow + 1 == array.layout.end() || *(slow + 1) != static_cast<std::uint32_t>(b))
            return "`" + array.name + "` does not have the two axes side by side in memory";
    }
    for (const Statement& statement : diagram.statements) {
        const std::vector<AxisId> folded = folded_axes(statement);
        if ((position(folded, first) < 0) != (position(folded, second) < 0) ||
            (position(folded, first) >= 0 && !std::holds_alternative<Fold>(statement.body)))
            return "a reduction takes only one of the two axes";
        if (const Fold* fold = std::get_if<Fold>(&statement.body);
            fold != nullptr && fold->every_prefix && position(folded, first) >= 0)
            return "a scan runs along one of the two axes";
        if (const Fold* fold = std::get_if<Fold>(&statement.body);
            fold != nullptr && is_ordered(diagram, *fold) && position(folded, first) >= 0 &&
            position(folded, second) != position(folded, first) + 1)
            return why_ordered(diagram, *fold) + ", and along the joined axis `" +
                   diagram[second].name + "` comes right after `" + diagram[first].name + "`";
        if (const Select* select = std::get_if<Select>(&statement.body);
            select != nullptr && (select->rank == first || select->rank == second))
            return "a selection is ranked along one of the two axes";
    }
    return std::nullopt;
}

/// Rewrites a diagram so that `first` stands for the pair; `second` disappears and later axes move
/// up.
class Joiner {
public:
    Joiner(const Diagram& diagram, AxisId first, AxisId second)
        : before_(diagram), first_(first), second_(second), inner_(diagram[second].extent) {}

    Diagram run(const std::string& name) const {
        Diagram result = before_;
        result.axes[first_.index()].name = name;
        result.axes[first_.index()].extent *= inner_;
        for (Axis& axis : result.axes) {
            axis.size = substitute(axis.size, axis_size(second_), inner_);
            axis.size = substitute(axis.size, axis_size(first_), divide(axis_size(first_), inner_));
            for (std::uint32_t later = second_.value + 1; later < before_.axes.size(); ++later)
                axis.size = substitute(axis.size, axis_size({later}), axis_size(rename({later})));
        }
        result.axes[first_.index()].size = axis_size(rename(first_));
        result.axes.erase(result.axes.begin() + second_.value);
        for (Array& array : result.arrays) join_array(array);
        for (Statement& statement : result.statements) join_statement(statement);
        for_each_expression(result.spellings,
                            [&](Expression& written) { written = joined(written); });
        for (Box& box : result.boxes) box.glyph_axes = renamed(box.glyph_axes);
        return result;
    }
    AxisId rename(AxisId axis) const {
        return {axis.value > second_.value ? axis.value - 1 : axis.value};
    }

private:
    std::vector<AxisId> renamed(std::vector<AxisId> axes) const {
        std::erase(axes, second_);
        for (AxisId& axis : axes) axis = rename(axis);
        return axes;
    }
    void join_array(Array& array) const {
        const std::ptrdiff_t at = position(array.axes, second_);
        if (at >= 0) {
            std::erase(array.layout, static_cast<std::uint32_t>(at));
            for (std::uint32_t& slot : array.layout)
                if (slot > static_cast<std::uint32_t>(at)) --slot;
        }
        array.axes = renamed(array.axes);
        if (array.indexes) array.indexes = rename(*array.indexes);
    }
    void join_statement(Statement& statement) const {
        const auto each = [&](std::vector<Expression>& list) {
            for (Expression& expression : list) expression = joined(expression);
        };
        std::visit(overloaded{
                       [&](Map& map) { map.value = joined(map.value); },
                       [&](Fold& fold) {
                           each(fold.values);
                           each(fold.seed);
                           fold.over = renamed(fold.over);
                       },
                       [&](Select& select) {
                           select.value = joined(select.value);
                           select.over = rename(select.over);
                           if (select.rank) select.rank = rename(*select.rank);
                       },
                       [&](Opaque& opaque) { each(opaque.reads); },
                   },
                   statement.body);
    }
    Expression joined(const Expression& expression) const {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node)) {
            if (index->axis == first_)
                return napkin::apply(Function::FloorDivide,
                                     {axis_index(rename(first_)), integer(inner_)});
            if (index->axis == second_)
                return napkin::apply(Function::Modulo,
                                     {axis_index(rename(first_)), integer(inner_)});
            return axis_index(rename(index->axis));
        }
        if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
            if (size->axis == first_ || size->axis == second_)
                return integer(before_[size->axis].extent);
            return size_of(rename(size->axis));
        }
        Expression result = expression;
        if (Read* element = std::get_if<Read>(&result.node)) {
            element->index = joined_index(*element);
        } else if (Apply* call = std::get_if<Apply>(&result.node)) {
            for (Expression& argument : call->arguments) argument = joined(argument);
        } else if (Convert* convert = std::get_if<Convert>(&result.node)) {
            for (Expression& argument : convert->argument) argument = joined(argument);
        }
        return result;
    }
    std::vector<Expression> joined_index(const Read& element) const {
        const std::vector<AxisId>& axes = before_[element.array].axes;
        std::vector<Expression> index;
        for (std::size_t k = 0; k < axes.size(); ++k) {
            if (axes[k] == second_) continue;
            if (axes[k] != first_) {
                index.push_back(joined(element.index[k]));
                continue;
            }
            const AxisIndex* a = std::get_if<AxisIndex>(&element.index[k].node);
            const AxisIndex* b = std::get_if<AxisIndex>(&element.index[k + 1].node);
            if (a != nullptr && b != nullptr && a->axis == first_ && b->axis == second_)
                index.push_back(axis_index(rename(first_)));
            else
                index.push_back(napkin::apply(
                    Function::Add,
                    {napkin::apply(Function::Multiply, {joined(element.index[k]), integer(inner_)}),
                     joined(element.index[k + 1])}));
        }
        return index;
    }

    const Diagram& before_;
    AxisId first_;
    AxisId second_;
    std::int64_t inner_;
};

}  // namespace

Outcome join_axes(const State& state, const Command& command) {
    if (command.names.size() != 2 || command.as.size() != 1)
        return out_of_place("it takes two axes and a name", "write `join-axes a, b as c`");
    const Diagram& diagram = state.diagram;
    const std::optional<AxisId> first = find_axis(diagram, command.names[0]);
    const std::optional<AxisId> second = find_axis(diagram, command.names[1]);
    for (std::size_t i = 0; i < 2; ++i)
        if (!(i == 0 ? first : second))
            return out_of_place("there is no axis `" + command.names[i] + "`", "");
    if (*first == *second) return out_of_place("the two axes are one already", "");
    const std::string& name = command.as.front();
    if (name != command.names[0] && name != command.names[1] &&
        (find_axis(diagram, name) || find_array(diagram, name)))
        return out_of_place("`" + name + "` is in use already", "choose another name");
    if (diagram[*first].dynamic || diagram[*second].dynamic)
        return NotApplicable{"one of them is a run-time size", "join axes of known size"};
    if (const std::optional<std::string> reason = why_not_adjacent(diagram, *first, *second))
        return NotApplicable{*reason, ""};
    for (const Array& array : diagram.arrays)
        if (array.indexes == first || array.indexes == second)
            return NotApplicable{"`" + array.name + "` holds indices along one of them", ""};

    State next = state;
    for (Region& region : next.relabelling.regions) {
        const bool woven = diagram[*first].woven && diagram[*second].woven;
        for (const AxisId axis : {*first, *second})
            if (std::optional<NotApplicable> refusal = why_cut(state, region, axis, !woven))
                return *refusal;
        std::erase_if(region.groups, [&](const Group& group) { return group.axis == *second; });
    }
    const Joiner joiner(diagram, *first, *second);
    next.diagram = joiner.run(name);
    for (Region& region : next.relabelling.regions) {
        for (Group& group : region.groups) group.axis = joiner.rename(group.axis);
        for (Stream& stream : region.streams) stream.axis = joiner.rename(stream.axis);
    }
    verify(next.diagram);
    if (std::optional<NotApplicable> refusal = settle_regions(next, state)) return *refusal;
    return with_step(std::move(next), command, {"the axes are side by side in every array"});
}

}  // namespace napkin::rules
