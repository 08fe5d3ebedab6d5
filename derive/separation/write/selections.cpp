// Selections along the streamed axis: the largest elements of the chunk against the largest so far.
// Ties go to the lowest index, so what was there first stays first.
//
// Two sorted lists v (so far) and c (of the chunk), both of length n, merge without a loop: v[i] is
// at place r of the result when r - i elements of c come before it, that is when c[r-i-1] does and
// c[r-i] does not. Likewise for c[j]. A place that no element has taken yet holds -inf at an index
// beyond every other, so that any element comes before it, one of value -inf too. An element that
// is no number comes before those that are, as it does within a chunk.
#include <limits>

#include "derive/separation/write/builder.h"

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

/// What is no number first, then the larger, of equals the lower index; an empty place comes last.
/// Of two empty places the one comes first that `wins`. A number equals itself, and nothing else
/// does.
Expression precedes(const Expression& value, const Expression& index, const Expression& other_value,
                    const Expression& other_index, bool wins = false) {
    const Function lower = wins ? Function::LessEqual : Function::Less;
    const Expression earlier = apply(lower, {index, other_index});
    const Expression tie =
        apply(Function::And, {apply(Function::Equal, {value, other_value}), earlier});
    const Expression no_number =
        apply(Function::And,
              {apply(Function::NotEqual, {value, value}),
               apply(Function::Or, {apply(Function::Equal, {other_value, other_value}), earlier})});
    return apply(
        Function::Or,
        {apply(Function::Or, {apply(Function::Greater, {value, other_value}), tie}), no_number});
}

}  // namespace

/// What list `a` contributes to every place of the merged list: its i-th element where it belongs.
Expression Builder::merged_part(const Lists& lists, bool earlier, ArrayId payload) const {
    const auto pair = [&](bool first, const Expression& place) {
        const ArrayId best = first ? lists.best : lists.chunk_best;
        const ArrayId at = first ? lists.at : lists.chunk_at;
        return std::pair(element(array(best), best, lists.rank, place),
                         element(array(at), at, lists.rank, place));
    };
    const Expression place = axis_index(lists.rank);
    std::optional<Expression> sum;
    for (std::int64_t i = 0; i < diagram_[lists.rank].extent; ++i) {
        const auto mine = pair(earlier, integer(i));
        const auto theirs_first = [&](std::int64_t back) {
            const Expression there =
                back == 0 ? place : apply(Function::Subtract, {place, integer(back)});
            const auto other = pair(!earlier, there);
            return precedes(other.first, other.second, mine.first, mine.second, !earlier);
        };
        const Expression value = element(array(payload), payload, lists.rank, integer(i));
        Expression here = choose(apply(Function::Equal, {place, integer(i)}), value,
                                 choose(theirs_first(i + 1), value, integer(0)));
        here = choose(theirs_first(i), integer(0), std::move(here));
        here =
            choose(apply(Function::GreaterEqual, {place, integer(i)}), std::move(here), integer(0));
        sum = sum ? apply(Function::Add, {std::move(*sum), std::move(here)}) : std::move(here);
    }
    return *sum;
}

/// What the chunk's element that was selected carries: its value at the index found.
ArrayId Builder::chunk_payload(const StateVariable& variable, ArrayId chunk_at) {
    const std::optional<ElementType> type = type_of_payload(variable);
    const AxisId over = variable.over.front();
    Expression value = expression(plan_.form(variable.serves), Where::Chunk);
    const Read* element = std::get_if<Read>(&value.node);
    const bool at_hand = element != nullptr && cascade_.part_of(element->array) != Part::Before;
    if (!at_hand) {
        std::set<AxisId> axes = algebra_.class_of(variable.form).axes;
        axes.insert(over);
        value = read_array(helper("_payload", axes, std::move(value), type));
    }
    const Expression index = read_array(chunk_at);
    Read picked_from = std::get<Read>(value.node);
    for (Expression& place : picked_from.index) {
        const AxisIndex* axis = std::get_if<AxisIndex>(&place.node);
        if (axis != nullptr && axis->axis == over) place = index;
    }
    Expression picked = read(picked_from.array, std::move(picked_from.index));
    picked = choose(apply(Function::Less, {index, size_of(over)}), std::move(picked), integer(0));
    const std::vector<AxisId>& axes = variable.axes;
    return helper("_chunk_payload", {axes.begin(), axes.end()}, std::move(picked), type);
}

