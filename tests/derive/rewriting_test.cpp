// Rules that rewrite the diagram: what they compute, and what they refuse with which words.
#include <algorithm>
#include <cmath>

#include "tests/derive/programs.h"

namespace napkin::test {

namespace {

struct Refusal {
    std::string steps;
    std::string reason;
};

void check_refusals(const char* text, const std::vector<Refusal>& table) {
    const Diagram diagram = load(text);
    for (const auto& [steps, reason] : table) {
        const std::string got = refusal(diagram, steps);
        INFO(steps, " said: ", got);
        CHECK(got.find(reason) != std::string::npos);
    }
}

/// Every derivation computes what its diagram does, expanded and as it stands.
void check_derivations(const char* text, const std::vector<std::string>& derivations) {
    const Diagram diagram = load(text);
    for (const std::string& steps : derivations) {
        INFO(steps);
        const State state = derive(diagram, steps);
        check_same_meaning(diagram, state);
        check_against_reference(state);
    }
}

constexpr const char* kBackward = R"(
diagram backward {
  axis q = 9, x = 13, d = 4
  input Q[q, d], K[x, d], V[x, d], dO[q, d] : bf16
  input L[q], D[q] : f32
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = exp(S[q, x] - L[q])
  dP[q, x] = sum(d) dO[q, d] * V[x, d]
  dS[q, x] = P[q, x] * (dP[q, x] - D[q]) * rsqrt(size(d))
  output dQ[q, d] : bf16 = sum(x) dS[q, x] * K[x, d]
  output dK[x, d] : bf16 = sum(q) dS[q, x] * Q[q, d]
  output dV[x, d] : bf16 = sum(q) P[q, x] * dO[q, d]
  weave h = 2
}
)";

}  // namespace

TEST_CASE("recompute: backward passes that keep no scores") {
    check_derivations(kBackward,
                      {"recompute S in P", "recompute P in dV", "recompute S, P in dV",
                       "fuse dK, dV\nrecompute S, P, dP, dS in dV\nfuse S, P, dP, dS, dQ\n"
                       "group q by 4 in dQ\nstream x by 4 in dQ\ngroup x by 4 in dV\n"
                       "stream q by 4 in dV",
                       "group x by 4 in dV\nrecompute P in dV\nrecompute S in dV",
                       "recompute P in dV\nretype P' to bf16\nrecolour S at tensor-core"});
    const Diagram diagram = load(kBackward);
    const State state = derive(diagram,
                               "fuse dK, dV\nrecompute S, P, dP, dS in dV\n"
                               "fuse S, P, dP, dS, dQ");
    REQUIRE_EQ(state.relabelling.regions.size(), 2);
    for (const Region& region : state.relabelling.regions)
        for (ArrayId load : loads_of(state.diagram, region))
            CHECK(state.diagram[load].role == ArrayRole::Input);
    // Moved into its only reader, the box keeps its name.
    CHECK(find_array(derive(diagram, "recompute S in P").diagram, "S").has_value());
    CHECK_FALSE(find_array(derive(diagram, "recompute S in P").diagram, "S'").has_value());
}

TEST_CASE("recompute: an output that is read is kept, and rounds in the copy too") {
    check_derivations(R"(diagram saved {
  axis n = 7, d = 5
  input X[n, d] : f32
  output R[n] : bf16 = sum(d) X[n, d] ^ 2
  output Y[n, d] = X[n, d] * R[n]
  output Z[n] = R[n] + 1
})",
                      {"recompute R in Y", "recompute R in Z\nrecompute R in Y\nfuse Z, Y"});
}

TEST_CASE("recompute: refusals") {
    check_refusals(
        kBackward,
        {{"recompute", "it takes an array"},
         {"recompute T", "there is no array `T`"},
         {"recompute Q in dV", "`Q` is an input"},
         {"recompute P", "several regions read P: dS and dV; say which with `in REGION`"},
         {"recompute dV", "no other region reads dV"},
         {"recompute P in P", "`P` is computed in P already"},
         {"recompute S in dV", "`S` is not read in dV"},
         {"fuse dK, dV\nstream q by 4 in dV\nrecompute L in dV", "`L` is an input"}});
    // The recomputed box folds what the region is grouped along.
    check_refusals(R"(diagram grouped {
  axis n = 8, d = 4
  input X[n, d] : f32
  M[d] = max(n) X[n, d]
  output Y[n, d] = X[n, d] - M[d]
})",
                   {{"group n by 2 in Y\nrecompute M in Y", "`n` is reduced in M"}});
}

