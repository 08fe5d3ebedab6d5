// Index expressions of generated code print short, and interval code decides masks.
#include "codegen/index_form.h"

#include <doctest/doctest.h>

#include "codegen/lowering/interval_code.h"

namespace napkin {

TEST_CASE("index forms: sums of multiples cancel and print") {
    const IndexForm x0 = index_atom("x0");
    const IndexForm ix = index_atom("ix");
    const IndexForm n = index_atom("n");
    struct Row {
        IndexForm form;
        const char* text;
    };
    const std::vector<Row> table = {
        {x0 + ix - x0, "ix"},
        {x0 - x0, "0"},
        {(x0 + ix) * 4 - 3, "x0 * 4 + ix * 4 - 3"},
        {x0 * -1, "-x0"},
        {IndexForm(7) - x0, "7 - x0"},
        {x0 * n, "(x0 * n)"},
        {(x0 + 1) * n, "((x0 + 1) * n)"},
        {floor_divide(IndexForm(-7), 2), "-4"},
        {modulo(IndexForm(-7), 2), "1"},
        {floor_divide(x0 - 1, 2), "floor_divide(x0 - 1, 2)"},
        {ceil_divide(n, 16), "((n + 15) / 16)"},
        {ceil_divide(IndexForm(17), 16), "2"},
        {minimum(x0, x0 + 3), "x0"},
        {maximum(x0, x0 + 3), "x0 + 3"},
        {minimum(IndexForm(16), n - x0), "minimum(16, n - x0)"},
    };
    for (const Row& row : table) CHECK_EQ(print(row.form), row.text);
}

TEST_CASE("interval code: masks over tiles become comparisons of tile edges") {
    const AxisId q{0};
    const AxisId x{1};
    const std::vector<IndexForm> sizes = {100, 200};
    lowering::AxisRanges ranges;
    ranges[q] = {index_atom("q0"), 16, 16};
    ranges[x] = {index_atom("x0"), index_atom("nx"), 8};
    const lowering::IntervalPrinter intervals(ranges, sizes);
    struct Row {
        Expression condition;
        const char* may;
        const char* must;
    };
    const Expression causal = apply(Function::LessEqual, {axis_index(x), axis_index(q)});
    const Expression aligned = apply(
        Function::LessEqual,
        {axis_index(x), apply(Function::Subtract,
                              {apply(Function::Add, {axis_index(q), size_of(x)}), size_of(q)})});
    const Expression near = apply(
        Function::Less, {apply(Function::Subtract, {axis_index(q), axis_index(x)}), integer(12)});
    const Expression same = apply(Function::Equal, {axis_index(q), axis_index(q)});
    const Expression data = apply(Function::Less, {read(ArrayId{0}, {axis_index(q)}), integer(3)});
    const std::vector<Row> table = {
        {causal, "x0 <= q0 + 15", "x0 + nx <= q0 + 1"},
        {aligned, "x0 <= q0 + 115", "x0 + nx <= q0 + 101"},
        {near, "q0 < x0 + nx + 11", "q0 + 3 < x0"},
        {apply(Function::And, {causal, near}), "x0 <= q0 + 15 && q0 < x0 + nx + 11",
         "x0 + nx <= q0 + 1 && q0 + 3 < x0"},
        {apply(Function::Not, {causal}), "!(x0 + nx <= q0 + 1)", "!(x0 <= q0 + 15)"},
        {same, "true", "true"},
        {data, "true", "false"},
        {apply(Function::Or, {data, causal}), "true", "x0 + nx <= q0 + 1"},
        {apply(Function::Less, {integer(1), integer(2)}), "true", "true"},
    };
    for (const Row& row : table) {
        CHECK_EQ(intervals.may_hold(row.condition), row.may);
        CHECK_EQ(intervals.must_hold(row.condition), row.must);
    }
}

}  // namespace napkin
