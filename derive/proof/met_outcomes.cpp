#include "derive/proof/met_outcomes.h"

#include <algorithm>

namespace napkin::proof {
namespace {

bool covers(bool possible, bool met) {
    return met || !possible;
}

bool is_drawn(const Array& array) {
    return array.role == ArrayRole::Input ||
           (array.role == ArrayRole::Parameter && !has_default(array));
}

}  // namespace

MetOutcomes::MetOutcomes(const Diagram& plain) : plain_(plain), uses_(input_uses(plain)) {
    for (const Statement& statement : plain.statements)
        for (const Expression* expression : expressions_of(statement)) look(*expression, {});
    for (std::uint32_t i = 0; i < plain.arrays.size(); ++i)
        if (plain.arrays[i].type == ElementType::Bool && is_drawn(plain.arrays[i]))
            flags_.push_back({ArrayId{i}, {}});
}

void MetOutcomes::look(const Expression& expression, const std::optional<Expression>& within) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        return look(convert->argument.front(), within);
    if (call == nullptr) return;
    const auto together = [&](const Expression& condition) {
        return within ? apply(Function::And, {*within, condition}) : condition;
    };
    if (is_comparison_or_logic(call->function)) add(together(expression));
    if (call->function != Function::Select) {
        for (const Expression& argument : call->arguments) look(argument, within);
        return;
    }
    look(call->arguments[0], within);
    look(call->arguments[1], together(call->arguments[0]));
    look(call->arguments[2], together(apply(Function::Not, {call->arguments[0]})));
}

void MetOutcomes::add(const Expression& condition) {
    const std::optional<NumberTest> test =
        NumberTest::of_condition(plain_, std::get<Apply>(condition.node));
    if (!test || !is_drawn(plain_[test->array()]) || is_floating(plain_[test->array()].type))
        return;
    Test added{*test, {}, {}};
    for (const std::int64_t number : drawn_integers(plain_, test->array(), uses_[test->array()]))
        added.possible.add(test->holds_at(number));
    tests_.push_back(std::move(added));
}

void MetOutcomes::note(const Tensors& inputs) {
    for (Test& each : tests_)
        for (const double value : inputs.at(each.test.array()).values)
            each.met.add(each.test.holds_at(static_cast<std::int64_t>(value)));
    for (auto& [array, met] : flags_)
        for (const double value : inputs.at(array).values) met.add(value != 0);
}

bool MetOutcomes::all() const {
    return std::all_of(tests_.begin(), tests_.end(),
                       [](const Test& each) {
                           return covers(each.possible.holds, each.met.holds) &&
                                  covers(each.possible.fails, each.met.fails);
                       }) &&
           std::all_of(flags_.begin(), flags_.end(),
                       [](const auto& flag) { return flag.second.holds && flag.second.fails; });
}

}  // namespace napkin::proof
