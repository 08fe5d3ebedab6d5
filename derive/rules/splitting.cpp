#include "derive/rules/splitting.h"

#include <algorithm>

#include "derive/rewriting/simplify.h"
#include "derive/rewriting/statements.h"
#include "diagrams/contains.h"
#include "diagrams/rounding.h"

namespace napkin::rules {

namespace {

/// The array whose own element the expression is.
std::optional<ArrayId> plain_read(const Expression& expression, const std::vector<AxisId>& axes) {
    const Read* element = std::get_if<Read>(&expression.node);
    if (element == nullptr || expression != read_axes(element->array, axes)) return std::nullopt;
    return element->array;
}

}  // namespace

Splitting::Splitting(const State& state, std::size_t region, AxisId axis, Accumulator accumulator,
                     std::int64_t size, const SplitNames& names)
    : state_(state),
      diagram_(state.diagram),
      region_(region),
      axis_(axis),
      accumulator_(std::move(accumulator)),
      draft_(state) {
    const Axis& whole = diagram_[axis];
    Axis inner;
    inner.name = names.inner;
    part_ = AxisId{static_cast<std::uint32_t>(draft_.diagram.axes.size())};
    inner_ = AxisId{part_.value + 1};
    inner.size = axis_size(inner_);
    inner.extent = size;
    inner.span = whole.span;
    Axis part = inner;
    part.name = names.part;
    part.size = ceil_divide(axis_size(axis_), axis_size(inner_));
    part.extent = ceil_quotient(whole.extent, size);
    part.dynamic = whole.dynamic;
    part.woven = true;  // taken one by one, as what is woven is
    draft_.add_axis(std::move(part));
    draft_.add_axis(std::move(inner));
    ragged_ = whole.dynamic || whole.extent % size != 0;
}

void Splitting::refuse(std::string reason, std::string help) {
    if (!problem_) problem_ = NotApplicable{std::move(reason), std::move(help)};
}

const Array& Splitting::array(ArrayId id) const {
    const std::size_t own = diagram_.arrays.size();
    return id.index() < own ? diagram_[id] : accumulator_.arrays[id.index() - own];
}

StatementId Splitting::first_statement() const {
    return state_.relabelling.regions[region_].statements.front();
}

BoxId Splitting::box(bool combining, BoxId old) {
    const auto found = boxes_.find({combining, old});
    if (found != boxes_.end()) return found->second;
    return boxes_[{combining, old}] = draft_.add_box(old);
}

std::optional<NotApplicable> Splitting::run() {
    for (const Statement& statement : accumulator_.initial)
        for (ArrayId target : statement.targets)
            if (const Map* map = std::get_if<Map>(&statement.body)) initial_[target] = map->value;
    find_picks();
    read_body();
    if (problem_) return problem_;
    Region parts = state_.relabelling.regions[region_];
    parts.statements.clear();
    parts_region_ = draft_.add_region(std::move(parts));
    clear_region();
    write_tail();
    if (problem_) return problem_;
    share_earlier();
    return problem_;
}

void Splitting::find_picks() {
    for (const AccumulatorSelection& selection : accumulator_.selections) {
        if (!selection.payloads.empty())
            return refuse("what is read at the index of `" + array(selection.best).name +
                              "` travels with the selected element",
                          "keep what is read at the selected index in a region of its own");
        for (std::size_t i = 0; i < accumulator_.body.size(); ++i)
            if (accumulator_.body[i].targets.front() == selection.chunk_best)
                picks_.push_back({i, selection.best, selection.at});
    }
}

void Splitting::read_body() {
    std::set<ArrayId> updated;
    for (std::size_t i = 0; i < accumulator_.body.size() && !problem_; ++i)
        read_update(accumulator_.body[i], i, updated);
}

void Splitting::read_update(const Statement& statement, std::size_t index,
                            std::set<ArrayId>& updated) {
    for (const Pick& pick : picks_)
        for (ArrayId target : statement.targets)
            if (target == pick.best || target == pick.at) {
                const std::vector<ArrayId>& winners = accumulator_.body[pick.line].targets;
                newest_[target] = winners[target == pick.best ? 0 : 1];
                updated.insert(target);
                return;
            }
    Line line{statement, updated, index, index};
    line.statement = rewrite_statement(std::move(line.statement), [&](Expression node) {
        if (Read* element = std::get_if<Read>(&node.node);
            element != nullptr && is_state(element->array)) {
            if (updated.count(element->array) != 0)
                element->array = newest_.at(element->array);
            else
                node = initial_.at(element->array);
        }
        return node;
    });
    for_each_expression(line.statement, [](Expression& expression) {
        expression = simplified(std::move(expression));
    });
    drop_seed(line.statement);
    const ArrayId target = statement.targets.front();
    if (const Map* map = std::get_if<Map>(&line.statement.body); map != nullptr && is_state(target))
        if (const auto same = plain_read(map->value, array(target).axes)) {
            newest_[target] = *same;
            updated.insert(target);
            return;
        }
    for (ArrayId each : statement.targets) {
        producer_[each] = lines_.size();
        if (!is_state(each)) continue;
        newest_[each] = each;
        updated.insert(each);
    }
    lines_.push_back(std::move(line));
}

/// From the initial state a fold begins with nothing.
void Splitting::drop_seed(Statement& statement) {
    Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || fold->seed.empty()) return;
    const std::vector<Expression>& identity = diagram_[fold->monoid].identity;
    for (std::size_t i = 0; i < fold->seed.size(); ++i)
        if (fold->seed[i] != simplified(identity[i]) &&
            !(literal(identity[i]) != nullptr && is_literal(fold->seed[i], *literal(identity[i]))))
            return refuse("the state `" + array(statement.targets[i]).name +
                          "` does not begin with nothing");
    fold->seed.clear();
}

