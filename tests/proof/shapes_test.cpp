// Shapes that proofs are made at, and what is refused because it takes too much.
#include <random>
#include <set>

#include "derive/proof/input_sets.h"
#include "derive/proof/limits.h"
#include "derive/proof/proof.h"
#include "diagrams/check.h"
#include "tests/proof/subjects.h"

namespace napkin::test {
namespace {

/// The failures of a proof, or why there is none; empty where it is proved.
std::string wrong_with(const std::string& diagram, const std::string& derivation,
                       const Sizes& fixed = {}) {
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("test.ncd", diagram));
    if (!file) return rendered(file.error(), sources);
    const Result<proof::Proof> proof =
        proof::prove({sources, *file, commands(derivation), fixed}, {});
    if (!proof) return rendered(proof.error(), sources);
    return proof->failures().empty() ? "" : proof->failures().front();
}

constexpr const char* kAttention = R"(diagram attention {
  axis q = 512, x = 512, d = 64
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})";

constexpr const char* kScales = R"(diagram scales {
  axis m = 512, n = 512, k = 4096, s = k // 128
  input X[m, k] : bf16
  input W[k, n] : i8
  input scale[s, n]
  output Y[m, n] = sum(k) X[m, k] * W[k, n] * scale[k // 128, n]
})";

constexpr const char* kPaged = R"(diagram paged {
  axis b = 8, x = 1024, d = 128, page = x // 16, slot = 16, pool = 256
  input Q[b, d], K[pool, slot, d], V[pool, slot, d] : bf16
  input table[b, page], len[b] : i32
  S[b, x] = if x < len[b] then sum(d) Q[b, d] * K[table[b, x // 16], x % 16, d] else -inf
  P[b, x] = softmax[x](S[b, x])
  output O[b, d] = sum(x) P[b, x] * V[table[b, x // 16], x % 16, d]
})";

}  // namespace

TEST_CASE("shapes: axes are longer where a mask hides everything from short ones") {
    for (const char* mask :
         {"x >= q + 90", "q - x >= 64", "x >= 40 and x < 60", "q >= 100 or x < 0"})
        for (const char* derivation :
             {"fuse all\ngroup q by 64\nstream x by 32", "fuse all\nsplit-stream x by 64"}) {
            CAPTURE(mask);
            CAPTURE(derivation);
            const std::string hidden =
                std::string(
                    "diagram hidden { axis q = 512, x = 512, d = 2\n input Q[q, d], K[x, "
                    "d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = "
                    "softmax[x](if ") +
                mask + " then S[q, x] else -inf)\n output O[q, d] = sum(x) P[q, x] * V[x, d] }";
            CHECK_EQ(wrong_with(hidden, derivation), "");
        }
    // Where nothing is visible at any size, it is said.
    CHECK_NE(wrong_with("diagram none { axis q = 512, x = 512\n input S[q, x]\n output Y[q] = "
                        "logsumexp[x](if q // 8 == x // 8 and x >= q + 9 then S[q, x] else -inf) }",
                        ""),
             "");
}

TEST_CASE("shapes: axes that are divided have two groups or more, whatever the tiles") {
    for (const char* derivation :
         {"", "group m by 128\ngroup n by 128\nstream k by 64", "stream k by 128", "stream k by 32",
          "split-axis k as r by 128"}) {
        CAPTURE(derivation);
        for (const proof::Shape& shape : shapes_of(kScales, derivation, {}))
            CHECK_EQ(shape.sizes.at("k"), 256);
        CHECK_EQ(wrong_with(kScales, derivation), "");
    }
    for (const char* derivation : {"", "fuse all\nstream x by 64", "fuse all\nstream x by 8"}) {
        CAPTURE(derivation);
        for (const proof::Shape& shape : shapes_of(kPaged, derivation, {}))
            CHECK_EQ(shape.sizes.at("x"), 32);
        CHECK_EQ(wrong_with(kPaged, derivation), "");
    }
}

TEST_CASE(
    "shapes: what is split is divided, an axis of another's size too, and as often as it is "
    "split") {
    const char* kAliases = R"(diagram aliases {
  axis q = 64, x = 48, d = 32, e = d, f = e + d, page = x // 16
  input X[q, e], Z[q, f], V[page, e] : bf16
  output Y[q, e] = X[q, e] + 1
  output W[q, f] = Z[q, f] * 2
  output O[x, e] = V[x // 16, e]
})";
    for (const char* derivation :
         {"split-axis e as e1 by 4", "split-axis e as e1 by 4\nsplit-axis e as e2 by 4",
          "split-axis f as f1 by 16\nsplit-axis f as f2 by 2",
          "split-axis q as q1 by 8\nsplit-axis q as q2 by 2\nsplit-axis q1 as q3 by 2"}) {
        CAPTURE(derivation);
        CHECK_EQ(wrong_with(kAliases, derivation), "");
    }
}

