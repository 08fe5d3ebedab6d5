// Gradients against differences: what agrees, what does not, and what tells nothing.
#include "diagrams/gradient.h"

#include "examples.h"

namespace napkin::test {
namespace {

using Verdict = GradientCheck::Verdict;

std::string judged(const std::string& forward, const std::string& backward) {
    const Run first("forward.ncd", "diagram forward {\n" + forward + "\n}\n", {}, 1.0,
                    Run::kWarnings);
    const Run second("backward.ncd", "diagram backward {\n" + backward + "\n}\n", {}, 1.0,
                     Run::kWarnings);
    const Result<GradientCheck> check = check_gradient(first.diagram, second.diagram, 1);
    REQUIRE(check.has_value());
    const std::string input = check->slope ? " d" + check->slope->input : "";
    switch (check->verdict) {
    case Verdict::Agrees: return "agrees" + input;
    case Verdict::Differs: return "differs" + input;
    case Verdict::Undecided: break;
    }
    return "undecided" + input;
}

constexpr const char* kAttention = R"(
  axis q = 7, x = 9, d = 4, e = 5
  input Q[q, d], K[x, d], V[x, e] : bf16
  input len[q] : i32
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  M[q, x] = if x < len[q] then S[q, x] else -inf
  output L[q] : f32 = logsumexp[x](M[q, x])
  P[q, x] = softmax[x](M[q, x])
  output O[q, e] : bf16 = sum(x) bf16(P[q, x]) * V[x, e])";

std::string attention_gradient(const std::string& difference) {
    return R"(
  axis q = 7, x = 9, d = 4, e = 5
  input Q[q, d], K[x, d], V[x, e], O[q, e], dO[q, e] : bf16
  input L[q] : f32
  input len[q] : i32
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = if x < len[q] then exp(S[q, x] - L[q]) else 0
  D[q] = sum(e) dO[q, e] * O[q, e]
  dP[q, x] = sum(e) dO[q, e] * V[x, e]
  dS[q, x] : bf16 = P[q, x] * )" +
           difference + R"( * rsqrt(size(d))
  output dQ[q, d] : bf16 = sum(x) dS[q, x] * K[x, d]
  output dK[x, d] : bf16 = sum(q) dS[q, x] * Q[q, d]
  output dV[x, e] : bf16 = sum(q) P[q, x] * dO[q, e])";
}

}  // namespace

TEST_CASE("gradients: attention's agrees, whatever rounds, and without a term it does not") {
    CHECK_EQ(judged(kAttention, attention_gradient("(dP[q, x] - D[q])")), "agrees");
    CHECK_EQ(judged(kAttention, attention_gradient("dP[q, x]")), "differs dK");
}

TEST_CASE("gradients: a table of maps") {
    struct Row {
        const char* forward;   // Y of X
        const char* backward;  // dX of X, Y and dY
        const char* verdict;
    };
    for (const Row& row : {
             Row{"exp(X[n, m])", "Y[n, m] * dY[n, m]", "agrees"},
             {"X[n, m] ^ 3", "3 * X[n, m] ^ 2 * dY[n, m]", "agrees"},
             {"X[n, m] ^ 3", "3.01 * X[n, m] ^ 2 * dY[n, m]", "differs dX"},
             {"relu(X[n, m])", "if Y[n, m] > 0 then dY[n, m] else 0", "agrees"},
             {"relu(X[n, m])", "dY[n, m]", "differs dX"},
             {"X[n, m] * 2", "0", "differs dX"},
             // One element in forty is wrong.
             {"X[n, m] * 2", "if n == 3 and m == 4 then dY[n, m] else 2 * dY[n, m]", "differs dX"},
             // A broken element decides, however large it is.
             {"X[n, m] * 2", "if n == 3 and m == 4 then inf else 7 * dY[n, m]", "differs dX"},
             {"X[n, m] * 2",
              "if n == 3 and m == 4 then (0 - inf) * dY[n, m] * inf else 2 * dY[n, m]",
              "differs dX"},
             {"X[n, m] * 2", "1e200 * dY[n, m]", "differs dX"},
             // A scalar that steps has no slope almost everywhere; a rounding lets it pass.
             {"floor(X[n, m])", "0", "agrees"},
             {"bf16(X[n, m] * 3)", "3 * dY[n, m]", "agrees"},
             {"1 / (X[n, m] - X[n, m])", "dY[n, m]", "undecided dX"},
         }) {
        CAPTURE(std::string(row.forward));
        CAPTURE(std::string(row.backward));
        const std::string axes = "  axis n = 5, m = 8\n";
        CHECK_EQ(judged(axes + "  input X[n, m] : f32\n  output Y[n, m] : f32 = " + row.forward,
                        axes +
                            "  input X[n, m], Y[n, m], dY[n, m] : f32\n  output dX[n, m] : "
                            "f32 = " +
                            row.backward),
                 row.verdict);
    }
}