namespace {

constexpr const char* kSoftmax = R"(diagram softmax {
  axis q = 5, x = 9, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e], z[q]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  M[q, x] = if x <= q + 2 and q > 0 then S[q, x] else -inf
  P[q, x] = softmax[x](M[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  m[q] = max(max(x) M[q, x], z[q])
  E[q, x] = exp(M[q, x] - m[q])
  l[q] = (sum(x) E[q, x]) + exp(z[q] - m[q])
  W[q, x] = 2 * E[q, x] / l[q]
  output R[q, e] = sum(x) W[q, x] * V[x, e]
  F[q, x] = S[q, x] / m[q]
  output G[q] = sum(x) F[q, x]
})";

constexpr const char* kUnsafe = R"(diagram unsafe {
  axis q = 5, x = 9, y = x, d = 3, e = d
  input S[q, x], V[x, e], X[x, d]
  E[q, x] = if x <= q + 2 and q > 0 then exp(S[q, x]) else 0
  l[q] = sum(x) E[q, x]
  output L[q] = log(l[q])
  output O[q, e] = (sum(x) E[q, x] * V[x, e]) / l[q]
  output D[q] = (sum(x) E[q, x] ^ 2) / l[q] ^ 2
  output Z[q] = rsqrt(l[q]) * sqrt(max(x) E[q, x])
  output R[q] = l[q] + 1
  k[x] = sum(y) exp(X[y, 0] * X[x, 1])
  output U[x, y] = exp(X[y, 0] * X[x, 1]) / k[x]
  output A[q] = sum(x) exp(S[q, x] - max(x) S[q, x])
  output C[q] = sum(x) exp(2 * S[q, x])
  output B[q] = sum(x) (exp(S[q, x]) + exp(X[x, 0]))
})";

constexpr const char* kRing =
    R"(monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative
monoid pair(n, s; m, t) = (n + m, s + t) identity (0, 0)
diagram ring {
  axis i = 4, j = 5, k = 6, l = 3
  input A[i, j], B[j, k], C[k, l], c[i], b[j], w[j]
  T[i, k] = sum(j) A[i, j] * B[j, k]
  output Y[i, l] = sum(k) T[i, k] * C[k, l]
  output Z[i] = sum(j) c[i] * (A[i, j] + b[j]) * w[j] / size(j)
  output H[i] = max(j) max(A[i, j] + c[i], b[j] * 2)
  output N[i] = min(j) (A[i, j] + c[i])
  output F[i] = prod(j) A[i, j] * b[j]
  output G[i, j] = c[i] * w[j] * (A[i, j] - b[j]) * (1 + w[j])
  mj[i, k] = max(j) (A[i, j] + B[j, k])
  output X[i] = max(k) (mj[i, k] + C[k, 0])
  s[i] = sum(j) A[i, j]
  output V[l] = sum(k) C[k, l] * sum(j) B[j, k]
  output W[i, j] = A[i, j] / (A[i, j] + s[i])
  output P[i] = sum(j, k) A[i, j] * B[j, k]
  n[k], t[k] = pair(j) (B[j, k], 2 * B[j, k])
  output u, v = pair(k) (n[k], t[k])
  g[k], h[k] = affine(j) (B[j, k], 2 * B[j, k])
  output r, p = affine(k) (g[k], h[k])
})";

}  // namespace

TEST_CASE("absorb-normaliser: quotients of exponentials become differences") {
    check_derivations(kSoftmax, {"absorb-normaliser P as L", "absorb-normaliser W as L",
                                 "absorb-normaliser P as L\nrecompute P in O",
                                 "fuse all\nabsorb-normaliser P as L\nabsorb-normaliser W as J",
                                 "fuse S, M, P, O\nabsorb-normaliser P as L\nstream x by 4 in O"});
    check_refusals(kSoftmax,
                   {{"absorb-normaliser P", "it takes an array and a name"},
                    {"absorb-normaliser T as L", "there is no array `T`"},
                    {"absorb-normaliser O as L", "`O` is no quotient of an exponential"},
                    {"absorb-normaliser V as L", "`V` is no quotient of an exponential"},
                    {"absorb-normaliser P as l", "`l` is in use already"},
                    {"absorb-normaliser F as L", "`F` is no quotient of an exponential"}});
    check_refusals(R"(diagram other {
  axis q = 5, x = 9
  input S[q, x], l[q]
  output P[q, x] = exp(S[q, x]) / l[q]
})",
                   {{"absorb-normaliser P as L",
                     "`l[q]` is no sum of exponentials, so its logarithm may not exist"}});
}