/// What depends on the axis is written anew.
void Splitting::clear_region() {
    std::set<ArrayId> dependent;
    for (StatementId id : state_.relabelling.regions[region_].statements) {
        const Statement& statement = diagram_[id];
        const std::vector<ArrayId> inputs = inputs_of(statement);
        const bool here = carries(statement) ||
                          std::any_of(inputs.begin(), inputs.end(),
                                      [&](ArrayId input) { return dependent.count(input) != 0; });
        if (!here) continue;
        dependent.insert(statement.targets.begin(), statement.targets.end());
        draft_.erase(id);
        if (std::holds_alternative<Opaque>(statement.body))
            refuse("`" + diagram_[statement.targets.front()].name +
                   "` is a box of which only the arrays are known");
    }
}

void Splitting::write_tail() {
    std::set<ArrayId> all;
    for (const auto& [state, value] : initial_) all.insert(state);
    for (const Statement& source : accumulator_.tail) {
        Statement statement = source;
        for_each_expression(statement, [&](Expression& value) { value = combining(value, all); });
        if (problem_) return;
        for (ArrayId& target : statement.targets)
            if (target.index() >= diagram_.arrays.size())
                target = combined_[target] =
                    draft_.add_array(array(target).name, array(target).axes, source.span);
        statement.box = box(true, source.box);
        draft_.add(std::move(statement), region_, first_statement());
    }
}

/// What the region computes before the stream belongs to whoever reads it; what both read is
/// computed twice, since parts could not all save it.
void Splitting::share_earlier() {
    const std::vector<StatementId>& earlier = state_.relabelling.regions[region_].statements;
    const auto read_in_parts = [&](const Statement& statement) {
        return std::any_of(statement.targets.begin(), statement.targets.end(), [&](ArrayId target) {
            const std::vector<StatementId> readers = draft_.readers(target);
            return std::any_of(readers.begin(), readers.end(), [&](StatementId reader) {
                return draft_.home(reader) == parts_region_;
            });
        });
    };
    for (std::size_t i = earlier.size(); i-- > 0;) {
        const StatementId id = earlier[i];
        const Statement statement = draft_.diagram[id];
        if (draft_.producer(statement.targets.front()) != id || !read_in_parts(statement)) continue;
        bool elsewhere = false;
        for (ArrayId target : statement.targets) {
            elsewhere = elsewhere || diagram_[target].role == ArrayRole::Output;
            for (StatementId reader : draft_.readers(target))
                elsewhere = elsewhere || draft_.home(reader) != parts_region_;
        }
        if (!elsewhere) {
            draft_.move(id, parts_region_);
            draft_.diagram.statements[id.index()].box = box(false, statement.box);
            continue;
        }
        Statement copy = statement;
        std::map<ArrayId, ArrayId> twins;
        for (ArrayId& target : copy.targets) {
            Array twin = diagram_[target];
            if (twin.role == ArrayRole::Output) twin.role = ArrayRole::Intermediate;
            const ArrayId made = draft_.add_array(std::move(twin));
            twins[target] = made;
            target = made;
        }
        copy.box = box(false, statement.box);
        draft_.add(std::move(copy), parts_region_, id);
        for (const auto& [old, twin] : twins)
            for (StatementId reader : draft_.readers(old))
                if (draft_.home(reader) == parts_region_)
                    draft_.diagram.statements[reader.index()] =
                        with_arrays(draft_.diagram[reader], twins);
    }
}

}  // namespace napkin::rules