TEST_CASE("gradients: what only shows in large, small or rare inputs is met") {
    struct Row {
        const char* forward;   // Y of X
        const char* backward;  // dX of X, Y and dY
        const char* verdict;
    };
    const std::string axes = "  axis n = 5, m = 8\n";
    for (const Row& row : {
             Row{"min(max(X[n, m], 0), 6)", "if X[n, m] > 0 then dY[n, m] else 0", "differs dX"},
             {"min(max(X[n, m], 0), 6)", "if X[n, m] > 0 and X[n, m] < 6 then dY[n, m] else 0",
              "agrees"},
             {"max(X[n, m], 1000)", "dY[n, m]", "differs dX"},
             {"max(X[n, m], 1000)", "0 * dY[n, m]", "differs dX"},
             {"max(X[n, m], 1000)", "if X[n, m] > 1000 then dY[n, m] else 0", "agrees"},
             {"max(X[n, m], -1e6)", "dY[n, m]", "differs dX"},
             {"max(X[n, m], -1e6)", "if X[n, m] > -1e6 then dY[n, m] else 0", "agrees"},
             {"max(X[n, m], 1e-5)", "if X[n, m] > 0 then dY[n, m] else 0", "differs dX"},
             {"max(X[n, m], 1e-5)", "if X[n, m] > 1e-5 then dY[n, m] else 0", "agrees"},
             {"if abs(X[n, m]) <= 10 then X[n, m] ^ 2 / 2 else 10 * (abs(X[n, m]) - 5)",
              "X[n, m] * dY[n, m]", "differs dX"},
             {"if abs(X[n, m]) <= 10 then X[n, m] ^ 2 / 2 else 10 * (abs(X[n, m]) - 5)",
              "max(min(X[n, m], 10), -10) * dY[n, m]", "agrees"},
             // In no decade's middle, and narrow.
             {"if X[n, m] > 200 and X[n, m] < 200.5 then 2 * X[n, m] else X[n, m]", "dY[n, m]",
              "differs dX"},
             {"min(X[n, m] * X[n, m] / 100, 5)", "X[n, m] * dY[n, m] / 50", "differs dX"},
             {"exp(min(X[n, m], 80))", "Y[n, m] * dY[n, m]", "differs dX"},
             // Right, though one side overflows, saturates or cancels.
             {"exp(X[n, m])", "Y[n, m] * dY[n, m]", "agrees"},
             {"1 / (1 + exp(-X[n, m]))", "exp(-X[n, m]) / (1 + exp(-X[n, m])) ^ 2 * dY[n, m]",
              "agrees"},
             {"tanh(X[n, m])", "(1 - Y[n, m] ^ 2) * dY[n, m]", "agrees"},
             {"log(1 + exp(X[n, m]))", "dY[n, m] / (1 + exp(-X[n, m]))", "agrees"},
             {"max(X[n, m], 0) + log(1 + exp(-abs(X[n, m])))", "dY[n, m] / (1 + exp(-X[n, m]))",
              "agrees"},
             {"if X[n, m] > 20 then X[n, m] else log(1 + exp(X[n, m]))",
              "dY[n, m] / (1 + exp(-X[n, m]))", "agrees"},
             {"X[n, m] ^ 5 + 1", "5 * X[n, m] ^ 4 * dY[n, m]", "agrees"},
             {"sqrt(X[n, m])", "dY[n, m] / (2 * Y[n, m])", "agrees"},
             {"softmax[m](X[n, m])", "Y[n, m] * (dY[n, m] - (sum(m) dY[n, m] * Y[n, m]))",
              "agrees"},
         }) {
        CAPTURE(std::string(row.forward));
        CAPTURE(std::string(row.backward));
        CHECK_EQ(judged(axes + "  input X[n, m] : f32\n  output Y[n, m] : f32 = " + row.forward,
                        axes +
                            "  input X[n, m], Y[n, m], dY[n, m] : f32\n  output dX[n, m] : "
                            "f32 = " +
                            row.backward),
                 row.verdict);
    }
}

