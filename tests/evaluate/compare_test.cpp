// The derived tolerance: real f32 and bf16 computations pass with room, mutants fail, selections
// within rounding are not judged.
#include "diagrams/compare.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "builder.h"

using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::Comparison;
using napkin::ElementType;
using napkin::Expression;
using napkin::Fold;
using napkin::Function;
using napkin::Map;
using napkin::Reference;
using napkin::Select;
using napkin::Tensor;
using napkin::Tensors;
using napkin::test::Builder;
using napkin::test::operator+;
using napkin::test::operator-;
using napkin::test::operator*;
using napkin::test::operator/;

using napkin::test::flat;

namespace {

/// Softmax of a scaled product times values: two contractions and a normaliser.
struct Attention {
    Builder b;
    ArrayId query, key, value, weight, output;
    std::int64_t rows, keys, depth;

    Attention(std::int64_t q_size, std::int64_t x_size, std::int64_t d_size,
              ElementType out = ElementType::F32)
        : rows(q_size), keys(x_size), depth(d_size) {
        const AxisId q = b.axis("q", q_size);
        const AxisId x = b.axis("x", x_size);
        const AxisId d = b.axis("d", d_size);
        query = b.input("Q", {q, d});
        key = b.input("K", {x, d});
        value = b.input("V", {x, d});
        const ArrayId score = b.array("S", {q, x}, ArrayRole::Intermediate);
        const ArrayId top = b.array("m", {q}, ArrayRole::Intermediate);
        weight = b.array("P", {q, x}, ArrayRole::Intermediate);
        const ArrayId total = b.array("l", {q}, ArrayRole::Intermediate);
        output = b.array("O", {q, d}, ArrayRole::Output, out, out != ElementType::F32);
        b.define({score}, Fold{napkin::kSum,
                               {d},
                               {b.at(query) * b.at(key) * apply(Function::Rsqrt, {size_of(d)})},
                               {},
                               false});
        b.define({top}, Fold{napkin::kMax, {x}, {b.at(score)}, {}, false});
        b.define({weight}, Map{apply(Function::Exp, {b.at(score) - b.at(top)})});
        b.define({total}, Fold{napkin::kSum, {x}, {b.at(weight)}, {}, false});
        b.define({output},
                 Fold{napkin::kSum, {x}, {b.at(weight) / b.at(total) * b.at(value)}, {}, false});
    }

    /// Streaming attention in f32, as a kernel does it: chunks, repairs, a division at the end.
    /// `type` rounds the weights, `repair` is what a mutant leaves out.
    [[nodiscard]] Tensor kernel(const Tensors& inputs, ElementType weight_type,
                                bool repair = true) const {
        Tensor result = make_tensor(b.diagram, output);
        const auto at = [&](ArrayId array, std::int64_t row, std::int64_t column) {
            return static_cast<float>(inputs.at(array).values[flat(row * depth + column)]);
        };
        for (std::int64_t row = 0; row < rows; ++row) {
            float top = -std::numeric_limits<float>::infinity();
            float total = 0;
            std::vector<float> sums(flat(depth), 0.0F);
            for (std::int64_t x = 0; x < keys; ++x) {
                float score = 0;
                for (std::int64_t k = 0; k < depth; ++k) score += at(query, row, k) * at(key, x, k);
                score /= std::sqrt(static_cast<float>(depth));
                const float risen = std::max(top, score);
                const float factor = repair ? std::exp(top - risen) : 1.0F;
                const float exact = std::exp(score - risen);
                const auto p = static_cast<float>(round_to(weight_type, exact));
                total = total * factor + exact;
                for (std::int64_t k = 0; k < depth; ++k)
                    sums[flat(k)] = sums[flat(k)] * factor + p * at(value, x, k);
                top = risen;
            }
            for (std::int64_t k = 0; k < depth; ++k)
                result.values[flat(row * depth + k)] =
                    round_to(b.diagram[output].type, sums[flat(k)] / total);
        }
        return result;
    }
};

}  // namespace

