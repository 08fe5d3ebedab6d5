// How much of a result is compared, and how.
#include "cli/validation.h"

#include <doctest/doctest.h>

#include "diagrams/check.h"
#include "diagrams/evaluate_whole.h"

using namespace napkin;

namespace {

struct Computed {
    Diagram diagram;
    Tensors inputs;
    Tensors outputs;
};

Computed load(const std::string& text) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "case.ncd", text);
    REQUIRE(checked.has_value());
    Computed result{checked->diagram, random_inputs(checked->diagram, 1), {}};
    for (const ArrayId output : outputs_of(result.diagram))
        result.outputs[output] = make_tensor(result.diagram, output);
    return result;
}

cli::Validation judged(const Computed& from) {
    return cli::validate(from.diagram, initial_state(from.diagram), from.inputs, from.outputs,
                         Precision{}, 1, 60);
}

}  // namespace

TEST_CASE("validation: a large product is compared whole, and one wrong element is found") {
    Computed product = load(R"(diagram product {
  axis i = 400, j = 400, k = 400
  input A[i, k], B[k, j] : bf16
  output C[i, j] = sum(k) A[i, k] * B[k, j]
})");
    const ArrayId output = outputs_of(product.diagram).front();
    product.outputs = evaluate_whole(product.diagram, product.inputs, {output});
    const cli::Validation right = judged(product);
    CHECK(right.ok());
    CHECK_FALSE(right.sampled());
    CHECK_EQ(right.outputs.front().compared, 400 * 400);
    product.outputs.at(output).values[123457] += 1;
    const cli::Validation wrong = judged(product);
    CHECK_EQ(wrong.outputs.front().failed, 1);
    CHECK_EQ(wrong.outputs.front().worst_index, std::vector<std::int64_t>{308, 257});
}

TEST_CASE("validation: what is too large for every reference is left unchecked") {
    const Computed large = load(R"(diagram large {
  axis i = 1000000, j = i
  input A[i], B[j]
  output C = sum(i, j) tanh(A[i] * B[j])
})");
    const cli::Validation validation = judged(large);
    CHECK(validation.ok());
    CHECK_EQ(validation.verdict(), Verdict::Unchecked);
    CHECK_FALSE(validation.undecided());
    CHECK_EQ(describe(validation.outputs.front()),
             "C: one element takes the reference 1.0e+12 visits");
}

TEST_CASE("validation: what kernels hand over rounded judges where the diagram alone does not") {
    // Kernels that keep their arrays in bf16 compute what they round to the bit.
    Computed norms = load(R"(diagram norms {
  axis q = 24, x = 40, d = 32
  input Q[q, d], K[x, d], V[x, d] : bf16
  A[q, d] = Q[q, d] * rsqrt(mean[d](Q[q, d]^2) + 1e-6)
  B[x, d] = K[x, d] * rsqrt(mean[d](K[x, d]^2) + 1e-6)
  S[q, x] = sum(d) A[q, d] * B[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
})");
    const State state = initial_state(norms.diagram);
    const Precision precision = precision_of(state.diagram, state.relabelling);
    const ArrayId output = outputs_of(norms.diagram).front();
    const RoundedDiagram rounded = round_handed_over(norms.diagram, precision);
    norms.outputs = evaluate_whole(rounded.diagram, norms.inputs, {output});
    const auto judge = [&](const Precision& by) {
        return cli::validate(norms.diagram, state, norms.inputs, norms.outputs, by, 1, 60);
    };
    Precision alone = precision;
    alone.handed_over.clear();
    CHECK_EQ(judge(alone).verdict(), Verdict::Undecided);
    const cli::Validation right = judge(precision);
    CHECK_EQ(right.verdict(), Verdict::Right);
    CHECK(right.outputs.front().rounded);
    norms.outputs.at(output).values[7] += 0.5 * right.outputs.front().size;
    CHECK_EQ(judge(alone).verdict(), Verdict::Undecided);
    CHECK_EQ(judge(precision).verdict(), Verdict::Wrong);
}

TEST_CASE("validation: a part that a finite mask hides is judged as what is left of it") {
    Computed hidden = load(R"(diagram hidden {
  axis q = 8, x = 17, d = 8
  input S[q, x], V[x, d] : f32
  Z[q, x] = if x < 16 then S[q, x] else -1e9
  P[q, x] = softmax[x](Z[q, x])
  output O[q, d] : f32 = sum(x) P[q, x] * V[x, d]
})");
    SourceMap sources;
    const Result<std::vector<Command>> commands =
        parse_derivation(sources, sources.add("hidden.drv", "fuse all\nsplit-stream x by 16\n"));
    REQUIRE(commands.has_value());
    const Result<State> split = replay(hidden.diagram, *commands);
    REQUIRE(split.has_value());
    const ArrayId output = outputs_of(hidden.diagram).front();
    hidden.outputs = evaluate_whole(hidden.diagram, hidden.inputs, {output});
    const cli::Validation validation =
        cli::validate(hidden.diagram, *split, hidden.inputs, hidden.outputs,
                      precision_of(split->diagram, split->relabelling), 1, 60);
    CHECK_EQ(validation.verdict(), Verdict::Right);
    CHECK_LT(validation.outputs.front().tolerance, 1e-3);
}

TEST_CASE("validation: an array that its own region reads is not handed over rounded") {
    const Computed both = load(R"(diagram both {
  axis n = 8, m = 8
  input X[n, m] : bf16
  Y[n, m] = X[n, m] * 0.3
  Z[n] = sum(m) Y[n, m] * Y[n, m]
  output O[n, m] = Y[n, m] / Z[n]
})");
    const State state = initial_state(both.diagram);
    const ArrayId y = find_array(both.diagram, "Y").value();
    CHECK(precision_of(state.diagram, state.relabelling).handed_over.contains(y));
    SourceMap sources;
    const Result<std::vector<Command>> commands =
        parse_derivation(sources, sources.add("both.drv", "fuse Y, Z\n"));
    REQUIRE(commands.has_value());
    const Result<State> fused = replay(both.diagram, *commands);
    REQUIRE(fused.has_value());
    const Precision precision = precision_of(fused->diagram, fused->relabelling);
    CHECK(precision.stored.contains(y));
    CHECK_FALSE(precision.handed_over.contains(y));
}
