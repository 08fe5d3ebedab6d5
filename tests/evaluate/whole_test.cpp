// The fast reference against the slow one.
#include <filesystem>
#include <set>

#include "diagrams/compare.h"
#include "diagrams/evaluate/whole/plan.h"
#include "diagrams/evaluate_whole.h"
#include "diagrams/infinity.h"
#include "examples.h"
#include "tests/support/random_contraction.h"
#include "tests/support/random_diagram.h"

using namespace napkin;
using test::Run;

namespace {

/// Blocks of a few values, and products of matrices wherever there are two factors.
constexpr WholeOptions kSmall{2, 0x1p40, 24, 0.01};

bool is_near(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    return std::abs(a - b) <= 1e-6 * (std::abs(a) + std::abs(b)) + 1e-18;
}

/// Counts what the tests below have met, so that none of it is empty.
struct Seen {
    std::int64_t elements = 0;
    std::int64_t blocks = 0;
    std::int64_t products = 0;
};

/// Everything that is computed, and its bounds of errors, by both.
void check_same(const Run& run, Seen& seen, const WholeOptions& options) {
    // Bounds of errors as small as those of double precision would cancel.
    const ErrorDiagram errors = error_diagram(run.diagram, Precision{});
    std::vector<ArrayId> computed;
    for (std::size_t at = 0; at < run.diagram.arrays.size(); ++at)
        if (const ArrayId id{static_cast<std::uint32_t>(at)}; producer(run.diagram, id))
            computed.push_back(id);
    for (const auto& [array, bound] : errors.bounds) computed.push_back(bound);
    const std::vector<ArrayId> outputs = outputs_of(run.diagram);
    for (const std::vector<ArrayId>& arrays : {computed, outputs}) {
        const auto plan = evaluation::plan_stages(errors.diagram, arrays, options);
        REQUIRE(plan.has_value());
        for (const evaluation::Stage& stage : plan->stages) {
            seen.blocks += stage.blocks();
            for (const evaluation::Part& part : stage.parts)
                if (part.sum) seen.products += static_cast<std::int64_t>(part.sum->terms.size());
        }
        const Tensors fast = evaluate_whole(errors.diagram, run.inputs, arrays, options);
        Reference reference(run.diagram, run.inputs, Precision{.arithmetic = ElementType::F64});
        Evaluator slow(errors.diagram, run.inputs);
        for (const ArrayId array : arrays) {
            const Tensor& got = fast.at(array);
            INFO(print(run.diagram), errors.diagram[array].name);
            seen.elements += static_cast<std::int64_t>(got.values.size());
            if (array.index() < run.diagram.arrays.size()) {
                const Comparison comparison = compare(reference, array, got);
                INFO(describe(comparison));
                CHECK(comparison.ok);
                continue;
            }
            const Tensor expected = slow.array(array);
            for (std::size_t at = 0; at < got.values.size(); ++at) {
                INFO(at, ": ", got.values[at], " instead of ", expected.values[at]);
                CHECK(is_near(got.values[at], expected.values[at]));
            }
        }
    }
}

}  // namespace

TEST_CASE("whole arrays: every example as element by element, in small blocks and as it comes") {
    Seen seen;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        if (entry.path().extension() != ".ncd") continue;
        const std::string text = test::read_text(entry.path());
        const Run large(entry.path().filename(), text, {}, 0.0, Run::kNoInputs);
        Sizes sizes;
        std::int64_t next = 0;
        for (std::uint32_t i = 0; i < large.diagram.axes.size(); ++i)
            if (const Axis& axis = large.diagram.axes[i]; has_own_size(large.diagram, AxisId{i}))
                sizes[axis.name] = axis.extent < 4 ? axis.extent : 4 + next++ % 3;
        if (sizes.count("w") == 1) sizes["w"] = 3;
        if (sizes.count("k") == 1 && sizes.count("e") == 1) sizes["k"] = 2;
        const Run run(entry.path().filename(), text, sizes);
        check_same(run, seen, kSmall);
        check_same(run, seen, {});
    }
    CHECK(seen.elements > 10000);
    CHECK(seen.blocks > 1000);
    CHECK(seen.products > 100);
}