TEST_CASE("compare: an f32 kernel passes with room, and not with too much") {
    for (const double scale : {0.1, 1.0, 10.0}) {
        const Attention attention(7, 300, 32);
        const Tensors inputs = random_inputs(attention.b.diagram, 1, scale);
        Reference reference(attention.b.diagram, inputs, {});
        const Tensor got = attention.kernel(inputs, ElementType::F32);
        const Comparison good = compare(reference, attention.output, got);
        CHECK(good.ok);
        CHECK_EQ(good.compared, 7 * 32);
        CHECK_FALSE(good.sampled);
        CHECK(good.worst_ratio > 0.001);
    }
}

TEST_CASE("compare: weights and outputs in bf16 pass with their types, fail without") {
    const Attention attention(5, 400, 32, ElementType::BF16);
    const Tensors inputs = random_inputs(attention.b.diagram, 2);
    const Tensor got = attention.kernel(inputs, ElementType::BF16);
    Reference narrow(attention.b.diagram, inputs,
                     {ElementType::F32, {{attention.weight, ElementType::BF16}}, {}, false, {}});
    const Comparison good = compare(narrow, attention.output, got);
    CHECK(good.ok);
    CHECK(good.tolerance < 0.05);
    Reference wide(attention.b.diagram, inputs, {});
    CHECK_FALSE(compare(wide, attention.output, got).ok);
}

TEST_CASE("compare: mutants fail") {
    const Attention attention(6, 200, 16);
    const Tensors inputs = random_inputs(attention.b.diagram, 3);
    Reference reference(attention.b.diagram, inputs, {});
    const Tensor good = attention.kernel(inputs, ElementType::F32);
    const Comparison no_repair =
        compare(reference, attention.output, attention.kernel(inputs, ElementType::F32, false));
    CHECK_FALSE(no_repair.ok);
    CHECK(no_repair.worst_ratio > 100);

    Tensor changed = good;
    changed.values[37] *= 1.001;
    const Comparison one = compare(reference, attention.output, changed);
    CHECK_EQ(one.failed, 1);
    CHECK_EQ(one.worst_index, std::vector<std::int64_t>{2, 5});

    changed = good;
    changed.values[11] = std::nan("");
    changed.values[12] = 12345;
    const Comparison poisoned = compare(reference, attention.output, changed, {}, 12345);
    CHECK_EQ(poisoned.nans, 1);
    CHECK_EQ(poisoned.poisoned, 1);
    CHECK_EQ(poisoned.failed, 2);
    CHECK_FALSE(poisoned.ok);
    // A NaN outside the sample is not seen, inside it is.
    const std::vector<std::int64_t> sample = {0, 1, 2};
    CHECK(compare(reference, attention.output, changed, sample).ok);
    CHECK(compare(reference, attention.output, changed, sample).sampled);
    const std::vector<std::int64_t> bad = {0, 11};
    CHECK_FALSE(compare(reference, attention.output, changed, bad).ok);
}

TEST_CASE("compare: long sums of either sign in f32, forwards, backwards and in pairs") {
    for (const double shift : {0.0, 5.0}) {
        Builder b;
        const AxisId n = b.axis("n", 50000);
        const ArrayId input = b.input("X", {n});
        const ArrayId output = b.array("Y", {}, ArrayRole::Output);
        b.define({output}, Fold{napkin::kSum,
                                {n},
                                {b.at(input) * b.at(input) - napkin::number(shift) * b.at(input)},
                                {},
                                false});
        const Tensors inputs = random_inputs(b.diagram, 4);
        Reference reference(b.diagram, inputs, {});
        const std::vector<double>& values = inputs.at(input).values;
        float forwards = 0;
        float backwards = 0;
        std::vector<float> pairs;
        const auto term = [&](double value) {
            const auto x = static_cast<float>(value);
            return x * x - static_cast<float>(shift) * x;
        };
        for (std::size_t at = 0; at < values.size(); ++at) {
            forwards += term(values[at]);
            backwards += term(values[values.size() - 1 - at]);
            pairs.push_back(term(values[at]));
        }
        while (pairs.size() > 1) {
            std::vector<float> half;
            for (std::size_t at = 0; at + 1 < pairs.size(); at += 2)
                half.push_back(pairs[at] + pairs[at + 1]);
            if (pairs.size() % 2 == 1) half.push_back(pairs.back());
            pairs = half;
        }
        for (const float got : {forwards, backwards, pairs[0]})
            CHECK(compare(reference, output, {{}, {got}}).ok);
        CHECK_FALSE(compare(reference, output, {{}, {forwards * 1.01}}).ok);
    }
}

