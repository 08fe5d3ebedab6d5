// Random inputs: their distribution, ranges and sameness; and the check of given inputs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "builder.h"
#include "diagrams/evaluate.h"
#include "examples.h"

using napkin::ArrayId;
using napkin::ArrayRole;
using napkin::AxisId;
using napkin::ElementType;
using napkin::Expression;
using napkin::Function;
using napkin::Map;
using napkin::Tensor;
using napkin::Tensors;
using napkin::test::Builder;

namespace {

/// Inputs of every kind of use: labels, lengths, documents, indices, booleans, a root's argument.
struct Kinds {
    Builder b;
    ArrayId real, label, length, document, index, flag, positive;

    Kinds() {
        const AxisId batch = b.axis("b", 40);
        const AxisId x = b.axis("x", 50);
        const AxisId v = b.axis("v", 7);
        real = b.input("R", {batch, x}, ElementType::BF16);
        label = b.input("label", {batch}, ElementType::I32);
        length = b.input("len", {batch}, ElementType::I32);
        document = b.input("doc", {batch, x}, ElementType::I32);
        index = b.input("at", {batch}, ElementType::I64);
        flag = b.input("flag", {x}, ElementType::Bool);
        positive = b.input("P", {x});
        b.diagram.arrays[index.index()].indexes = v;
        const auto both = [](Expression left, Expression right) {
            return apply(Function::And, {std::move(left), std::move(right)});
        };
        const ArrayId output = b.array("Y", {batch, x, v}, ArrayRole::Output);
        const Expression other = read(document, {axis_index(batch), napkin::integer(0)});
        b.define({output}, Map{both(both(apply(Function::Equal, {axis_index(v), b.at(label)}),
                                         apply(Function::Less, {axis_index(x), b.at(length)})),
                                    both(apply(Function::Equal, {b.at(document), other}),
                                         apply(Function::Sqrt, {b.at(positive)})))});
    }
};

bool within(const Tensor& tensor, double low, double high) {
    return std::all_of(tensor.values.begin(), tensor.values.end(), [&](double value) {
        return value >= low && value <= high && value == std::floor(value);
    });
}

double largest(const Tensor& tensor) {
    return *std::max_element(tensor.values.begin(), tensor.values.end());
}

}  // namespace

TEST_CASE("random inputs: every kind of integer is in its range and uses it") {
    const Kinds kinds;
    const Tensors inputs = random_inputs(kinds.b.diagram, 1);
    CHECK_FALSE(check_inputs(kinds.b.diagram, inputs).has_value());
    CHECK(within(inputs.at(kinds.label), 0, 6));
    CHECK_EQ(largest(inputs.at(kinds.label)), 6);
    CHECK(within(inputs.at(kinds.length), 0, 50));
    CHECK(largest(inputs.at(kinds.length)) > 30);
    CHECK(within(inputs.at(kinds.index), 0, 6));
    CHECK(within(inputs.at(kinds.flag), 0, 1));
    CHECK(within(inputs.at(kinds.document), 0, 3));
    const std::vector<double>& documents = inputs.at(kinds.document).values;
    for (std::size_t row = 0; row < 40; ++row)
        CHECK(std::is_sorted(documents.begin() + static_cast<std::ptrdiff_t>(row * 50),
                             documents.begin() + static_cast<std::ptrdiff_t>(row * 50 + 50)));
    const std::vector<double>& positive = inputs.at(kinds.positive).values;
    CHECK(*std::min_element(positive.begin(), positive.end()) > 0);
}

TEST_CASE("random inputs: numbers that an element is compared with are met, and others") {
    for (const std::int64_t number : {0, -3, 40}) {
        Builder b;
        const AxisId x = b.axis("x", 1000);
        const ArrayId kept = b.input("kept", {x}, ElementType::I32);
        b.define({b.array("out", {x}, ArrayRole::Output)},
                 Map{apply(Function::Equal, {b.at(kept), napkin::integer(number)})});
        const Tensor values = random_inputs(b.diagram, 7).at(kept);
        const auto met =
            std::count(values.values.begin(), values.values.end(), static_cast<double>(number));
        CHECK(met > 400);
        CHECK(met < 700);
    }
}

TEST_CASE("random inputs: what is compared with an axis and with numbers is met on both sides") {
    for (const char* condition :
         {"label[n] == -100", "label[n] >= 0", "label[n] < 0", "label[n] != -1", "label[n] > 254",
          "label[n] == size(v)", "label[n] + 1 == 300", "label[n] // 64 == 2",
          "bit_and(label[n], 256) != 0", "label[n] == ignore", "next[n] == -100"}) {
        CAPTURE(std::string(condition));
        const napkin::test::Run run(
            "mask.ncd",
            std::string("diagram mask {\n  axis n = 9, v = 20\n  input label[n] : i32\n"
                        "  param ignore : i32 = -7\n  next[n] = label[n]\n"
                        "  output Y[n] : f32 = if ") +
                condition +
                " then 1 else 0\n  output Z[n, v] : f32 = if v == label[n] then 1 "
                "else 0 * ignore * next[n]\n}\n",
            {}, 1.0, napkin::test::Run::kWarnings);
        for (std::uint64_t seed = 1; seed <= 16; ++seed) {
            const Tensors inputs = random_inputs(run.diagram, seed);
            const auto outputs = evaluate_outputs(run.diagram, inputs);
            REQUIRE(outputs.has_value());
            const auto ones = [&](const char* name) {
                const std::vector<double>& values = outputs->at(run.id(name)).values;
                return std::count(values.begin(), values.end(), 1.0);
            };
            CHECK(ones("Y") > 0);
            CHECK(ones("Y") < 9);
            CHECK(ones("Z") > 0);
        }
    }
}

