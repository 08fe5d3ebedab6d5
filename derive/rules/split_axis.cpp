// split-axis: an axis is a pair of axes, and back.
//
//   ── q ──     ==>     ── q ──        index along the old axis = q * size(q1) + q1
//                       ── q1 ──
//
// Parts and remainders of that index by a number that the size divides, or that divides it, are
// indices of the pair: where q1 has 64 indices, the old q // 64 is q, q % 64 is q1.
//
// Side condition of split-axis: the size divides, no scan or selection runs along the axis, no
// input holds indices along it, and it is neither grouped nor streamed yet. Memory is unchanged:
// the pair is adjacent, the new axis innermost. Citation: arXiv 2412.03317, section 2.3 (an open
// circle splits and joins an axis).
#include <algorithm>
#include <cmath>

#include "derive/rules/draft.h"
#include "diagrams/overloaded.h"
#include "diagrams/rewrite_statement.h"

namespace napkin::rules {

namespace {

bool is_ordered_along(const Diagram& diagram, AxisId axis) {
    return std::any_of(
        diagram.statements.begin(), diagram.statements.end(), [&](const Statement& statement) {
            if (const Fold* fold = std::get_if<Fold>(&statement.body))
                return fold->every_prefix && fold->over.front() == axis;
            const Select* select = std::get_if<Select>(&statement.body);
            return select != nullptr && (select->over == axis || select->rank == axis);
        });
}

/// Rewrites one diagram with `axis` replaced by the pair (axis, inner).
class Splitter {
public:
    Splitter(Diagram& diagram, AxisId axis, AxisId inner)
        : diagram_(diagram), axis_(axis), inner_(inner), size_(diagram[inner].extent) {}

    void run() {
        const std::vector<Array> before = diagram_.arrays;
        for (Array& array : diagram_.arrays) split_array(array);
        for (Statement& statement : diagram_.statements) split_statement(statement, before);
        for_each_expression(diagram_.spellings, [&](Expression& written) {
            written = split_expression(written, before);
        });
    }

private:
    void split_array(Array& array) const {
        for (std::size_t k = array.axes.size(); k-- > 0;) {
            if (array.axes[k] != axis_) continue;
            array.axes.insert(array.axes.begin() + static_cast<std::ptrdiff_t>(k) + 1, inner_);
            std::vector<std::uint32_t> layout;
            for (std::uint32_t position : array.layout) {
                layout.push_back(position > k ? position + 1 : position);
                if (position == k) layout.push_back(static_cast<std::uint32_t>(k) + 1);
            }
            array.layout = layout;
        }
    }
    void split_statement(Statement& statement, const std::vector<Array>& before) const {
        const auto each = [&](std::vector<Expression>& list) {
            for (Expression& expression : list) expression = split_expression(expression, before);
        };
        std::visit(
            overloaded{
                [&](Map& map) { map.value = split_expression(map.value, before); },
                [&](Fold& fold) {
                    each(fold.values);
                    each(fold.seed);
                    if (const auto at = std::find(fold.over.begin(), fold.over.end(), axis_);
                        at != fold.over.end())
                        fold.over.insert(at + 1, inner_);
                },
                [&](Select& select) { select.value = split_expression(select.value, before); },
                [&](Opaque& opaque) { each(opaque.reads); },
            },
            statement.body);
    }
    /// Indices are split where the array they index was, so the old arrays decide; an index that
    /// stays one becomes axis * size + inner.
    Expression split_expression(const Expression& expression,
                                const std::vector<Array>& before) const {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node);
            index != nullptr && index->axis == axis_)
            return joined_index();
        if (const SizeOf* size = std::get_if<SizeOf>(&expression.node);
            size != nullptr && size->axis == axis_)
            return napkin::apply(Function::Multiply, {size_of(axis_), size_of(inner_)});
        Expression result = expression;
        if (Read* element = std::get_if<Read>(&result.node)) {
            std::vector<Expression> index;
            for (std::size_t k = 0; k < element->index.size(); ++k) {
                const Expression& old = element->index[k];
                if (before[element->array.index()].axes[k] != axis_) {
                    index.push_back(split_expression(old, before));
                } else if (std::get_if<AxisIndex>(&old.node) != nullptr &&
                           std::get<AxisIndex>(old.node).axis == axis_) {
                    index.push_back(axis_index(axis_));
                    index.push_back(axis_index(inner_));
                } else {
                    const Expression whole = split_expression(old, before);
                    index.push_back(napkin::apply(Function::FloorDivide, {whole, size_of(inner_)}));
                    index.push_back(napkin::apply(Function::Modulo, {whole, size_of(inner_)}));
                }
            }
            element->index = std::move(index);
        } else if (Apply* call = std::get_if<Apply>(&result.node)) {
            if (std::optional<Expression> part = part_of_index(*call)) return *std::move(part);
            for (Expression& argument : call->arguments)
                argument = split_expression(argument, before);
        } else if (Convert* convert = std::get_if<Convert>(&result.node)) {
            for (Expression& argument : convert->argument)
                argument = split_expression(argument, before);
        }
        return result;
    }
    /// index // number or index % number of the pair's index, without that index.
    [[nodiscard]] std::optional<Expression> part_of_index(const Apply& call) const {
        using F = Function;
        const bool floors = call.function == F::FloorDivide;
        if (!floors && call.function != F::Modulo) return std::nullopt;
        const AxisIndex* index = std::get_if<AxisIndex>(&call.arguments[0].node);
        const double* divisor = literal(call.arguments[1]);
        constexpr double kMost = 1e15;  // whole numbers are exact up to there
        if (index == nullptr || index->axis != axis_ || divisor == nullptr || *divisor < 2 ||
            *divisor > kMost || *divisor != std::floor(*divisor))
            return std::nullopt;
        const auto by = static_cast<std::int64_t>(*divisor);
        const auto with = [](F function, Expression value, std::int64_t other) {
            return napkin::apply(function, {std::move(value), integer(other)});
        };
        const Expression outer = axis_index(axis_);
        const Expression inner = axis_index(inner_);
        if (by == size_) return floors ? outer : inner;
        if (size_ % by == 0)
            return floors ? napkin::apply(F::Add, {with(F::Multiply, outer, size_ / by),
                                                   with(F::FloorDivide, inner, by)})
                          : with(F::Modulo, inner, by);
        if (by % size_ != 0) return std::nullopt;
        if (floors) return with(F::FloorDivide, outer, by / size_);
        return napkin::apply(F::Add,
                             {with(F::Multiply, with(F::Modulo, outer, by / size_), size_), inner});
    }
    Expression joined_index() const {
        return napkin::apply(
            Function::Add, {napkin::apply(Function::Multiply, {axis_index(axis_), size_of(inner_)}),
                            axis_index(inner_)});
    }