TEST_CASE("compare: exact arithmetic is held to exactness") {
    Builder b;
    const AxisId n = b.axis("n", 6);
    const AxisId v = b.axis("v", 6);
    const ArrayId label = b.input("label", {n}, ElementType::I32);
    b.diagram.arrays[label.index()].indexes = v;
    const ArrayId table = b.input("E", {v});
    const ArrayId looked_up = b.array("Y", {n}, ArrayRole::Output);
    const ArrayId count = b.array("C", {}, ArrayRole::Output, ElementType::I32);
    b.define({looked_up}, Map{read(table, {b.at(label)})});
    b.define({count}, Fold{napkin::kSum, {n}, {b.at(label)}, {}, false});
    const ArrayId squares = b.array("Q", {}, ArrayRole::Output, ElementType::I64);
    const Expression square = apply(Function::Power, {b.at(label), napkin::integer(2)});
    b.define({squares}, Fold{napkin::kSum, {n}, {square}, {}, false});
    const Tensors inputs = random_inputs(b.diagram, 5);
    CHECK(error_diagram(b.diagram, {}).bounds.empty());
    Reference reference(b.diagram, inputs, {});
    Tensor got = make_tensor(b.diagram, looked_up);
    double sum = 0;
    for (std::size_t at = 0; at < 6; ++at) {
        got.values[at] =
            inputs.at(table).values[flat(static_cast<std::int64_t>(inputs.at(label).values[at]))];
        sum += inputs.at(label).values[at];
    }
    CHECK(compare(reference, looked_up, got).ok);
    CHECK(compare(reference, count, {{}, {sum}}).ok);
    CHECK_FALSE(compare(reference, count, {{}, {sum + 1}}).ok);
    got.values[0] = std::nextafter(got.values[0], 10.0) + 1e-7;
    CHECK_FALSE(compare(reference, looked_up, got).ok);
}

TEST_CASE("compare: a selection within rounding is undecided, a clear one is judged") {
    Builder b;
    const AxisId e = b.axis("e", 4);
    const AxisId j = b.axis("j", 2);
    const AxisId k = b.axis("k", 1);
    const ArrayId input = b.input("X", {e, j});
    const ArrayId score = b.array("S", {e}, ArrayRole::Intermediate);
    const ArrayId values = b.array("val", {k}, ArrayRole::Output);
    const ArrayId indices = b.array("idx", {k}, ArrayRole::Output, ElementType::I32);
    b.define({score}, Fold{napkin::kSum, {j}, {b.at(input)}, {}, false});
    b.define({values, indices}, Select{e, k, b.at(score)});
    Tensors inputs;
    inputs[input] = {{4, 2}, {1, 0.1, 2, 0.1, 0.5, 0.5, 2 + 1e-9, 0.1}};
    Reference close(b.diagram, inputs, {});
    const Comparison undecided = compare(close, indices, {{1}, {1}});
    CHECK(undecided.ok);
    CHECK_EQ(undecided.undecided, 1);
    CHECK(compare(close, values, {{1}, {2.1F}}).ok);
    CHECK_FALSE(compare(close, values, {{1}, {2.2F}}).ok);
    inputs[input].values[6] = 3;
    Reference clear(b.diagram, inputs, {});
    CHECK(compare(clear, indices, {{1}, {3}}).ok);
    CHECK_FALSE(compare(clear, indices, {{1}, {1}}).ok);
    CHECK_EQ(compare(clear, indices, {{1}, {3}}).undecided, 0);
}

