// split-stream: parts in parallel and what combines them compute what the stream does, for every
// kind of state, whether or not the parts fill the axis.
#include <array>

#include "tests/derive/programs.h"

namespace napkin::test {

namespace {

/// A diagram, and the axis to split.
struct Stream {
    const char* text;
    const char* axis;
};

const std::vector<Stream> kStreams = {
    {R"(diagram attention {
  axis q = 5, x = 13, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e]
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  weave h = 2
})",
     "x"},
    {R"(diagram causal {
  axis q = 9, x = 13, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e]
  input len[q] : i32
  S[q, x] = if x <= q - 3 and x < len[q] then sum(d) Q[q, d] * K[x, d] else -inf
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  output L[q] = logsumexp[x](S[q, x])
})",
     "x"},
    {R"(diagram sink {
  axis q = 5, x = 13, e = 3
  input S[q, x], V[x, e], z[q]
  M[q] = max(max(x) S[q, x], z[q])
  E[q, x] = exp(S[q, x] - M[q])
  output O[q, e] = (sum(x) E[q, x] * V[x, e]) / (sum(x) E[q, x] + exp(z[q] - M[q]))
})",
     "x"},
    {R"(diagram product {
  axis a = 5, b = 13, c = 4
  input A[a, b], B[b, c], bias[c]
  output C[a, c] : bf16 = (sum(b) A[a, b] * B[b, c]) + bias[c]
})",
     "b"},
    {R"(diagram norms {
  axis n = 5, d = 13, c = 4
  input X[n, d], G[d], W[c, d], B[d]
  output Y[n, c] = sum(d) layernorm[d](X[n, d] + 5, G[d], B[d], 1e-3) * W[c, d]
  output Z[n, c] = sum(d) rmsnorm[d](X[n, d] + 5, G[d], 1e-3) * W[c, d]
})",
     "d"},
    {R"(diagram moments {
  axis n = 5, d = 13
  input X[n, d], Y[n, d]
  M[n] = mean[d](X[n, d])
  N[n] = mean[d](Y[n, d])
  output V[n] = variance[d](X[n, d])
  output T[n] = sum(d) (X[n, d] - M[n]) ^ 3
  output U[n] = sum(d) (X[n, d] - M[n]) * (Y[n, d] - N[n])
  output R[n] = sum(d) (X[n, d] - M[n]) ^ 2 * (Y[n, d] - N[n]) * X[n, d]
})",
     "d"},
    {R"(diagram weighted {
  axis n = 5, d = 13
  input S[n, d], X[n, d]
  P[n, d] = softmax[d](S[n, d])
  M[n] = sum(d) P[n, d] * X[n, d]
  output V[n] = sum(d) P[n, d] * (X[n, d] - M[n]) ^ 2
  output H[n] = sum(d) (-P[n, d]) * log(P[n, d])
  output I[n] = sum(d) P[n, d] ^ 2
})",
     "d"},
    {R"(diagram loss {
  axis n = 5, v = 13, d = 3
  input H[n, d], W[v, d]
  input label[n] : i32
  Z[n, v] = sum(d) H[n, d] * W[v, d]
  output nll[n] = logsumexp[v](Z[n, v]) - sum(v) if v == label[n] then Z[n, v] else 0
})",
     "v"},
    {R"(diagram extremes {
  axis n = 5, d = 13
  input X[n, d], w[n]
  output lo[n] = min(d) X[n, d]
  output p[n] = prod(d) (1 + 0.1 * X[n, d])
  output m[n] = max(d) X[n, d] * w[n]
  output r[n] = (max(d) abs(X[n, d])) * sum(d) X[n, d]
})",
     "d"},
    {R"(monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative
monoid pair(n, s; m, t) = (n + m, s + t) identity (0, 0)
diagram monoids {
  axis t = 13, c = 4
  input A[t, c], B[t, c]
  a[c], b[c] = affine(t) (A[t, c], B[t, c] + 1)
  output Y[c] = b[c] - a[c]
  output n[c], s[c] = pair(t) (1, A[t, c])
})",
     "t"},
    {R"(diagram routing {
  axis n = 5, d = 3, e = 13, k = 2
  input X[n, d], W[e, d], V[e]
  G[n, e] = sum(d) X[n, d] * W[e, d]
  output val[n, k], idx[n, k] = topk[e](G[n, e])
  output w[n, k] = softmax[k](val[n, k])
  output best[n] = V[argmax(e) (-G[n, e])]
})",
     "e"},
    {R"(diagram ties {
  axis n = 5, e = 13, k = 3
  input X[n, e] : i8
  G[n, e] = if e % 3 == 0 then (if X[n, e] > 0 then 1 else 0) else -inf
  output val[n, k], idx[n, k] = topk[e](G[n, e])
  output at[n] : i32 = argmax(e) G[n, e]
})",
     "e"},
    {R"(diagram earlier {
  axis q = 5, x = 13, d = 3
  input Q[q, d], K[x, d], g[q]
  R[q] = rsqrt(sum(d) Q[q, d] ^ 2)
  N[q] = R[q] * g[q]
  S[q, x] = R[q] * sum(d) Q[q, d] * K[x, d]
  output O[q] = N[q] * logsumexp[x](S[q, x])
  output T[q] = R[q]
})",
     "x"},
    {R"(diagram shifted {
  axis n = 10, p = 13
  input X[p], W[n, p]
  Y[n, p] = (if p >= 1 then X[p - 1] else 0) * W[n, p] + (if p == size(p) - 1 then 0 else X[p + 1])
  output Z[n] = sum(p) Y[n, p] * (p + 1)
  output U[n] = logsumexp[p](Y[n, p])
})",
     "p"},
};

}  // namespace

