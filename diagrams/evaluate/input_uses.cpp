#include "diagrams/evaluate/input_uses.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/evaluate/number_test.h"

namespace napkin {
namespace {

using Uses = std::map<ArrayId, InputUse>;

std::optional<std::int64_t> whole_number(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Negate) {
        const std::optional<std::int64_t> value = whole_number(call->arguments[0]);
        return value ? std::optional(-*value) : std::nullopt;
    }
    const double* value = literal(expression);
    constexpr double kMost = 0x1p31;
    if (value == nullptr || std::abs(*value) > kMost || *value != std::floor(*value))
        return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

/// Arrays of which elements are compared with each other, and the whole numbers beside them.
struct Compared {
    std::set<ArrayId> arrays;
    std::set<std::int64_t> numbers;
};

void look(const Diagram& diagram, const Expression& expression, Compared& compared) {
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        if (!has_default(diagram[element->array])) compared.arrays.insert(element->array);
    } else if (const std::optional<std::int64_t> number = whole_number(expression)) {
        compared.numbers.insert(*number);
    } else if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
        look(diagram, convert->argument.front(), compared);
    } else if (const Apply* call = std::get_if<Apply>(&expression.node)) {
        for (const Expression& argument : call->arguments) look(diagram, argument, compared);
    }
}

/// What one of them is compared with decides what the others have to be.
void share_numbers(const std::vector<Compared>& comparisons, Uses& uses) {
    for (bool more = true; more;) {
        more = false;
        for (const Compared& compared : comparisons) {
            std::set<std::int64_t> all = compared.numbers;
            for (const ArrayId array : compared.arrays)
                all.insert(uses[array].numbers.begin(), uses[array].numbers.end());
            for (const ArrayId array : compared.arrays) {
                more = more || uses[array].numbers != all;
                uses[array].numbers = all;
            }
        }
    }
}

void note_comparison(const Diagram& diagram, const Apply& call, Uses& uses) {
    for (std::size_t side = 0; side < 2; ++side) {
        const Expression& other = call.arguments[1 - side];
        std::set<AxisId> other_axes;
        walk(other, [&](const Expression& part) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
                other_axes.insert(index->axis);
        });
        const bool reads_other = !data_read(diagram, other).empty();
        for (const ArrayId array : arrays_read(call.arguments[side])) {
            InputUse& use = uses[array];
            use.document = use.document || reads_other;
            if (reads_other || other_axes.empty()) continue;
            use.ordered = use.ordered || is_ordering(call.function);
            for (const AxisId axis : other_axes)
                use.positions = std::max(use.positions, diagram[axis].extent);
        }
    }
}

void note_expression(const Diagram& diagram, const Expression& expression, Uses& uses,
                     std::vector<Compared>& comparisons, std::vector<NumberTest>& tests) {
    walk(expression, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr) return;
        if (std::optional<NumberTest> test = NumberTest::of(diagram, *call))
            tests.push_back(*std::move(test));
        if (is_comparison(call->function)) {
            note_comparison(diagram, *call, uses);
            Compared compared;
            for (const Expression& side : call->arguments) look(diagram, side, compared);
            if (compared.arrays.size() > 1) comparisons.push_back(std::move(compared));
        }
        const bool root = call->function == Function::Log || call->function == Function::Sqrt ||
                          call->function == Function::Rsqrt || call->function == Function::Divide;
        const Read* element = std::get_if<Read>(&call->arguments.back().node);
        if (root && element != nullptr) uses[element->array].positive = true;
    });
}

}  // namespace

std::map<ArrayId, InputUse> input_uses(const Diagram& diagram) {
    Uses uses;
    std::vector<Compared> comparisons;
    std::vector<NumberTest> tests;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            note_expression(diagram, *expression, uses, comparisons, tests);
    for (const NumberTest& test : tests) {
        InputUse& use = uses[test.array()];
        const bool document = use.document && use.positions == 0;
        use.numbers.merge(test.edges(document ? kMostDocuments : use.positions));
    }
    share_numbers(comparisons, uses);
    return uses;
}

std::set<std::int64_t> drawn_integers(const Diagram& diagram, ArrayId array, const InputUse& use) {
    constexpr std::int64_t kFew = 16;
    const auto up_to = [](std::int64_t first, std::int64_t last) {
        std::set<std::int64_t> numbers;
        for (std::int64_t number = first; number <= last; ++number) numbers.insert(number);
        return numbers;
    };
    if (const std::optional<AxisId> axis = diagram[array].indexes)
        return diagram[*axis].extent <= kFew ? up_to(0, diagram[*axis].extent - 1)
                                             : std::set<std::int64_t>{};
    std::set<std::int64_t> numbers = use.numbers;
    if (use.positions > 0)
        numbers.insert({0, use.positions - (use.ordered ? 0 : 1)});
    else
        numbers.merge(use.document ? up_to(0, kMostDocuments - 1) : up_to(-kFew / 2, kFew / 2));
    std::erase_if(numbers, [&](std::int64_t number) {
        const auto value = static_cast<double>(number);
        return round_to(diagram[array].type, value) != value;
    });
    return numbers;
}

}  // namespace napkin