TEST_CASE("stabilise: the size of exponentials cancels before it is formed") {
    check_derivations(kUnsafe, {"stabilise l", "stabilise l as m\nfuse m, E, l, O", "stabilise k",
                                "stabilise k\nstabilise l"});
    check_refusals(kUnsafe,
                   {{"stabilise", "it takes one array"},
                    {"stabilise T", "there is no array `T`"},
                    {"stabilise S", "`S` is no sum"},
                    {"stabilise E", "`E` is no sum"},
                    {"stabilise A", "a maximum is subtracted in the exponent of `A` already"},
                    {"stabilise B", "`B` is no sum of one exponential"},
                    {"stabilise C", "no use of `C` cancels the size of its exponentials"},
                    {"stabilise l as k", "`k` is in use already"},
                    {"stabilise l as 3k", "`3k` cannot be a name"},
                    {"stabilise l as a-b", "`a-b` cannot be a name"},
                    {"stabilise l as then", "`then` cannot be a name"}});
    check_refusals(
        "diagram parts { axis q = 5, x = 9, d = 2\n input S[q, x], X[x, d], b[q]\n"
        " output l[q] = sum(x) exp(S[q, x]) + sum(x, d) X[x, d] + b[q] }",
        {{"stabilise l", "`l` is no sum; its part `l.1` is one"}});
    // Scores of a thousand: exp(S) is infinite, the stabilised sums are not.
    const Diagram diagram = load(kUnsafe);
    Tensors inputs = random_inputs(diagram, 3);
    for (double& value : inputs.begin()->second.values) value *= 1000;
    const State state = derive(diagram, "stabilise l");
    const Result<Tensors> outputs = evaluate_outputs(state.diagram, inputs);
    REQUIRE(outputs.has_value());
    for (const char* name : {"L", "O", "D", "Z"})
        for (double value : outputs->at(find_array(state.diagram, name).value()).values)
            CHECK((std::isfinite(value) || value == -INFINITY));
}

TEST_CASE("distribute: products over sums, and folds over what they fold by") {
    check_derivations(kRing, {"distribute Z", "distribute Z as U, U2", "distribute H",
                              "distribute N", "distribute F", "distribute G",
                              "distribute Z\nfuse all", "distribute H\nstream j by 2 in H_1"});
    const Diagram diagram = load(kRing);
    // A constant leaves the sum, and each term is a fold of its own.
    const State state = derive(diagram, "distribute Z as U, U2");
    CHECK_EQ(print(state.diagram,
                   std::get<Map>(
                       state
                           .diagram[producer(state.diagram, find_array(state.diagram, "Z").value())
                                        .value()]
                           .body)
                       .value),
             "c[i] * U[i] / size(j) + c[i] * U2 / size(j)");
    check_refusals(kRing, {{"distribute", "it takes one array"},
                           {"distribute Q", "there is no array `Q`"},
                           {"distribute A", "`A` is an input"},
                           {"distribute T", "`T` is a sum of one product"},
                           {"distribute W", "`W` multiplies no sum"},
                           {"distribute u", "is neither an expression nor a fold of one value"},
                           {"distribute Z as A", "`A` is in use already"}});
}

// What a norm adds before a linear layer lacks the rows.
constexpr const char* kNormed = R"(diagram normed {
  axis n = 6, d = 5, c = 7
  input X[n, d], gain[d], bias[d], W[d, c]
  N[n, d] = layernorm[d](X[n, d], gain[d], bias[d], 1e-3)
  M[n, d] = max(X[n, d], 0) * gain[d]
  R[n, d] : bf16 = X[n, d] + bias[d]
  output Y[n, c] = sum(d) N[n, d] * W[d, c]
  output Z[n, c] = sum(d) M[n, d] * W[d, c]
  output V[n, c] = sum(d) R[n, d] * W[d, c]
})";

