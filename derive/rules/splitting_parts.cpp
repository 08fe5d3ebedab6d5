// What a part computes: the body of the stream from the initial state, with the axis replaced by a
// part and a place in it.
//
// Where the parts do not fill the axis, places beyond its end read the last element instead of
// nothing, and add nothing: a sum's factor is 0 there, a maximum's operand -inf. A statement that
// decides by a condition is not evaluated there at all.
#include <algorithm>
#include <limits>

#include "derive/rewriting/simplify.h"
#include "derive/rewriting/statements.h"
#include "derive/rules/splitting.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

/// Whether a condition decides what is read.
bool decides(const Expression& expression) {
    bool found = false;
    walk(expression, [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        found = found || (call != nullptr && call->function == Function::Select);
    });
    return found;
}

/// The value that is folded, where it is no product of anything: a number that every element adds.
const Number* constant_of(const Statement& statement, AxisId axis) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || fold->monoid != kSum || fold->over != std::vector<AxisId>{axis})
        return nullptr;
    return std::get_if<Number>(&fold->values.front().node);
}

}  // namespace

bool Splitting::carries(const Statement& statement) const {
    for (ArrayId target : statement.targets)
        if (contains(array(target).axes, axis_)) return true;
    if (contains(folded_axes(statement), axis_)) return true;
    for (const Expression* expression : expressions_of(statement))
        if (axes_used(*expression).count(axis_) != 0) return true;
    return false;
}

/// Whether a statement's value is another in another part.
bool Splitting::depends(const Statement& statement) {
    if (carries(statement)) return true;
    for (ArrayId input : inputs_of(statement)) {
        if (producer_.count(input) == 0) continue;
        const ArrayId made = part(input);
        if (counts_.count(input) != 0 || varying_.count(made) != 0) return true;
    }
    return false;
}

Expression Splitting::offset() const {
    return napkin::apply(Function::Multiply, {axis_index(part_), size_of(inner_)});
}

/// The index along the whole axis; beyond its end, the last one when clamped.
Expression Splitting::place(bool clamped) const {
    Expression index = napkin::apply(Function::Add, {offset(), axis_index(inner_)});
    if (!clamped) return index;
    Expression last = napkin::apply(Function::Subtract, {size_of(axis_), integer(1)});
    return napkin::apply(Function::Min, {std::move(index), std::move(last)});
}

/// How many elements a part has.
Expression Splitting::width() const {
    if (!ragged_) return size_of(inner_);
    Expression left = napkin::apply(Function::Subtract, {size_of(axis_), offset()});
    return napkin::apply(Function::Min, {size_of(inner_), std::move(left)});
}

Expression Splitting::guarded(Expression value, Expression neutral) const {
    Expression inside = napkin::apply(Function::Less, {place(false), size_of(axis_)});
    return napkin::apply(Function::Select,
                         {std::move(inside), std::move(value), std::move(neutral)});
}

std::vector<AxisId> Splitting::part_axes(ArrayId old, bool dependent) const {
    std::vector<AxisId> axes;
    if (dependent) axes.push_back(part_);
    for (AxisId axis : array(old).axes) axes.push_back(axis == axis_ ? inner_ : axis);
    return axes;
}

std::string Splitting::part_name(ArrayId old) const {
    for (const auto& [state, newest] : newest_)
        if (newest == old) return array(state).name + "_part";
    return array(old).name;
}

ArrayId Splitting::part(ArrayId old) {
    const auto found = parts_.find(old);
    if (found != parts_.end()) return found->second;
    write_part(producer_.at(old));
    return parts_.at(old);
}

void Splitting::write_part(std::size_t index) {
    const Line line = lines_[index];
    const Statement& source = line.statement;
    if (const Number* constant = constant_of(source, axis_)) {
        // A number times how many there are; nothing is kept for it.
        counts_[source.targets.front()] =
            constant->value == 1
                ? width()
                : napkin::apply(Function::Multiply, {Expression{*constant, {}}, width()});
        parts_[source.targets.front()] = source.targets.front();
        return;
    }
    const bool dependent = depends(source);
    Statement made = source;
    made.box = box(false, source.box);
    for (ArrayId& target : made.targets) {
        const Array& old = array(target);
        Array fresh;
        const ArrayId id =
            draft_.add_array(part_name(target), part_axes(target, dependent), old.span, old.type);
        Array& copy = draft_.diagram.arrays[id.index()];
        copy.named = old.named;
        copy.rounds = old.rounds;
        copy.is_gauge = held(target) != nullptr || running_mean(target) != nullptr;
        if (is_floating(old.type) && !old.rounds && old.type != ElementType::F32) {
            copy.type = ElementType::F32;
            draft_.store(id, old.type);
        }
        if (const auto type = state_.relabelling.wire_types.find(target);
            type != state_.relabelling.wire_types.end())
            draft_.store(id, type->second);
        parts_[target] = id;
        if (dependent) varying_.insert(id);
        target = id;
    }
    write_body(source, made);
    const StatementId id = draft_.add(std::move(made), parts_region_, first_statement(), line.turn);
    for (StatementId old : state_.relabelling.regions[region_].statements)
        if (diagram_[old].targets == source.targets || diagram_[old].box == source.box)
            if (std::holds_alternative<Fold>(diagram_[old].body) ==
                std::holds_alternative<Fold>(source.body))
                draft_.place(old, id);
}

