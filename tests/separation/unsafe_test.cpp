// Forms that lose their digits and that no accumulator can help: refused with an example, unless
// they are asked for as they are written.
#include <algorithm>

#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

constexpr const char* kVariance = R"(diagram variance {
  axis q = 7, x = 23
  input X[q, x]
  square[q] = mean[x](X[q, x] ^ 2)
  mu[q] = mean[x](X[q, x])
  output var[q] = square[q] - mu[q] ^ 2
})";

/// A type hides no cancellation.
constexpr const char* kRoundedVariance = R"(diagram variance {
  axis q = 7, x = 23
  input X[q, x]
  square[q] : f32 = mean[x](X[q, x] ^ 2)
  mu[q] = mean[x](X[q, x])
  output var[q] : f32 = square[q] - mu[q] ^ 2
})";

constexpr const char* kShortVariance = R"(diagram variance {
  axis q = 7, x = 23
  input X[q, x]
  mu[q] : bf16 = mean[x](X[q, x])
  m[q] : bf16 = mu[q] ^ 2
  output var[q] : f32 = mean[x](X[q, x] ^ 2) - m[q]
})";

constexpr const char* kConvertedVariance = R"(diagram variance {
  axis q = 7, x = 23
  input X[q, x]
  mu[q] = mean[x](X[q, x])
  output var[q] = f32(mean[x](X[q, x] ^ 2)) - mu[q] ^ 2
})";

/// Its difference is relative to a common value, though the result has a type.
constexpr const char* kTypedVariance = R"(diagram variance {
  axis q = 7, x = 23
  input X[q, x]
  square[q] = mean[x](X[q, x] ^ 2)
  mu[q] = mean[x](X[q, x])
  output var[q] : f32 = square[q] - mu[q] ^ 2
})";

constexpr const char* kGradient = R"(diagram gradient {
  axis q = 7, x = 23, d = 3, e = 2, k = d
  input Q[q, d], K[x, d], V[x, e], dO[q, e]
  S[q, x] = sum(k) Q[q, k] * K[x, k]
  P[q, x] = softmax[x](S[q, x])
  dP[q, x] = sum(e) dO[q, e] * V[x, e]
  D[q] = sum(x) P[q, x] * dP[q, x]
  A[q, d] = sum(x) P[q, x] * dP[q, x] * K[x, d]
  B[q, d] = sum(x) P[q, x] * K[x, d]
  output dQ[q, d] = A[q, d] - D[q] * B[q, d]
})";

constexpr const char* kRunning = R"(diagram running {
  axis t = 23, c = 3
  input X[t, c]
  s[t, c] = scan[t] sum X[t, c]
  q[t, c] = scan[t] sum X[t, c] ^ 2
  m[t, c] = s[t, c] / (t + 1)
  output Y[t, c] = (X[t, c] - m[t, c]) * rsqrt(q[t, c] / (t + 1) - m[t, c] ^ 2 + 1)
})";

constexpr const char* kTypedRunning = R"(diagram running {
  axis t = 23, c = 3
  input X[t, c]
  m[t, c] = (scan[t] sum X[t, c]) / (t + 1)
  q[t, c] = scan[t] sum X[t, c] ^ 2
  output v[t, c] : f32 = q[t, c] / (t + 1) - m[t, c] ^ 2
})";

constexpr const char* kMasked = R"(diagram masked {
  axis q = 7, x = 23
  input X[q, x]
  input start[q] : i32
  Y[q, x] = if x >= start[q] then X[q, x] else 0
  n[q] = sum(x) if x >= start[q] then 1 else 0
  mu[q] = (sum(x) Y[q, x]) / n[q]
  output var[q] = (sum(x) if x >= start[q] then (Y[q, x] - mu[q]) ^ 2 else 0) / n[q]
})";

constexpr const char* kNorm = R"(diagram norm {
  axis q = 7, x = 23, d = 3
  input X[q, x], W[x, d]
  s[q] = max(x) abs(X[q, x])
  n[q] = s[q] * sqrt(sum(x) (X[q, x] / s[q]) ^ 2)
  output Y[q, d] = sum(x) X[q, x] / n[q] * W[x, d]
})";