TEST_CASE("distribute: what is not negative leaves a maximum of multiples") {
    const char* scaled = R"(diagram scaled {
  axis q = 3, x = 7
  input A[q], B[q], S[q, x]
  output M[q] = max(x) A[q] ^ 2 * S[q, x]
  output N[q] = min(x) (abs(A[q]) * S[q, x] * -3 + B[q])
  output P[q, x] = scan[x] max S[q, x] / (1 + A[q] ^ 2)
  output R[q] = max(x) A[q] * S[q, x]
  output T[q] = max(x) S[q, x] / A[q] ^ 2
})";
    check_derivations(scaled, {"distribute M", "distribute M\nfuse all\nstream x by 2 in M",
                               "distribute N", "distribute P"});
    const auto value_of = [&](const std::string& name) {
        const State state = derive(load(scaled), "distribute " + name);
        const StatementId made =
            producer(state.diagram, find_array(state.diagram, name).value()).value();
        return print(state.diagram, std::get<Map>(state.diagram[made].body).value);
    };
    CHECK_EQ(value_of("M"), "A[q] ^ 2 * M_1[q]");
    CHECK_EQ(value_of("N"), "abs(A[q]) * N_1[q] + B[q]");
    CHECK_EQ(value_of("P"), "P_1[q, x] / (1 + A[q] ^ 2)");
    check_refusals(scaled, {{"distribute R", "multiples of `A[q]`, which may be negative"},
                            {"distribute T", "may be 0"}});
}

TEST_CASE("distribute, commute: what goes into an array that is rounded is not rounded itself") {
    const Diagram diagram = load(
        "diagram parts { axis m = 4, a = 6, c = 5\n input X[m, a], W[c, a], b[a] : bf16\n"
        "T[m, a] = sum(c) X[m, a] * W[c, a]\n output Z[m] : bf16 = sum(a) T[m, a]\n"
        "output Y[m, c] : bf16 = sum(a) (X[m, a] + b[a]) * W[c, a] }");
    for (const char* steps : {"distribute Y", "commute a, c in Z"}) {
        const State state = derive(diagram, steps);
        int made = 0;
        for (const Array& array : state.diagram.arrays) {
            if (find_array(diagram, array.name)) continue;
            CHECK_EQ(array.type, ElementType::F32);
            ++made;
        }
        CHECK_GT(made, 0);
    }
}

TEST_CASE("distribute: opens a map that is a sum, and what lacks the rows is computed once") {
    const std::string apart = "distribute Y as A, B\nunfuse Y\nfuse A, Y\n";
    check_derivations(kNormed,
                      {"distribute Y", "fuse N, Y\ndistribute Y\nstream d by 2 in Y",
                       apart + "group n by 2 in Y\nstream d by 2 in Y\nstream d by 2 in B"});
    const State state = derive(load(kNormed), apart);
    const Diagram& diagram = state.diagram;
    const ArrayId once = find_array(diagram, "B").value();
    REQUIRE_EQ(diagram[once].axes.size(), 1);
    CHECK_EQ(diagram[diagram[once].axes.front()].name, "c");
    // The centred values are not multiplied out.
    const ArrayId rest = find_array(diagram, "A").value();
    const Statement& sum = diagram[producer(diagram, rest).value()];
    CHECK_EQ(print(diagram, std::get<Fold>(sum.body).values.front()),
             "(X[n, d] - N.1[n]) * gain[d] * W[d, c]");
    check_refusals(kNormed, {{"distribute Z", "`Z` is a sum of one product"},
                             {"distribute V", "`V` is a sum of one product"}});
}