void Splitting::write_body(const Statement& source, Statement& target) {
    const bool chunk = contains(array(source.targets.front()).axes, axis_);
    const auto value_of = [&](const Expression& value, const Expression& neutral) {
        if (ragged_ && chunk && decides(value)) return guarded(translated(value, false), neutral);
        return translated(value, ragged_);
    };
    const Expression lowest = number(-std::numeric_limits<double>::infinity());
    std::visit(
        overloaded{
            [&](Map& map) {
                const Apply* call = std::get_if<Apply>(&map.value.node);
                const bool weight =
                    ragged_ && chunk && call != nullptr && call->function == Function::Exp;
                Expression value = map.value;
                if (weight) zeroed_.insert(target.targets.front());
                map.value = weight ? guarded(translated(value, !decides(value)), integer(0))
                                   : value_of(value, integer(0));
            },
            [&](Fold& fold) {
                const std::vector<Expression>& identity = diagram_[fold.monoid].identity;
                const bool folds = contains(fold.over, axis_);
                for (std::size_t i = 0; i < fold.values.size(); ++i)
                    fold.values[i] = folds ? folded_value(fold.values[i], fold.monoid, identity[i])
                                           : value_of(fold.values[i], identity[i]);
                for (AxisId& axis : fold.over)
                    if (axis == axis_) axis = inner_;
            },
            [&](Select& select) {
                const bool folds = select.over == axis_;
                select.value =
                    folds && ragged_
                        ? guarded(translated(select.value, !decides(select.value)), lowest)
                        : value_of(select.value, lowest);
                if (!folds) return;
                select.over = inner_;
                local_.insert(target.targets[1]);
                if (select.rank &&
                    draft_.diagram[*select.rank].extent > draft_.diagram[inner_].extent)
                    refuse("a part of " + std::to_string(draft_.diagram[inner_].extent) +
                               " elements has no " +
                               std::to_string(draft_.diagram[*select.rank].extent) + " largest",
                           "choose larger parts");
            },
            [](Opaque&) {},
        },
        target.body);
}

/// What a fold over the axis takes in: nothing beyond its end.
Expression Splitting::folded_value(const Expression& value, MonoidId monoid,
                                   const Expression& neutral) {
    if (!ragged_) return translated(value, false);
    if (monoid != kSum) return guarded(translated(value, !decides(value)), neutral);
    if (vanishes(value)) return translated(value, true);
    return guarded_product(value);
}

/// Whether a factor is 0 beyond the end already.
bool Splitting::vanishes(const Expression& product) const {
    if (const Read* element = std::get_if<Read>(&product.node)) {
        const auto found = parts_.find(element->array);
        return found != parts_.end() && zeroed_.count(found->second) != 0;
    }
    const Apply* call = std::get_if<Apply>(&product.node);
    if (call == nullptr || call->function != Function::Multiply) return false;
    return vanishes(call->arguments[0]) || vanishes(call->arguments[1]);
}

bool Splitting::varies(const Expression& expression) const {
    if (axes_used(expression).count(axis_) != 0) return true;
    for (ArrayId array_read : arrays_read(expression))
        if (contains(array(array_read).axes, axis_)) return true;
    return false;
}

/// Only one factor is made 0, so that a product of two arrays stays one.
Expression Splitting::guarded_product(const Expression& product) {
    const Apply* call = std::get_if<Apply>(&product.node);
    if (call != nullptr && call->function == Function::Multiply) {
        const bool left = varies(call->arguments[0]);
        return napkin::apply(
            Function::Multiply,
            {left ? guarded_product(call->arguments[0]) : translated(call->arguments[0], true),
             left ? translated(call->arguments[1], true) : guarded_product(call->arguments[1])});
    }
    return guarded(translated(product, !decides(product)), integer(0));
}

Expression Splitting::translated(const Expression& expression, bool clamped) {
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node);
        index != nullptr && index->axis == axis_)
        return place(clamped && ragged_);
    if (const Read* element = std::get_if<Read>(&expression.node))
        return read_part(*element, clamped);
    Expression result = expression;
    if (Apply* call = std::get_if<Apply>(&result.node)) {
        for (Expression& argument : call->arguments) argument = translated(argument, clamped);
        if (call->function == Function::Exp) drop_guard(call->arguments.front());
    }
    if (Convert* convert = std::get_if<Convert>(&result.node))
        for (Expression& argument : convert->argument) argument = translated(argument, clamped);
    return result;
}

Expression Splitting::read_part(const Read& element, bool clamped) {
    std::vector<Expression> index;
    if (producer_.count(element.array) == 0) {
        for (const Expression& each : element.index) index.push_back(translated(each, clamped));
        return read(element.array, std::move(index));
    }
    const ArrayId made = part(element.array);
    if (const auto count = counts_.find(element.array); count != counts_.end())
        return count->second;
    if (varying_.count(made) != 0) index.push_back(axis_index(part_));
    const std::vector<AxisId>& axes = array(element.array).axes;
    for (std::size_t k = 0; k < element.index.size(); ++k) {
        if (axes[k] != axis_) {
            index.push_back(translated(element.index[k], clamped));
            continue;
        }
        if (element.index[k] != axis_index(axis_))
            refuse(
                "`" + array(element.array).name +
                "` is read at other places than it is computed at, which may lie in another part");
        index.push_back(axis_index(inner_));
    }
    Expression value = read(made, std::move(index));
    if (local_.count(made) == 0) return value;
    return napkin::apply(Function::Add, {offset(), std::move(value)});
}

}  // namespace napkin::rules
