// Whatever the rules allow computes the same and counts what the counters say, on diagrams nobody
// wrote.
#include <array>
#include <cstdlib>
#include <random>

#include "tests/derive/programs.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin::test {

namespace {

/// Diagrams that between them reach every rule; random ones join them
/// (tests/support/random_diagram.h).
constexpr std::array kDiagrams = {
    R"(diagram norm_linear {
  axis n = 7, d = 12, m = 5
  input X[n, d], G[d], W[d, m]
  param eps : f32 = 1e-3
  N[n, d] = rmsnorm[d](X[n, d], G[d], eps)
  output Y[n, m] = sum(d) N[n, d] * W[d, m]
})",
    R"(diagram windowed {
  axis q = 9, x = 12, d = 4, e = d
  input Q[q, d], K[x, d], V[x, e]
  S[q, x] = if x <= q + 3 and q - x < 4 then sum(d) Q[q, d] * K[x, d] else -inf
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  weave h = 2
})",
    R"(diagram convolution {
  axis p = 10, r = 3, k = 4, c = 6
  input X[p, k], W[r, k, c]
  output Y[p, c] = sum(r, k) if 0 <= p + r - 1 and p + r - 1 < size(p) then X[p + r - 1, k] * W[r, k, c] else 0
})",
    R"(diagram gated {
  axis n = 8, d = 6, f = 10, o = d
  input X[n, d], U[d, f], G[d, f], W[f, o]
  A[n, f] = sum(d) X[n, d] * U[d, f]
  B[n, f] = sum(d) X[n, d] * G[d, f]
  H[n, f] = silu(A[n, f]) * B[n, f]
  output Y[n, o] = sum(f) H[n, f] * W[f, o]
})",
    R"(diagram lookup {
  axis n = 6, v = 9, d = 8
  input label[n] : i32
  input E[v, d], B[d]
  output Y[n, d] = E[label[n], d] + B[d]
})",
};

/// NAPKIN_TRIALS lengthens a search for counterexamples beyond what every test run does.
std::uint32_t trials(std::uint32_t usual) {
    const char* wanted = std::getenv("NAPKIN_TRIALS");
    return wanted != nullptr ? static_cast<std::uint32_t>(std::stoul(wanted)) : usual;
}

}  // namespace

TEST_CASE("random derivations compute and count what the reference and the counters say") {
    std::mt19937_64 random(11);
    RuleCounts counts;
    for (int trial = 0; trial < 200; ++trial) {
        const Diagram diagram = load(kDiagrams[static_cast<std::size_t>(trial) % kDiagrams.size()]);
        const State state = random_derivation(diagram, random, 14, counts);
        std::string text;
        for (const Step& step : state.steps) text += print(step.command) + "\n";
        INFO("trial ", trial, " of ", diagram.name, "\n", text);
        check_same_meaning(diagram, state, static_cast<std::uint64_t>(trial));
        check_against_reference(state, static_cast<std::uint64_t>(trial));
    }
    for (const Rule& rule : all_rules()) {
        INFO("rule ", std::string(rule.name));
        CHECK((rule.name == "set" || counts.applied[std::string(rule.name)] > 0));
    }
}

TEST_CASE("random derivations of random diagrams") {
    std::mt19937_64 random(12);
    RuleCounts counts;
    for (std::uint32_t seed = 0; seed < trials(300); ++seed) {
        const std::string text = random_diagram(seed);
        const Diagram diagram = load(text);
        const State state = random_derivation(diagram, random, 12, counts);
        std::string steps;
        for (const Step& step : state.steps) steps += print(step.command) + "\n";
        INFO("seed ", seed, "\n", text, steps);
        check_same_meaning(diagram, state, seed);
        check_against_reference(state, seed);
    }
    for (const Rule& rule : all_rules()) {
        INFO("rule ", std::string(rule.name));
        CHECK((rule.name == "set" || counts.applied[std::string(rule.name)] > 0));
    }
}

}  // namespace napkin::test