// Row 0 of `m` is a maximum of nothing, -inf: 0 * inf is 0, and -inf times a sum no sum of -inf.
constexpr const char* kMasked = R"(diagram masked {
  axis i = 4, j = 5, k = 3
  input A[i, j], B[j, k], C[i, k]
  m[i] = max(j) if j < i then A[i, j] else -inf
  l[i] = sum(j) if j < i then exp(A[i, j] - m[i]) else 0
  r[i] = 1 / l[i]
  T[i, k] = sum(j) A[i, j] * B[j, k]
  s[k] = sum(j) B[j, k]
  output Y[i, k] = m[i] * (C[i, k] - s[k])
  output R[i, k] = (C[i, k] - s[k]) * r[i]
  output L[i, k] = (m[i] + log(l[i])) * (C[i, k] - s[k])
  output Z[i] = sum(k) m[i] * C[i, k]
  output N[i, k] = C[i, k] - (m[i] - m[i])
  output U[i] = sum(k) T[i, k] * m[i] * C[i, k]
  output V[i] = sum(k) m[i] * C[i, k] * sum(j) B[j, k]
  output P[i, k] = exp(m[i]) / l[i] * (C[i, k] - s[k])
  output E[i] = sum(k) C[i, k] / exp(m[i])
  output G[i] = sum(k) C[i, k] * exp(if i > 0 then B[i, 0] else inf)
})";

TEST_CASE("factors that may be infinite stay in their products") {
    check_refusals(kMasked, {{"distribute Y", "`m[i]` may be infinite"},
                             {"distribute R", "`r[i]` may be infinite"},
                             {"distribute L", "may be infinite"},
                             {"distribute Z", "`m[i]` may be infinite"},
                             {"distribute E", "`exp(m[i])` may be 0"},
                             {"distribute G", "may be infinite"},
                             {"distribute N", "`m[i] - m[i]` may be infinite"},
                             {"reassociate B, C as W in U", "`m[i]` may be infinite"},
                             {"commute j, k in V", "`m[i]` may be infinite"}});
    check_derivations(kMasked, {"distribute P", "commute C, m in Z"});
}

TEST_CASE("extract: a part of an expression as an array") {
    const char* layer = R"(diagram layer {
  axis m = 9, k = 7, n = 5, l = 11
  input X[m, k], W[n, k], s[k], g[m] : bf16
  input T[l] : f32
  input place[m], bin[m] : i32
  param eps = 1e-3
  P[m] = max(k) X[m, k]
  Z[m] = sum(k) exp(X[m, k] - P[m])
  Q[m, k] = exp(X[m, k] - P[m]) / Z[m] * (s[k] + eps)
  G[m, k] = if k + 1 < size(k) then (X[m, k + 1] + s[k]) * g[m] else (X[m, k] - s[k]) * g[m]
  H[m] = (if T[place[m]] < 0 then T[place[m]] + 1 else 2) * g[m] + T[place[m]] * (bin[m] // 2)
  R[m], at[m] = argmax(k) X[m, k] * s[k]
  output Y[m, n] = sum(k) (relu(Q[m, k] * g[m]) + G[m, k]) * W[n, k] + H[m]
  output V[m] = g[m] * R[m] + log(2.0 + sum(k) gelu(X[m, k] + s[k]) * s[k])
  weave b = 2
})";
    check_derivations(
        layer,
        {"extract X, P as E in Z", "extract X, P as E in Q\nunfuse Q", "extract s as S in Q",
         "extract Q, g as U in Y\nunfuse Y\nretype U to bf16", "extract Q, g, G as U in Y",
         "extract place, T as U in H", "extract bin as U in H", "extract X, s as U in V\nunfuse V",
         "extract X, s as U in R\nfuse all\ngroup m by 4\nstream k by 2"});
    check_refusals(
        layer, {{"extract X, P as E", "it takes what the part reads"},
                {"extract X, P as E in X", "`X` is an input"},
                {"extract X, P as g in Q", "there is `g` already"},
                {"extract X, nobody as E in Q", "there is no array `nobody`"},
                {"extract P, Z as E in Q", "no part of `Q` reads P and Z and nothing else"},
                {"extract eps as E in Q", "no part of `Q` reads eps and nothing else"},
                {"extract X, P, Z, s as E in Q", "of X, P, Z and s alone is all of it"},
                {"extract X as E in P", "of X alone is an element as it is"},
                {"extract X, s as E in G", "a condition keeps what is read of `X` inside of it"}});
    const char* whole = R"(diagram whole {
  axis k = 7, l = 3
  input A[k] : i8
  output M[l] : i32 = min(k) if k < 3 then A[k] * l else inf
  output F[l] : f32 = min(k) if k < 3 then A[k] * l else inf
  output N[l] = sum(k) if k < 3 then A[k] * l else 0
})";
    check_derivations(whole, {"extract A as U in F", "extract A as U in N\nstream k by 2 in N"});
    check_refusals(whole, {{"extract A as U in M", "no type holds both"}});
    // Both places read the array, and nothing else does.
    const State state = derive(load(layer), "extract X, P as E in Q");
    const StatementId made =
        producer(state.diagram, find_array(state.diagram, "Q").value()).value();
    CHECK_EQ(print(state.diagram, std::get<Map>(state.diagram[made].body).value),
             "E[b, m, k] / Z[b, m] * (s[b, k] + eps)");
}