TEST_CASE("split-stream computes what the stream does") {
    for (const Stream& subject : kStreams) {
        const Diagram diagram = load(subject.text);
        const std::string axis = subject.axis;
        const std::string fused = diagram.boxes.size() > 1 ? "fuse all\n" : "";
        for (const std::string before : {"", "stream AXIS by 2\n"})
            for (const std::int64_t size : {3, 4, 6, 7, 12, 13, 20}) {
                std::string steps = fused + before + "split-stream AXIS by " + std::to_string(size);
                for (std::size_t at; (at = steps.find("AXIS")) != std::string::npos;)
                    steps.replace(at, 4, axis);
                INFO(diagram.name, "\n", steps);
                const State state = derive(diagram, steps);
                CHECK_EQ(state.relabelling.regions.size(), 2);
                check_same_meaning(diagram, state, 5, 2.0);
                check_against_reference(state, 5, 2.0);
            }
    }
}

TEST_CASE("split-stream keeps groups and streams, and both parts go on being derived") {
    const Diagram diagram = load(kStreams.front().text);
    for (const std::string steps :
         {"fuse all\ngroup q by 2\nstream x by 2\nsplit-stream x by 4\nstream x_part by 2 in O",
          "fuse all\ngroup q by 4\ngroup q by 2 at l2\nstream x by 4\nstream x by 2 at "
          "l2\nsplit-stream x by 8",
          "fuse all\nsplit-stream x by 8 as p, y\nsplit-stream y by 3 as r, z in O_sum_part\n"
          "stream z by 2 in O_sum_part_sum_part\nunfuse O\nungroup p in O_sum_part_sum_part",
          "fuse all\nsplit-stream x by 4\nsplit-stream x_part by 2 in O\nunfuse P_sum_part",
          "fuse all\nretype P to bf16\nstream x by 4\nsplit-stream x by 8\n"
          "retype O_sum_part to bf16"}) {
        INFO(steps);
        const State state = derive(diagram, steps);
        check_same_meaning(diagram, state);
        if (steps.find("retype") == std::string::npos) check_against_reference(state);
    }
}

TEST_CASE("split-stream does not lose small differences of large values") {
    const char* variance = R"(diagram variance {
  axis n = 3, d = 24
  input X[n, d]
  output V[n] = variance[d](X[n, d])
})";
    const char* log_probabilities = R"(diagram log_probabilities {
  axis n = 3, d = 24
  input X[n, d]
  L[n] = logsumexp[d](X[n, d])
  output V[n] = sum(d) (X[n, d] - L[n]) ^ 2
})";
    for (const auto& [text, steps] :
         {std::pair{variance, "split-stream d by 8\nstream d_in by 4 in V_sum_part"},
          std::pair{log_probabilities, "fuse all\nstream d by 4\nsplit-stream d by 8"}}) {
        const Diagram diagram = load(text);
        Tensors inputs = random_inputs(diagram, 7);
        for (double& value : inputs.begin()->second.values) value += 1e6;
        const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
        REQUIRE(expected.has_value());
        const State state = derive(diagram, steps);
        const Result<Interpretation> result = interpret(state.diagram, program_of(state), inputs);
        REQUIRE(result.has_value());
        const std::vector<double>& want = expected->begin()->second.values;
        const std::vector<double>& got = result->outputs.begin()->second.values;
        for (std::size_t i = 0; i < want.size(); ++i)
            CHECK(std::abs(got[i] - want[i]) < 1e-9 * std::abs(want[i]));
    }
}

