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

TEST_CASE("gradients: where an integer is what it is compared with is met") {
    struct Row {
        const char* visible;  // of a label, in the loss
        const char* claimed;  // in its gradient
        const char* verdict;
    };
    const std::string head =
        "  axis n = 9, v = 12\n  input label[n] : i32\n  param ignore : i32 = -100\n";
    for (const Row& row : {
             Row{"label[n] != -100", "0 == 0", "differs dZ"},
             {"label[n] != -100", "label[n] != -100", "agrees"},
             {"label[n] != -100", "label[n] >= 0", "agrees"},
             {"0 == 0", "0 == 0", "agrees"},
             {"0 == 0", "label[n] != -100", "agrees"},
             {"label[n] >= 0", "0 == 0", "differs dZ"},
             {"label[n] >= 0", "label[n] > 0", "differs dZ"},
             {"label[n] >= 0", "label[n] >= 0", "agrees"},
             {"label[n] != -1", "0 == 0", "differs dZ"},
             {"label[n] != -1", "label[n] >= 0", "agrees"},
             {"label[n] != 255", "0 == 0", "differs dZ"},
             {"label[n] != 255", "label[n] < 255", "agrees"},
             {"label[n] < 1000", "0 == 0", "differs dZ"},
             {"label[n] < 1000", "label[n] < size(v)", "agrees"},
             {"label[n] != size(v)", "0 == 0", "differs dZ"},
             {"label[n] != size(v)", "label[n] < size(v)", "agrees"},
             {"label[n] - 1 != 98", "0 == 0", "differs dZ"},
             {"label[n] // 16 != 3", "0 == 0", "differs dZ"},
             {"bit_and(label[n], 256) == 0", "0 == 0", "differs dZ"},
             {"bit_and(label[n], 256) == 0", "label[n] >= 0 and label[n] < 256", "agrees"},
             {"label[n] != ignore", "0 * ignore == 0", "differs dZ"},
             {"label[n] != ignore", "label[n] != -100 + 0 * ignore", "differs dZ"},
             {"label[n] != ignore", "label[n] != ignore", "agrees"},
         }) {
        CAPTURE(std::string(row.visible));
        CAPTURE(std::string(row.claimed));
        CHECK_EQ(judged(head + "  input Z[n, v] : f32\n  output loss[n] : f32 = if " + row.visible +
                            " then logsumexp[v](Z[n, v]) - (sum(v) if v == label[n] then Z[n, v] "
                            "else 0) else 0",
                        head + "  input Z[n, v], dloss[n] : f32\n  output dZ[n, v] : f32 = if " +
                            row.claimed +
                            " then dloss[n] * (softmax[v](Z[n, v]) - (if v == label[n] then 1 "
                            "else 0)) else 0"),
                 row.verdict);
    }
}

TEST_CASE("gradients: a label outside of its axis is no input where nothing asks for it") {
    const std::string head = "  axis n = 9, v = 12\n  input label[n] : i32\n";
    const auto loss = [&](const std::string& visible) {
        return head + "  input Z[n, v] : f32\n  output loss[n] : f32 = if " + visible +
               " then -(sum(v) if v == label[n] then logsoftmax[v](Z[n, v]) else 0) else 0";
    };
    const auto gradient = [&](const std::string& visible) {
        return head + "  input Z[n, v], dloss[n] : f32\n  output dZ[n, v] : f32 = if " + visible +
               " then dloss[n] * (softmax[v](Z[n, v]) - (if v == label[n] then 1 else 0)) else 0";
    };
    for (const char* visible : {"0 == 0", "label[n] != -100", "label[n] >= 0", "label[n] < 1000",
                                "label[n] != size(v)", "label[n] != 7"}) {
        CAPTURE(std::string(visible));
        CHECK_EQ(judged(loss(visible), gradient(visible)), "agrees");
    }
}

