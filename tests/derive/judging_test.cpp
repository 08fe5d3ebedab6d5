// What a derivation that rewrites the diagram computes is judged by the diagram as it was given,
// with the tolerance of what was executed: right rewritings pass, wrong ones do not.
#include "diagrams/compare.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

struct Rewriting {
    std::string rule;
    std::string text;
    std::string steps;
};

const std::vector<Rewriting>& rewritings() {
    static const std::vector<Rewriting> kAll = {
        {"reassociate", R"(diagram chain {
  axis i = 5, j = 6, k = 7, l = 3
  input A[i, j], B[j, k], C[k, l] : bf16
  T[i, k] = sum(j) A[i, j] * B[j, k]
  output Y[i, l] : bf16 = sum(k) T[i, k] * C[k, l]
})",
         "reassociate B, C as U in Y"},
        {"distribute", R"(diagram bias {
  axis i = 5, j = 6
  input A[i, j], b[j], w[j], c[i]
  output Z[i] = sum(j) c[i] * (A[i, j] + b[j]) * w[j]
})",
         "distribute Z"},
        {"commute", R"(diagram two {
  axis i = 5, j = 6, k = 7
  input A[i, j], B[j, k]
  T[i, k] = sum(j) A[i, j] * B[j, k]
  output Y[i] = sum(k) T[i, k]
})",
         "commute j, k in Y as U"},
        {"stabilise", R"(diagram sums {
  axis q = 5, x = 9, e = 3
  input S[q, x], V[x, e]
  E[q, x] = exp(S[q, x])
  l[q] = sum(x) E[q, x]
  output O[q, e] = (sum(x) E[q, x] * V[x, e]) / l[q]
  output L[q] = log(l[q])
})",
         "stabilise l"},
        {"absorb-normaliser", R"(diagram softmax {
  axis q = 5, x = 9, e = 3
  input S[q, x], V[x, e] : bf16
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]
})",
         "absorb-normaliser P as L\nfuse P, O"},
        {"recompute", R"(diagram backward {
  axis q = 9, x = 13, d = 4
  input Q[q, d], K[x, d], G[q, d], L[q]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = exp(S[q, x] - 9 - L[q] ^ 2)
  output A[q, d] = sum(x) P[q, x] * K[x, d]
  output B[x, d] = sum(q) P[q, x] * G[q, d]
})",
         "recompute S, P in A\nrecompute S, P in B\nstream x by 4 in A\nstream q by 4 in B"},
        {"split-stream", R"(diagram decoding {
  axis q = 3, x = 29, d = 4
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
})",
         "fuse all\nstream x by 4\nsplit-stream x by 8"},
        {"split-axis", R"(diagram rows {
  axis q = 12, x = 9
  input S[q, x] : bf16
  output P[q, x] : bf16 = softmax[x](S[q, x])
})",
         "split-axis q as r by 3\ngroup q by 2"},
        {"join-axes", R"(diagram pixels {
  axis i = 4, j = 5, c = 3
  input X[i, j, c]
  output Y[i, j] = sum(c) X[i, j, c] ^ 2
})",
         "join-axes i, j as p\ngroup p by 6"},
    };
    return kAll;
}

Tensors executed(const Diagram& diagram, const TileProgram& program, const Tensors& inputs) {
    const Result<Interpretation> run = interpret(diagram, program, inputs, Arithmetic::Storage);
    REQUIRE(run.has_value());
    return run->outputs;
}

}  // namespace

TEST_CASE("judging: what rules rewrote agrees with the diagram as it was given") {
    for (const Rewriting& each : rewritings()) {
        INFO(each.rule);
        const Diagram plain = load(each.text);
        const State state = derive(plain, each.steps);
        REQUIRE_FALSE(state.diagram == plain);
        const Tensors inputs = random_inputs(plain, 3);
        const Tensors outputs = tensors_in(
            plain, state.diagram,
            executed(state.diagram, program_of(state), tensors_in(state.diagram, plain, inputs)));
        Reference reference(plain, inputs, state.diagram,
                            precision_of(state.diagram, state.relabelling));
        for (const ArrayId output : outputs_of(plain)) {
            const Comparison comparison = compare(reference, output, outputs.at(output));
            CHECK_MESSAGE(comparison.ok, describe(comparison));
            CHECK_EQ(comparison.undecided, 0);
            CHECK_EQ(comparison.compared, make_tensor(plain, output).values.size());
            CHECK_LT(comparison.tolerance, 0.5);
        }
    }
}

TEST_CASE("judging: a rewriting that changes the meaning is seen") {
    const Diagram plain = load(R"(diagram given {
  axis i = 5, j = 6
  input A[i, j], b[j], w[j]
  output Z[i] = sum(j) (A[i, j] + b[j]) * w[j]
})");
    // As if `distribute` forgot a factor.
    const State wrong = initial_state(load(R"(diagram given {
  axis i = 5, j = 6
  input A[i, j], b[j], w[j]
  U[i] = sum(j) A[i, j] * w[j]
  output Z[i] = U[i] + sum(j) b[j]
})"));
    const Tensors inputs = random_inputs(plain, 3);
    const Tensors there = tensors_in(wrong.diagram, plain, inputs);
    const Tensors outputs = executed(wrong.diagram, program_of(wrong), there);
    const Precision precision = precision_of(wrong.diagram, wrong.relabelling);
    const ArrayId output = outputs_of(wrong.diagram).front();
    Reference rewritten(wrong.diagram, there, precision);
    CHECK(compare(rewritten, output, outputs.at(output)).ok);
    Reference given(plain, inputs, wrong.diagram, precision);
    const ArrayId there_too = outputs_of(plain).front();
    CHECK_FALSE(
        compare(given, there_too, tensors_in(plain, wrong.diagram, outputs).at(there_too)).ok);
}

}  // namespace napkin::test
