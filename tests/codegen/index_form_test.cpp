// Index expressions of generated code print short, and interval code decides masks.
#include "codegen/index_form.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/expression_text.h"
#include "codegen/lowering/interval_code.h"
#include "diagrams/checked.h"

namespace napkin {
namespace {

/// A name of which little is known.
IndexForm small(const char* name) {
    return index_atom(name, {0, 1000});
}

}  // namespace

TEST_CASE("index forms: sums of multiples cancel and print") {
    const IndexForm x0 = small("x0");
    const IndexForm ix = small("ix");
    const IndexForm n = small("n");
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
        {x0 * n, "x0 * n"},
        {(x0 + 1) * n, "(x0 + 1) * n"},
        {floor_divide(IndexForm(-7), 2), "-4"},
        {modulo(IndexForm(-7), 2), "1"},
        {floor_divide(x0 - 1, 2), "floor_divide(x0 - 1, 2)"},
        {ceil_divide(n, 16), "(n + 15) / 16"},
        {ceil_divide(IndexForm(17), 16), "2"},
        {minimum(x0, x0 + 3), "x0"},
        {maximum(x0, x0 + 3), "x0 + 3"},
        {minimum(IndexForm(16), n - x0), "minimum(16, n - x0)"},
    };
    for (const Row& row : table) CHECK_EQ(print(row.form), row.text);
}

TEST_CASE("index forms: 64 bits exactly where 32 do not hold") {
    const std::int64_t most = kAny32.high;
    const IndexForm byte = index_atom("a", {0, 255});
    const IndexForm row = index_atom("r", {0, 65535});
    const IndexForm half = index_atom("h", {0, most / 2});
    const IndexForm whole = index_atom("w", {0, most});
    const IndexForm any = index_atom("v", kAny32);
    const IndexForm data =
        index_atom(kernel::call("i64", {subscript(kernel::variable("T"), 0)}), {0, 9}, true);
    struct Row {
        IndexForm form;
        const char* text;
        bool wide;
    };
    const std::vector<Row> table = {
        {whole, "w", false},
        {whole + 1, "w + i64(1)", true},
        {whole - 1, "w - 1", false},
        {half * 2, "h * 2", false},
        {half * 2 + 1, "h * 2 + 1", false},
        {half * 2 + 2, "h * 2 + i64(2)", true},
        {half * 3, "i64(h) * 3", true},
        {half * 2 + byte, "h * 2 + i64(a)", true},
        {byte * 8421504, "a * 8421504", false},
        {byte * 8421505, "i64(a) * 8421505", true},
        {byte * 8421505 + row, "i64(a) * 8421505 + r", true},
        {byte * 3 - row * 40000, "a * 3 - i64(r) * 40000", true},
        {any * -1, "-i64(v)", true},
        {absolute(any), "absolute(i64(v))", true},
        {IndexForm(most), "2147483647", false},
        {IndexForm(most) + 1, "i64(2147483648)", true},
        {IndexForm(-most) - 1, "-i64(2147483648)", true},
        {row * row, "i64(r) * r", true},
        {row * byte, "r * a", false},
        {modulo(byte * 8421505, 10), "modulo(i64(a) * 8421505, i64(10))", true},
        {modulo(row, 10), "modulo(r, 10)", false},
        {floor_divide(row * row, 100000), "floor_divide(i64(r) * r, i64(100000))", true},
        {floor_divide(any, any), "floor_divide(i64(v), i64(v))", true},
        {minimum(whole + 1, byte), "minimum(w + i64(1), i64(a))", true},
        {power(row, 2), "integer_power<2>(i64(r))", true},
        {power(byte, 3), "integer_power<3>(a)", false},
        {data * 3 + byte, "i64(T[0]) * 3 + a", true},
        {whole + 1 - whole, "1", false},
    };
    for (const Row& each : table) {
        INFO(each.text);
        CHECK_EQ(print(each.form), each.text);
        CHECK_EQ(is_wide(each.form), each.wide);
    }
}

TEST_CASE("integer ranges: every operation holds all its results") {
    const std::vector<Interval> some = {{0, 0}, {-3, -1}, {-2, 3}, {0, 5}, {4, 7}};
    const auto inside = [](std::int64_t value, const Interval& range) {
        CHECK_GE(value, range.low);
        CHECK_LE(value, range.high);
    };
    for (const Interval& a : some)
        for (const Interval& b : some)
            for (std::int64_t x = a.low; x <= a.high; ++x)
                for (std::int64_t y = b.low; y <= b.high; ++y) {
                    const std::int64_t quotient = y == 0 ? 0 : floor_quotient(x, y);
                    inside(x + y, a + b);
                    inside(x - y, a - b);
                    inside(x * y, a * b);
                    inside(quotient, floor_quotient(a, b));
                    inside(y == 0 ? 0 : x - y * quotient, remainder(a, b));
                    inside(std::min(x, y), smaller(a, b));
                    inside(std::max(x, y), larger(a, b));
                    inside(std::abs(x), magnitude(a));
                    inside(x * x * x, power(a, 3));
                    inside(x * x * x * x, power(a, 4));
                }
    CHECK_EQ(kAny64 + Interval{1, 1}, Interval{kAny64.low + 1, kAny64.high});
    CHECK_EQ(kAny64 * Interval{-1, -1}, Interval{kAny64.low + 1, kAny64.high});
}

TEST_CASE("interval code: masks over tiles become comparisons of tile edges") {
    const AxisId q{0};
    const AxisId x{1};
    const std::vector<IndexForm> sizes = {100, 200};
    std::vector<Axis> axes(2);
    axes[0].extent = 100;
    axes[1].extent = 200;
    lowering::AxisRanges ranges;
    ranges[q] = {small("q0"), 16, 16};
    ranges[x] = {small("x0"), small("nx"), 8};
    const lowering::IntervalPrinter intervals(axes, ranges, sizes);
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
        {near, "q0 <= x0 + nx + 10", "q0 + 4 <= x0"},
        {apply(Function::And, {causal, near}), "x0 <= q0 + 15 && q0 <= x0 + nx + 10",
         "x0 + nx <= q0 + 1 && q0 + 4 <= x0"},
        {apply(Function::Not, {causal}), "q0 + 2 <= x0 + nx", "q0 + 16 <= x0"},
        {same, "true", "true"},
        {data, "true", "false"},
        {apply(Function::Or, {data, causal}), "true", "x0 + nx <= q0 + 1"},
        {apply(Function::Less, {integer(1), integer(2)}), "true", "true"},
    };
    Names names = Names::of_kernel("simt");
    kernel::Body body;
    for (const Row& row : table) {
        CHECK_EQ(print(intervals.may_hold({row.condition}, names, body)), row.may);
        CHECK_EQ(print(intervals.must_hold(row.condition, names, body)), row.must);
    }
}

}  // namespace napkin
