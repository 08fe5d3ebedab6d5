// The reference evaluator on diagrams built from C++, against plain loops.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "builder.h"
#include "diagrams/evaluate.h"
#include "diagrams/infinity.h"

using namespace std::string_literals;
using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::ContractError;
using napkin::ElementType;
using napkin::Evaluator;
using napkin::Expression;
using napkin::Fold;
using napkin::Function;
using napkin::kInfinity;
using napkin::Map;
using napkin::Select;
using napkin::Tensor;
using napkin::Tensors;
using napkin::test::Builder;
// The operators on expressions.
using napkin::test::operator+;
using napkin::test::operator-;
using napkin::test::operator*;
using napkin::test::operator/;

using napkin::test::flat;

namespace {

/// Attention with a bottom-right causal mask, written out as primitive statements.
struct CausalAttention {
    Builder builder;
    ArrayId query, key, value, score, top, weight, total, output;

    CausalAttention(std::int64_t q_size, std::int64_t x_size, std::int64_t d_size) {
        const AxisId q = builder.axis("q", q_size);
        const AxisId x = builder.axis("x", x_size);
        const AxisId d = builder.axis("d", d_size);
        query = builder.input("Q", {q, d});
        key = builder.input("K", {x, d});
        value = builder.input("V", {x, d});
        score = builder.array("S", {q, x}, ArrayRole::Intermediate);
        const ArrayId masked = builder.array("T", {q, x}, ArrayRole::Intermediate);
        top = builder.array("m", {q}, ArrayRole::Intermediate);
        weight = builder.array("e", {q, x}, ArrayRole::Intermediate);
        total = builder.array("l", {q}, ArrayRole::Intermediate);
        output = builder.array("O", {q, d}, ArrayRole::Output);
        Builder& b = builder;
        b.define({score}, Fold{napkin::kSum,
                               {d},
                               {b.at(query) * b.at(key) * apply(Function::Rsqrt, {size_of(d)})},
                               {},
                               false});
        const Expression visible =
            apply(Function::LessEqual, {axis_index(x), axis_index(q) + size_of(x) - size_of(q)});
        b.define({masked},
                 Map{apply(Function::Select, {visible, b.at(score), napkin::number(-kInfinity)})});
        b.define({top}, Fold{napkin::kMax, {x}, {b.at(masked)}, {}, false});
        b.define({weight}, Map{apply(Function::Exp, {b.at(masked) - b.at(top)})});
        b.define({total}, Fold{napkin::kSum, {x}, {b.at(weight)}, {}, false});
        b.define({output},
                 Fold{napkin::kSum, {x}, {b.at(weight) / b.at(total) * b.at(value)}, {}, false});
    }
};

/// One output element by plain loops.
double attention_element(const Tensor& query, const Tensor& key, const Tensor& value,
                         std::int64_t row, std::int64_t column) {
    const std::int64_t q = query.extents[0];
    const std::int64_t x = key.extents[0];
    const std::int64_t d = query.extents[1];
    std::vector<double> scores;
    double top = -kInfinity;
    for (std::int64_t at = 0; at < x && at <= row + x - q; ++at) {
        double score = 0;
        for (std::int64_t k = 0; k < d; ++k)
            score += query.values[flat(row * d + k)] * key.values[flat(at * d + k)];
        scores.push_back(score / std::sqrt(static_cast<double>(d)));
        top = std::max(top, scores.back());
    }
    double sum = 0;
    double total = 0;
    for (std::size_t at = 0; at < scores.size(); ++at) {
        total += std::exp(scores[at] - top);
        sum += std::exp(scores[at] - top) * value.values[at * flat(d) + flat(column)];
    }
    return scores.empty() ? 0 : sum / total;
}

}  // namespace

