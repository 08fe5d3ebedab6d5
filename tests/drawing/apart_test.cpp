// Diagrams that compute different things are drawn differently: on a page, in TeX and as text.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/render.h"
#include "tests/drawing/picture_checks.h"

namespace napkin::test {

namespace {

using drawing::Canvas;
using drawing::Medium;

/// What is seen of a picture: handles and tooltips say the source.
Canvas seen(const std::string& lines, Medium medium) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(
        sources, "apart.ncd",
        "def after(u, v) = u - 2 * v glyph box\n"
        "def powers[x](u, p) = u - sum(x) abs(u) ^ p glyph box\n"
        "def widest[x](u) = max(x) u ^ 2 glyph box\n"
        "monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative\n"
        "diagram apart {\n  axis n = 8, c = 8, k = 4\n"
        "  input A[n, c], B[n, c], C[n, c], D[n], L[n, k], R[k, c] : f32\n"
        "  input I[n, c], J[n, c] : i32\n  param hot : f32 = 1e-5\n  param cold : f32 = 2e-5\n" +
            lines + "}\n");
    REQUIRE(checked.has_value());
    const State state = initial_state(checked->diagram);
    drawing::DrawOptions options;
    options.medium = medium;
    if (medium == Medium::Terminal) options.max_width = 80 * drawing::kTerminalCell;
    Canvas canvas = draw_diagram(state.diagram, state.relabelling, options);
    if (medium == Medium::Page) check_picture(canvas);
    canvas.elements.clear();
    canvas.description.clear();
    for (drawing::Operation& operation : canvas.operations) operation.meaning = {};
    return canvas;
}

struct Pair {
    std::string one;
    std::string other;
};

const std::vector<Pair> kOperands = {
    {"A[n, c] - B[n, c]", "B[n, c] - A[n, c]"},
    {"A[n, c] / B[n, c]", "B[n, c] / A[n, c]"},
    {"I[n, c] // J[n, c]", "J[n, c] // I[n, c]"},
    {"I[n, c] % J[n, c]", "J[n, c] % I[n, c]"},
    {"if A[n, c] < B[n, c] then 1 else 0", "if B[n, c] < A[n, c] then 1 else 0"},
    {"if A[n, c] < 0 then B[n, c] else C[n, c]", "if A[n, c] < 0 then C[n, c] else B[n, c]"},
    {"A[n, c] * B[n, c] + C[n, c]", "A[n, c] * C[n, c] + B[n, c]"},
    {"A[n, c] - A[c, n]", "A[c, n] - A[n, c]"},
    {"A[n, c] + B[n, c]", "A[n, c] + B[c, n]"},
    {"A[n, c] - D[n]", "D[n] - A[n, c]"},
    {"after(A[n, c], B[n, c])", "after(B[n, c], A[n, c])"},
    {"exp(A[n, c] - B[n, c])", "exp(B[n, c] - A[n, c])"},
    {"silu(A[n, c] - B[n, c])", "silu(B[n, c] - A[n, c])"},
    {"rmsnorm[c](A[n, c], B[n, c], 0.1)", "rmsnorm[c](B[n, c], A[n, c], 0.1)"},
};

const std::vector<Pair> kProducts = {
    {"sum(k) L[n, k] * R[k, c]", "sum(k) L[n, k] * R[k, c] * rsqrt(size(k))"},
    {"sum(k) L[n, k] * R[k, c] / 2", "sum(k) L[n, k] * R[k, c] / 3"},
    {"relu(sum(k) L[n, k] * R[k, c])", "tanh(sum(k) L[n, k] * R[k, c])"},
    {"relu(sum(k) L[n, k] * R[k, c]) + A[n, c]", "relu((sum(k) L[n, k] * R[k, c]) + A[n, c])"},
    {"sum(k) relu(L[n, k]) * R[k, c]", "sum(k) tanh(L[n, k]) * R[k, c]"},
    {"sum(k) relu(L[n, k]) * R[k, c]", "sum(k) L[n, k] * relu(R[k, c])"},
    {"sum(k) relu(L[n, k]) * R[k, c]", "relu(sum(k) L[n, k] * R[k, c])"},
    {"sum(k) (L[n, k] - D[n]) * R[k, c]", "sum(k) (D[n] - L[n, k]) * R[k, c]"},
    {"sum(k) softcap(L[n, k], 2) * R[k, c]", "sum(k) softcap(L[n, k], 3) * R[k, c]"},
    {"(sum(k) L[n, k] * R[k, c]) - A[n, c]", "A[n, c] - sum(k) L[n, k] * R[k, c]"},
    {"(sum(k) L[n, k]) / (sum(k) R[k, c])", "(sum(k) R[k, c]) / (sum(k) L[n, k])"},
};

/// Calls that a name stands for, given other numbers.
const std::vector<Pair> kNumbers = {
    {"softcap(A[n, c], 30)", "softcap(A[n, c], 50)"},
    {"softcap(A[n, c], hot)", "softcap(A[n, c], cold)"},
    {"rmsnorm[c](A[n, c], B[n, c], 0.1)", "rmsnorm[c](A[n, c], B[n, c], 0.2)"},
    {"rmsnorm[c](B[n, c], A[n, c], 0.1)", "rmsnorm[c](B[n, c], A[n, c], 0.2)"},
    {"rmsnorm[c](B[n, c], A[n, c], hot)", "rmsnorm[c](B[n, c], A[n, c], cold)"},
    {"layernorm[c](A[n, c], B[n, c], C[n, c], 1e-5)",
     "layernorm[c](A[n, c], B[n, c], C[n, c], 1e-6)"},
    {"l2norm[c](A[n, c], 1e-5)", "l2norm[c](A[n, c], 2e-5)"},
    {"after(A[n, c], 1)", "after(A[n, c], 2)"},
    {"powers[c](A[n, c], 3)", "powers[c](A[n, c], 2 + 2)"},
};

/// What an operation may be of, all of it different.
const std::vector<std::string> kArguments = {
    "A[n, c]",
    "-A[n, c]",
    "A[n, c] * 2",
    "exp(A[n, c])",
    "if n <= c then A[n, c] else -inf",
    "if n < c then A[n, c] else -inf",
    "if n < c then A[n, c] else 0",
    "if n < c then exp(A[n, c]) else 0",
    "sum(k) exp(L[n, k] * R[k, c])",
    "max(k) L[n, k] * R[k, c]",
    "sum(k) L[n, k] * R[k, c]",
};
const std::vector<std::string> kOperations = {
    "softmax[c](%)", "logsoftmax[c](%)", "logsumexp[c](%)", "mean[c](%)",      "variance[c](%)",
    "relu(%)",       "sigmoid(%)",       "silu(%)",         "softplus(%)",     "gelu(%)",
    "exp(%)",        "softcap(%, 30)",   "after(%, 1)",     "powers[c](%, 3)", "l2norm[c](%, 1e-5)",
    "1 - relu(%)",   "widest[c](%)",
};

void check_apart(const std::string& one, const std::string& other) {
    INFO(one, "  and  ", other);
    CHECK(seen(one, Medium::Page).operations != seen(other, Medium::Page).operations);
    CHECK_NE(render_tikz(seen(one, Medium::Page)), render_tikz(seen(other, Medium::Page)));
    CHECK_NE(render_text(seen(one, Medium::Terminal)), render_text(seen(other, Medium::Terminal)));
}

}  // namespace

