// What combines the parts: folds over the parts of what each adds, and the tail.
#include <algorithm>

#include "derive/rewriting/simplify.h"
#include "derive/rewriting/statements.h"
#include "derive/rules/splitting.h"
#include "diagrams/contains.h"

namespace napkin::rules {

/// A saved value of a part, the part given by an index.
Expression Splitting::saved_read(ArrayId old, std::vector<Expression> index) {
    const ArrayId made = part(old);
    if (const auto count = counts_.find(old); count != counts_.end()) return count->second;
    Array& saved = draft_.diagram.arrays[made.index()];
    saved.named = true;
    if (is_floating(saved.type) && !saved.rounds) draft_.store(made, ElementType::F32);
    if (std::find(saved_.begin(), saved_.end(), saved.name) == saved_.end())
        saved_.push_back(saved.name);
    const Expression at = index.front();
    Expression value = read(made, std::move(index));
    if (local_.count(made) == 0) return value;
    return napkin::apply(Function::Add, {napkin::apply(Function::Multiply, {at, size_of(inner_)}),
                                         std::move(value)});
}

/// A part's state that is relative to a centre, relative to that of all parts.
std::optional<Expression> Splitting::moved_state(const Read& element) {
    const ArrayId newest = newest_.at(element.array);
    const auto found = producer_.find(newest);
    if (found == producer_.end()) return std::nullopt;
    const Line line = lines_[found->second];
    const Fold* own = std::get_if<Fold>(&accumulator_.body[line.body].body);
    if (own == nullptr || own->seed.empty()) return std::nullopt;
    for (std::size_t i = 0; i < line.statement.targets.size(); ++i) {
        if (line.statement.targets[i] != newest || !mentions_centre(own->values[i])) continue;
        const std::vector<AxisId>& axes = array(element.array).axes;
        if (Expression{element, {}} != read_axes(element.array, axes))
            refuse("`" + array(element.array).name + "` is read at other places than its own");
        return moved(line, i);
    }
    return std::nullopt;
}

Expression Splitting::combining_read(const Read& element, const std::set<ArrayId>& updated) {
    std::vector<Expression> index;
    for (const Expression& each : element.index) index.push_back(combining(each, updated));
    const ArrayId old = element.array;
    if (!is_state(old) && producer_.count(old) == 0) {
        const auto made = combined_.find(old);  // by the tail, or else from outside
        return read(made == combined_.end() ? old : made->second, std::move(index));
    }
    if (is_state(old) && updated.count(old) == 0) {
        if (moved_ && moved_->first == old) return moved_->second;
        if (std::optional<Expression> there = moved_state(element)) return std::move(*there);
        index.insert(index.begin(), axis_index(part_));
        return saved_read(newest_.at(old), std::move(index));
    }
    if (!is_state(old) && !folds_parts(accumulator_.body[lines_[producer_.at(old)].body])) {
        const ArrayId made = combine_helper(old);
        if (contains(draft_.diagram[made].axes, part_))
            index.insert(index.begin(), axis_index(part_));
        return read(made, std::move(index));
    }
    const ArrayId made = combined(old);
    return read(made, std::move(index));
}

/// An expression of the body with the part's state for the old one and the combined for the new.
Expression Splitting::combining(const Expression& expression, const std::set<ArrayId>& updated) {
    if (const Read* element = std::get_if<Read>(&expression.node))
        return combining_read(*element, updated);
    Expression result = expression;
    if (Convert* convert = std::get_if<Convert>(&result.node))
        for (Expression& argument : convert->argument) argument = combining(argument, updated);
    Apply* call = std::get_if<Apply>(&result.node);
    if (call == nullptr) return result;
    for (Expression& argument : call->arguments) argument = combining(argument, updated);
    if (call->function == Function::Exp) drop_guard(call->arguments.front());
    return result;
}

ArrayId Splitting::add_combining(const std::string& name, std::vector<AxisId> axes,
                                 std::variant<Map, Fold> body, const Statement& like) {
    Statement made;
    made.box = box(true, like.box);
    made.span = like.span;
    const ArrayId target = draft_.add_array(name, std::move(axes), like.span);
    made.targets = {target};
    std::visit([&](auto& each) { made.body = std::move(each); }, body);
    draft_.add(std::move(made), region_, first_statement());
    return target;
}

/// The gauge of all parts, made of theirs.
void Splitting::note_mean(ArrayId made, ArrayId of, bool alike) {
    Array& array = draft_.diagram.arrays[made.index()];
    array.is_gauge = true;
    if (alike) array.mean_of = of;
}

/// Whether a statement of the body is a fold of which each part has its own: one along the axis.
bool Splitting::folds_parts(const Statement& statement) const {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    return fold != nullptr && (!fold->seed.empty() || contains(fold->over, axis_));
}

/// A value that follows from the states alone, such as a repair, or from neither them nor the axis:
/// one a part where it differs.
ArrayId Splitting::combine_helper(ArrayId old) {
    const auto found = combined_.find(old);
    if (found != combined_.end()) return found->second;
    const Line line = lines_[producer_.at(old)];
    const Statement source = accumulator_.body[line.body];
    if (carries(source)) {
        refuse("`" + array(old).name + "` of a chunk is used after it");
        return combined_[old] = draft_.add_array(array(old));
    }
    const Fold* fold = std::get_if<Fold>(&source.body);
    const bool one = source.targets.size() == 1;
    if (!one || (fold == nullptr && !std::holds_alternative<Map>(source.body))) {
        refuse("`" + array(old).name + "` is computed in each part, and is one of several results",
               "keep it in a region of its own (`unfuse`)");
        return combined_[old] = draft_.add_array(array(old));
    }
    Expression own = fold != nullptr ? fold->values.front() : std::get<Map>(source.body).value;
    const Gauge* mean = running_mean(old);
    if (mean != nullptr && mean->may_lack)  // where nothing counts in any part, any will do
        std::get<Apply>(own.node).arguments[2] = number(0);
    Expression value = combining(own, line.updated);
    std::vector<AxisId> axes = array(old).axes;
    if (axes_used(value).count(part_) != 0) axes.insert(axes.begin(), part_);
    std::variant<Map, Fold> body = Map{value};
    if (fold != nullptr) {
        Fold again = *fold;
        again.values = {std::move(value)};
        body = std::move(again);
    }
    const ArrayId made = add_combining(array(old).name, std::move(axes), std::move(body), source);
    if (array(old).rounds) {
        draft_.diagram.arrays[made.index()].rounds = true;
        draft_.diagram.arrays[made.index()].type = array(old).type;
    }
    if (mean != nullptr) note_mean(made, part(old), !mean->weight);
    return combined_[old] = made;
}

/// The value of a state, or of another fold over the axis, over all parts.
ArrayId Splitting::combined(ArrayId old) {
    const auto found = combined_.find(old);
    if (found != combined_.end()) return found->second;
    for (const Pick& pick : picks_)
        if (old == pick.best || old == pick.at) {
            combine_pick(pick);
            return combined_.at(old);
        }
    const ArrayId newest = is_state(old) ? newest_.at(old) : old;
    const std::size_t line = producer_.at(newest);
    if (folds_parts(accumulator_.body[lines_[line].body])) {
        if (combined_.count(newest) == 0) combine_fold(line);
    } else if (held(old) != nullptr) {
        combine_centre(old, line);
    } else if (running_mean(newest) != nullptr) {
        (void)combine_helper(newest);
    } else if (!is_state(newest) && !contains(draft_.diagram[combine_helper(newest)].axes, part_)) {
        return combined_.at(newest);
    } else {
        refuse("the state `" + array(old).name + "` is no fold, so parts of it do not combine",
               "stream the axis, or put what is folded twice in a region of its own");
        combined_[newest] = draft_.add_array(array(newest));
    }
    return combined_[old] = combined_.at(newest);
}

void Splitting::combine_fold(std::size_t index) {
    // Copies: moving to another centre may add to the body.
    const Line line = lines_[index];
    const Statement source = accumulator_.body[line.body];
    const Fold& own = std::get<Fold>(source.body);
    Statement made;
    made.box = box(true, source.box);
    made.span = source.span;
    Fold fold;
    fold.monoid = own.monoid;
    fold.over = {part_};
    for (std::size_t i = 0; i < source.targets.size(); ++i) {
        const ArrayId target = source.targets[i];
        if (mentions_centre(own.values[i]) && !own.seed.empty()) {
            Expression there = moved(line, i);
            moved_ = std::pair(target, std::move(there));
        }
        const Expression kept =
            own.seed.empty() ? read_axes(target, array(target).axes) : own.seed[i];
        if (own.seed.empty()) {
            std::vector<Expression> at{axis_index(part_)};
            for (AxisId axis : array(target).axes) at.push_back(axis_index(axis));
            fold.values.push_back(saved_read(target, std::move(at)));
        } else {
            fold.values.push_back(combining(kept, line.updated));
        }
        moved_.reset();
    }
    for (ArrayId target : source.targets) {
        std::string name = array(target).name;
        for (const auto& [state, newest] : newest_)
            if (newest == target) name = array(state).name;
        const ArrayId id =
            draft_.add_array(name, array(target).axes, source.span, array(target).type);
        combined_[target] = id;
        made.targets.push_back(id);
    }
    made.body = std::move(fold);
    draft_.add(std::move(made), region_, first_statement());
}

/// The winner among the parts' winners. Parts come in order and each gives the lowest index of
/// equals first, so the first of equals among them is the first of all.
void Splitting::combine_pick(const Pick& pick) {
    const Statement source = accumulator_.body[pick.line];
    const Select& own = std::get<Select>(source.body);
    const ArrayId best = source.targets[0];
    const ArrayId at = source.targets[1];
    Statement made;
    made.box = box(true, source.box);
    made.span = source.span;
    AxisId over = part_;
    if (own.rank) {
        Axis both;
        both.name = draft_.diagram[part_].name + "_" + draft_.diagram[*own.rank].name;
        while (draft_.taken(both.name)) both.name += "'";
        both.size = Formula(axis_size(part_)) * axis_size(*own.rank);
        both.extent = draft_.diagram[part_].extent * draft_.diagram[*own.rank].extent;
        both.dynamic = draft_.diagram[part_].dynamic;
        over = draft_.add_axis(std::move(both));
    }
    // Reads the candidate at a place among all of them.
    const auto candidate = [&](ArrayId saved, const Expression& place) {
        std::vector<Expression> index{place};
        for (AxisId axis : array(saved).axes) index.push_back(axis_index(axis));
        if (own.rank) {
            index.front() = napkin::apply(Function::FloorDivide, {place, size_of(*own.rank)});
            for (std::size_t k = 0; k < array(saved).axes.size(); ++k)
                if (array(saved).axes[k] == *own.rank)
                    index[k + 1] = napkin::apply(Function::Modulo, {place, size_of(*own.rank)});
        }
        return saved_read(saved, std::move(index));
    };
    made.body = Select{over, own.rank, candidate(best, axis_index(over))};
    const ArrayId value =
        draft_.add_array(array(pick.best).name, array(best).axes, source.span, array(best).type);
    const ArrayId which =
        draft_.add_array(array(pick.at).name + "_of", array(at).axes, source.span, array(at).type);
    made.targets = {value, which};
    draft_.add(std::move(made), region_, first_statement());
    combined_[pick.best] = value;
    const Expression index = candidate(at, read_axes(which, array(at).axes));
    combined_[pick.at] = add_combining(array(pick.at).name, array(at).axes, Map{index}, source);
    draft_.diagram.arrays[combined_[pick.at].index()].type = array(at).type;
}

}  // namespace napkin::rules