TEST_CASE("evaluator: causal attention, whole, with rows on which nothing is visible") {
    const CausalAttention attention(9, 6, 4);
    verify(attention.builder.diagram);
    const Tensors inputs = random_inputs(attention.builder.diagram, 1);
    const napkin::Result<Tensors> outputs = evaluate_outputs(attention.builder.diagram, inputs);
    REQUIRE(outputs);
    const Tensor& output = outputs->at(attention.output);
    for (std::int64_t row = 0; row < 9; ++row)
        for (std::int64_t column = 0; column < 4; ++column)
            CHECK(output.values[flat(row * 4 + column)] ==
                  doctest::Approx(attention_element(inputs.at(attention.query),
                                                    inputs.at(attention.key),
                                                    inputs.at(attention.value), row, column)));
    CHECK_EQ(output.values[0], 0);  // row 0 sees nothing: 6 keys, 9 queries
}

TEST_CASE("evaluator: sampled elements of attention at full size agree and are quick") {
    const CausalAttention attention(4096, 4096, 128);
    const Tensors inputs = random_inputs(attention.builder.diagram, 2);
    Evaluator evaluator(attention.builder.diagram, inputs);
    const auto start = std::chrono::steady_clock::now();
    for (const std::int64_t row : {0, 1, 127, 128, 2047, 4000, 4095})
        for (const std::int64_t column : {0, 64, 127}) {
            const std::vector<std::int64_t> index = {row, column};
            CHECK(evaluator.element(attention.output, index) ==
                  doctest::Approx(attention_element(inputs.at(attention.query),
                                                    inputs.at(attention.key),
                                                    inputs.at(attention.value), row, column)));
        }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    MESSAGE("21 elements of 7 rows in ", seconds.count() * 1e3, " ms (two ways)");
    CHECK(seconds.count() < 5);
}