TEST_CASE("random inputs: normal, scaled, rounded, the same every time") {
    Builder b;
    const ArrayId real = b.input("R", {b.axis("n", 100000)}, ElementType::F32);
    const ArrayId other = b.input("S", {AxisId{0}}, ElementType::BF16);
    const Tensors inputs = random_inputs(b.diagram, 9, 2.0);
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    for (const double value : inputs.at(real).values) {
        sum += value;
        squares += value * value;
        fourth += std::pow(value, 4);
    }
    CHECK(std::abs(sum / 1e5) < 0.03);
    CHECK(squares / 1e5 == doctest::Approx(4).epsilon(0.02));
    CHECK(fourth / 1e5 / 16 == doctest::Approx(3 - 0.1).epsilon(0.03));  // kurtosis of 12 uniforms
    for (const double value : inputs.at(other).values)
        CHECK_EQ(value, round_to(ElementType::BF16, value));
    CHECK_EQ(inputs.at(real).values, random_inputs(b.diagram, 9, 2.0).at(real).values);
    CHECK_NE(inputs.at(real).values, random_inputs(b.diagram, 10, 2.0).at(real).values);
    // Integer arithmetic alone, so every machine has these; computed with another language.
    const Tensors unit = random_inputs(b.diagram, 9);
    const std::vector<double>& first = unit.at(real).values;
    CHECK_EQ(first[0], 76706 / 0x1p17);
    CHECK_EQ(first[1], -19564 / 0x1p17);
    CHECK_EQ(first[2], 40616 / 0x1p17);
}

TEST_CASE("given inputs: shape, type and range are checked") {
    const Kinds kinds;
    const Tensors good = random_inputs(kinds.b.diagram, 1);
    const auto code_of = [&](ArrayId array, const Tensor& tensor) {
        Tensors changed = good;
        changed[array] = tensor;
        const std::optional<napkin::Diagnostic> problem = check_inputs(kinds.b.diagram, changed);
        return problem ? problem->code : std::string();
    };
    CHECK_EQ(code_of(kinds.flag, good.at(kinds.flag)), "");
    CHECK_EQ(code_of(kinds.flag, Tensor{{49}, std::vector<double>(49)}), "E0503");
    CHECK_EQ(code_of(kinds.flag, Tensor{{50}, std::vector<double>(49)}), "E0503");
    CHECK_EQ(code_of(kinds.flag, Tensor{{50}, std::vector<double>(50, 2)}), "E0504");
    CHECK_EQ(code_of(kinds.label, Tensor{{40}, std::vector<double>(40, 0.5)}), "E0504");
    CHECK_EQ(code_of(kinds.index, Tensor{{40}, std::vector<double>(40, 7)}), "E0505");
    CHECK_EQ(code_of(kinds.index, Tensor{{40}, std::vector<double>(40, -1)}), "E0505");
}

TEST_CASE(
    "random inputs: what compares integers of two arrays is true of some and false of others") {
    for (const char* q : {"1", "6"})
        for (const char* condition :
             {"px[x] < pq[q]", "px[x] == pq[q]", "px[x] > pq[q] + 3", "px[x] == pq[q] + 300",
              "px[x] <= pq[q] and px[x] > pq[q] - 128", "px[x] < pq[q] and px[x] >= 1000",
              "pq[q] - px[x] >= 64", "abs(px[x] - pq[q]) > 500"}) {
            CAPTURE(std::string(q));
            CAPTURE(std::string(condition));
            const napkin::test::Run run("mask.ncd",
                                        std::string("diagram mask {\n  axis q = ") + q +
                                            ", x = 40\n  input pq[q], px[x] : i32\n"
                                            "  output Y[q, x] : f32 = if " +
                                            condition + " then 1 else 0\n}\n",
                                        {}, 1.0, napkin::test::Run::kWarnings);
            int mixed = 0;
            for (std::uint64_t seed = 1; seed <= 16; ++seed) {
                const Tensors inputs = random_inputs(run.diagram, seed);
                const auto outputs = evaluate_outputs(run.diagram, inputs);
                REQUIRE(outputs.has_value());
                const std::vector<double>& mask = outputs->begin()->second.values;
                const auto visible = std::count(mask.begin(), mask.end(), 1.0);
                mixed += visible > 0 && visible < static_cast<std::ptrdiff_t>(mask.size()) ? 1 : 0;
            }
            CHECK(mixed >= 4);
        }
}
