// Rules that rewrite the diagram: what they compute, and what they refuse with which words.
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