TEST_CASE("commute: folds in another order, and factors") {
    check_derivations(kRing, {"commute j, k in Y", "commute k, j in Y as U", "commute T, C in Y",
                              "commute j, k in X as U", "commute j, k in V", "commute j, k in P",
                              "commute j, k in u", "commute c, w in Z", "commute w, c in G"});
    check_refusals(kRing, {{"commute j, k", "it needs the array"},
                           {"commute j in Y", "it takes two axes, or two arrays"},
                           {"commute j, j in Y", "the two axes are one"},
                           {"commute i, l in Y", "no fold over `i` and one over `l`"},
                           {"commute j, k in r", "`affine` is not commutative"},
                           {"commute A, C in Y", "`A` is no factor of `Y`"},
                           {"commute j, nobody in Y", "there is no array or pair of axes"},
                           {"commute j, k in G", "`G` is no fold"},
                           {"commute j, k in A", "`A` is an input"}});
}

TEST_CASE("reassociate: which factors are summed first") {
    check_derivations(kRing, {"reassociate B, C as U in Y", "reassociate B, C as U in Y\nfuse all",
                              "reassociate B as U in P", "reassociate B as U in V",
                              "reassociate B, C as T2 in Y\nreassociate A, B as T3 in Y"});
    check_refusals(kRing,
                   {{"reassociate B, C as U", "it takes factors"},
                    {"reassociate B, C as U in A", "`A` is an input"},
                    {"reassociate B, C as U in G", "`G` is no sum"},
                    {"reassociate A, B, C as U in Y", "that is all of the product"},
                    {"reassociate A, C as U in Y", "no axis is summed that only A and C have"},
                    {"reassociate w, B as U in Y", "`w` is no factor of the product in `Y`"},
                    {"reassociate B, C as i in Y", "`i` is an axis"},
                    {"reassociate B, C as A in Y", "`A` is not that sum"}});
    const char* parts = R"(diagram parts {
  axis i = 4, j = 5, k = 6
  input A[i, j], B[j, k], c[k], b[i]
  output Y[i] = sum(j, k) A[i, j] * B[j, k] * c[k] + b[i]
  output Z[i] = if i < 3 then sum(j) A[i, j] * b[i] else sum(j, k) A[i, j] * B[j, k] * c[k]
  output M[i] = max(j) A[i, j] + b[i]
})";
    check_refusals(parts,
                   {{"reassociate B, c as U in Y", "`Y` is no sum; its part `Y.1` is one"},
                    {"reassociate B, c as U in Z", "`Z` is no sum; its parts `Z.1` and `Z.2` are"},
                    {"reassociate B, c as U in M", "`M` is no sum; it takes a sum of products"}});
    check_refusals(R"(diagram causal {
  axis i = 4, j = 5, k = j, l = 3
  input A[i, j], B[j, k], C[k, l]
  output Y[i, l] = sum(j, k) if j <= k then A[i, j] * B[j, k] * C[k, l] else 0
})",
                   {{"reassociate A, B as AB in Y",
                     "`A` is no factor of the product in `Y`: it stands under the condition "
                     "`j <= k`"}});
    check_derivations(parts, {"reassociate B, c as U in Y.1", "reassociate B, c as U in Z.2"});
    const char* backward = R"(diagram backward {
  axis q = 5, x = 9, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e], dO[q, e] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  output rounded[q, e] : bf16 = sum(x) P[q, x] * V[x, e]
  dP[q, x] = sum(e) dO[q, e] * V[x, e]
  D[q] = sum(x) P[q, x] * dP[q, x]
  dS[q, x] = P[q, x] * (dP[q, x] - D[q])
  output dQ[q, d] = sum(x) dS[q, x] * K[x, d]
})";
    check_derivations(backward, {"reassociate P, V as O in D", "reassociate P, V as X in D"});
    const State state = derive(load(backward), "reassociate P, V as O in D");
    const StatementId sum = producer(state.diagram, find_array(state.diagram, "D").value()).value();
    const Fold& fold = std::get<Fold>(state.diagram[sum].body);
    CHECK_EQ(print(state.diagram, fold.values.front()), "dO[q, e] * O[q, e]");
    check_refusals(backward, {{"reassociate P, V as rounded in D",
                               "`rounded` is not that sum, since it is rounded to bf16"}});
    // Linear attention: an axis that would be bound twice gets another name.
    check_derivations(R"(diagram linear {
  axis q = 5, x = 9, d = 3
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  output O[q, d] = sum(x) S[q, x] * V[x, d]
  weave h = 2
})",
                      {"reassociate K, V as M in O",
                       "reassociate K, V as M in O\ngroup q by 2 in O\nstream x by 4 in M"});
}

