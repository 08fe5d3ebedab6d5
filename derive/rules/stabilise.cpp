// stabilise: a sum of exponentials relative to the largest of them.
//
//   sum(x) exp(u)     ==>     exp(g) * sum(x) exp(u - g),   g = max(x) u
//
// The factor exp(g) may overflow as the sum did, so it is not formed: it is carried along to where
// it cancels. A quotient of two sums relative to g is the quotient of the sums, and a logarithm is
// g plus the logarithm. What does not cancel it keeps the exponentials as they were.
//
// Side condition: some use cancels the factor; the exponent is not relative to its maximum already.
// Where a mask makes an element 0, the maximum leaves it out. Citation: arXiv 1805.02867, section 3
// (the safe softmax).
#include <algorithm>

#include "derive/rules/draft.h"
#include "derive/rules/relative.h"

namespace napkin::rules {

namespace {

std::variant<StatementId, NotApplicable> sum_named(const State& state, const std::string& name) {
    const std::optional<ArrayId> array = find_array(state.diagram, name);
    if (!array) return out_of_place("there is no array `" + name + "`", "");
    const std::optional<StatementId> source = producer(state.diagram, *array);
    const NotApplicable refused{"`" + name + "` is no sum", "it takes a sum of exponentials"};
    if (!source) return refused;
    if (plain_sum(state.diagram, *source) != nullptr) return *source;
    return with_parts(state.diagram, *source, refused, [&](StatementId part) {
        const Fold* fold = plain_sum(state.diagram, part);
        return fold != nullptr && exponent_in(state.diagram, fold->values.front());
    });
}

/// Whether the exponent is s - m with m the maximum of s.
bool is_relative_already(const Diagram& diagram, const Expression& exponent) {
    const Apply* difference = std::get_if<Apply>(&exponent.node);
    if (difference == nullptr || difference->function != Function::Subtract) return false;
    const Read* subtracted = std::get_if<Read>(&difference->arguments[1].node);
    const auto source = subtracted != nullptr ? producer(diagram, subtracted->array) : std::nullopt;
    const Fold* fold = source ? std::get_if<Fold>(&diagram[*source].body) : nullptr;
    return fold != nullptr && fold->monoid == kMax;
}

}  // namespace

Outcome stabilise(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.as.size() > 1)
        return out_of_place("it takes one array", "write `stabilise ARRAY [as NAME]`");
    const std::string& name = command.names.front();
    const auto found = sum_named(state, name);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const StatementId source = std::get<StatementId>(found);
    const Fold fold = std::get<Fold>(state.diagram[source].body);
    const std::optional<Exponent> exponent = exponent_in(state.diagram, fold.values.front());
    if (!exponent)
        return NotApplicable{"`" + name + "` is no sum of one exponential, or of its products",
                             "it takes what a softmax divides by: `sum(x) exp(u)`"};
    if (is_relative_already(state.diagram, exponent->bare))
        return NotApplicable{
            "a maximum is subtracted in the exponent of `" + name + "` already: it is at most 0",
            ""};
    const std::string wanted = command.as.empty() ? name + "_max" : command.as.front();
    if (find_array(state.diagram, wanted) || find_axis(state.diagram, wanted))
        return out_of_place("`" + wanted + "` is in use already", "name it with `as NAME`");

    Draft draft(state);
    const std::vector<AxisId> axes = state.diagram[state.diagram[source].targets.front()].axes;
    const ArrayId gauge = draft.add_array(wanted, axes, state.diagram[source].span);
    draft.store(gauge, ElementType::F32);
    Relative relative(draft, gauge, exponent->bare);
    const std::vector<std::string> cancelled = relative.rewrite_all();
    if (cancelled.empty())
        return NotApplicable{"no use of `" + name + "` cancels the size of its exponentials",
                             "a quotient of two such sums does, and a logarithm"};
    Fold maximum;
    maximum.monoid = kMax;
    maximum.over = fold.over;
    maximum.values = {exponent->masked};
    const StatementId first = relative.first_use().value_or(source);
    Statement statement{{gauge},
                        std::move(maximum),
                        draft.add_box(state.diagram[source].box),
                        state.diagram[source].span};
    draft.add(std::move(statement), draft.home(first), first);
    return draft.finish(command, {"exp(" + wanted + ") cancels in " + list_names(cancelled)});
}

}  // namespace napkin::rules