TEST_CASE("whole arrays: random diagrams as element by element") {
    Seen seen;
    std::mt19937_64 random(20240611);
    for (int trial = 0; trial < 40; ++trial)
        check_same(Run("random.ncd", test::random_contraction(random), {}, 1.0, Run::kWarnings),
                   seen, kSmall);
    for (std::uint32_t seed = 1; seed <= 100; ++seed)
        check_same(Run("random" + std::to_string(seed) + ".ncd", test::random_diagram(seed), {},
                       1.0, Run::kWarnings),
                   seen, kSmall);
    CHECK(seen.blocks > 1000);
    CHECK(seen.products > 100);
}

TEST_CASE("whole arrays: what a condition keeps inside its array is read nowhere else") {
    Run run("inside.ncd", R"(diagram inside {
  axis i = 6, k = 5, j = 7
  input A[i, k], B[k, j], W[j], V[i]
  input at[k] : i32
  output C[i, j] = sum(k) if j + 2 < size(j) then A[i, k] * B[k, j + 2] else 0
  output D[i, j] = sum(k) if k > 0 and i + k < size(i) then A[i + k, k - 1] * B[k, j] else 0
  output E[i, j] = sum(k) if at[k] >= 0 then A[i, k] * B[at[k], j] * W[j] else 0
  output F[i, j] = sum(k) if k < i then (if j < 4 then V[i] * A[i - 1 - k, k] else 0) * B[k, j + 3 - 3 * (j // 4)] else 0
})",
            {}, 1.0, Run::kWarnings);
    run.input("at").values = {3, -1, 0, -7, 4};
    Seen seen;
    check_same(run, seen, kSmall);
    CHECK(seen.products >= 4);
}

TEST_CASE("whole arrays: infinite factors mean what they do element by element") {
    Run run("infinite.ncd", R"(diagram infinite {
  axis i = 6, k = 5, j = 4
  input A[i, k], B[k, j]
  output C[i, j] = sum(k) A[i, k] * B[k, j]
  output D[i, j] = sum(k) if k <= i then 0.5 * abs(A[i, k] * B[k, j]) else 0
})",
            {}, 1.0, Run::kWarnings);
    std::vector<double>& left = run.input("A").values;
    std::vector<double>& right = run.input("B").values;
    left[1] = kInfinity;
    left[7] = -kInfinity;
    left[13] = kInfinity;
    left[14] = -kInfinity;
    left[21] = std::numeric_limits<double>::quiet_NaN();
    left[26] = 1e300;
    right[1 * 4 + 2] = 0;
    right[3 * 4 + 1] = -kInfinity;
    right[1 * 4 + 0] = 1e300;
    const std::vector<ArrayId> outputs = outputs_of(run.diagram);
    const Tensors fast = evaluate_whole(run.diagram, run.inputs, outputs, kSmall);
    Evaluator slow(run.diagram, run.inputs);
    int infinite = 0;
    for (const ArrayId array : outputs) {
        const Tensor expected = slow.array(array);
        for (std::size_t at = 0; at < expected.values.size(); ++at) {
            INFO(at, ": ", fast.at(array).values[at], " instead of ", expected.values[at]);
            CHECK(is_near(fast.at(array).values[at], expected.values[at]));
            infinite += std::isinf(expected.values[at]) ? 1 : 0;
        }
    }
    CHECK(infinite > 5);
}

TEST_CASE("whole arrays: what is held is limited, and what an input breaks is thrown") {
    Run run("transposed.ncd", R"(diagram transposed {
  axis i = 300, j = i, v = 7
  input A[i], B[j]
  input at[i] : i32
  S[i, j] = exp(A[i] * B[j])
  output C[i] = sum(j) S[i, j] * S[j, i]
  output D[i] = A[at[i]]
})",
            {}, 1.0, Run::kWarnings);
    const std::vector<ArrayId> transposed = {run.id("C")};
    CHECK(whole_work(run.diagram, transposed).has_value());
    CHECK_FALSE(whole_work(run.diagram, transposed, {.most_values = 5e4}).has_value());
    run.input("at").values[17] = 300;
    CHECK_THROWS_AS(static_cast<void>(evaluate_whole(run.diagram, run.inputs, {run.id("D")})),
                    ContractError);
}
