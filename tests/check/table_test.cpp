// Small diagrams and what they check to: hoisting, weaving, sizes, selections, proofs of bounds.
#include <doctest/doctest.h>

#include <set>

#include "diagrams/check.h"
#include "diagrams/symbol_names.h"

namespace napkin {
namespace {

/// The lines of the printed diagram that define arrays.
std::string statements_of(const Diagram& diagram) {
    const std::string text = print(diagram);
    std::string kept;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        const bool declares = line.starts_with("diagram ") || line.starts_with("axis ") ||
                              line.starts_with("weave ") || line.starts_with("input ") ||
                              line.starts_with("param ");
        if (!declares) kept += line + "\n";
        at = end + 1;
    }
    return kept;
}

Result<Checked> checked_lines(const std::string& lines) {
    SourceMap sources;
    return load_diagram(sources, "t.ncd",
                        "diagram t {\n  axis q = 8, x = 12, d = 4\n"
                        "  input Q[q, d], K[x, d] : f32\n" +
                            lines + "\n}\n");
}

struct Case {
    const char* lines;
    const char* expected;
};

void check_table(const std::vector<Case>& cases) {
    for (const Case& each : cases) {
        const std::string lines = each.lines;
        INFO(lines);
        const Result<Checked> checked = checked_lines(each.lines);
        REQUIRE(checked.has_value());
        CHECK_EQ(statements_of(checked->diagram), each.expected);
    }
}

TEST_CASE("reductions inside expressions become statements of their own") {
    check_table({
        // The whole right side is the fold itself.
        {"output S[q, x] = sum(d) Q[q, d] * K[x, d] / 2",
         "output S[q, x] : f32 = sum(d) Q[q, d] * K[x, d] / 2\n"},
        // Parts become folds over exactly the axes they need, ordered as in the target.
        {"output S[x, q] = (sum(d) Q[q, d] * K[x, d]) + max(d) Q[q, d]",
         "S.1[x, q] : f32 = sum(d) Q[q, d] * K[x, d]\n"
         "S.2[q] : f32 = max(d) Q[q, d]\n"
         "output S[x, q] : f32 = S.1[x, q] + S.2[q]\n"},
        // Equal parts are shared; a reduction hides the target's axis.
        {"output P[q, d] = (Q[q, d] - max(d) Q[q, d]) / (1 + abs(max(d) Q[q, d]))",
         "P.1[q] : f32 = max(d) Q[q, d]\n"
         "output P[q, d] : f32 = (Q[q, d] - P.1[q]) / (1 + abs(P.1[q]))\n"},
        {"output M[q, d] = max(d) Q[q, d]",
         "M.1[q] : f32 = max(d) Q[q, d]\noutput M[q, d] : f32 = M.1[q]\n"},
        // A target axis that the value does not use repeats the value.
        {"output M[q, x] = sum(d) Q[q, d]",
         "M.1[q] : f32 = sum(d) Q[q, d]\noutput M[q, x] : f32 = M.1[q]\n"},
        // Nested: the inner fold's free axis is folded by the outer one.
        {"output S = sum(q) exp(sum(d) Q[q, d] * K[0, d])",
         "S.1[q] : f32 = sum(d) Q[q, d] * K[0, d]\noutput S : f32 = sum(q) exp(S.1[q])\n"},
        // Definitions leave no trace but the box.
        {"output P[q, d] : bf16 = softmax[d](2 * Q[q, d])",
         "# softmax[d], drawn as triangle, defines P\n"
         "P.1[q] : f32 = max(d) 2 * Q[q, d]\n"
         "P.2[q] : f32 = sum(d) exp(2 * Q[q, d] - P.1[q])\n"
         "output P[q, d] : bf16 rounded = exp(2 * Q[q, d] - P.1[q]) / P.2[q]\n"},
        {"output L = logsumexp[q, d](Q[q, d])",
         "# logsumexp[q, d], drawn as box, defines L\n"
         "L.1 : f32 = max(q, d) Q[q, d]\n"
         "L.2 : f32 = sum(q, d) exp(Q[q, d] - L.1)\n"
         "output L : f32 = L.1 + log(L.2)\n"},
        {"output C[q, d] = scan[d] sum Q[q, d]\noutput E[d] = exp(scan[d] max K[0, d])",
         "output C[q, d] : f32 = scan[d] sum Q[q, d]\n"
         "E.1[d] : f32 = scan[d] max K[0, d]\noutput E[d] : f32 = exp(E.1[d])\n"},
        {"output I[q] = argmax(d) Q[q, d]\noutput G[q] = K[argmax(d) Q[q, d], 0]",
         "I.0[q] : f32, output I[q] : i32 = argmax[d](Q[q, d])\n"
         "G.1[q] : f32, G.2[q] : i32 = argmax[d](Q[q, d])\n"
         "output G[q] : f32 = K[G.2[q], 0]\n"},
    });
}

TEST_CASE("a hoisted reduction takes along the condition that its accesses need, and no other") {
    check_table({
        {"output S[q] = if q >= 1 then sum(d) Q[q - 1, d] else 0",
         "S.1[q] : f32 = sum(d) (if q >= 1 then Q[q - 1, d] else 0)\n"
         "output S[q] : f32 = if q >= 1 then S.1[q] else 0\n"},
        {"output S[q] = if q < 1 then 0 else max(d) Q[q - 1, d]",
         "S.1[q] : f32 = max(d) (if not q < 1 then Q[q - 1, d] else -inf)\n"
         "output S[q] : f32 = if q < 1 then 0 else S.1[q]\n"},
        {"output S[q, x] = if x <= q then sum(d) Q[q, d] * K[x, d] else -inf",
         "S.1[q, x] : f32 = sum(d) Q[q, d] * K[x, d]\n"
         "output S[q, x] : f32 = if x <= q then S.1[q, x] else -inf\n"},
        // What is known of an axis outside says nothing of the reduction's own.
        {"output S[q, d] = if d < 2 and q >= 1 then sum(d) Q[q - 1, d] else 0",
         "S.1[q] : f32 = sum(d) (if q >= 1 then Q[q - 1, d] else 0)\n"
         "output S[q, d] : f32 = if d < 2 and q >= 1 then S.1[q] else 0\n"},
    });
}

TEST_CASE("weaves reach what depends on woven inputs") {
    check_table({
        {"output S[q, x] = sum(d) Q[q, d] * K[x, d]\nweave b = 2, h = 3",
         "output S[b, h, q, x] : f32 = sum(d) Q[b, h, q, d] * K[b, h, x, d]\n"},
        {"N[x] = sum(d) K[x, d]\noutput S[q] = sum(d, x) Q[q, d] * N[x]\nweave g = 2 over Q",
         "N[x] : f32 = sum(d) K[x, d]\noutput S[g, q] : f32 = sum(d, x) Q[g, q, d] * N[x]\n"},
        // An input that names some axes of the line gets exactly those.
        {"input slope[h] : f32\noutput S[q, d] = Q[q, d] * slope[h] + K[0, d]\n"
         "weave b = 2, h = 3",
         "output S[b, h, q, d] : f32 = Q[b, h, q, d] * slope[h] + K[b, h, 0, d]\n"},
        // An index by a woven axis is dependence too; a fold over it ends it.
        {"output S[q, d] = Q[q, d] + K[0, d] * h\noutput T = sum(q, d, g) Q[q, d]\n"
         "weave h = 3 over K\nweave g = 2 over Q",
         "output S[h, g, q, d] : f32 = Q[g, q, d] + K[h, 0, d] * h\n"
         "output T : f32 = sum(q, d, g) Q[g, q, d]\n"},
        // Hoisted parts get only the axes that they need.
        {"output S[q, x] = (sum(d) Q[q, d]) + sum(d) K[x, d]\nweave b = 2\nweave g = 3 over Q",
         "S.1[b, g, q] : f32 = sum(d) Q[b, g, q, d]\nS.2[b, x] : f32 = sum(d) K[b, x, d]\n"
         "output S[b, g, q, x] : f32 = S.1[b, g, q] + S.2[b, x]\n"},
        {"output S[q, x] = sum(d) Q[q, d] * K[x, d]\nweave b = 2, h = 3\nlayout S[b, q, h, x]",
         "output S[b, h, q, x] : f32 layout [b, q, h, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d]\n"},
    });
}

TEST_CASE("accesses are proved where they are in range, and refused where they are not") {
    struct Access {
        const char* lines;
        bool inside;
    };
    const Access cases[] = {
        {"axis p = 6, r = 3\noutput S[p, d] = sum(r) Q[p + r, d] * K[0, d]", true},
        {"axis p = 7, r = 3\noutput S[p, d] = sum(r) Q[p + r, d] * K[0, d]", false},
        {"axis p = 4\noutput S[p, d] = Q[2 * p + 1, d] * K[3 * p, d]", true},
        {"output S[q, d] = Q[7 - q, d] * K[q + 4, d]", true},
        {"output S[x, d] = Q[x // 2, d] + Q[x % 8, d] + K[x, d]", true},
        {"output S[x, d] = Q[x // 2 + x % 4, d] + K[x, d]", false},
        {"output S[x, d] = Q[min(x, 7), d] + Q[max(x - 4, 0), d] + K[x, d]", true},
        {"output S[x, d] = Q[abs(x - 7), d] + K[x, d]", true},
        {"output S[x, d] = Q[abs(x - 3), d] + K[x, d]", false},
        {"output S[q, d] = (if q >= 2 and q < 5 then Q[q - 2, d] + Q[q + 3, d] else 0) + K[0, d]",
         true},
        {"output S[q, d] = if q < 2 then K[0, d] else Q[q - 2, d]", true},
        {"output S[q, d] = if q < 2 or q > 6 then K[0, d] else Q[q + 1, d] + Q[q - 2, d]", true},
        {"output S[q, d] = if q < 2 or q > 6 then Q[q + 1, d] else K[q, d]", false},
        {"output S[q, d] = if not (q == 0) then Q[q - 1, d] else K[0, d]", true},
        {"output S[q, d] = if q != 7 then Q[q + 1, d] else K[0, d]", true},
        {"output S[q] = sum(x) if x >= 1 and Q[x // 2, 0] > K[x - 1, 0] then 1 else 0", true},
        {"output S[q] = sum(x) if Q[x // 2, 0] > K[x - 1, 0] and x >= 1 then 1 else 0", false},
        {"output S[q, x] = if x <= q then Q[x, 0] else K[q - x + 2, 0]", false},
        {"output S[q, x] = if x <= q then Q[q - x, 0] else K[x - q, 0]", true},
        {"let lo[q] = min(max(q - 3, 0), size(q) - 5)\naxis w = 5\n"
         "output S[q, d] = sum(w) Q[lo[q] + w, d] + K[0, d]",
         true},
        // Bits: a shift by a number is exact, of others a range is known.
        {"output S[q, d] = Q[shift_right(q, 2), d] + Q[bit_and(q, q // 2), d] + K[0, d]", true},
        {"output S[q, d] = Q[shift_left(q // 2, 1), d] + Q[bit_or(q, 4), d] + K[0, d]", true},
        {"output S[q, d] = Q[bit_xor(q, 1), d] + Q[7 - shift_right(-q - 1, 40), d] + K[0, d]",
         false},
        {"output S[q, d] = Q[bit_xor(q, 1), d] + Q[6 - shift_right(-q - 1, 40), d] + K[0, d]",
         true},
        {"output S[x, d] = K[bit_xor(x, 4), d] + Q[0, d]", false},
        {"output S[x, d] = (if bit_xor(x, 4) < 12 then K[bit_xor(x, 4), d] else 0) + Q[0, d]",
         true},
        {"output S[q, d] = Q[bit_and(q - 4, q), d] + Q[bit_and(q, 255), d] + K[0, d]", true},
        {"output S[q, d] = Q[bit_and(q - 4, q - 5), d] + K[0, d]", false},
        {"output S[q, d] = Q[shift_right(q, q - 3), d] + K[0, d]", true},
        {"output S[q, d] = Q[shift_left(q, 1), d] + K[0, d]", false},
        {"input i[q] : i64\noutput S[q, d] = (if shift_left(i[q], 40) < 8 then 1 else 0) * "
         "Q[min(bit_and(shift_left(bit_and(i[q], 65535), 50), q - 8), 7), d] + K[0, d]",
         false},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[t] = T[bit_and(t, t // 2)] + "
         "T[shift_right(t, 3)] + (if bit_xor(t, 1) < size(t) then T[bit_xor(t, 1)] else 0) + "
         "Q[0, 0] * K[0, 0]",
         true},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[t] = T[bit_xor(t, 1)] + Q[0, 0] * K[0, 0]",
         false},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[t] = T[shift_left(t, 1) - t] + "
         "Q[0, 0] * K[0, 0]",
         false},
        // A run-time size may be anything.
        {"axis t = 8 dynamic, u = t\ninput T[t] : f32\n"
         "output S[u] = T[u] * T[size(t) - 1 - u] + Q[0, 0] + K[0, 0]",
         true},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[q] = T[q + 0] + Q[q, 0] + K[0, 0]", false},
        {"axis t = 8 dynamic, r = 3, n = t + r - 1\ninput T[n] : f32\n"
         "output S[t] = sum(r) T[t + r] + Q[0, 0] * K[0, 0]",
         true},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[q] = T[q % size(t)] + Q[q, 0] * K[0, 0]",
         true},
        {"axis t = 8 dynamic\ninput T[t] : f32\noutput S[q] = T[q // size(t)] + Q[q, 0] * K[0, 0]",
         false},
        {"axis t = 8 dynamic, r = t // 4 + 1\ninput T[r] : f32\n"
         "output S[t] = T[t // 4] + Q[0, 0] * K[0, 0]",
         true},
        // An axis is an index like any other.
        {"axis n = q + 1\ninput T[n] : f32\n"
         "output S[q] = T[q] + T[q + 0] + T[q + 1] + Q[0, 0] + K[0, 0]",
         true},
        // Data: by contract, by a guard, by clamping, through an integer array.
        {"input i[q] : i32\noutput S[q, d] = Q[i[q], d] + K[0, d]", true},
        {"input i[q] : i32\noutput S[q, d] = K[i[q] + 1, d] * Q[q, d]", false},
        {"input i[q] : i32\n"
         "output S[q, d] = if i[q] >= 0 and i[q] < 9 then K[i[q] + 1, d] else Q[q, d]",
         true},
        {"input i[q] : i32\noutput S[q, d] = K[min(max(i[q], 0), 11), d] * Q[q, d]", true},
        {"axis t = 8 dynamic, k = 2\ninput T[q, t] : f32\nval[q, k], at[q, k] = topk[t](T[q, t])\n"
         "output S[q, k] = val[q, k] * T[q, at[q, k]] + Q[0, 0] * K[0, 0]",
         true},
        {"j[q] : i8 = q + 200\noutput S[q, d] = Q[j[q] - 200, d] * K[0, d]", false},
        {"input i[q] : i32\nj[q] = i[q] % 12\noutput S[q, d] = K[j[q], d] * Q[q, d]", true},
        // The contract of an input holds whichever access comes first.
        {"input i[q] : i32\noutput S[q, d] = (if i[q] < size(x) - 1 then K[i[q] + 1, d] else 0) - "
         "K[i[q], d] + Q[q, d]",
         true},
        {"input i[q] : i32\noutput S[q, d] = K[i[q], d] - (if i[q] < size(x) - 1 then K[i[q] + 1, "
         "d] else 0) + Q[q, d]",
         true},
        {"input i[q] : i32\noutput S[q, d] = K[i[q] + 1, d] - K[i[q], d] + Q[q, d]", false},
    };
    for (const Access& each : cases) {
        const std::string lines = each.lines;
        INFO(lines);
        const Result<Checked> checked = checked_lines(each.lines);
        CHECK_EQ(checked.has_value(), each.inside);
        if (checked.has_value()) continue;
        for (const Diagnostic& diagnostic : checked.error().list)
            CHECK(std::set<std::string>{"E0408", "E0409"}.contains(diagnostic.code));
    }
}