    Diagram& diagram_;
    AxisId axis_;
    AxisId inner_;
    std::int64_t size_;  ///< indices of the inner axis
};

}  // namespace

Outcome split_axis(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.as.size() != 1 || !command.size)
        return out_of_place("it takes an axis, a name and a size",
                            "write `split-axis q as q1 by 16`");
    const std::optional<AxisId> axis = find_axis(state.diagram, command.names.front());
    const std::string& name = command.names.front();
    if (!axis) return out_of_place("there is no axis `" + name + "`", "");
    if (find_axis(state.diagram, command.as.front()) ||
        find_array(state.diagram, command.as.front()))
        return out_of_place("`" + command.as.front() + "` is in use already",
                            "choose another name");
    const Axis& old = state.diagram[*axis];
    if (old.dynamic)
        return NotApplicable{"`" + name + "` is a run-time size", "split axes of known size"};
    if (old.extent % *command.size != 0)
        return NotApplicable{
            std::to_string(*command.size) + " does not divide `" + name + "` (" +
                std::to_string(old.extent) + ")",
            "a pair of axes has no ragged end; group or stream by that size instead"};
    if (is_ordered_along(state.diagram, *axis))
        return NotApplicable{"a scan or a selection runs along `" + name + "`", ""};
    for (const Array& array : state.diagram.arrays)
        if (array.indexes == axis)
            return NotApplicable{"`" + array.name + "` holds indices along `" + name + "`", ""};
    for (const Region& region : state.relabelling.regions)
        if (std::optional<NotApplicable> refusal = why_cut(state, region, *axis)) return *refusal;

    State next = state;
    Diagram& diagram = next.diagram;
    const AxisId inner{static_cast<std::uint32_t>(diagram.axes.size())};
    const Formula pair = Formula(axis_size(*axis)) * axis_size(inner);
    for (Axis& other : diagram.axes) other.size = substitute(other.size, axis_size(*axis), pair);
    Axis fresh = old;
    fresh.name = command.as.front();
    fresh.size = axis_size(inner);
    fresh.extent = *command.size;
    diagram.axes.push_back(fresh);
    diagram.axes[axis->index()].size = axis_size(*axis);
    diagram.axes[axis->index()].extent = old.extent / *command.size;
    Splitter(diagram, *axis, inner).run();
    verify(diagram);
    if (std::optional<NotApplicable> refusal = settle_regions(next, state)) return *refusal;
    return with_step(std::move(next), command,
                     {std::to_string(*command.size) + " divides " + std::to_string(old.extent)});
}

}  // namespace napkin::rules