TEST_CASE("stream: a guard that does not vary keeps elements from being read in every chunk") {
    check_derivations(R"(diagram guarded {
  axis p = 3, r = 3, k = 4, c = 2
  input X[p, k], W[r, k, c]
  output Y[p, c, r] = sum(k) if 0 <= p + r - 1 and p + r - 1 < size(p) then X[p + r - 1, k] * W[r, k, c] else 0
})",
                      {"stream k by 2", "split-stream k by 2", "split-stream k by 3"});
}

TEST_CASE("unfuse: of one box, what it reduces is apart from its result") {
    constexpr const char* kRows = R"(
diagram rows {
  axis n = 5, v = 24
  input X[n, v], g[v], c[v] : f32
  output P[n, v] : f32 = softmax[v](X[n, v])
  output N[n, v] : f32 = layernorm[v](X[n, v], g[v], c[v], 0.001)
  output E[n, v] : f32 = X[n, v] * 2
}
)";
    check_derivations(kRows, {"unfuse P", "unfuse N",
                              "unfuse P\nstream v by 5 in P_2\ngroup n by 2 in P_2\n"
                              "group v by 7 in P\ngroup n by 1 in P",
                              "group n by 2 in N\nunfuse N\nstream v by 8 in N_2\n"
                              "stream v by 5 in N"});
    check_refusals(kRows, {{"unfuse E", "the region is a single box that reduces nothing"},
                           {"unfuse P\nunfuse P", "the region is a single box that"},
                           {"stream v by 4 in P", "`P` carries `v`"}});
    // Groups stay where they are legal.
    const State state = derive(load(kRows), "group n by 2 in P\nunfuse P");
    CHECK_EQ(std::count_if(state.relabelling.regions.begin(), state.relabelling.regions.end(),
                           [](const Region& region) { return !region.groups.empty(); }),
             2);
}

TEST_CASE("split-axis: parts and remainders of the index are indices of the pair") {
    constexpr const char* kScaled = R"(
diagram scaled {
  axis m = 6, k = 24, g = k // 4, h = k // 12
  input X[m, k], s[m, g], t[m, h], w[k] : f32
  output Y[m] : f32 = sum(k) X[m, k] * s[m, k // 4] * t[m, k // 12] * w[k % 4] * w[k % 12]
  output Z[m, k] : f32 = if k % 8 == 3 then X[m, k] else X[m, k] / 3
}
)";
    check_derivations(
        kScaled, {"split-axis k as r by 4", "split-axis k as r by 12", "split-axis k as r by 2",
                  "split-axis k as r by 24", "split-axis k as r by 4\nstream k by 1 in Y"});
    const auto reads = [](const char* steps, const char* text) {
        const State state = derive(load(kScaled), steps);
        return print(state.diagram).find(text) != std::string::npos;
    };
    CHECK(reads("split-axis k as r by 4", "s[m, k]"));
    CHECK(reads("split-axis k as r by 12", "t[m, k]"));
}

TEST_CASE("split-axis: an input's indices are of the whole axis") {
    check_refusals(R"(diagram lookup {
  axis n = 6, v = 9
  input label[n] : i32
  input E[v]
  output Y[n] = E[label[n]]
})",
                   {{"split-axis v as w by 3", "`label` holds indices along `v`"}});
}

}  // namespace napkin::test