TEST_CASE("an index read from an input becomes its contract, unless a guard makes it needless") {
    struct Contract {
        const char* lines;
        const char* axis;
    };
    const Contract cases[] = {
        {"input i[q] : i32\noutput S[q, d] = K[i[q], d] + Q[q, d]", "x"},
        {"input i[q] : i32\noutput S[q, d] = K[i[q], d] + Q[i[q], d]", "q"},
        {"input i[q] : i32\noutput S[q, d] = if i[q] == d then K[0, d] else Q[q, d]", ""},
        {"input i[q] : i32\n"
         "output S[q] = Q[q, 0] * (if i[q] >= 0 and i[q] < size(x) then sum(d) K[i[q], d] else 0)",
         ""},
    };
    for (const Contract& each : cases) {
        const std::string lines = each.lines;
        INFO(lines);
        const Result<Checked> checked = checked_lines(each.lines);
        REQUIRE(checked.has_value());
        const Array& input = checked->diagram[*find_array(checked->diagram, "i")];
        CHECK_EQ(input.indexes ? checked->diagram[*input.indexes].name : "", each.axis);
    }
}

TEST_CASE("sizes: overrides reach derived axes, run-time sizes spread to them") {
    SourceMap sources;
    const std::string text =
        "diagram t {\n  axis p = 6, r = 3, n = p + r - 1, e = n // 2\n  axis t = 9 dynamic, u = t\n"
        "  input X[n], Y[u] : f32\n"
        "  output S[p] = (sum(r) X[p + r]) + sum(e) X[2 * e] * Y[0] + sum(t) Y[t]\n}\n";
    const Result<Checked> checked = load_diagram(sources, "t.ncd", text, {{"p", 20}, {"t", 5}});
    REQUIRE(checked.has_value());
    const Sizes expected = {{"p", 20}, {"r", 3}, {"n", 22}, {"e", 11}, {"t", 5}, {"u", 5}};
    CHECK_EQ(sizes_of(checked->diagram), expected);
    CHECK(checked->diagram[*find_axis(checked->diagram, "u")].dynamic);
    CHECK(!checked->diagram[*find_axis(checked->diagram, "n")].dynamic);
    CHECK_EQ(print(checked->diagram[*find_axis(checked->diagram, "n")].size,
                   SymbolNames(checked->diagram.axes)),
             "p + r - 1");
}