TEST_CASE("gradients: every mode, document and forced row is met") {
    const std::string modes = "  axis n = 9, d = 4\n  input mode : i32\n";
    const std::string mode =
        modes +
        "  input X[n, d] : f32\n  output Y[n, d] : f32 = if mode == 1 then X[n, d] ^ 2 "
        "else if mode == 2 then exp(X[n, d]) else X[n, d]";
    const std::string of_mode = modes +
                                "  input X[n, d], dY[n, d] : f32\n  output dX[n, d] : f32 = "
                                "if mode == 1 then 2 * dY[n, d] * X[n, d] else ";
    CHECK_EQ(judged(mode, of_mode + "dY[n, d]"), "differs dX");
    CHECK_EQ(judged(mode, of_mode + "if mode == 2 then dY[n, d] * exp(X[n, d]) else dY[n, d]"),
             "agrees");

    const std::string rows = "  axis n = 9, v = 12\n  input force[n] : i32\n";
    const std::string masked =
        "  M[n, v] = if force[n] < 0 or v == force[n] then Z[n, v] else -inf\n";
    const std::string forced =
        rows + "  input Z[n, v] : f32\n" + masked + "  output P[n, v] : f32 = softmax[v](M[n, v])";
    const std::string of_forced = rows + "  input Z[n, v], dP[n, v] : f32\n" + masked;
    CHECK_EQ(judged(forced, of_forced + "  output dZ[n, v] : f32 = 0 * dP[n, v] * M[n, v]"),
             "differs dZ");
    CHECK_EQ(
        judged(forced, of_forced + "  P[n, v] = softmax[v](M[n, v])\n  output dZ[n, v] : f32 = "
                                   "P[n, v] * (dP[n, v] - (sum(v) dP[n, v] * P[n, v]))"),
        "agrees");

    const std::string documents =
        "  axis q = 11, x = q, d = 3\n  input Q[q, d], K[x, d], V[x, d] : f32\n"
        "  input doc[q] : i32\n";
    const auto scores = [](const std::string& mask) {
        return "  S[q, x] = if x <= q and doc[q] == doc[x]" + mask +
               " then sum(d) Q[q, d] * K[x, d] else -inf\n";
    };
    const std::string attention = documents + scores(" and doc[x] >= 0") +
                                  "  output L[q] : f32 = logsumexp[x](S[q, x])\n"
                                  "  output O[q, d] : f32 = sum(x) softmax[x](S[q, x]) * V[x, d]";
    const auto of_attention = [&](const std::string& mask) {
        return documents + "  input O[q, d], dO[q, d], L[q] : f32\n" + scores(mask) +
               "  P[q, x] = exp(S[q, x] - L[q])\n  D[q] = sum(d) dO[q, d] * O[q, d]\n"
               "  dS[q, x] = P[q, x] * ((sum(d) dO[q, d] * V[x, d]) - D[q])\n"
               "  output dQ[q, d] : f32 = sum(x) dS[q, x] * K[x, d]\n"
               "  output dK[x, d] : f32 = sum(q) dS[q, x] * Q[q, d]\n"
               "  output dV[x, d] : f32 = sum(q) P[q, x] * dO[q, d]";
    };
    CHECK_EQ(judged(attention, of_attention("")).substr(0, 7), "differs");
    CHECK_EQ(judged(attention, of_attention(" and doc[x] >= 0")), "agrees");
}