TEST_CASE("shapes: what an earlier split or a join made is split again") {
    const std::string product = R"(diagram product {
  axis m = 16, k = 48
  input A[m, k], x[k]
  output y[m] = sum(k) A[m, k] * x[k]
})";
    for (const char* derivation :
         {"split-axis k as a by 24\nsplit-axis a as b by 2\nsplit-axis a as c by 4",
          "split-axis k as a by 24\nsplit-axis a as b by 12\nsplit-axis b as c by 6\n"
          "split-axis c as d by 3\nstream d by 1",
          "split-axis k as a by 6\nsplit-axis a as b by 2\nsplit-axis a as c by 3",
          "split-axis k as a by 12\njoin-axes k, a as r\nsplit-axis r as s by 8\n"
          "split-axis s as t by 4\nsplit-axis s as u by 2",
          "split-axis k as a by 12\nsplit-axis a as b by 4\njoin-axes a, b as c\n"
          "split-axis c as d by 6\nsplit-axis c as e by 2"}) {
        CAPTURE(derivation);
        CHECK_EQ(wrong_with(product, derivation), "");
        for (const proof::Shape& shape : shapes_of(product, derivation, {})) {
            CAPTURE(shape.sizes.at("k"));
            CHECK_LE(shape.sizes.at("k"), 48);
        }
    }
    // Of a joined pair the axis is divided that does not keep its size.
    for (const char* sizes : {"m = 3, k = 48", "m = 48, k = 3"})
        CHECK_EQ(wrong_with(std::string("diagram pair {\n axis ") + sizes +
                                "\n input A[m, k]\n output y[m, k] = A[m, k] + 1\n}",
                            "join-axes m, k as r\nsplit-axis r as s by 8\nsplit-axis s as t by 2"),
                 "");
    CHECK_EQ(wrong_with(product, "split-axis m as n by 8\nsplit-axis n as o by 4", {{"m", 16}}),
             "");
}

TEST_CASE("shapes: a ragged group where the diagram has one") {
    const std::string diagram = R"(diagram scales {
  axis m = 512, k = 4096, s = (k + 127) // 128
  input X[m, k], scale[s]
  output Y[m] = sum(k) X[m, k] * scale[k // 128]
})";
    for (const proof::Shape& shape : shapes_of(diagram, "stream k by 64", {})) {
        CHECK_GT(shape.sizes.at("k"), 256);
        CHECK_NE(shape.sizes.at("k") % 128, 0);
    }
    CHECK_EQ(wrong_with(diagram, "stream k by 64"), "");
}

TEST_CASE("shapes: other numbers of the diagram that tie sizes are kept") {
    const std::string diagram = R"(diagram halves {
  axis x = 512, d = 128, f = 64
  input K[x, d], sine[x, f]
  output R[x, d] = (if d < 64 then -K[x, d + 64] else K[x, d - 64]) * sine[x, d % 64]
})";
    for (const proof::Shape& shape : shapes_of(diagram, "group x by 32", {})) {
        CHECK_EQ(shape.sizes.at("d"), 128);
        CHECK_LT(shape.sizes.at("x"), 24);
    }
    CHECK_EQ(wrong_with(diagram, "group x by 32"), "");
}

TEST_CASE("shapes: taps of a filter that are split reach no further than its input") {
    for (const char* taps : {"3", "5", "9"}) {
        const std::string diagram = std::string("diagram filter {\n  axis p = 16, r = ") + taps +
                                    ", k = 8\n  axis n = p + r - 1\n  input X[n, k], W[r, k]\n"
                                    "  output Y[p] = sum(r, k) X[p + r, k] * W[r, k]\n}";
        CAPTURE(taps);
        CHECK_EQ(wrong_with(diagram, std::string("split-axis r as s by ") + taps), "");
    }
    CHECK_EQ(wrong_with("diagram filter {\n  axis p = 16, r = 3, k = 8\n  axis n = p + 2\n"
                        "  input X[n, k], W[r, k]\n"
                        "  output Y[p] = sum(r, k) X[p + r, k] * W[r, k]\n}",
                        "split-axis r as s by 3"),
             "");
}