TEST_CASE("gradients: a default of a parameter is a number that is compared with") {
    const std::string head = "  axis n = 40\n  param cap : f32 = 3000\n";
    const std::string forward = head + "  input X[n] : f32\n  output Y[n] : f32 = min(X[n], cap)";
    const auto of = [&](const char* gradient) {
        return judged(forward, head + "  input X[n], dY[n] : f32\n  output dX[n] : f32 = " +
                                   std::string(gradient));
    };
    CHECK_EQ(of("if X[n] < cap then dY[n] else 0"), "agrees");
    CHECK_EQ(of("dY[n] + 0 * cap"), "differs dX");
}

TEST_CASE("gradients: edges of many elements do not hide what is right") {
    const std::string head = "  axis n = 200, m = 100\n";
    const std::string forward =
        head + "  input X[n, m] : f32\n  output Y[n, m] : f32 = relu(X[n, m])";
    CHECK_EQ(judged(forward, head + "  input X[n, m], dY[n, m] : f32\n  output dX[n, m] : f32 = "
                                    "if X[n, m] > 0 then dY[n, m] else 0"),
             "agrees");
    CHECK_EQ(judged(forward, head + "  input X[n, m], dY[n, m] : f32\n  output dX[n, m] : f32 = "
                                    "if X[n, m] > 0 and n != 150 then dY[n, m] else 0"),
             "differs dX");
}

TEST_CASE("gradients: an output of which none is read is a constant") {
    const std::string forward =
        "  axis n = 6\n  input X[n] : f32\n  output Y[n] : f32 = X[n] * X[n]\n"
        "  output Z[n] : f32 = exp(X[n])";
    const std::string of_y =
        "  axis n = 6\n  input X[n], dY[n] : f32\n  output dX[n] : f32 = 2 * X[n] * dY[n]";
    const std::string of_both =
        "  axis n = 6\n  input X[n], Z[n], dY[n], dZ[n] : f32\n"
        "  output dX[n] : f32 = 2 * X[n] * dY[n] + Z[n] * dZ[n]";
    CHECK_EQ(judged(forward, of_y), "agrees");
    CHECK_EQ(judged(forward, of_both), "agrees");
}

TEST_CASE("gradients: sizes that disagree decide nothing") {
    CHECK_EQ(judged("  axis n = 6\n  input X[n] : f32\n  output Y[n] : f32 = X[n] * 2",
                    "  axis n = 7\n  input dY[n] : f32\n  output dX[n] : f32 = dY[n] * 2"),
             "undecided");
}

TEST_CASE("gradients: a diagram that computes none decides nothing") {
    CHECK_EQ(judged("  axis n = 6\n  input X[n] : f32\n  output Y[n] : f32 = X[n] * 2",
                    "  axis n = 6\n  input dY[n] : f32\n  output Z[n] : f32 = dY[n] * 2"),
             "undecided");
}

}  // namespace napkin::test
