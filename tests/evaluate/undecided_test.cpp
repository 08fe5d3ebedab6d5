// What a comparison cannot tell from something else is counted as not judged, and what is wrong
// stays wrong.
#include <doctest/doctest.h>

#include <cmath>

#include "builder.h"
#include "diagrams/compare.h"
#include "examples.h"

using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::Comparison;
using napkin::Expression;
using napkin::Fold;
using napkin::Function;
using napkin::Map;
using napkin::Reference;
using napkin::Tensor;
using napkin::Tensors;
using napkin::test::Builder;
using napkin::test::operator+;
using napkin::test::operator*;
using napkin::test::operator-;

namespace {

/// Sums of three numbers a row, in f32.
struct Sums {
    Builder b;
    ArrayId input, output;
    Tensors inputs;

    explicit Sums(std::vector<double> values) {
        const auto rows = static_cast<std::int64_t>(values.size() / 3);
        const AxisId n = b.axis("n", rows);
        const AxisId j = b.axis("j", 3);
        input = b.input("X", {n, j});
        output = b.array("Y", {n}, ArrayRole::Output);
        b.define({output}, Fold{napkin::kSum, {j}, {b.at(input)}, {}, false});
        inputs[input] = Tensor{{rows, 3}, std::move(values)};
    }
    [[nodiscard]] Comparison compared(std::vector<double> got) const {
        const auto rows = static_cast<std::int64_t>(got.size());
        Reference reference(b.diagram, inputs, {});
        return compare(reference, output, Tensor{{rows}, std::move(got)});
    }
};

Comparison logarithms(const std::vector<double>& values, const std::vector<double>& got) {
    Builder b;
    const auto size = static_cast<std::int64_t>(values.size());
    const AxisId n = b.axis("n", size);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Map{apply(Function::Log, {b.at(input)})});
    Tensors inputs;
    inputs[input] = Tensor{{size}, values};
    Reference reference(b.diagram, inputs, {});
    return compare(reference, output, Tensor{{size}, got});
}

}  // namespace

TEST_CASE("undecided: NaN that is met by NaN is no judgement") {
    const double nan = std::nan("");
    const Comparison all = logarithms({-1, -2}, {nan, nan});
    CHECK(all.ok);
    CHECK_EQ(all.undefined, 2);
    CHECK_EQ(all.judged(), 0);
    const Comparison some = logarithms({-1, 2}, {nan, std::log(2.0F)});
    CHECK(some.ok);
    CHECK_EQ(some.undefined, 1);
    CHECK_EQ(some.judged(), 1);
    CHECK_FALSE(logarithms({-1, 1}, {nan, 0.5}).ok);
    CHECK_FALSE(logarithms({-1, 1}, {0, 0}).ok);
    CHECK_FALSE(logarithms({-1, 1}, {nan, nan}).ok);
}

TEST_CASE("undecided: a tolerance as large as the values decides nothing") {
    const Sums sums({1e8, -1e8, 1, -1e8, 1e8, 2});
    const Comparison wide = sums.compared({0, 0});
    CHECK(wide.ok);
    CHECK(wide.tolerance > wide.size);
    CHECK(wide.size == doctest::Approx(std::sqrt(2.5)));
    CHECK_EQ(wide.undecided, 2);
    CHECK_EQ(wide.judged(), 0);
    // Beyond any tolerance a result is wrong.
    const Comparison wrong = sums.compared({0, 1e6});
    CHECK_FALSE(wrong.ok);
    CHECK_EQ(wrong.failed, 1);
    CHECK_FALSE(sums.compared({0, std::nan("")}).ok);
}

TEST_CASE("undecided: some elements of an output") {
    const Sums sums({1e8, -1e8, 1, 1, 2, 3, 1, -1, 1e-9});
    const Comparison mixed = sums.compared({0, 6, 0});
    CHECK(mixed.ok);
    CHECK_EQ(mixed.undecided, 1);
    CHECK_EQ(mixed.judged(), 2);
    CHECK(describe(mixed).find(", 1 undecided within rounding") != std::string::npos);
    CHECK_FALSE(sums.compared({0, 6.1, 0}).ok);
    // A zero beside values that decide is one of them.
    CHECK_FALSE(sums.compared({0, 6, 0.1}).ok);
}

TEST_CASE("undecided: an element of which a tenth is known is judged, however small the others") {
    std::vector<double> values(3000, 0);
    values[0] = 1e8;
    values[1] = -1e8;
    values[2] = 1000;
    std::vector<double> got(1000, 0);
    got[0] = 1000;
    const Comparison outlier = Sums(values).compared(got);
    CHECK(outlier.ok);
    CHECK(outlier.tolerance > outlier.size);
    CHECK(outlier.tolerance < 1000);
    CHECK_EQ(outlier.judged(), 1000);
}

