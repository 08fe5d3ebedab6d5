// Arrays that a region computes and reads at other indices than it computes them at: which cuts of
// the axis are refused, with which way out, and which are accepted, executed and proved.
#include "tests/derive/programs.h"
#include "tests/support/trial.h"

namespace napkin::test {
namespace {

/// A diagram over n, d and i, j of one size, with these statements.
std::string with(const std::string& statements) {
    return "diagram elsewhere {\n"
           "  axis n = 3, d = 7, k = 2, i = 7, j = i\n"
           "  input X[n, d], W[k, d], U[n, k], A[i, k], B[j, k] : f32\n" +
           statements + "}\n";
}

const std::string kMapped = "  N[n, d] = X[n, d] * 2 + 1\n";
const std::string kFolded = "  N[n, d] = sum(k) U[n, k] * W[k, d]\n";
const std::string kRounded = "  N[n, d] : bf16 = X[n, d] * 2\n";
const std::string kScanned = "  N[n, d] = scan[d] sum X[n, d]\n";
const std::string kScores = "  S[i, j] = sum(k) A[i, k] * B[j, k]\n";
const std::string kOuter = "  S[i, j] = A[i, 0] * B[j, 1]\n";

TEST_CASE("elsewhere: what a part of an axis would lack is refused, and unfuse is the way out") {
    const std::vector<std::pair<std::string, std::string>> indices = {
        {"N[n, size(d) - 1 - d]", "reversed"},
        {"N[n, max(d - 1, 0)]", "clamped"},
        {"N[n, (d + 1) % size(d)]", "rotated"},
        {"(if d >= 1 then N[n, d - 1] else 0)", "shifted"}};
    for (const std::string& computed : {kFolded, kRounded, kScanned})
        for (const auto& [read, kind] : indices) {
            INFO(kind, " read of", computed);
            const Diagram map =
                load(with(computed + "  output Y[n, d] = N[n, d] - " + read + "\n"));
            for (const std::string steps :
                 {"fuse N, Y\nstream d by 2", "fuse N, Y\ngroup d by 2"}) {
                const std::string said = refusal(map, steps + " in Y");
                INFO(said);
                // A scan runs along the axis, which is no map.
                const bool reduced = said.find("`d` is reduced in N") != std::string::npos;
                CHECK((reduced || said.find("`unfuse Y` gives `N` a region of its own, and Y loads "
                                            "it where it reads it") != std::string::npos));
            }
            const Diagram fold =
                load(with(computed + "  output Y[n] = sum(d) N[n, d] * " + read + "\n"));
            CHECK(refusal(fold, "fuse N, Y\nstream d by 2").find("`unfuse Y` gives `N`") !=
                  std::string::npos);
            CHECK(refusal(fold, "fuse N, Y\nsplit-stream d by 2").find("`N") != std::string::npos);
            check_against_reference(derive(fold, "fuse N, Y\nunfuse Y\nstream d by 2 in Y"));
        }
}

TEST_CASE("elsewhere: a factor that a condition keeps inside of its array has one of its own") {
    // What no chunk has a part in leaves the sum, and the condition under which it is read.
    const std::vector<std::string> values = {
        "sum(d) if n > 0 and d >= 1 then U[n - 1, 0] * X[n, d] else 0",
        "sum(d) if n + 1 < size(n) and d >= 1 then X[n, d] / U[n + 1, 0] else 0",
        "sum(d) if n > 0 then exp(U[n - 1, 0] + X[n, d]) else 0",
        "sum(d) exp(if n > 0 and d <= n then U[n - 1, 0] + X[n, d] else -inf)",
        "max(d) if n > 0 and d > 1 then U[n - 1, 0] * X[n, d] else -inf",
        "sum(d) if n > 0 and d >= 1 then X[n, d] * U[n - 1, 0] else U[n, 0] * X[n, d]",
        "sum(d) if n > 0 then (if d > 2 then U[n - 1, 0] * X[n, d] else N[n - 1, 0] * W[0, d]) "
        "else 0",
        "sum(d) if n > 0 and d > 0 then G[n] * X[n, d] else 0",
        "sum(d) if n > 0 and d > 0 then H[n - 1] * X[n, d] else 0",
        "sum(d) if n + 1 < size(n) and d > 0 then H[n + 1] / (2 + U[n, 0]) + X[n, d] else 0"};
    for (const std::string& value : values) {
        INFO(value);
        const Diagram diagram =
            load(with("  N[n, k] = U[n, k] * 2\n  G[n] = if n > 0 then U[n - 1, 1] else 0.5\n"
                      "  H[n] = sum(d) X[n, d]\n  output Y[n] = " +
                      value + "\n"));
        for (const std::string steps : {"stream d by 2 in Y", "split-stream d by 3 in Y",
                                        "fuse N, G, H, Y\nstream d by 2 in Y"})
            check_against_reference(derive(diagram, steps));
        if (value.find("G[n]") != std::string::npos)
            check_against_reference(derive(diagram, "recompute G in Y\nsplit-stream d by 2 in Y"));
    }
}

TEST_CASE("elsewhere: what a mask hides is not read by functions of it, nor by weights") {
    // An element that only the condition keeps inside of its array tells whether it is read.
    const std::string masked = "(if d + 2 < size(d) then X[n, d + 2] else -inf)";
    const std::string after = "(if d >= 1 then X[n, d - 1] else -inf)";
    const std::string weight =
        "  w[n, d] = (if d >= 1 then X[n, d - 1] else 0) ^ 2\n"
        "  W2[n] = sum(d) w[n, d]\n"
        "  M[n] = (sum(d) w[n, d] * X[n, d]) / W2[n]\n";
    for (const std::string& statements :
         {"  output Y[n] = sum(d) U[n, 0] * sigmoid(" + masked + " - 1.5) * X[n, d]\n",
          "  output Y[n] = sum(d) X[n, d] * U[n, 0] / (1 + (U[n, 0] - " + masked + ") ^ 2)\n",
          "  output Y[n] = sum(d) softmax[d](U[n, 0] * sigmoid(" + after + " - 1)) * X[n, d]\n",
          "  T[n] = sum(d) X[n, d]\n  output Y[n] = min(d) (T[n] - " + after + ")\n",
          weight + "  output Y[n] = (sum(d) w[n, d] * (X[n, d] - M[n]) ^ 2) / W2[n]\n"}) {
        INFO(statements);
        const Diagram diagram = load(with(statements));
        for (const std::string steps : {"stream d by 2", "split-stream d by 3"})
            check_against_reference(derive(diagram, "fuse all\n" + steps));
    }
    // A sum of what may be -inf has no parts, and a function of two parts no form.
    for (const std::string value : {"sum(d) (if d >= 1 then X[n, d - 1] * T[n] else -inf)",
                                    "sum(d) tanh(X[n, d] + (if n >= 1 then T[n - 1] else 0))",
                                    "min(d) (if n >= 2 then X[n, d] * T[n - 2] else 1)"}) {
        const Diagram diagram =
            load(with("  T[n] = sum(d) X[n, d]\n  output Y[n] = " + value + "\n"));
        const std::string said = refusal(diagram, "fuse all\nstream d by 2");
        INFO(value, " said: ", said);
        CHECK(said.find("no accumulator found") != std::string::npos);
    }
}

TEST_CASE("elsewhere: a fold that is read at another index is its state there") {
    for (const std::string value :
         {"max(d) tanh(X[n, d] + H[0])", "max(d) (0.5 * tanh(X[n, d] + H[size(n) - 1 - n]))",
          "min(d) max(X[n, d], H[1])", "max(d) exp(X[n, d] - H[1])",
          "sum(d) X[n, d] * sigmoid(H[size(n) - 1 - n])"}) {
        INFO(value);
        const Diagram diagram =
            load(with("  H[n] = sum(d) X[n, d]\n  output Y[n] = " + value + "\n"));
        for (const std::string steps : {"stream d by 2", "split-stream d by 3"})
            check_against_reference(derive(diagram, "fuse all\n" + steps));
    }
}

TEST_CASE("elsewhere: an index that a sum inside would capture is refused") {
    const Diagram diagram = load(
        "diagram captured {\n"
        "  axis q = 2, x = 3, d = 2\n"
        "  input A[x, d], B[d, q, x] : f32\n"
        "  T[x, q] = (sum(d) abs(A[x, d]) * (sum(x) B[d, q, x])) / (0.5 + sum(d) abs(A[x, d]))\n"
        "  U[q] = sigmoid(T[0, q])\n"
        "  output Y[d] = U[min(d, size(q) - 1)]\n"
        "}\n");
    const std::string said = refusal(diagram, "fuse all\nstream x by 2");
    INFO(said);
    CHECK(said.find("one axis is used in two roles here; an alias (`axis e = d`) parts them") !=
          std::string::npos);
}

TEST_CASE("elsewhere: a transposed read of scores") {
    for (const std::string product : {"S[j, i]", "S[i, j] * S[j, i]"}) {
        const Diagram diagram = load(with(kScores + "  output C[i] = sum(j) " + product + "\n"));
        CHECK_EQ(
            refusal(diagram, "fuse all\nstream j by 2"),
            "no accumulator found: `S[j, i]`: it reads an element of another chunk along `j`, "
            "or at an index that is not known beforehand; `unfuse C` gives `S` a region of its "
            "own, and C loads it where it reads it");
        CHECK_EQ(
            refusal(diagram, "fuse all\ngroup i by 2"),
            "`S` is read at other indices than it is computed at along `i`, so one group would "
            "need values of another; `unfuse C` gives `S` a region of its own, and C loads it "
            "where it reads it");
        check_against_reference(
            derive(diagram, "fuse all\nunfuse C\nstream j by 2 in C\ngroup i by 2 in C"));
    }
}

TEST_CASE("elsewhere: what can be made again or picked is accepted, executed and proved") {
    const std::string loss =
        "  R[i] = logsumexp[j](S[i, j])\n  C[j] = logsumexp[i](S[i, j])\n"
        "  output loss = (sum(i) (R[i] - S[i, i])) + (sum(j) (C[j] - S[j, j]))\n";
    const std::vector<std::pair<std::string, std::string>> table = {
        {kMapped + "  output Y[n, d] = N[n, d] - N[n, size(d) - 1 - d]\n", "stream d by 2"},
        {kMapped + "  output Y[n, d] : f32 = N[n, d] - N[n, size(d) - 1 - d]\n", "stream d by 2"},
        {kMapped + "  output Y[n, d] : bf16 = (if d >= 1 then N[n, d - 1] else 1) + N[n, d]\n",
         "stream d by 3\nstream d by 1 at l2"},
        {kMapped + "  output Y[n, d] = N[n, min(d + 1, size(d) - 1)]\n  output Z[n, d] = N[n, d]\n",
         "stream d by 2\ngroup n by 2"},
        {kMapped + "  output Y[n] = sum(d) N[n, d] * N[n, size(d) - 1 - d]\n", "stream d by 2"},
        {kMapped + "  output Y[n] = sum(d) N[n, d] * N[n, size(d) - 1 - d]\n",
         "split-stream d by 2"},
        {kMapped + "  output Y[n, d] = scan[d] sum N[n, max(d - 1, 0)]\n", "stream d by 2"},
        {kMapped + "  output Y[n, d] = sum(k) W[k, d] * N[n, max(d - 1, 0)]\n", "stream d by 2"},
        {kFolded + "  output Y[n] = (if n >= 1 then N[n - 1, 3] else 0) + sum(d) N[n, d]\n",
         "stream d by 2"},
        {kOuter + "  output C[i] = sum(j) S[i, j] * S[j, i]\n", "stream j by 2"},
        {kOuter + "  output T[i, j] : f32 = S[i, j] - S[j, i]\n", "stream j by 2"},
        {kScores + "  output C[i] = S[i, i] + sum(j) S[i, j]\n", "stream j by 2"},
        {kScores + loss, "stream j by 2"},
        {kScores + loss, "stream i by 2"},
    };
    for (const auto& [statements, steps] : table) {
        const std::string text = with(statements);
        INFO(text, steps);
        Trial trial{text, {"fuse all"}, 1};
        for (std::size_t at = 0; at < steps.size();) {
            const std::size_t end = std::min(steps.find('\n', at), steps.size());
            trial.steps.push_back(steps.substr(at, end - at));
            at = end + 1;
        }
        std::string all;
        for (const std::string& step : trial.steps) all += step + "\n";
        check_against_reference(derive(load(text), all));
        CHECK_EQ(failure_of(trial, Depth::Verify).value_or(""), "");
    }
}

TEST_CASE("elsewhere: what a mask hides from one fold is there for another") {
    const std::string y = "  input y[i] : i32\n";
    const std::vector<std::pair<std::string, std::string>> table = {
        // Masks of indices, and of data.
        {kScores + "  h[i] = max(j) if j <= i then S[i, j] else -inf\n"
                   "  output L[i] = h[i] + S[i, size(j) - 1]\n",
         "stream j by 2"},
        {kScores + "  h[i] = max(j) if j <= i then S[i, j] else -inf\n  axis m = i\n"
                   "  output L[i] = h[i] + sum(m) S[i, m]\n",
         "stream j by 2"},
        {kScores + y +
             "  h[i] = max(j) if y[i] == y[j] then S[i, j] else -inf\n  axis m = i\n"
             "  output L[i] = h[i] + sum(m) S[i, m]\n",
         "stream j by 2"},
        {kScores + y +
             "  M[i, j] = if y[i] != y[j] then S[i, j] else -inf\n"
             "  output R[i] = logsumexp[j](M[i, j]) - S[i, i]\n",
         "stream j by 1"},
        {y + "  axis p = i, m = i\n  D[i, p] = sum(k) (A[i, k] - B[p, k]) ^ 2\n"
             "  h[i] = max(p) if y[i] == y[p] then D[i, p] else -inf\n"
             "  g[i] = min(m) if y[i] != y[m] then D[i, m] else inf\n"
             "  output L[i] = if g[i] == inf then 0 else relu(h[i] - g[i] + 0.2)\n",
         "stream p by 2"},
        // Of one array at two places, and where each has a mask of its own.
        {kScores + "  a[i] = sum(j) if j < 2 then S[i, j] else 0\n"
                   "  b[i] = sum(j) if j >= 5 then S[i, j] else 0\n"
                   "  output L[i] = a[i] - b[i]\n",
         "stream j by 2"},
    };
    for (const auto& [statements, steps] : table) {
        const std::string text = with(statements);
        INFO(text, steps);
        const Trial trial{text, {"fuse all", "group i by 1", steps}, 1};
        const State state = derive(load(text), "fuse all\ngroup i by 1\n" + steps);
        check_against_reference(state);
        CHECK_EQ(failure_of(trial, Depth::Verify).value_or(""), "");
    }
}

}  // namespace
}  // namespace napkin::test