TEST_CASE("shapes: attention of three axes, whose pairs have six, is small enough") {
    CHECK_EQ(wrong_with("diagram video { axis t = 16, i = 48, j = 80, d = 128, w = 24\n"
                        "axis s = t, u = i, v = j\n"
                        "input Q[t, i, j, d], K[s, u, v, d], V[s, u, v, d] : bf16\n"
                        "S[t, i, j, s, u, v] = sum(d) Q[t, i, j, d] * K[s, u, v, d]\n"
                        "M[t, i, j, s, u, v] = if neighbourhood[i, u](size(w), 1, 1) "
                        "then S[t, i, j, s, u, v] else -inf\n"
                        "P[t, i, j, s, u, v] = softmax[s, u, v](M[t, i, j, s, u, v])\n"
                        "output O[t, i, j, d] : bf16 = sum(s, u, v) P[t, i, j, s, u, v] * "
                        "V[s, u, v, d]\nweave h = 8 }",
                        "fuse all\ngroup t by 4\ngroup i by 4\ngroup j by 8\nstream s by 4\n"
                        "stream u by 8\nstream v by 4"),
             "");
}

TEST_CASE("proofs: sizes that take too much are refused at once, with the limit") {
    for (const Sizes& fixed :
         {Sizes{{"x", 100000}}, Sizes{{"x", 1000000000000}}, Sizes{{"q", 3000}, {"x", 3000}}}) {
        const std::string wrong =
            wrong_with(kAttention, "fuse all\ngroup q by 64\nstream x by 32", fixed);
        CHECK(wrong.find("too long: it takes more than") != std::string::npos);
    }
    // An input that hardly anything is read of.
    CHECK(wrong_with("diagram d { axis n = 8, m = 9\n input X[n, m]\n output Y[n] = X[n, 0] }", "",
                     {{"m", 10000000}})
              .find("more than 1000000 values") != std::string::npos);
}

TEST_CASE("proofs: work is counted before it is done") {
    const Diagram diagram = load(R"(diagram product {
  axis m = 8, n = 6, k = 10
  input A[m, k], B[k, n]
  output C[m, n] = sum(k) A[m, k] * B[k, n]
})");
    const Work plain = work_of(diagram);
    CHECK_EQ(plain.values, 80 + 60 + 48);
    CHECK_EQ(plain.places, 480);
    const auto work = [&](const std::string& derivation) {
        return work_of(program_of(derive(diagram, derivation)));
    };
    CHECK_GE(work("group m by 2\nstream k by 3").places, 480);
    CHECK_LE(work("group m by 2\nstream k by 3").places, 2 * 480);
    CHECK_GT(work("group m by 1\ngroup n by 1").steps, work("").steps);
    const auto held = [&](const std::string& derivation) {
        const State state = derive(diagram, derivation);
        return held_by_run(state.diagram, program_of(state));
    };
    CHECK_EQ(held("").inputs, 80 + 60);
    CHECK_EQ(held("").results, 48);
    CHECK_EQ(held("").tiles, 80 + 60 + 48);
    CHECK_EQ(held("group m by 2\nstream k by 3").results, 48);
    CHECK_LE(held("group m by 2\nstream k by 3").tiles, 2 * 3 + 3 * 6 + 2 * (2 * 6));
}

TEST_CASE("sets of inputs are those that were united") {
    constexpr std::size_t kInputs = 1000;
    proof::InputSets sets(kInputs);
    std::mt19937 random(1);
    std::vector<std::pair<proof::InputSet, std::set<std::size_t>>> known{{{}, {}}};
    for (int i = 0; i < 2000; ++i) {
        const auto& a = known[random() % known.size()];
        if (i % 3 == 0) {
            const std::size_t input = random() % kInputs;
            known.push_back({sets.single(input), {input}});
            continue;
        }
        const auto& b = known[random() % known.size()];
        std::set<std::size_t> both = a.second;
        both.insert(b.second.begin(), b.second.end());
        known.push_back({sets.unite(a.first, b.first), std::move(both)});
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto& [set, inputs] = known[i];
        CHECK(sets.missing(set, {}) == std::vector<std::size_t>(inputs.begin(), inputs.end()));
        const auto& [other, others] = known[(i * 7 + 1) % known.size()];
        CHECK_EQ(set == other, inputs == others);
    }
}

}  // namespace napkin::test