TEST_CASE("gradients: parameters are what a caller may give") {
    struct Row {
        const char* parameter;
        const char* forward;   // Y of X
        const char* backward;  // dX of X, Y and dY
        const char* verdict;
    };
    const std::string axes = "  axis n = 5, m = 8\n";
    for (const Row& row : {
             Row{"a : f32 = 1.0", "tanh(X[n, m] * a)", "dY[n, m] * (1 - Y[n, m] ^ 2) + 0 * a",
                 "differs dX"},
             {"a : f32 = 1.0", "tanh(X[n, m] * a)", "dY[n, m] * a * (1 - Y[n, m] ^ 2)", "agrees"},
             {"a : f32 = 0.0", "(X[n, m] + a) ^ 2", "2 * dY[n, m] * X[n, m] + 0 * a", "differs dX"},
             {"a : f32 = 0.0", "(X[n, m] + a) ^ 2", "2 * dY[n, m] * (X[n, m] + a)", "agrees"},
             {"a : f32 = 0", "if X[n, m] > 0 then X[n, m] else a * X[n, m]",
              "if X[n, m] > 0 + 0 * a then dY[n, m] else 0", "differs dX"},
             {"a : f32 = 0", "if X[n, m] > 0 then X[n, m] else a * X[n, m]",
              "if X[n, m] > 0 then dY[n, m] else a * dY[n, m]", "agrees"},
             {"a : f32 = 0", "if (7 * n + m) % 10 >= a * 10 then X[n, m] / (1 - a) else 0",
              "dY[n, m] + 0 * a", "differs dX"},
             {"a : f32 = 0", "if (7 * n + m) % 10 >= a * 10 then X[n, m] / (1 - a) else 0",
              "if (7 * n + m) % 10 >= a * 10 then dY[n, m] / (1 - a) else 0", "agrees"},
             // Sides of 0 stay.
             {"a : f32 = 1e-5", "sqrt(X[n, m] ^ 2 + a)", "X[n, m] * dY[n, m] / Y[n, m] + 0 * a",
              "agrees"},
             {"a : f32 = 2.0", "exp(X[n, m] * log(a))", "Y[n, m] * dY[n, m] * log(abs(a))",
              "agrees"},
             // What chooses is met.
             {"a : i32 = 0", "if a == 3 then X[n, m] ^ 2 else X[n, m]", "dY[n, m] + 0 * a",
              "differs dX"},
             {"a : i32 = 0", "if a == 3 then X[n, m] ^ 2 else X[n, m]",
              "if a == 3 then 2 * X[n, m] * dY[n, m] else dY[n, m]", "agrees"},
             {"a : i32 = 1", "if a != 0 then X[n, m] ^ 2 else X[n, m]",
              "2 * X[n, m] * dY[n, m] + 0 * a", "differs dX"},
             {"a : i32 = 128", "if m < a then X[n, m] ^ 2 else 0", "2 * X[n, m] * dY[n, m] + 0 * a",
              "differs dX"},
             {"a : i32 = 128", "if m < a then X[n, m] ^ 2 else 0",
              "if m < a then 2 * X[n, m] * dY[n, m] else 0", "agrees"},
         }) {
        CAPTURE(std::string(row.parameter));
        CAPTURE(std::string(row.forward));
        CAPTURE(std::string(row.backward));
        const std::string head = axes + "  param " + row.parameter + "\n";
        CHECK_EQ(
            judged(head + "  input X[n, m] : f32\n  output Y[n, m] : f32 = " + row.forward,
                   head + "  input X[n, m], Y[n, m], dY[n, m] : f32\n  output dX[n, m] : f32 = " +
                       row.backward),
            row.verdict);
    }
}

TEST_CASE("gradients: what differs says of which parameters and integers") {
    const auto chosen = [](const std::string& declared, const std::string& y,
                           const std::string& dx) {
        const auto checked = [&](const std::string& name, const std::string& rest) {
            return Run(
                name + ".ncd",
                "diagram " + name + " {\n  axis n = 6\n  " + declared + "\n" + rest + "\n}\n", {},
                1.0, Run::kWarnings);
        };
        const Run forward = checked("forward", "  input X[n] : f32\n  output Y[n] : f32 = " + y);
        const Run backward =
            checked("backward", "  input X[n], dY[n] : f32\n  output dX[n] : f32 = dY[n] * " + dx);
        return check_gradient(forward.diagram, backward.diagram, 1)->slope.value().chosen;
    };
    using Chosen = std::map<std::string, double>;
    CHECK_EQ(chosen("param a : f32 = 1", "X[n] * a", "1"), Chosen{{"a", 0.75}});
    CHECK_EQ(chosen("input mode : i32",
                    "if mode == 5000 and mode > 40 and mode < 9000 then 0 else X[n]", "1"),
             Chosen{{"mode", 5000}});
    CHECK(chosen("param a : f32 = 1", "X[n] * a", "2 * a").empty());
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