constexpr const char* kUnnamedScale = R"(diagram norm {
  axis q = 7, x = 23
  input X[q, x]
  output Y[q] = sum(x) (X[q, x] / max(x) abs(X[q, x])) ^ 2
})";

constexpr const char* kDistance = R"(diagram distance {
  axis q = 7, x = 23
  input S[q, x], T[q, x]
  P[q, x] = softmax[x](S[q, x])
  R[q, x] = softmax[x](T[q, x])
  output Y[q] = sum(x) (P[q, x] - R[q, x]) ^ 2
})";

constexpr const char* kScore = R"(diagram score {
  axis q = 7, x = 23
  input S[q, x]
  input label[q] : i32
  P[q, x] = softmax[x](S[q, x])
  output Y[q] = sum(x) (P[q, x] - (if x == label[q] then 1 else 0)) ^ 2
})";

constexpr const char* kImpurity = R"(diagram impurity {
  axis q = 7, x = 23
  input S[q, x]
  P[q, x] = softmax[x](S[q, x])
  output Y[q] = log(sum(x) P[q, x] * (1 - P[q, x]))
})";

constexpr const char* kJeffreys = R"(diagram jeffreys {
  axis q = 7, x = 23
  input S[q, x], T[q, x]
  P[q, x] = softmax[x](S[q, x])
  R[q, x] = softmax[x](T[q, x])
  output Y[q] = sum(x) (P[q, x] - R[q, x]) * (log(P[q, x]) - log(R[q, x]))
})";

/// The maxima of S and T are subtracted from 2 S - T after the last chunk only.
constexpr const char* kDivergence = R"(diagram divergence {
  axis q = 7, x = 23
  input S[q, x], T[q, x]
  P[q, x] = softmax[x](S[q, x])
  R[q, x] = softmax[x](T[q, x])
  output Y[q] = sum(x) P[q, x] ^ 2 / R[q, x]
})";

constexpr const char* kMixture = R"(diagram mixture {
  axis q = 7, x = 23
  input S[q, x], T[q, x], X[q, x]
  W[q, x] = exp(S[q, x]) + exp(T[q, x])
  z[q] = sum(x) W[q, x]
  mu[q] = (sum(x) W[q, x] * X[q, x]) / z[q]
  output var[q] = (sum(x) W[q, x] * (X[q, x] - mu[q]) ^ 2) / z[q]
})";

struct UnsafeCase {
    const char* name;
    const char* text;
    const char* steps;
};

const std::vector<UnsafeCase>& unsafe_cases() {
    static const std::vector<UnsafeCase> kAll = {
        {"moments in one region, their difference in another", kVariance,
         "fuse square, mu\nstream x by 4 in mu"},
        {"moments in two regions", kVariance, "stream x by 4 in square"},
        {"one of two moments with their difference", kVariance,
         "fuse mu, var\nstream x by 4 in var"},
        {"a gradient whose parts are subtracted in another region", kGradient,
         "fuse S, P, dP, D, A, B\nstream x by 4 in B"},
        {"a running variance", kRunning, "fuse all\nstream t by 4"},
        {"a running variance with a type", kTypedRunning, "fuse all\nstream t by 4"},
        {"a variance of rounded moments", kRoundedVariance, "fuse all\nstream x by 4"},
        {"a variance of moments in bf16", kShortVariance, "fuse all\nstream x by 4"},
        {"a variance of a converted moment", kConvertedVariance, "fuse all\nstream x by 4"},
        {"moments of a variance with a type, saved", kTypedVariance,
         "fuse square, mu\nstream x by 4 in mu"},
        {"squares of what is scaled by its maximum", kNorm, "fuse all\nstream x by 4"},
        {"squares of what is scaled by a maximum without a name", kUnnamedScale, "stream x by 4"},
        {"the square of a difference of probabilities", kDistance, "fuse all\nstream x by 4"},
        {"the square of a difference to a label", kScore, "fuse all\nstream x by 4"},
        {"the logarithm of what a difference is a factor of", kImpurity, "fuse all\nstream x by 4"},
        {"differences of probabilities and of their logarithms", kJeffreys,
         "fuse all\nstream x by 4"},
        {"a quotient of probabilities", kDivergence, "fuse all\nstream x by 4"},
        {"a variance weighted by two exponentials", kMixture, "fuse all\nstream x by 4"},
        {"parts of moments", kVariance, "fuse square, mu\nsplit-stream x by 8 in mu"},
    };
    return kAll;
}