TEST_CASE("operands that may not change places are told apart") {
    for (const Pair& pair : kOperands) {
        const std::string line = "  output Y[n, c] : f32 = ";
        check_apart(line + pair.one + "\n", line + pair.other + "\n");
    }
    // Of what is computed in the picture too, beside whose wires no name stands.
    const std::string made = "  S[n, c] = A[n, c] * 2\n  T[n, c] = B[n, c] * 2\n";
    check_apart(made + "  output Y[n, c] : f32 = S[n, c] - T[n, c]\n",
                made + "  output Y[n, c] : f32 = T[n, c] - S[n, c]\n");
}

TEST_CASE("what is done to a product is told from the product") {
    for (const Pair& pair : kProducts) {
        const std::string line = "  output Y[n, c] : f32 = ";
        check_apart(line + pair.one + "\n", line + pair.other + "\n");
    }
}

TEST_CASE("numbers that a name alone would hide are told apart") {
    for (const Pair& pair : kNumbers) {
        const std::string line = "  output Y[n, c] : f32 = ";
        check_apart(line + pair.one + "\n", line + pair.other + "\n");
    }
}

TEST_CASE("operations are told apart by what they are of") {
    for (const std::string& operation : kOperations)
        for (std::size_t i = 0; i < kArguments.size(); ++i)
            for (std::size_t j = i + 1; j < kArguments.size(); ++j) {
                const auto of = [&](const std::string& argument) {
                    const std::size_t at = operation.find('%');
                    return "  output Y[n, c] : f32 = " + operation.substr(0, at) + argument +
                           operation.substr(at + 1) + "\n";
                };
                INFO(of(kArguments[i]), "  and  ", of(kArguments[j]));
                CHECK(seen(of(kArguments[i]), Medium::Page).operations !=
                      seen(of(kArguments[j]), Medium::Page).operations);
            }
}

TEST_CASE("components of a fold are told apart") {
    const auto scan = [](const std::string& pair) {
        return "  P[n, c], Q[n, c] = scan[n] affine (" + pair +
               ")\n  output Y[n, c] : f32 = P[n, c] * Q[n, c]\n";
    };
    check_apart(scan("A[n, c], B[n, c]"), scan("B[n, c], A[n, c]"));
}

}  // namespace napkin::test