TEST_CASE("compare: what may err across a boundary is granted the step behind it") {
    Builder b;
    const AxisId n = b.axis("n", 3);
    const ArrayId left = b.input("X", {n});
    const ArrayId right = b.input("Y", {n});
    const ArrayId rounded = b.array("R", {n}, ArrayRole::Output, ElementType::BF16, true);
    const ArrayId whole = b.array("F", {n}, ArrayRole::Output);
    const ArrayId chosen = b.array("C", {n}, ArrayRole::Output);
    const Expression product = b.at(left) * b.at(right);
    const Expression boundary = napkin::number(1 + 0x1p-8);
    b.define({rounded}, Map{product});
    b.define({whole}, Map{apply(Function::Floor, {product - boundary})});
    b.define({chosen}, Map{apply(Function::Select, {apply(Function::Less, {product, boundary}),
                                                    napkin::number(5), napkin::number(7)})});
    // A product errs by 2^-24 and passes with kSafety times that; the boundary lies in between,
    // nearer and further away.
    Tensors inputs;
    inputs[left] = {{3}, {1 + 0x1p-8 - 0x1p-25, 1 + 0x1p-8 - 0x1p-23, 1 + 0x1p-8 - 0x1p-20}};
    inputs[right] = {{3}, {1, 1, 1}};
    Reference reference(b.diagram, inputs, {});
    for (const auto& [array, below, above] :
         {std::tuple(rounded, 1.0, 1 + 0x1p-7), {whole, -1.0, 0.0}, {chosen, 5.0, 7.0}}) {
        CHECK(compare(reference, array, {{3}, {below, below, below}}).ok);
        CHECK(compare(reference, array, {{3}, {above, above, below}}).ok);
        CHECK_FALSE(compare(reference, array, {{3}, {below, below, above}}).ok);
    }
}

TEST_CASE("compare: what is exactly 0 is above 0 nowhere, and judged") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    const Expression weight = apply(Function::Exp, {b.at(input)});
    b.define({output},
             Map{apply(Function::Select, {apply(Function::Greater, {weight, napkin::number(0)}),
                                          weight, napkin::number(5)})});
    Tensors inputs;
    inputs[input] = {{2}, {-std::numeric_limits<double>::infinity(), -1}};
    Reference reference(b.diagram, inputs, {});
    const Comparison right = compare(reference, output, {{2}, {5, std::exp(-1.0)}});
    CHECK(right.ok);
    CHECK_EQ(right.judged(), 2);
    CHECK_FALSE(compare(reference, output, {{2}, {0, std::exp(-1.0)}}).ok);
}

TEST_CASE("compare: what overflows f32 is undecided, whatever takes it, and the rest is judged") {
    const std::map<Function, double (*)(double)> functions = {
        {Function::Sqrt, [](double x) { return std::sqrt(x); }},
        {Function::Rsqrt, [](double x) { return 1 / std::sqrt(x); }},
        {Function::Log, [](double x) { return std::log(x); }},
        {Function::Divide, [](double x) { return 1 / x; }},
        {Function::Abs, [](double x) { return x; }},
    };
    for (const auto& [function, compute] : functions) {
        CAPTURE(compute(2));
        Builder b;
        const AxisId n = b.axis("n", 2);
        const AxisId k = b.axis("k", 3);
        const ArrayId input = b.input("X", {n, k});
        const ArrayId sum = b.array("S", {n}, ArrayRole::Intermediate);
        const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
        b.define({sum}, Fold{napkin::kSum, {k}, {b.at(input) * b.at(input)}, {}, false});
        std::vector<Expression> arguments = {b.at(sum)};
        if (function == Function::Divide) arguments.insert(arguments.begin(), napkin::number(1));
        b.define({output}, Map{apply(function, arguments)});
        Tensors inputs;
        inputs[input] = {{2, 3}, {1e25, 1e25, 2e25, 1, 2, 3}};
        Reference reference(b.diagram, inputs, {});
        const double overflown = compute(std::numeric_limits<double>::infinity());
        const Comparison right = compare(reference, output, {{2}, {overflown, compute(14)}});
        CHECK(right.ok);
        CHECK_EQ(right.judged(), std::isinf(overflown) ? 1 : 2);
        CHECK_FALSE(compare(reference, output, {{2}, {overflown, overflown}}).ok);
    }
}