TEST_CASE("split-stream: the tail may sum over other axes what the parts add up to") {
    const char* scaled = R"(diagram scaled {
  axis q = 6, x = 7, d = 5
  input A[x, q], B[d]
  T0[x, d] = rmsnorm[d]((sum(q) A[x, q]) * B[d], 1.5, 0.1)
  output T1 = max(q, d) (sum(x) T0[x, d]) * 0.1 * q
})";
    const char* normalised = R"(diagram normalised {
  axis q = 4, x = 4, k = 3
  input A[q, x, k], B[k, x]
  T0[x, k, q] = layernorm[x](sigmoid(A[q, x, k]) * A[q, x, k], 0.5, 0.25, 0.1)
  output T1[q] = softmax[q](max((sum(x, k) T0[x, k, q]) - (sum(k) B[k, 0]), A[q, 0, 0]))
})";
    for (const auto& [text, steps] :
         {std::pair{scaled, "recompute T0 in T1\nsplit-stream d by 3 in T1"},
          std::pair{normalised, "recompute T0 in T1\nsplit-stream x by 2 in T1"}}) {
        const Diagram plain = load(text);
        const State state = derive(plain, steps);
        check_same_meaning(plain, state);
        check_against_reference(state);
    }
}

TEST_CASE("a fold over another axis that is the same in every part is written once for all") {
    const char* text = R"(diagram twice {
  axis q = 2, x = 7, d = 3
  input B[x, d, q]
  S[q, x] = 1
  R[q] = logsumexp[x](S[q, x])
  T = sum(q, x) (R[q] + 1)
  output U[q, d] = sum(x) B[x, size(d) - 1 - d, q] * R[q]
  output V[q, d] = prod(q, d) T
})";
    for (const char* steps : {"split-stream x by 4 in R\nfuse all\nsplit-stream x by 5 in V",
                              "split-stream x by 3 in R\nfuse all\nsplit-stream x by 7 in V"})
        check_against_reference(derive(load(text), steps));
}

TEST_CASE("split-stream: refusals") {
    const auto said = [](const std::string& text, const std::string& steps) {
        return refusal(load(text), steps);
    };
    const char* attention = R"(diagram attention {
  axis q = 5, x = 13, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
})";
    const char* scan = R"(diagram prefix {
  axis t = 13, c = 4
  input X[t, c]
  output S[t, c] = scan[t] sum X[t, c]
})";
    const char* routing = R"(diagram routing {
  axis n = 5, e = 13, k = 4
  input G[n, e]
  output val[n, k], idx[n, k] = topk[e](G[n, e])
})";
    const char* picked = R"(diagram picked {
  axis q = 6, v = 9
  input label[q] : i32
  input T[v]
  output S = sum(q) T[label[q]]
})";
    const std::vector<std::array<std::string, 3>> table = {
        {picked, "split-stream q by 4",
         "`T` is read at indices from data along `q`, and the last of the parts of 4 need not be "
         "whole; choose a size that divides `q`"},
        {picked, "split-stream q by 3", "applied"},
        {attention, "fuse all\nsplit-stream x", "it needs a size"},
        {attention, "fuse all\nsplit-stream q by 2", "nothing in O folds `q`"},
        {attention, "split-stream x by 4 in S", "nothing in S folds `x`"},
        {attention, "split-stream x by 4 in P", "`P` has `x` and is saved here"},
        {attention, "fuse all\nstream x by 8\nsplit-stream x by 4",
         "chunks of 8 do not lie in parts of 4; choose parts of a multiple of 8"},
        {attention, "fuse all\nsplit-stream x by 4 as q", "`q` is in use already"},
        {attention, "fuse all\nsplit-stream x by 4 as p, p", "a name each"},
        {attention, "fuse all\ngroup e by 2\nsplit-stream x by 4",
         "`P_max_part` lacks `e` and is saved here: every group would write it; `ungroup e in O` "
         "first"},
        {scan, "split-stream t by 4", "`S` keeps every prefix along `t`"},
        {routing, "split-stream e by 3", "a part of 3 elements has no 4 largest"},
    };
    for (const auto& [text, steps, reason] : table) {
        const std::string got = said(text, steps);
        INFO(steps, " said: ", got);
        CHECK(got.find(reason) != std::string::npos);
    }
}

}  // namespace napkin::test