TEST_CASE("types are inferred, or round where the user wrote them") {
    check_table({
        {"output B[q, x] = x <= q\noutput I[q] = 2 * q + 1\noutput R[q] = q / 2 + Q[q, 0] + K[0, "
         "0]",
         "output B[q, x] : bool = x <= q\noutput I[q] : i32 = 2 * q + 1\n"
         "output R[q] : f32 = q / 2 + Q[q, 0] + K[0, 0]\n"},
        {"input A[q] : i8, M[q] : bool\noutput S = sum(q) A[q] * A[q]\n"
         "output T[q, d] : f16 = bf16(if M[q] then Q[q, d] else K[0, d])",
         "output S : i32 = sum(q) A[q] * A[q]\n"
         "output T[q, d] : f16 rounded = bf16(if M[q] then Q[q, d] else K[0, d])\n"},
    });
}

TEST_CASE("an integer whose values may not fit 32 bits at every size of a run has 64") {
    check_table({
        {"axis t = 4 dynamic\ninput L[t] : i32, M[t] : i8\noutput I[t] = 4 * t\n"
         "output J[t] = 5 * t\noutput N[t] = I[t] + t\noutput S = sum(t) L[t]\n"
         "output C = sum(t) if M[t] > 0 then 1 else 0\noutput Z[t] = t - size(t)",
         "output I[t] : i32 = 4 * t\noutput J[t] : i64 = 5 * t\n"
         "output N[t] : i64 = I[t] + t\noutput S : i64 = sum(t) L[t]\n"
         "output C : i32 = sum(t) (if M[t] > 0 then 1 else 0)\n"
         "output Z[t] : i32 = t - size(t)\n"},
        {"input L[q] : i32\nA[q] = L[q] + 1\noutput v[d], w[d] = topk[q](A[q])\n"
         "output m = max(q) L[q]",
         "A[q] : i64 = L[q] + 1\noutput v[d] : i64, output w[d] : i32 = topk[q](A[q])\n"
         "output m : i32 = max(q) L[q]\n"},
    });
}