TEST_CASE("compare: what a condition within rounding hides may count all the same") {
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    Builder b;
    const AxisId n = b.axis("n", 2);
    const AxisId x = b.axis("x", 2);
    const AxisId j = b.axis("j", 2);
    const ArrayId terms = b.input("X", {n, x, j});
    const ArrayId least = b.input("T", {n});
    const ArrayId values = b.input("V", {x});
    const ArrayId score = b.array("S", {n, x}, ArrayRole::Intermediate);
    const ArrayId seen = b.array("M", {n, x}, ArrayRole::Intermediate);
    const ArrayId largest = b.array("L", {n}, ArrayRole::Output);
    const ArrayId smallest = b.array("K", {n}, ArrayRole::Output);
    const ArrayId total = b.array("E", {n}, ArrayRole::Output);
    b.define({score}, Fold{napkin::kSum, {j}, {b.at(terms)}, {}, false});
    const Expression shows = apply(Function::GreaterEqual, {b.at(score), b.at(least)});
    b.define({seen}, Map{apply(Function::Select, {shows, b.at(values), napkin::number(kHidden)})});
    b.define({largest}, Fold{napkin::kMax, {x}, {b.at(seen)}, {}, false});
    b.define({smallest}, Fold{napkin::kMin, {x}, {b.at(seen)}, {}, false});
    b.define({total}, Fold{napkin::kSum, {x}, {apply(Function::Exp, {b.at(seen)})}, {}, false});
    Tensors inputs;
    inputs[terms] = {{2, 2, 2}, {2, 0.1, 3, 0, 2, 0.1, 3, 0}};
    inputs[least] = {{2}, {2.1 + 1e-9, 2.5}};
    inputs[values] = {{2}, {5, 4}};
    Reference reference(b.diagram, inputs, {});
    const double one = std::exp(4.0);
    // What the first row may be where its borderline element counts, and what the second is.
    for (const auto& [output, first, second] : {std::tuple(largest, 5.0, 4.0),
                                                {smallest, 4.0, kHidden},
                                                {total, one + std::exp(5.0), one}}) {
        const Comparison taken = compare(reference, output, {{2}, {first, second}});
        CHECK(taken.ok);
        CHECK_EQ(taken.undecided, 1);
        CHECK_FALSE(compare(reference, output, {{2}, {first, first}}).ok);
    }
}

TEST_CASE("compare: infinities of both say nothing where all is infinite") {
    Builder b;
    const AxisId n = b.axis("n", 2);
    const ArrayId input = b.input("X", {n});
    const ArrayId output = b.array("Y", {n}, ArrayRole::Output);
    b.define({output}, Map{apply(Function::Log, {b.at(input)})});
    const double none = -std::numeric_limits<double>::infinity();
    Tensors inputs;
    inputs[input] = {{2}, {0, 0}};
    Reference all(b.diagram, inputs, {});
    CHECK_EQ(compare(all, output, {{2}, {none, none}}).verdict(), napkin::Verdict::Undecided);
    CHECK_EQ(compare(all, output, {{2}, {none, 0}}).verdict(), napkin::Verdict::Wrong);
    inputs[input].values[1] = 1;
    Reference one(b.diagram, inputs, {});
    CHECK_EQ(compare(one, output, {{2}, {none, 0}}).verdict(), napkin::Verdict::Right);
}

TEST_CASE("compare: a scan of a tuple monoid in f32") {
    Builder b;
    const AxisId t = b.axis("t", 800);
    const ArrayId gate = b.input("A", {t});
    const ArrayId input = b.input("X", {t});
    const ArrayId gates = b.array("gates", {t}, ArrayRole::Intermediate);
    const ArrayId states = b.array("states", {t}, ArrayRole::Output);
    const auto operand = [](std::uint32_t slot) { return Expression{napkin::Operand{slot}, {}}; };
    b.diagram.monoids.push_back({"affine",
                                 {napkin::number(1), napkin::number(0)},
                                 {operand(0) * operand(2), operand(1) * operand(2) + operand(3)},
                                 false,
                                 {}});
    const Expression decay = apply(Function::Exp, {napkin::number(0) - b.at(gate) * b.at(gate)});
    b.define({gates, states}, Fold{napkin::MonoidId{4}, {t}, {decay, b.at(input)}, {}, true});
    const Tensors inputs = random_inputs(b.diagram, 6);
    Reference reference(b.diagram, inputs, {});
    Tensor got = make_tensor(b.diagram, states);
    float state = 0;
    for (std::size_t at = 0; at < 800; ++at) {
        const auto a = static_cast<float>(inputs.at(gate).values[at]);
        state = std::exp(-a * a) * state + static_cast<float>(inputs.at(input).values[at]);
        got.values[at] = state;
    }
    const Comparison good = compare(reference, states, got);
    CHECK(good.ok);
    CHECK(good.tolerance < 1e-4);
    got.values[400] += 1e-3;
    CHECK_FALSE(compare(reference, states, got).ok);
}