TEST_CASE("undecided: an output is right once half of it is judged") {
    const std::vector<double> judged = {1, 2, 3};
    const std::vector<double> wide = {1e8, -1e8, 1};
    const auto verdict = [](std::vector<double> values, const std::vector<double>& more) {
        values.insert(values.end(), more.begin(), more.end());
        std::vector<double> got;
        for (std::size_t at = 0; at < values.size(); at += 3)
            got.push_back(values[at] + values[at + 1] + values[at + 2]);
        return Sums(values).compared(got).verdict();
    };
    CHECK_EQ(verdict(judged, wide), napkin::Verdict::Right);
    CHECK_EQ(verdict({1e8, -1e8, 1, 1e8, -1e8, 2}, judged), napkin::Verdict::Undecided);
    CHECK_EQ(verdict(wide, wide), napkin::Verdict::Undecided);
}

TEST_CASE("undecided: exact zeros are judged where nothing else is") {
    const Comparison zeros = Sums({0, 0, 0, 0, 0, 0}).compared({0, 0});
    CHECK(zeros.ok);
    CHECK_EQ(zeros.judged(), 2);
    CHECK_FALSE(Sums({0, 0, 0}).compared({1e-30}).ok);
    CHECK(describe(zeros).find(", all of it 0 in both") != std::string::npos);
}

TEST_CASE("undecided: zeros that are met exactly are judged, however large what cancels is") {
    const Sums sums({1e8, -1e8, 0, 1e4, 0, -1e4});
    const Comparison exact = sums.compared({0, 0});
    CHECK(exact.tolerance > 0);
    CHECK_EQ(exact.judged(), 2);
    CHECK_EQ(exact.verdict(), napkin::Verdict::Right);
    const Comparison near = sums.compared({1e-6, 1e-6});
    CHECK(near.ok);
    CHECK_EQ(near.verdict(), napkin::Verdict::Undecided);
    CHECK_FALSE(sums.compared({1e6, 0}).ok);
    // One zero beside what rounding leaves of others is luck.
    CHECK_EQ(Sums({1e8, -1e8, 0, 1e8, -1e8, 1}).compared({0, 1}).judged(), 0);
    // Of which nobody knows beforehand that it will be.
    Reference reference(sums.b.diagram, sums.inputs, {});
    CHECK_EQ(judgeable(reference.elements(sums.output, std::vector<std::int64_t>{0, 1})), 0);
}

TEST_CASE("undecided: integers are exact, of any literals; what is made of reals is not") {
    Builder b;
    const AxisId n = b.axis("n", 40);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    const auto whole = [](double value) { return napkin::number(value); };
    const auto compared = [&](const Expression& value) {
        napkin::Diagram diagram = b.diagram;
        diagram.statements.push_back({});
        diagram.statements.back().targets = {output};
        diagram.statements.back().body = Map{value};
        Tensors inputs = random_inputs(diagram, 1);
        for (std::size_t i = 0; i < 40; ++i) inputs[input].values[i] = i % 2 == 0 ? 2.5 : 3;
        const Tensors right = *evaluate_outputs(diagram, inputs);
        Reference reference(diagram, inputs, {});
        return compare(reference, output, right.at(output));
    };
    const auto chosen_by = [&](const Expression& integer) {
        const Expression rest = apply(Function::Modulo, {integer, whole(7)});
        const Expression few = apply(Function::Less, {rest, whole(3)});
        return compared(apply(Function::Select, {few, b.at(input), whole(0)}));
    };
    const Expression at = napkin::axis_index(n);
    const Expression large = apply(Function::Multiply, {at, whole(4294967311)});
    CHECK_EQ(chosen_by(large).judged(), 40);
    CHECK_EQ(chosen_by(apply(Function::Power, {at + whole(2000), whole(3)})).judged(), 40);
    const Expression bits = apply(Function::BitOr, {at, whole(16777217)});
    CHECK_EQ(compared(apply(Function::Multiply, {b.at(input), bits})).judged(), 40);
    // Where an integer becomes a real number it is one of f32: of 25 bits every other.
    const auto above = [&](std::int64_t integer) {
        const Expression moved = at + whole(static_cast<double>(integer));
        return compared(
            apply(Function::Less, {napkin::number(double(integer) + 20, false), moved}));
    };
    CHECK_EQ(above(1000000).judged(), 40);
    CHECK_LT(above(33554432).judged(), 40);
    CHECK_EQ(compared(apply(Function::Less, {whole(33554452), at + whole(33554432)})).judged(), 40);
    const Expression there_and_back = at + whole(16777217) - whole(16777217);
    CHECK_EQ(compared(apply(Function::Multiply, {there_and_back, b.at(input)})).judged(), 40);
    const Expression scaled = apply(Function::Multiply, {b.at(input), napkin::number(1)});
    const Expression made = Expression{napkin::Convert{napkin::ElementType::I64, {scaled}}, {}};
    CHECK_LT(chosen_by(made).judged(), 40);
}

