// What is written in boxes: calls as they were written, formulas in lines, masks by their names.
#include <doctest/doctest.h>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/factors_apart.h"
#include "diagrams/drawing/units.h"

namespace napkin::test {

namespace {

/// The lines in the box of `output Y[n, c] = <value>`, parted by ` | `; empty where it has no box.
std::string box_of(const std::string& value, const std::string& weave = "",
                   const std::vector<std::string>& steps = {}) {
    SourceMap sources;
    const Result<Checked> checked =
        load_diagram(sources, "box.ncd",
                     "diagram box {\n  axis n = 8, c = 4\n"
                     "  input A[n, c], B[n, c], C[n, c], D[n] : f32\n  output Y[n, c] : f32 = " +
                         value + "\n" + weave + "}\n");
    REQUIRE(checked.has_value());
    std::string derivation;
    for (const std::string& step : steps) derivation += step + "\n";
    const Result<std::vector<Command>> commands =
        parse_derivation(sources, sources.add("box.drv", derivation));
    REQUIRE(commands.has_value());
    const Result<State> replayed = replay(checked->diagram, *commands);
    REQUIRE(replayed.has_value());
    const State& state = *replayed;
    const std::vector<drawing::Unit> units = drawing::units_of(state.diagram, state.relabelling);
    std::string text;
    for (const drawing::MathText& line : units.back().label)
        text += (text.empty() ? "" : " | ") + to_unicode(line);
    return text;
}

}  // namespace

TEST_CASE("boxes show calls of the library as they were written") {
    CHECK_EQ(box_of("silu(A[n, c]) * B[n, c]"), "silu(A)·B");
    CHECK_EQ(box_of("gelu(A[n, c] + B[n, c]) + C[n, c]"), "gelu(A+B)+C");
    CHECK_EQ(box_of("1 - softcap(A[n, c], 30)"), "1−softcap(A, 30)");
    CHECK_EQ(box_of("logsumexp[c](A[n, c]) - B[n, c]"), "logsumexp(A)−B");
    // Weaves give what is folded on the way more axes.
    CHECK_EQ(box_of("logsumexp[c](A[n, c]) - B[n, c]", "  weave h = 2\n"), "logsumexp(A)−B");
    CHECK_EQ(box_of("if causal[n, c]() then A[n, c] else -inf"), "causal | mask");
}

TEST_CASE("a call is shown as it was written when its axes are split and joined and arrays go") {
    const std::string call = "logsumexp[c](A[n, c]) - B[n, c]";
    for (const std::vector<std::string>& steps :
         std::vector<std::vector<std::string>>{{"split-axis c as e by 2"},
                                               {"split-axis n as m by 4"},
                                               {"split-axis c as e by 2", "join-axes c, e as f"},
                                               {"split-axis n as c1 by 2", "join-axes n, c1 as m"},
                                               {"fuse all", "split-axis c as e by 2"}}) {
        CAPTURE(steps.front());
        CHECK_EQ(box_of(call, "", steps), "logsumexp(A)−B");
        CHECK_EQ(box_of(call, "  weave h = 2\n", steps), "logsumexp(A)−B");
    }
}

TEST_CASE("a call that makes a box shows what it is of, where that is no array as it stands") {
    CHECK_EQ(box_of("silu(A[n, c] - B[n, c])"), "silu(A−B)");
    CHECK_EQ(box_of("silu(A[n, c])"), "silu");
}

TEST_CASE("sizes are told from indices, and reads of one array from each other") {
    CHECK_EQ(box_of("if c <= n + size(c) - size(n) then A[n, c] else -inf"), "c≤n+|c|−|n| | mask");
    CHECK_EQ(box_of("A[n, c] / size(c) - B[n, c]"), "A/c−B");
    CHECK_EQ(box_of("A[size(n) - 1 - n, c] - B[n, c]"), "A[|n|−1−n, c]−B");
    CHECK_EQ(box_of("if D[n] == D[c] then A[n, c] else -inf"), "D[n]=D[c] | mask");
    CHECK_EQ(box_of("D[n] - A[n, c] * D[n]"), "D−A·D");
}

TEST_CASE("calls of the library are named in a mask of several, if need be without arguments") {
    const std::string near = "causal_neighbourhood[n, c](4, 2, 1)";
    CHECK_EQ(box_of("if " + near + " and " + near + " then A[n, c] else -inf"),
             "causal_neighbourhood(4, | 2, 1) | and causal_neighbourhood(4, | 2, 1) | mask");
    CHECK_EQ(box_of("if strided_blocks[n, c](size(n), 4, 2) or " + near +
                    " or global_tokens[n, c](1) and neighbourhood[n, c](4, 1, 2)"
                    " then A[n, c] else -inf"),
             "strided_blocks(…) | or causal_neighbourhood(…) | or global_tokens(…) | "
             "and neighbourhood(…) | mask");
}

TEST_CASE("a mask shows what it hides where that is no array") {
    CHECK_EQ(box_of("if c <= n then A[n, c] - D[n] * (n - c) else -inf"), "A−D·(n−c) | c≤n | mask");
}

TEST_CASE("what only resembles a call is the formula that it is") {
    CHECK_EQ(box_of("silu(A[n, c]) * A[n, c] / (1 + exp(-B[n, c]))"), "silu(A)·A | /(1+exp(−B))");
    CHECK_EQ(box_of("A[n, c] / (1 + exp(-B[n, c]))"), "A/(1+exp(−B))");
}

TEST_CASE("formulas in boxes have the parentheses that they mean") {
    CHECK_EQ(box_of("sum(c) (A[n, c] - B[n, c]) ^ 2 + C[n, c]"), "Σ_c(A−B)^2+C");
    CHECK_EQ(box_of("-(A[n, c] - B[n, c])"), "−(A−B)");
    CHECK_EQ(box_of("-A[n, c] ^ 2 * B[n, c]"), "−A^2·B");
    CHECK_EQ(box_of("(A[n, c] ^ 2) ^ 3 + B[n, c]"), "(A^2)^3+B");
    CHECK_EQ(box_of("A[n, c] - (B[n, c] + C[n, c])"), "A−(B+C)");
    CHECK_EQ(box_of("A[n, c] + (B[n, c] - C[n, c])"), "A+B−C");
    CHECK_EQ(box_of("A[n, c] * (-B[n, c]) + 0.0000001"), "A·(−B)+1e-7");
    CHECK_EQ(box_of("if (n < c or c < 2) and n > 1 then A[n, c] else B[n, c]"),
             "if (n<c or c<2) | and n>1 then A else B");
    CHECK_EQ(box_of("if not (n < c and c < 2) then A[n, c] else B[n, c]"),
             "if not (n<c and c<2) | then A else B");
}

TEST_CASE("boxes say what they choose and where they read") {
    CHECK_EQ(box_of("max(c) A[n, c] - B[n, c]"), "max_c A−B");
    CHECK_EQ(box_of("if argmin(c) A[n, c] == c then B[n, c] else 0"),
             "if argmin_c A | =c then B else 0");
    CHECK_EQ(box_of("A[7 - n, c] - A[n, c]"), "A[7−n, c]−A");
    CHECK_EQ(box_of("-A[7 - n, c]", "  weave h = 2\n"), "−A[7−n, c]");
    // Where there is no room for the index it still is another place.
    CHECK_EQ(box_of("A[min(max(min(7 - n, 6), max(n, 0)), 0), min(max(3 - c, 0), 3)] - "
                    "A[min(max(min(7 - n, 5), max(n, 1)), 0), min(max(3 - c, 1), 3)]"),
             "A[…]−A[…]");
    CHECK_EQ(box_of("if n >= c then A[n, c] else -inf"), "n≥c | mask");
    CHECK_EQ(box_of("if sliding[n, c](2, 0) and n != 3 then A[n, c] else -inf"),
             "sliding(2, 0) | and n≠3 | mask");
}

TEST_CASE("formulas in boxes break in no subscript, and name what indices hide") {
    CHECK_EQ(box_of("max(n, c) A[n, c] * B[n, c] * C[n, c] - C[n, c] * A[n, c]"),
             "max_n,c(A·B·C) | −C·A");
    CHECK_EQ(box_of("sum(c) exp(A[n, c]) + B[n, c]"), "Σ_c exp(A)+B");
    // Of what is read past its ends the place says it.
    CHECK_EQ(box_of("B[n, c] + (if 0 <= n - 1 then A[n - 1, c] else 0)"), "B+mask(A[n−1, c])");
}

TEST_CASE("sums of products are no part of a box, which calls them Σ") {
    CHECK_EQ(box_of("silu(sum(c) A[n, c] * B[n, c])"), "silu");
    CHECK_EQ(box_of("silu(sum(c) A[n, c] * B[n, c] + C[n, c])"), "silu(Σ+C)");
    CHECK_EQ(box_of("(sum(c) A[n, c]) / (sum(c) B[n, c]) - C[n, c]"), "Σ_1/Σ_2−C");
    CHECK_EQ(box_of("C[n, c] - 0.5 * sum(c) A[n, c] * B[n, c]"), "C−0.5·Σ");
    // What a call of the library sums for itself stays with it.
    CHECK_EQ(box_of("rmsnorm[c](A[n, c], B[n, c], 0.1) - C[n, c]"), "rmsnorm(A, B, 0.1) | −C");
}

TEST_CASE("a mask within an expression has its condition") {
    CHECK_EQ(box_of("B[n, c] + (if n < c then A[n, c] else 0)"), "B | +(if n<c | then A else 0)");
    CHECK_EQ(box_of("if causal[n, c]() then exp(A[n, c] - D[n]) else 0"),
             "if causal | then exp(A−D) | else 0");
    CHECK_EQ(box_of("sigmoid(if n < c then A[n, c] else -inf)"),
             "sigmoid(if n<c | then A else −∞)");
    CHECK_EQ(box_of("logsumexp[c](if n < c then A[n, c] else -inf) - B[n, c]"),
             "logsumexp(if n<c | then A else −∞) | −B");
}

TEST_CASE("a glyph or a name stands for an operation of arrays alone") {
    CHECK_EQ(box_of("softmax[c](A[n, c])"), "");
    CHECK_EQ(box_of("softmax[c](-A[n, c])"), "softmax(−A)");
    CHECK_EQ(box_of("softmax[c](A[n, c] * 2)"), "softmax(A·2)");
    CHECK_EQ(box_of("softmax[c](if n < c then A[n, c] else -inf)"),
             "softmax(if n<c | then A else −∞)");
    CHECK_EQ(box_of("relu(sum(c) exp(A[n, c]))"), "relu(Σ_c exp(A))");
    CHECK_EQ(box_of("sigmoid(max(c) A[n, c])"), "sigmoid(max_c A)");
    CHECK_EQ(box_of("softplus(mean[c](A[n, c] ^ 2))"), "softplus(Σ_c A^2 | /c)");
    CHECK_EQ(box_of("relu(max(A[n, c], B[n, c]))"), "relu(max(A, B))");
}

TEST_CASE("a name in a box has the numbers that were given with it") {
    CHECK_EQ(box_of("softcap(A[n, c], 30)"), "softcap | cap=30");
    CHECK_EQ(box_of("rmsnorm[c](A[n, c], B[n, c], 2 * 0.05)"), "rmsnorm | eps=0.1");
}

TEST_CASE("what a sum computes of its factors stands in boxes before the cup") {
    const auto drawn = [](const std::string& value) {
        SourceMap sources;
        const Result<Checked> checked =
            load_diagram(sources, "factors.ncd",
                         "diagram factors {\n  axis n = 8, c = 4, k = 6\n"
                         "  input X[n, k], V[n, k], W[k, c], s[k] : f32\n"
                         "  output Y[n, c] : f32 = " +
                             value + "\n}\n");
        REQUIRE(checked.has_value());
        const State state = initial_state(checked->diagram);
        const drawing::Shown shown = drawing::with_factors_apart(state.diagram, state.relabelling);
        std::string text;
        for (const drawing::Unit& unit : drawing::units_of(shown.diagram, shown.relabelling)) {
            text += text.empty() ? "" : ", ";
            if (unit.glyph == drawing::GlyphKind::Contraction) text += "cup";
            for (const drawing::MathText& line : unit.label) text += to_unicode(line);
        }
        return text;
    };
    CHECK_EQ(drawn("sum(k) relu(X[n, k] + s[k]) * W[k, c]"), "relu(X+s), cup");
    CHECK_EQ(drawn("sum(k) W[k, c] * exp(X[n, k]) / 2"), "exp, cup");
    CHECK_EQ(drawn("sum(k) relu(X[n, k] + s[k]) * tanh(W[k, c] - s[k])"),
             "relu(X+s), tanh(W−s), cup");
    CHECK_EQ(drawn("sum(k) (X[n, k] - s[k]) * (X[n, k] - s[k]) * W[k, c]"), "X−s, cup");
    CHECK_EQ(drawn("sum(k) exp(X[n, k] * W[k, c])"), "Σ_k exp(X·W)");
    CHECK_EQ(drawn("relu((sum(k) exp(X[n, k]) * W[k, c]) + 1)"), "exp, cup, relu(Σ+1)");
}

TEST_CASE("a cup has its factor, however long the name in it") {
    for (const std::string name :
         {"d", "head_dimension_of_the_model", "a_head_dimension_of_names_without_end"}) {
        SourceMap sources;
        const Result<Checked> checked = load_diagram(
            sources, "factor.ncd",
            "diagram scores {\n  axis q = 8, x = 4, " + name + " = 16\n  input Q[q, " + name +
                "], K[x, " + name + "] : bf16\n  output S[q, x] : f32 = sum(" + name + ") Q[q, " +
                name + "] * K[x, " + name + "] * rsqrt(size(" + name + "))\n}\n");
        REQUIRE(checked.has_value());
        const State state = initial_state(checked->diagram);
        const drawing::Unit unit = drawing::units_of(state.diagram, state.relabelling).back();
        CHECK_EQ(unit.glyph, drawing::GlyphKind::Contraction);
        CHECK_NE(to_unicode(unit.factor).find("√"), std::string::npos);
    }
}

TEST_CASE("a formula without room in a box leaves parts out, not all") {
    std::string term = "A[n, c]";
    for (int i = 0; i < 24; ++i) term = "tanh(" + term + " - B[n, c] ^ 2)";
    const std::string text = box_of(term + " / C[n, c]");
    CHECK_NE(text.find("…"), std::string::npos);
    CHECK_NE(text.find("/C"), std::string::npos);
}

}  // namespace napkin::test