void Builder::keep_list(ArrayId state, std::uint32_t first) {
    const FoldOver& fold = plan_.folds()[plan_.states()[first].serves];
    result_.states.push_back({.state = state,
                              .keeps = AccumulatorState::Keeps::List,
                              .serves = diagram_[*fold.statement].targets.front(),
                              .monoid = kMax});
}

void Builder::merge_lists(const Lists& lists, std::uint32_t first) {
    const auto merged = [&](ArrayId target, ArrayId chunk) {
        const ArrayId made = make_like(target, array(target).name + "_new");
        body_.push_back(statement(made, apply(Function::Add, {merged_part(lists, true, target),
                                                              merged_part(lists, false, chunk)})));
        updates_.push_back(statement(target, read_array(made)));
    };
    merged(lists.best, lists.chunk_best);
    merged(lists.at, lists.chunk_at);
    keep_list(lists.best, first);
    keep_list(lists.at, first);
    for (const auto& [payload, chunk] : lists.payloads) {
        merged(payload, chunk);
        keep_list(payload, first);
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
                .chunk_at = {},
                .payloads = {}};
    initialise(lists.best, number(-std::numeric_limits<double>::infinity()));
    initialise(lists.at, integer(kNoIndex));
    const std::string base = base_name(serving_);
    lists.chunk_best = make_array(base + "_chunk_best", variable.axes, array(lists.best).type);
    lists.chunk_at = make_array(base + "_chunk_at", array(lists.at).axes, array(lists.at).type);
    Select select = own;
    select.value = variable.verbatim ? own_expression(variable.serves)
                                     : expression(variable.form, Where::Chunk);
    body_.push_back({.targets = {lists.chunk_best, lists.chunk_at},
                     .body = std::move(select),
                     .box = source.box,
                     .span = source.span});
    for (std::uint32_t i = 0; i < plan_.states().size(); ++i) {
        const StateVariable carried = plan_.states()[i];
        if (!carried.carried || carried.first != first) continue;
        serving_ = carried.serves;
        initialise(state_array(i), integer(0));
        lists.payloads.emplace_back(state_array(i), chunk_payload(carried, lists.chunk_at));
    }
    serving_ = variable.serves;
    result_.selections.push_back(
        {lists.best, lists.at, lists.chunk_best, lists.chunk_at, lists.payloads});
    own.rank ? merge_lists(lists, first) : keep_larger(lists, first);
}

/// One element: the chunk's where it comes first, all of it or nothing.
void Builder::keep_larger(const Lists& lists, std::uint32_t first) {
    const Expression larger = precedes(read_array(lists.chunk_best), read_array(lists.chunk_at),
                                       read_array(lists.best), read_array(lists.at));
    const std::vector<AxisId>& axes = array(lists.at).axes;
    const ArrayId takes = helper("_takes", {axes.begin(), axes.end()}, larger, ElementType::Bool);
    const auto keep = [&](std::uint32_t of, ArrayId state, ArrayId chunk) {
        body_.push_back(
            statement(state, choose(read_array(takes), read_array(chunk), read_array(state))));
        keep_state(of);
    };
    keep(first, lists.best, lists.chunk_best);
    keep(first + 1, lists.at, lists.chunk_at);
    for (std::uint32_t i = 0; i < plan_.states().size(); ++i)
        for (const auto& [payload, chunk] : lists.payloads)
            if (plan_.states()[i].carried && state_array(i) == payload) keep(i, payload, chunk);
}

}  // namespace napkin::separation