TEST_CASE("undecided: roundings of one sign, as of operands that are all alike") {
    // 1.00390625 = 1 + 2^-8 lies between two numbers of bf16, and each factor is rounded to 1.
    constexpr std::int64_t kTerms = 4096;
    const double factor = 1 + 0x1p-8;
    Builder b;
    const AxisId n = b.axis("n", 2);
    const AxisId k = b.axis("k", kTerms);
    const ArrayId left = b.input("X", {n, k});
    const ArrayId right = b.input("W", {k});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Fold{napkin::kSum, {k}, {b.at(left) * b.at(right)}, {}, false});
    Tensors inputs;
    inputs[left] = Tensor{{2, kTerms}, std::vector<double>(2 * kTerms, factor)};
    inputs[right] = Tensor{{kTerms}, std::vector<double>(kTerms, factor)};
    napkin::Precision precision;
    precision.operands[b.diagram.statements.front().box] = napkin::ElementType::BF16;
    const auto compared = [&](double got) {
        Reference reference(b.diagram, inputs, precision);
        return compare(reference, output, Tensor{{2}, {got, kTerms * factor * factor}});
    };
    const Comparison rounded = compared(kTerms);
    CHECK_FALSE(rounded.ok);
    CHECK_EQ(rounded.alike, 1);
    CHECK_EQ(rounded.judged(), 1);
    CHECK(rounded.verdict() == napkin::Verdict::Undecided);
    for (const double beyond : {0.99, 1.02})  // what rounding cannot do
        CHECK(compared(kTerms * beyond).verdict() == napkin::Verdict::Wrong);
}

TEST_CASE("undecided: a quotient by what has no normal reciprocal may be 0") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    const Expression below =
        napkin::number(1) + apply(Function::Exp, {apply(Function::Negate, {b.at(input)})});
    b.define({output}, Map{apply(Function::Divide, {b.at(input), below})});
    Tensors inputs;
    inputs[input] = Tensor{{2}, {-88, -80}};
    const auto compared = [&](double first, double second) {
        Reference reference(b.diagram, inputs, {});
        return compare(reference, output, Tensor{{2}, {first, second}}).ok;
    };
    const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
    CHECK(compared(silu(-88), silu(-80)));
    CHECK(compared(0, silu(-80)));
    CHECK_FALSE(compared(silu(-88), 0));
}

TEST_CASE(
    "compare: what saturates errs by no more than its argument, however steep what it is of") {
    const napkin::test::Run run("gelus.ncd",
                                "diagram gelus {\n  axis n = 64, d = 32\n  input X[n, d] : f32\n"
                                "  N[n] = sum(d) X[n, d]\n  output A[n] : f32 = N[n]\n"
                                "  output B[n] : f32 = gelu(N[n])\n"
                                "  output C[n] : f32 = gelu_tanh(N[n])\n"
                                "  output D[n] : f32 = tanh(N[n] ^ 3)\n}\n",
                                {}, 8.0);
    napkin::Precision precision;
    precision.arithmetic = napkin::ElementType::BF16;
    Reference reference(run.diagram, run.inputs, precision);
    std::vector<std::int64_t> all(64);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const auto of = [&](const char* name) {
        return reference.elements(*find_array(run.diagram, name), all);
    };
    const Reference::Elements plain = of("A");
    for (const char* name : {"B", "C"}) {
        const Reference::Elements found = of(name);
        for (std::size_t i = 0; i < all.size(); ++i) {
            INFO(name, " of ", plain.values[i]);
            // Its slope is 1.13 at most, and it has roundings of its own; without an end to what
            // `tanh` adds it would be hundreds of times as much.
            CHECK_LE(found.tolerances[i],
                     2 * plain.tolerances[i] + std::abs(plain.values[i]) + 0.1);
        }
    }
    for (const double tolerance : of("D").tolerances) CHECK_LE(tolerance, 2.1);
}
