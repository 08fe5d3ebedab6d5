// Comparison where infinities, overflow and vanishing weights decide what can be judged.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "builder.h"
#include "diagrams/compare.h"

using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::Comparison;
using napkin::ElementType;
using napkin::Expression;
using napkin::Fold;
using napkin::Function;
using napkin::Map;
using napkin::Precision;
using napkin::Reference;
using napkin::Tensor;
using napkin::Tensors;
using napkin::test::Builder;
using napkin::test::operator*;
using napkin::test::operator/;
using napkin::test::operator+;

TEST_CASE("compare: infinities must be met exactly, and NaN by NaN") {
    Builder b;
    const AxisId n = b.axis("n", 3);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Map{apply(Function::Log, {b.at(input)})});
    Tensors inputs;
    inputs[input] = {{3}, {0, 1, 2}};
    Reference reference(b.diagram, inputs, {});
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(compare(reference, output, {{3}, {-infinity, 0, std::log(2.0F)}}).ok);
    CHECK_FALSE(compare(reference, output, {{3}, {-1e30, 0, std::log(2.0F)}}).ok);
    CHECK_FALSE(compare(reference, output, {{3}, {infinity, 0, std::log(2.0F)}}).ok);
    CHECK_FALSE(compare(reference, output, {{3}, {-infinity, 0, -infinity}}).ok);
    inputs[input].values[1] = -1;
    Reference undefined(b.diagram, inputs, {});
    CHECK_FALSE(compare(undefined, output, {{3}, {-infinity, 0, std::log(2.0F)}}).ok);
    CHECK(compare(undefined, output, {{3}, {-infinity, std::nan(""), std::log(2.0F)}}).ok);
}

TEST_CASE("compare: where the reference overflows, a number is not judged") {
    Builder b;
    const AxisId n = b.axis("n", 3);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Map{apply(Function::Log, {apply(Function::Exp, {b.at(input)})})});
    const double infinity = std::numeric_limits<double>::infinity();
    Tensors inputs;
    inputs[input] = {{3}, {1e4, -1e4, -infinity}};
    Reference reference(b.diagram, inputs, {});
    const Comparison beyond = compare(reference, output, {{3}, {1e4, -1e4, -infinity}});
    CHECK(beyond.ok);
    CHECK_EQ(beyond.beyond, 2);
    CHECK_FALSE(compare(reference, output, {{3}, {1e4, -1e4, -1e30}}).ok);
    CHECK_FALSE(compare(reference, output, {{3}, {1e4, std::nan(""), -infinity}}).ok);
}

TEST_CASE("compare: where the reference divides 0 by 0 since all weights vanish in it") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const AxisId x = b.axis("x", 2);
    const ArrayId input = b.input("X", {n, x});
    const ArrayId weighted = b.array("A", {n}, ArrayRole::Intermediate);
    const ArrayId weights = b.array("B", {n}, ArrayRole::Intermediate);
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    const Expression weight = apply(Function::Exp, {b.at(input)});
    const Expression value = apply(Function::Add, {napkin::axis_index(x), napkin::number(1)});
    b.define({weighted}, Fold{napkin::kSum, {x}, {weight * value}, {}, false});
    b.define({weights}, Fold{napkin::kSum, {x}, {weight}, {}, false});
    b.define({output}, Map{apply(Function::Divide, {b.at(weighted), b.at(weights)})});
    Tensors inputs;
    inputs[input] = {{2, 2}, {-1e4, -1e4, -2, -1e4}};
    Reference reference(b.diagram, inputs, {});
    const Comparison beyond = compare(reference, output, {{2}, {1.5, 1}});
    CHECK(beyond.ok);
    CHECK_EQ(beyond.beyond, 1);
    CHECK_FALSE(compare(reference, output, {{2}, {1.5, 1.1}}).ok);
}

TEST_CASE(
    "compare: a quotient by what overflows f32 may be zero, and may not where nothing overflows") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const ArrayId x = b.input("X", {n});
    const ArrayId silu = b.array("Y", {n}, ArrayRole::Output);
    const Expression grown = apply(Function::Exp, {apply(Function::Negate, {b.at(x)})});
    b.define({silu}, Map{b.at(x) / (napkin::number(1) + grown)});
    Tensors inputs;
    inputs[x] = Tensor{{2}, {-89.5, -80.0}};
    Reference reference(b.diagram, inputs, Precision{});
    const Tensor zeros{{2}, {0, 0}};
    const Comparison comparison = compare(reference, silu, zeros);
    CHECK_EQ(comparison.failed, 1);
    CHECK_EQ(comparison.worst_index, std::vector<std::int64_t>{1});
}

TEST_CASE("compare: where rounding to a type may overflow, an element is undecided") {
    Builder b;
    const AxisId x = b.axis("x", 3);
    const ArrayId input = b.input("A", {x});
    const ArrayId cancelled =
        b.array("C", {}, ArrayRole::Output, ElementType::F16, /*rounds=*/true);
    b.define({cancelled}, Fold{napkin::kSum, {x}, {b.at(input)}, {}, false});
    // 1e16 - 1e16 + 1 may be anything within a thousand million in f32; in half precision,
    // infinite.
    Tensors inputs;
    inputs[input] = {{3}, {1e16, -1e16, 1}};
    Reference open(b.diagram, inputs, {});
    const Comparison undecided = compare(open, cancelled, {{}, {7}});
    CHECK(undecided.ok);
    CHECK_EQ(undecided.undecided, 1);
    inputs[input].values = {1, -1, 1};
    Reference clear(b.diagram, inputs, {});
    const Comparison decided = compare(clear, cancelled, {{}, {7}});
    CHECK_FALSE(decided.ok);
    CHECK_EQ(decided.undecided, 0);
}
