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
    if (const Read* element = std::get_if<Read>(&expression.node))
        for (const Expression& index : element->index) look(index, within);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        look(convert->argument.front(), within);
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return;
    if (is_comparison_or_logic(call->function))
        if (const std::optional<Expression> condition = testable(expression, within))
            add(*condition);
    const bool chooses = call->function == Function::Select;
    for (std::size_t i = 0; i < call->arguments.size(); ++i) {
        std::optional<Expression> inner = within;
        if (chooses && i > 0) {
            const Expression& asked = call->arguments[0];
            inner = testable(i == 1 ? asked : apply(Function::Not, {asked}), within);
            if (!inner) inner = within;
        }
        look(call->arguments[i], inner);
    }
}

/// The condition together with the branch that it stands in where one array decides both, else
/// alone; none where something else than one array of integers decides it.
std::optional<Expression> MetOutcomes::testable(const Expression& condition,
                                                const std::optional<Expression>& within) const {
    if (within) {
        Expression both = apply(Function::And, {*within, condition});
        if (test_of(both)) return both;
    }
    return test_of(condition) ? std::optional(condition) : std::nullopt;
}

std::optional<NumberTest> MetOutcomes::test_of(const Expression& condition) const {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr) return std::nullopt;
    std::optional<NumberTest> test = NumberTest::of_condition(plain_, *call);
    if (test && (!is_drawn(plain_[test->array()]) || is_floating(plain_[test->array()].type)))
        test.reset();
    return test;
}

void MetOutcomes::add(const Expression& condition) {
    Test added{*test_of(condition), {}, {}};
    const ArrayId array = added.test.array();
    for (const std::int64_t number : drawn_integers(plain_, array, uses_[array]))
        added.possible.add(added.test.holds_at(number));
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