/// The last line of the steps with `as written`.
std::string as_written(std::string steps) {
    const std::size_t at = steps.rfind(" by ");
    const std::size_t end = steps.find_first_of(" \n", at + 4);
    steps.insert(end == std::string::npos ? steps.size() : end, " as written");
    return steps;
}

/// The obligations of the first region that streams.
std::string obligations(const State& state) {
    std::string text;
    for (const RegionProgram& region : program_of(state).regions)
        if (region.accumulator)
            for (const Obligation& each : region.accumulator->obligations)
                text += print(each) + "\n";
    return text;
}

}  // namespace

TEST_CASE("unsafe: running exponentials are flagged, with an example and a safe form") {
    const Diagram diagram = load(R"(diagram running {
  axis t = 23, c = 3
  input X[t, c], V[t, c]
  n[t, c] = scan[t] sum exp(X[t, c]) * V[t, c]
  z[t, c] = scan[t] sum exp(X[t, c])
  b[t, c] = scan[t] sum exp(-abs(X[t, c]))
  output Y[t, c] = n[t, c] / z[t, c] + b[t, c]
})");
    check_golden("separation/unsafe_running.txt",
                 obligations(derive(diagram, "fuse all\nstream t by 4")));
}

TEST_CASE("unsafe: what would cancel is refused, with an example and the safe form") {
    std::string text;
    for (const UnsafeCase& each : unsafe_cases())
        text += std::string("== ") + each.name + "\n" + refusal(load(each.text), each.steps) + "\n";
    check_golden("separation/unsafe.txt", text);
}

TEST_CASE("unsafe: it is streamed as written where that is asked for") {
    for (const UnsafeCase& each : unsafe_cases()) {
        const std::string steps = each.steps;
        if (steps.find("split-stream") != std::string::npos) continue;
        INFO(each.name);
        const State state = derive(load(each.text), as_written(steps));
        check_against_reference(state);
        CHECK(std::any_of(state.steps.back().hazards.begin(), state.steps.back().hazards.end(),
                          [](const std::string& hazard) {
                              return hazard.find("cancellation possible") == 0 ||
                                     hazard.find("scale lost") == 0;
                          }));
    }
    // What was streamed so may be split.
    const State split = derive(load(kVariance),
                               "fuse square, mu\nstream x by 4 as written in mu\n"
                               "split-stream x by 8 in mu");
    check_against_reference(split);
}

TEST_CASE("unsafe: the same in one region is formed relative to a common value") {
    for (const char* text : {kVariance, kTypedVariance, kGradient, kMasked})
        for (const char* rule : {"stream", "split-stream"}) {
            const State state = derive(load(text), std::string("fuse all\n") + rule + " x by 4");
            check_against_reference(state);
            for (const std::string& hazard : state.steps.back().hazards)
                CHECK_EQ(hazard.find("cancellation possible"), std::string::npos);
        }
}

TEST_CASE("unsafe: a log-sum-exp with a type may be subtracted, as in any loss") {
    const Diagram diagram = load(R"(diagram loss {
  axis n = 5, v = 23
  input Z[n, v] : f32
  input label[n] : i32
  output L[n] : f32 = logsumexp[v](Z[n, v])
  output nll[n] : f32 = L[n] - sum(v) if v == label[n] then Z[n, v] else 0
})");
    CHECK(derive(diagram, "fuse all\nstream v by 4").steps.back().hazards.empty());
}

}  // namespace napkin::test