TEST_CASE("evaluator: a branch that is not taken is not evaluated") {
    Builder b;
    const AxisId n = b.axis("n", 8);
    const ArrayId input = b.input("X", {n});
    const ArrayId padded = b.array("Y", {n}, ArrayRole::Output);
    const ArrayId logic = b.array("Z", {n}, ArrayRole::Output);
    const Expression before = axis_index(n) - napkin::integer(3);
    const Expression inside = apply(Function::GreaterEqual, {before, napkin::integer(0)});
    b.define({padded},
             Map{apply(Function::Select, {inside, read(input, {before}), napkin::number(-7)})});
    // `inside and X[n - 3] > 0`: the right side only where the left one holds.
    b.define(
        {logic},
        Map{apply(Function::And,
                  {inside, apply(Function::Greater, {read(input, {before}), napkin::number(0)})})});
    Tensors inputs;
    inputs[input] = {{8}, {1, -2, 3, -4, 5, -6, 7, -8}};
    Evaluator evaluator(b.diagram, inputs);
    CHECK_EQ(evaluator.array(padded).values, std::vector<double>{-7, -7, -7, 1, -2, 3, -4, 5});
    CHECK_EQ(evaluator.array(logic).values, std::vector<double>{0, 0, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("evaluator: an index out of range is a diagnostic, not a crash") {
    Builder b;
    const AxisId n = b.axis("n", 3);
    const AxisId v = b.axis("v", 5);
    const ArrayId label = b.input("label", {n}, ElementType::I32);
    const ArrayId table = b.input("E", {v});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Map{read(table, {b.at(label)})});
    Tensors inputs;
    inputs[table] = {{5}, {10, 11, 12, 13, 14}};
    inputs[label] = {{3}, {4, 0, 2}};
    CHECK_EQ(evaluate_outputs(b.diagram, inputs)->at(output).values,
             std::vector<double>{14, 10, 12});
    inputs[label] = {{3}, {4, 5, 2}};
    const napkin::Result<Tensors> uncontracted = evaluate_outputs(b.diagram, inputs);
    REQUIRE_FALSE(uncontracted);
    CHECK_EQ(uncontracted.error().list[0].message,
             "index 5 is outside axis `v` of `E`, which has size 5");
    b.diagram.arrays[label.index()].indexes = v;
    const napkin::Result<Tensors> contracted = evaluate_outputs(b.diagram, inputs);
    REQUIRE_FALSE(contracted);
    CHECK_EQ(contracted.error().list[0].message,
             "value 5 of input `label` at [1] is no index of axis `v`, which has size 5");
    inputs.erase(label);
    CHECK_EQ(evaluate_outputs(b.diagram, inputs).error().list[0].code, "E0502");
    Evaluator evaluator(b.diagram, inputs);
    CHECK_THROWS_AS((void)evaluator.array(output), ContractError);
}

TEST_CASE("evaluator: a fold over several axes, short and long runs") {
    for (const std::int64_t inner : {3, 200}) {
        Builder b;
        const AxisId n = b.axis("n", 2);
        const AxisId r = b.axis("r", 700);
        const AxisId s = b.axis("s", inner);
        const ArrayId input = b.input("X", {n, r, s});
        const ArrayId sum = b.array("sum", {n}, ArrayRole::Output);
        const ArrayId most = b.array("most", {n}, ArrayRole::Output);
        b.define({sum}, Fold{napkin::kSum, {r, s}, {b.at(input) * axis_index(s)}, {}, false});
        b.define({most}, Fold{napkin::kMax, {s, r}, {b.at(input)}, {}, false});
        const Tensors inputs = random_inputs(b.diagram, 3);
        Evaluator evaluator(b.diagram, inputs);
        for (std::int64_t row = 0; row < 2; ++row) {
            double expected_sum = 0;
            double expected_most = -kInfinity;
            for (std::int64_t at = 0; at < 700 * inner; ++at) {
                const double value = inputs.at(input).values[flat(row * 700 * inner + at)];
                expected_sum += value * static_cast<double>(at % inner);
                expected_most = std::max(expected_most, value);
            }
            const std::vector<std::int64_t> index = {row};
            CHECK(evaluator.element(sum, index) == doctest::Approx(expected_sum));
            CHECK_EQ(evaluator.element(most, index), expected_most);
        }
    }
}

TEST_CASE("evaluator: top-k and argmax, ties to the lowest index") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const AxisId e = b.axis("e", 6);
    const AxisId k = b.axis("k", 3);
    const ArrayId gate = b.input("G", {n, e});
    const ArrayId values = b.array("val", {n, k}, ArrayRole::Output);
    const ArrayId indices = b.array("idx", {n, k}, ArrayRole::Output, ElementType::I32);
    const ArrayId best = b.array("best", {n}, ArrayRole::Output);
    const ArrayId where = b.array("where", {n}, ArrayRole::Output, ElementType::I32);
    b.define({values, indices}, Select{e, k, b.at(gate)});
    b.define({best, where}, Select{e, std::nullopt, b.at(gate)});
    Tensors inputs;
    inputs[gate] = {{2, 6}, {1, 5, 2, 5, 0, 4, -kInfinity, 3, -kInfinity, 3, 3, -1}};
    Evaluator evaluator(b.diagram, inputs);
    CHECK_EQ(evaluator.array(indices).values, std::vector<double>{1, 3, 5, 1, 3, 4});
    CHECK_EQ(evaluator.array(values).values, std::vector<double>{5, 5, 4, 3, 3, 3});
    CHECK_EQ(evaluator.array(where).values, std::vector<double>{1, 1});
    CHECK_EQ(evaluator.array(best).values, std::vector<double>{5, 3});
}

TEST_CASE("evaluator: scans of a built-in and of a tuple monoid") {
    Builder b;
    const AxisId c = b.axis("c", 2);
    const AxisId t = b.axis("t", 1500);
    const ArrayId gate = b.input("A", {c, t});
    const ArrayId input = b.input("X", {c, t});
    const ArrayId sums = b.array("sums", {c, t}, ArrayRole::Output);
    const ArrayId gates = b.array("gates", {c, t}, ArrayRole::Intermediate);
    const ArrayId states = b.array("states", {c, t}, ArrayRole::Output);
    // (a, b) then (c, d) is (a c, b c + d).
    const auto operand = [](std::uint32_t slot) { return Expression{napkin::Operand{slot}, {}}; };
    b.diagram.monoids.push_back({"affine",
                                 {napkin::number(1), napkin::number(0)},
                                 {operand(0) * operand(2), operand(1) * operand(2) + operand(3)},
                                 false,
                                 {}});
    b.define({sums}, Fold{napkin::kSum, {t}, {b.at(input)}, {}, true});
    const Expression decay = apply(Function::Exp, {napkin::number(0) - b.at(gate) * b.at(gate)});
    b.define({gates, states}, Fold{napkin::MonoidId{4}, {t}, {decay, b.at(input)}, {}, true});
    const Tensors inputs = random_inputs(b.diagram, 4);
    Evaluator evaluator(b.diagram, inputs);
    const std::vector<std::int64_t> last = {1, 1499};
    CHECK(std::isfinite(evaluator.element(states, last)));
    const Tensor state_values = evaluator.array(states);
    const Tensor sum_values = evaluator.array(sums);
    for (std::size_t row = 0; row < 2; ++row) {
        double sum = 0;
        double state = 0;
        for (std::size_t at = row * 1500; at < (row + 1) * 1500; ++at) {
            const double a = inputs.at(gate).values[at];
            const double x = inputs.at(input).values[at];
            sum += x;
            state = std::exp(-a * a) * state + x;
            CHECK(sum_values.values[at] == doctest::Approx(sum));
            CHECK(state_values.values[at] == doctest::Approx(state));
        }
    }
}

TEST_CASE("evaluator: rounding to a declared type, of values, of parameters and in expressions") {
    Builder b;
    const AxisId n = b.axis("n", 3);
    const ArrayId input = b.input("X", {n});
    const ArrayId eps = b.array("eps", {}, ArrayRole::Parameter, ElementType::BF16, true);
    b.diagram.arrays[eps.index()].value = 0.1;
    const ArrayId half = b.array("H", {n}, ArrayRole::Output, ElementType::BF16, true);
    const ArrayId small = b.array("E", {n}, ArrayRole::Output);
    b.define({half}, Map{b.at(input)});
    b.define({small},
             Map{Expression{napkin::Convert{ElementType::E4M3, {b.at(input)}}, {}} + b.at(eps)});
    Tensors inputs;
    inputs[input] = {{3}, {3.14159, 1000, -0.0001}};
    Evaluator evaluator(b.diagram, inputs);
    CHECK_EQ(evaluator.array(half).values,
             std::vector<double>{3.140625, 1000, round_to(ElementType::BF16, -0.0001)});
    const double tenth = round_to(ElementType::BF16, 0.1);
    CHECK_EQ(evaluator.array(small).values, std::vector<double>{3.25 + tenth, 448 + tenth, tenth});
}

TEST_CASE("evaluator: a chain of thousands of statements does not exhaust the stack") {
    Builder b;
    const AxisId n = b.axis("n", 4);
    ArrayId previous = b.input("X", {n});
    for (int link = 0; link < 20000; ++link) {
        const ArrayId next = b.array("Y" + std::to_string(link), {n}, ArrayRole::Intermediate);
        b.define({next}, Map{b.at(previous) + napkin::number(1)});
        previous = next;
    }
    Tensors inputs;
    inputs[ArrayId{0}] = {{4}, {0, 1, 2, 3}};
    Evaluator evaluator(b.diagram, inputs);
    CHECK_EQ(evaluator.array(previous).values, std::vector<double>{20000, 20001, 20002, 20003});
}

TEST_CASE("evaluator: opaque boxes have no values, and say so") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, napkin::Opaque{"F", {b.at(input)}});
    const napkin::Result<Tensors> outputs =
        evaluate_outputs(b.diagram, random_inputs(b.diagram, 5));
    REQUIRE_FALSE(outputs);
    CHECK_EQ(outputs.error().list[0].code, "E0506");
}
