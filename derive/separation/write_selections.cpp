// Selections along the streamed axis: the largest elements of the chunk against the largest so far.
// Ties go to the lowest index, so what was there first stays first.
//
// Two sorted lists v (so far) and c (of the chunk), both of length n, merge without a loop: v[i] is
// at place r of the result when r - i elements of c are larger than it, that is when
// c[r-i] <= v[i] and c[r-i-1] > v[i]. Likewise for c[j], with v[r-j] < c[j] and v[r-j-1] >= c[j].
#include <limits>

#include "derive/separation/accumulator_builder.h"
#include "derive/separation/formula_text.h"

namespace napkin::separation {
namespace {

/// The element of a list at place `rank - back`.
Expression element(const Array& array, ArrayId id, AxisId rank, const Expression& place) {
    Expression list = read_axes(id, array.axes);
    Read& read = std::get<Read>(list.node);
    for (std::size_t i = 0; i < array.axes.size(); ++i)
        if (array.axes[i] == rank) read.index[i] = place;
    return list;
}

Expression choose(Expression condition, Expression then, Expression otherwise) {
    return apply(Function::Select, {std::move(condition), std::move(then), std::move(otherwise)});
}

}  // namespace

/// What list `a` contributes to every place of the merged list: its i-th element where it belongs.
Expression Builder::merged_part(const Lists& lists, bool earlier, ArrayId payload) const {
    const ArrayId own = earlier ? lists.best : lists.chunk_best;
    const ArrayId other = earlier ? lists.chunk_best : lists.best;
    const Expression place = axis_index(lists.rank);
    std::optional<Expression> sum;
    for (std::int64_t i = 0; i < diagram_[lists.rank].extent; ++i) {
        const Expression mine = element(array(own), own, lists.rank, integer(i));
        const auto theirs = [&](std::int64_t back) {
            if (back == 0) return element(array(other), other, lists.rank, place);
            return element(array(other), other, lists.rank,
                           apply(Function::Subtract, {place, integer(back)}));
        };
        // Elements of the earlier list win ties.
        const Function below = earlier ? Function::LessEqual : Function::Less;
        const Function above = earlier ? Function::Greater : Function::GreaterEqual;
        const Expression value = element(array(payload), payload, lists.rank, integer(i));
        Expression here = choose(apply(Function::Equal, {place, integer(i)}), value,
                                 choose(apply(above, {theirs(i + 1), mine}), value, integer(0)));
        here = choose(apply(below, {theirs(i), mine}), std::move(here), integer(0));
        here =
            choose(apply(Function::GreaterEqual, {place, integer(i)}), std::move(here), integer(0));
        sum = sum ? apply(Function::Add, {std::move(*sum), std::move(here)}) : std::move(here);
    }
    return *sum;
}

void Builder::merge_lists(const Lists& lists, std::uint32_t first) {
    const auto merged = [&](ArrayId target, ArrayId chunk) {
        const ArrayId made =
            make_array(array(target).name + "_new", array(target).axes, array(target).type);
        body_.push_back(statement(made, apply(Function::Add, {merged_part(lists, true, target),
                                                              merged_part(lists, false, chunk)})));
        updates_.push_back(statement(target, read_array(made)));
    };
    merged(lists.best, lists.chunk_best);
    merged(lists.at, lists.chunk_at);
    for (const std::uint32_t component : {0U, 1U}) {
        AccumulatorState text;
        text.state = component == 0 ? lists.best : lists.at;
        text.initial = component == 0 ? "-inf" : "0";
        text.body = component == 0 ? "the largest of both lists" : "their indices";
        text.why = "fold `" + base_name(plan_.states()[first].serves) + "`, a sorted list";
        result_.states.push_back(std::move(text));
    }
}

void Builder::build_pick(std::uint32_t first) {
    const StateVariable variable = plan_.states()[first];
    serving_ = variable.serves;
    const Statement& source = diagram_[*plan_.folds()[variable.serves].statement];
    const Select& own = std::get<Select>(source.body);
    Lists lists{.rank = own.rank.value_or(AxisId{}),
                .best = state_array(first),
                .at = state_array(first + 1),
                .chunk_best = {},
                .chunk_at = {}};
    initialise(lists.best, number(-std::numeric_limits<double>::infinity()));
    initialise(lists.at, integer(0));
    const std::string base = base_name(serving_);
    lists.chunk_best = make_array(base + "_chunk_best", variable.axes, ElementType::F32);
    lists.chunk_at = make_array(base + "_chunk_at", variable.axes, array(lists.at).type);
    Select select = own;
    select.value = own_expression(variable.serves);
    body_.push_back({.targets = {lists.chunk_best, lists.chunk_at},
                     .body = std::move(select),
                     .box = source.box,
                     .span = source.span});
    if (own.rank) return merge_lists(lists, first);
    const Expression larger =
        apply(Function::Greater, {read_array(lists.chunk_best), read_array(lists.best)});
    const Statement index =
        statement(lists.at, choose(larger, read_array(lists.chunk_at), read_array(lists.at)));
    const Statement value = statement(
        lists.best, apply(Function::Max, {read_array(lists.best), read_array(lists.chunk_best)}));
    body_.push_back(index);  // before the value, which it is compared with
    body_.push_back(value);
    describe(first, value);
    describe(first + 1, index);
}

}  // namespace napkin::separation
