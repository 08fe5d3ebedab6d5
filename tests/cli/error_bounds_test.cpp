// The bounded evaluator has the reference's values, and its bounds hold for arithmetic in f32.
#include "cli/error_bounds.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "cli/error_rules.h"
#include "diagrams/check.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

using cli::Bounded;
using cli::ErrorBounds;

Checked load(SourceMap& sources, const std::string& text, const Sizes& sizes = {}) {
    const Result<Checked> checked = load_diagram(sources, "test.ncd", text, sizes);
    REQUIRE(checked);
    return *checked;
}

std::vector<std::int64_t> index_at(const Diagram& diagram, ArrayId array, std::int64_t offset) {
    const std::vector<AxisId>& axes = diagram[array].axes;
    std::vector<std::int64_t> index(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        index[i] = offset % diagram[axes[i]].extent;
        offset /= diagram[axes[i]].extent;
    }
    return index;
}

constexpr const char* kMaskedAttention = R"(
diagram masked {
  axis q = 5, x = 7, d = 3
  input Q[q, d], K[x, d], V[x, d] : bf16
  input len : i32
  S[q, x] = if x < len and x <= q + 2 then sum(d) Q[q, d] * K[x, d] else -inf
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  output L[q] = log(sum(x) exp(S[q, x]))
  weave h = 2
}
)";

}  // namespace

TEST_CASE("bounded values are the reference's") {
    SourceMap sources;
    const Checked checked = load(sources, kMaskedAttention);
    const Diagram& diagram = checked.diagram;
    const Tensors inputs = random_inputs(diagram, 7);
    const Result<Tensors> outputs = evaluate_outputs(diagram, inputs);
    REQUIRE(outputs);
    ErrorBounds bounds(diagram, inputs, {});
    for (const ArrayId array : outputs_of(diagram)) {
        const Tensor& tensor = outputs->at(array);
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
            const auto index = index_at(diagram, array, static_cast<std::int64_t>(i));
            const Bounded element = bounds.element(array, index);
            INFO(diagram[array].name, " at ", i);
            if (std::isfinite(tensor.values[i]))
                CHECK(element.value == doctest::Approx(tensor.values[i]).epsilon(1e-12));
            else
                CHECK_EQ(element.value, tensor.values[i]);
            CHECK(element.error >= 0);
        }
    }
}

TEST_CASE("a sum in f32 stays within its bound, and the bound is no more than a few digits wide") {
    SourceMap sources;
    const Checked checked = load(sources, R"(
diagram product {
  axis a = 4, k = 300
  input A[a, k], B[k] : f32
  output C[a] = sum(k) A[a, k] * B[k]
}
)");
    const Diagram& diagram = checked.diagram;
    const Tensors inputs = random_inputs(diagram, 3);
    const Tensor& a = inputs.at(*find_array(diagram, "A"));
    const Tensor& b = inputs.at(*find_array(diagram, "B"));
    const ArrayId c = *find_array(diagram, "C");
    ErrorBounds bounds(diagram, inputs, {});
    for (std::int64_t row = 0; row < 4; ++row) {
        float sum = 0;
        for (std::size_t k = 0; k < 300; ++k)
            sum += static_cast<float>(a.values[static_cast<std::size_t>(row) * 300 + k]) *
                   static_cast<float>(b.values[k]);
        const std::vector<std::int64_t> index{row};
        const Bounded element = bounds.element(c, index);
        CHECK(std::abs(static_cast<double>(sum) - element.value) <= element.error);
        CHECK(element.error < 1e-2);
        CHECK(element.error > 0);
    }
}

TEST_CASE("what only the kernel rounds widens the bound by half a step of the type") {
    const Bounded exact{1.0 + 0x1p-20, 0};
    const Bounded rounded = cli::round_kernel(ElementType::BF16, exact);
    CHECK_EQ(rounded.value, exact.value);
    CHECK(rounded.error >= 0x1p-20);
    CHECK(rounded.error <= 0x1p-7);
}

TEST_CASE("rounding that both do can flip a step only where an error reaches over the edge") {
    const double step = 0x1p-7;  // of bf16 above 1
    const Bounded middle = cli::round_both(ElementType::BF16, {1.0 + step / 8, step / 16});
    CHECK_EQ(middle.value, 1.0);
    CHECK_EQ(middle.error, 0.0);
    const Bounded edge = cli::round_both(ElementType::BF16, {1.0 + step * 0.49, step * 0.02});
    CHECK_EQ(edge.value, 1.0);
    CHECK_EQ(edge.error, step);
}

TEST_CASE("an uncertain comparison makes both branches possible") {
    const Bounded condition = cli::apply_bounded(cli::kSingle, Function::Less,
                                                 std::vector<Bounded>{{1.0, 0.1}, {1.05, 0.0}});
    CHECK_EQ(condition.value, 1.0);
    CHECK(condition.error > 0);
    const Bounded chosen = cli::apply_bounded(cli::kSingle, Function::Select,
                                              std::vector<Bounded>{condition, {2, 0}, {5, 0}});
    CHECK_EQ(chosen.value, 2.0);
    CHECK(chosen.error >= 3.0);
}

}  // namespace napkin::test
