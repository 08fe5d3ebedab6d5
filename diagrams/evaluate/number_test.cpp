#include "diagrams/evaluate/number_test.h"

#include <cmath>
#include <utility>
#include <vector>

#include "diagrams/evaluate.h"

namespace napkin {

bool is_ordering(Function function) {
    return function == Function::Less || function == Function::LessEqual ||
           function == Function::Greater || function == Function::GreaterEqual;
}

bool is_comparison(Function function) {
    return is_ordering(function) || function == Function::Equal || function == Function::NotEqual;
}

bool has_default(const Array& array) {
    return array.role == ArrayRole::Parameter && array.value.has_value();
}

std::set<ArrayId> data_read(const Diagram& diagram, const Expression& expression) {
    std::set<ArrayId> arrays = arrays_read(expression);
    std::erase_if(arrays, [&](ArrayId array) { return has_default(diagram[array]); });
    return arrays;
}

std::optional<NumberTest> NumberTest::of(const Diagram& diagram, const Apply& call) {
    const bool compares = is_comparison(call.function);
    if (!compares && call.function != Function::Min && call.function != Function::Max)
        return std::nullopt;
    return of_condition(diagram, {compares ? call.function : Function::Less, call.arguments});
}

std::optional<NumberTest> NumberTest::of_condition(const Diagram& diagram, const Apply& call) {
    NumberTest test(diagram, call);
    std::set<ArrayId> arrays = data_read(diagram, {call, {}});
    if (arrays.empty()) arrays = arrays_read({call, {}});
    if (arrays.size() != 1) return std::nullopt;
    test.array_ = *arrays.begin();
    while (const Expression* made = test.made_of(test.array_))
        test.array_ = *data_read(diagram, *made).begin();
    if (!test.holds(0)) return std::nullopt;
    return test;
}

std::set<std::int64_t> NumberTest::edges(std::int64_t positions) const {
    std::set<std::int64_t> found;
    std::set<std::int64_t> apart;
    for (const std::int64_t number : candidates())
        for (const std::int64_t at : {number - 1, number, number + 1}) {
            if (at != number && !is_ordering(call_.function)) continue;
            if (!is_edge(at) || !is_asked_for(at, positions)) continue;
            found.insert(at);
            if (holds(at) != holds(at - 1) && holds(at) != holds(at + 1)) apart.insert(at);
        }
    if (is_ordering(call_.function)) return found;
    std::erase_if(found, [&](std::int64_t at) {
        return !apart.contains(at) && (apart.contains(at - 1) || apart.contains(at + 1));
    });
    return found;
}

/// The expression, of one element of another, that a map makes every element of.
const Expression* NumberTest::made_of(ArrayId array) const {
    for (const Statement& statement : diagram_.statements) {
        const Map* map = std::get_if<Map>(&statement.body);
        if (map == nullptr || statement.targets.front() != array) continue;
        int reads = 0;
        walk(map->value, [&](const Expression& part) {
            const Read* read = std::get_if<Read>(&part.node);
            reads += read != nullptr && !has_default(diagram_[read->array]) ? 1 : 0;
        });
        return reads == 1 ? &map->value : nullptr;
    }
    return nullptr;
}

/// Where every element has this value; nothing where indices decide.
std::optional<double> NumberTest::value(const Expression& expression, double element) const {
    if (const double* number = literal(expression)) return *number;
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node))
        return static_cast<double>(diagram_[size->axis].extent);
    if (const Read* read = std::get_if<Read>(&expression.node)) {
        if (read->array == array_) return element;
        if (has_default(diagram_[read->array])) return diagram_[read->array].value;
        const Expression* made = made_of(read->array);
        return made != nullptr ? value(*made, element) : std::nullopt;
    }
    if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
        const std::optional<double> found = value(convert->argument.front(), element);
        return found ? std::optional(round_to(convert->type, *found)) : std::nullopt;
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr ? value(*call, element) : std::nullopt;
}

std::optional<double> NumberTest::value(const Apply& call, double element) const {
    std::vector<double> arguments;
    for (const Expression& argument : call.arguments) {
        const std::optional<double> found = value(argument, element);
        if (!found) return std::nullopt;
        arguments.push_back(*found);
    }
    return apply_function(call.function, arguments);
}

std::optional<double> NumberTest::holds(std::int64_t element) const {
    return value(call_, static_cast<double>(element));
}

void NumberTest::note_numbers(const Expression& expression, std::set<std::int64_t>& numbers) const {
    walk(expression, [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        const bool is_number = literal(part) != nullptr ||
                               std::holds_alternative<SizeOf>(part.node) ||
                               (read != nullptr && has_default(diagram_[read->array]));
        constexpr double kMost = 0x1p31;
        if (is_number) {
            const double number = value(part, 0).value_or(0);
            if (std::abs(number) <= kMost)
                numbers.insert(static_cast<std::int64_t>(std::floor(number)));
        } else if (read != nullptr && read->array != array_) {
            note_numbers(*made_of(read->array), numbers);
        }
    });
}

std::set<std::int64_t> NumberTest::candidates() const {
    std::set<std::int64_t> numbers;
    for (const Expression& side : call_.arguments) note_numbers(side, numbers);
    std::set<std::int64_t> all = numbers;
    for (const std::int64_t a : numbers) {
        all.insert(-a);
        for (const std::int64_t b : numbers) {
            all.insert({a + b, a - b, a * b});
            if (b != 0) all.insert(a / b);
        }
    }
    return all;
}

bool NumberTest::is_edge(std::int64_t at) const {
    const auto number = static_cast<double>(at);
    return round_to(diagram_[array_].type, number) == number &&
           (holds(at) != holds(at - 1) || holds(at) != holds(at + 1));
}

bool NumberTest::is_asked_for(std::int64_t at, std::int64_t positions) const {
    if (positions == 0 || (at >= 0 && at < positions)) return true;
    return holds(at) != holds(at < 0 ? 0 : positions - 1);
}

}  // namespace napkin