TEST_CASE("integers that a monoid of one's own leaves in their range keep their type") {
    const auto type_of = [](const std::string& monoid) {
        SourceMap sources;
        const Result<Checked> checked = load_diagram(
            sources, "t.ncd",
            monoid + "\ndiagram t {\naxis q = 8\ninput L[q] : i32\noutput m = own(q) L[q]\n}\n",
            {});
        REQUIRE(checked.has_value());
        return checked->diagram[*find_array(checked->diagram, "m")].type;
    };
    CHECK_EQ(type_of("monoid own(a; b) = max(a, b) identity 0"), ElementType::I32);
    CHECK_EQ(type_of("monoid own(a; b) = a + b identity 0"), ElementType::I64);
}

TEST_CASE("a monoid's combination is of named operations too, wherever they are defined") {
    const auto combination_of = [](const std::string& definitions) {
        SourceMap sources;
        const Result<Checked> checked =
            load_diagram(sources, "t.ncd",
                         definitions +
                             "\ndiagram t {\naxis q = 8\ninput L[q] : f32\n"
                             "output m = own(q) L[q]\n}\n",
                         {});
        INFO(definitions);
        REQUIRE(checked.has_value());
        return checked->diagram.monoids.back().combine;
    };
    CHECK_EQ(combination_of("monoid own(a; c) = capped(a + c, 2) identity 0\n"
                            "def capped(u, most) = clipped(u, most)\n"
                            "def clipped(a, c) = min(a, c)"),
             combination_of("monoid own(a; c) = min(a + c, 2) identity 0"));
    CHECK_EQ(combination_of("monoid own(a; c) = relu(a) + sigmoid(c) identity 0"),
             combination_of("monoid own(a; c) = max(a, 0) + 1 / (1 + exp(-c)) identity 0"));
    CHECK_EQ(combination_of("monoid own(a; c) = max(a, c, 0) identity 0"),
             combination_of("monoid own(a; c) = max(max(a, c), 0) identity 0"));
}

}  // namespace
}  // namespace napkin
