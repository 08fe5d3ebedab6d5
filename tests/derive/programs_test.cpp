// Tile programs: what they compute equals the reference, what they count equals the closed forms,
// at sizes that divide and sizes that do not.
#include "tests/derive/programs.h"
#include "tests/golden.h"

#include <algorithm>
#include <numeric>

namespace napkin::test {

namespace {

constexpr const char* kAttention = R"(
diagram attention {
  axis q = 13, x = 11, d = 5
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  weave h = 3
}
)";

constexpr const char* kCausal = R"(
diagram causal {
  axis q = 13, x = 17, d = 3
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = if x <= q + size(x) - size(q) then sum(d) Q[q, d] * K[x, d] else -inf
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
}
)";

constexpr const char* kMatmul = R"(
diagram matmul {
  axis a = 19, b = 23, c = 14
  input A[a, b], B[b, c]
  output Y[a, c] = sum(b) A[a, b] * B[b, c]
}
)";

std::int64_t parts(std::int64_t whole, std::int64_t part) {
    return (whole + part - 1) / part;
}

std::int64_t moved(const std::vector<Counters>& counters, Level level = Level::Block) {
    std::int64_t total = 0;
    for (const Counters& region : counters)
        if (region.transferred.count(level) != 0) total += region.transferred.at(level);
    return total;
}

}  // namespace

TEST_CASE("matmul: grouped on both sides and streamed, counted as abc(1/g_a + 1/g_c) + ac") {
    const Diagram diagram = load(kMatmul);
    for (std::int64_t ga : {1, 4, 19, 32})
        for (std::int64_t gc : {1, 5, 14})
            for (std::int64_t sb : {1, 6, 23, 64}) {
                const State state =
                    derive(diagram, "group a by " + std::to_string(ga) + "\ngroup c by " +
                                        std::to_string(gc) + "\nstream b by " + std::to_string(sb));
                const std::vector<Counters> counters = check_against_reference(state);
                CHECK_EQ(moved(counters),
                         19 * 23 * parts(14, gc) + 23 * 14 * parts(19, ga) + 19 * 14);
            }
}

TEST_CASE("attention: unfused, fused, grouped and streamed") {
    const Diagram diagram = load(kAttention);
    const std::int64_t q = 13;
    const std::int64_t x = 11;
    const std::int64_t d = 5;
    const std::int64_t h = 3;
    CHECK_EQ(moved(check_against_reference(initial_state(diagram))),
             h * (q * d + x * d + 5 * q * x - q * x + x * d + q * d));
    CHECK_EQ(moved(check_against_reference(derive(diagram, "fuse all"))),
             h * (2 * q * d + 2 * x * d));
    for (std::int64_t g : {1, 4, 13, 16})
        for (std::int64_t s : {1, 3, 11, 64}) {
            const State state = derive(diagram, "fuse S, P, O\ngroup q by " + std::to_string(g) +
                                                    "\nstream x by " + std::to_string(s));
            CHECK_EQ(moved(check_against_reference(state)),
                     h * (2 * q * d + 2 * x * d * parts(q, g)));
        }
}

TEST_CASE("attention nested at warps: each level has its own transfers") {
    const Diagram diagram = load(kAttention);
    const State state = derive(diagram,
                               "fuse all\ngroup q by 8 at l1\ngroup q by 2 at l2\nstream x by 4 at "
                               "l1\nstream x by 2 at l2");
    const std::vector<Counters> counters = check_against_reference(state);
    const std::int64_t h = 3;
    CHECK_EQ(moved(counters, Level::Block), h * (2 * 13 * 5 + 2 * 11 * 5 * 2));
    CHECK_EQ(moved(counters, Level::Warps), h * (2 * 13 * 5 + 2 * 11 * 5 * 7));
}

TEST_CASE(
    "an array read by an axis and by its alias is loaded once, unless one of them is divided") {
    const Diagram diagram = load(R"(
diagram latent {
  axis q = 13, x = 11, d = 5, e = d
  input Q[q, d], C[x, d]
  P[q, x] = softmax[x](sum(d) Q[q, d] * C[x, d])
  output O[q, e] = sum(x) P[q, x] * C[x, e]
}
)");
    const auto counted = [&](const std::string& steps) {
        return moved(check_against_reference(derive(diagram, steps)));
    };
    // Q and O once, C once for each of 4 groups; or as two tiles.
    CHECK_EQ(counted("fuse all\ngroup q by 4\nstream x by 3"), 2 * 13 * 5 + 4 * 11 * 5);
    CHECK_EQ(counted("fuse all\ngroup q by 4\ngroup e by 2 at l2\nstream x by 3"),
             2 * 13 * 5 + 2 * 4 * 11 * 5);
}

TEST_CASE("causal attention skips exactly the empty chunks") {
    const Diagram diagram = load(kCausal);
    for (std::int64_t g : {1, 4, 13})
        for (std::int64_t s : {1, 3, 8}) {
            const State state = derive(diagram, "fuse all\ngroup q by " + std::to_string(g) +
                                                    "\nstream x by " + std::to_string(s));
            const std::vector<Counters> counters = check_against_reference(state);
            std::int64_t visited = 0;
            for (std::int64_t start = 0; start < 13; start += g) {
                const std::int64_t last = std::min<std::int64_t>(start + g, 13) - 1 + 17 - 13;
                visited += parts(std::min<std::int64_t>(last + 1, 17), s);
            }
            CHECK_EQ(counters.front().chunks_visited, visited);
            CHECK_EQ(counters.front().chunks_visited + counters.front().chunks_skipped,
                     parts(13, g) * parts(17, s));
        }
}

TEST_CASE("the tile program of attention") {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "attention.ncd", kAttention);
    REQUIRE(checked.has_value());
    const State state = derive(checked->diagram, "fuse all\ngroup q by 4\nstream x by 8");
    check_golden("derive/attention_tile.txt", print(program_of(state), sources));
}

TEST_CASE("recolour: a refusal names the part that is a product") {
    const Diagram masked = load(R"(diagram masked {
  axis q = 32, x = 32, d = 16
  input Q[q, d], K[x, d] : bf16
  output S[q, x] = if x <= q then sum(d) Q[q, d] * K[x, d] else -inf
  output N[q, x] = if x <= q then sum(d) Q[q, d] else -inf
})");
    CHECK_EQ(refusal(masked, "recolour S at tensor-core"),
             "`S` is not a sum of products of two matrices; its part `S.1` is one");
    CHECK_EQ(refusal(masked, "recolour S.1 at tensor-core"), "applied");
    CHECK_EQ(refusal(masked, "recolour N at tensor-core"),
             "`N` is not a sum of products of two matrices; the tensor core multiplies what runs "
             "along some axes of the result by what runs along others");
}

TEST_CASE("refusals give their reason") {
    const Diagram diagram = load(kAttention);
    const std::vector<std::pair<std::string, std::string>> table = {
        {"group z by 4 in O", "there is no axis `z`"},
        {"group x by 4 in O", "`x` is reduced in O"},
        {"fuse all\ngroup d by 2", "`d` is used in unrelated ways here: folded in S, kept in O"},
        {"fuse all\nstream d by 2", "`d` is used in unrelated ways here: folded in S, kept in O"},
        {"group q by 4", "there are several regions: S, P and O"},
        {"fuse S, O", "`P` lies between them"},
        {"fuse all\nfuse S, O", "that is one region already"},
        {"fuse all\ngroup q by 4\ngroup q by 2", "grouped by 4 at block already"},
        {"fuse all\ngroup q by 4\ngroup q by 8 at l2", "a group at a lower level lies inside"},
        {"fuse all\nungroup q", "is not grouped"},
        {"fuse all\nunstream x", "is not streamed"},
        {"fuse all\nstream x by 4\nstream x by 2", "streamed by 4 at block already"},
        {"tile q by 4", "there is no rule `tile`"},
        {"stream x by 4 in P", "`P` carries `x` and depends on"},
        {"recolour P at tensor-core", "is not a sum of products"},
        {"retype O to f16", "has a type in the diagram"},
        {"retype Q to f16", "is an input"},
        {"split-axis q as r by 4", "4 does not divide `q` (13)"},
        {"fuse all\ngroup q by 4\nsplit-axis q as r by 13", "`q` is grouped; `ungroup q` first"},
        {"group q by 4 in S\nsplit-axis q as r by 13", "`q` is grouped; `ungroup q in S` first"},
        {"fuse all\nsplit-axis q as r by 13\nstream r by 2\njoin-axes q, r as z",
         "`r` is streamed; `unstream r` first"},
        {"group q by 4 at moon in O", "is no level"},
        {"recolour S at tensor-core\nfuse all\ngroup q by 5",
         "5 is no multiple of 16 (16: rows of the matrix instruction, S on the tensor core); "
         "choose 16"},
        {"fuse all\nrecolour S at tensor-core\nstream x by 4", "4 is no multiple of 8"},
        {"fuse all\nrecolour S at tensor-core\nrecolour O at tensor-core\nstream x by 8",
         "8 is no multiple of 16 (8: columns of the matrix instruction, S on the tensor core; 16: "
         "depth of the matrix instruction, O on the tensor core); choose 16"},
        {"fuse all\ngroup q by 4\nrecolour S at tensor-core", "4 is no multiple of 16"},
    };
    for (const auto& [text, reason] : table) {
        const std::string got = refusal(diagram, text);
        INFO(text, " said: ", got);
        CHECK(got.find(reason) != std::string::npos);
    }
}

TEST_CASE("a mask is stored in no type without infinity") {
    const Diagram diagram = load(R"(diagram masked {
  axis q = 13, x = 24
  input S[q, x] : f16
  M[q, x] = if x <= q then S[q, x] else -inf
  output P[q, x] = softmax[x](M[q, x])
})");
    CHECK(refusal(diagram, "retype M to e4m3").find("e4m3 has no infinity") != std::string::npos);
    CHECK_EQ(refusal(diagram, "retype M to e5m2"), "applied");
}

TEST_CASE("an intermediate without a type is stored in what holds the inputs' types") {
    struct Row {
        const char* a;
        const char* b;
        const char* stored;
    };
    for (const Row& row :
         {Row{"f32", "bf16", "f32"}, Row{"bf16", "bf16", "bf16"}, Row{"f16", "bf16", "f32"},
          Row{"bf16", "f16", "f32"}, Row{"f16", "e4m3", "f16"}, Row{"e4m3", "e4m3", "bf16"},
          Row{"e5m2", "e4m3", "bf16"}, Row{"bf16", "i8", "bf16"}}) {
        const Diagram diagram =
            load("diagram types { axis n = 3, k = 4\n input A[n, k] : " + std::string(row.a) +
                 "\n input B[k] : " + row.b +
                 "\n S[n, k] = exp(A[n, k]) * B[k]\n"
                 " output Y[n] = sum(k) S[n, k] }");
        INFO(row.a, " ", row.b);
        CHECK_EQ(name_of(storage_type(diagram, initial_state(diagram).relabelling,
                                      *find_array(diagram, "S"))),
                 row.stored);
    }
}

TEST_CASE("what divides a product has to divide a factor on the tensor core") {
    const auto said = [](const std::string& value) {
        return refusal(load("diagram d { axis a = 16, b = 16, c = 16\n"
                            " input A[a, b], B[b, c], w[b] : f32\n output Y[a, c] = sum(b) " +
                            value + " }"),
                       "recolour Y at tensor-core");
    };
    CHECK(said("A[a, b] * B[b, c] / w[b]").find("not a sum of products") != std::string::npos);
    CHECK(said("A[a, b] * B[b, c] / w[b]").find("divide a factor by it, as in `(u / w[b]) * v`") !=
          std::string::npos);
    CHECK_EQ(said("(A[a, b] / w[b]) * B[b, c]"), "applied");
    CHECK(said("exp(A[a, b] * B[b, c] / w[b])").find("divide a factor") == std::string::npos);
}

TEST_CASE("refusals name moves that apply") {
    const Diagram diagram = load(R"(diagram d {
  axis q = 13, x = 24
  input S[q, x] : f32
  output P[q, x] : f32 = softmax[x](S[q, x])
})");
    const std::string said = refusal(diagram, "stream x by 8");
    INFO(said);
    CHECK(said.find("`absorb-normaliser P as L` and `unfuse P` give the reduction a region") !=
          std::string::npos);
    CHECK(said.find("write `max(x) S` and `sum(x) exp(S - (max(x) S))` as statements") !=
          std::string::npos);
    check_against_reference(
        derive(diagram, "absorb-normaliser P as L\nunfuse P\nstream x by 8 in L"));
}

TEST_CASE("what one statement sums comes apart one sum at a time") {
    const Diagram diagram = load(R"(diagram d {
  axis m = 5, n = 6, k = 7, r = 3
  input A[m, k], B[k, n], C[m, r], D[r, n] : f32
  output Y[m, n] : f32 = (sum(k) A[m, k] * B[k, n]) + 2 * sum(r) C[m, r] * D[r, n]
})");
    const State state = derive(diagram, "unfuse Y\nunfuse Y_2\nstream k by 2 in Y_1");
    CHECK_EQ(state.steps[0].conditions.front(), "a region before Y makes Y_1 and Y_2");
    CHECK_EQ(state.steps[1].conditions.front(), "a region before Y_2 makes Y_1");
    check_against_reference(state);
}

constexpr const char* kPairs = R"(
diagram pairs {
  axis i = 6, u = 7, v = 9, d = 3
  input S[i, u, v], V[u, v, d], B[u], A[u, v]
  P[i, u, v] = softmax[u, v](if u <= i and v < 5 then S[i, u, v] + B[u] else -inf)
  output O[i, d] = sum(u, v) P[i, u, v] * V[u, v, d]
  output R[u] = sum(v) A[u, v]
  output W[u] = B[u] * 2
}
)";

TEST_CASE("two axes streamed at once: loops nest, each load stands in the loop it varies in") {
    const Diagram diagram = load(kPairs);
    for (std::int64_t su : {1, 3, 7})
        for (std::int64_t sv : {2, 9}) {
            const std::string steps = "fuse P, O\ngroup i by 2 in O\nstream u by " +
                                      std::to_string(su) + " in O\nstream v by " +
                                      std::to_string(sv) + " in O";
            const State state = derive(diagram, steps);
            const std::vector<Counters> counters = check_against_reference(state);
            // Each of the three groups of i sees u <= i + 1 and v < 5 only; B is loaded once for
            // every chunk of u, not for every pair of chunks.
            std::int64_t moved_values = 6 * 3;
            for (const std::int64_t last : {1, 3, 5}) {
                const std::int64_t rows = std::min<std::int64_t>(parts(last + 1, su) * su, 7);
                const std::int64_t columns = std::min<std::int64_t>(parts(5, sv) * sv, 9);
                moved_values += rows * columns * (2 + 3) + rows;
            }
            const auto counted = std::find_if(counters.begin(), counters.end(),
                                              [](const auto& each) { return each.region == "O"; });
            CHECK_EQ(counted->transferred.at(Level::Block), moved_values);
            CHECK(derive(diagram, steps + "\nunstream u in O").relabelling ==
                  derive(diagram, "fuse P, O\ngroup i by 2 in O\nstream v by " +
                                      std::to_string(sv) + " in O")
                      .relabelling);
        }
    const State nested =
        derive(diagram,
               "fuse P, O\ngroup i by 2 in O\nstream u by 4 in O\nstream v by 4 in O\n"
               "group i by 1 at l2 in O\nstream v by 2 at l2 in O");
    check_against_reference(nested);
}

TEST_CASE("axes that are streamed together are folded together") {
    const Diagram diagram = load(kPairs);
    const std::vector<std::pair<std::string, std::string>> table = {
        {"stream v by 2 in R\nstream u by 2 in R",
         "`A`: it is folded over some of `v, u` only; axes that are streamed together are folded "
         "together"},
        {"fuse P, O, W\nstream u by 2 in W\nstream v by 2 in W",
         "`W` is saved here and does not have all of `u, v`, so chunks of the others would save it "
         "again; and inside a chunk of `u`: `P_max_new` runs along `v` and is kept beyond a chunk "
         "of "
         "`u`; keep `W` in a region of its own"},
    };
    for (const auto& [text, reason] : table) {
        const std::string got = refusal(diagram, text);
        INFO(text, " said: ", got);
        CHECK(got.find(reason) != std::string::npos);
    }
}

TEST_CASE("split-axis and join-axes keep every value where it is") {
    const Diagram diagram = load(kMatmul, {{"a", 12}, {"b", 24}, {"c", 10}});
    const Tensors inputs = random_inputs(diagram, 3);
    const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
    REQUIRE(expected.has_value());
    for (const std::string text : {"split-axis a as a1 by 4", "split-axis b as b1 by 8",
                                   "split-axis b as b1 by 8\nsplit-axis c as c1 by 5",
                                   "split-axis b as b1 by 8\njoin-axes b, b1 as b"}) {
        const State state = derive(diagram, text);
        Tensors reshaped;
        for (const auto& [array, tensor] : inputs) {
            reshaped[array] = make_tensor(state.diagram, array);
            reshaped[array].values = tensor.values;
        }
        const Result<Tensors> got = evaluate_outputs(state.diagram, reshaped);
        REQUIRE(got.has_value());
        for (const auto& [array, tensor] : *expected) CHECK(got->at(array).values == tensor.values);
        check_against_reference(state);
    }
}

TEST_CASE("programs: values that repeat along an axis of their array are streamed as such") {
    const Diagram diagram = load(R"(diagram repeated {
  axis q = 2, x = 7, d = 3
  input B[x], V[x, d]
  T[q, x] = exp(B[x])
  P[q, x] = softmax[x](T[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})");
    for (const char* steps : {"fuse all\nstream x by 3", "fuse all\nsplit-stream x by 3"}) {
        const State state = derive(diagram, steps);
        check_same_meaning(diagram, state);
        check_against_reference(state);
    }
}

TEST_CASE("programs: what a mask of an exponent keeps inside an array is read under it") {
    const Diagram diagram = load(R"(diagram next {
  axis x = 5, d = 5, k = 1, e = 2
  input B[x, e, k]
  S[e, d] = sigmoid(sum(x) B[x, e, 0])
  G[e] = exp(0.5 * tanh(S[e, 0]))
  output T[e] = log(sum(d) exp(if e < size(e) - 1 and d % 2 == 0 then 0.5 * tanh(G[e + 1] + S[e, d]) else -inf))
})");
    const State state = derive(diagram, "fuse all\nstream x by 4");
    check_same_meaning(diagram, state);
    check_against_reference(state);
}

TEST_CASE("a value that is alike all along an axis is read at a place of it or not at all") {
    const Diagram diagram = load(R"(diagram alike {
  axis q = 2, k = 5, d = 4
  input C[q, d]
  S[k, d] = C[0, d]
  P[k, d] = softmax[d](S[k, d])
  output T[q] = C[q, 0] * sum(d) P[0, d]
})");
    for (const char* steps : {"fuse all\nstream d by 2", "fuse all\nsplit-stream d by 2 in T"}) {
        const std::string got = refusal(diagram, steps);
        INFO(steps, " said: ", got);
        CHECK(got.find("reads what is the same all along `k`, and at no place of it") !=
              std::string::npos);
    }
}

TEST_CASE("programs: probabilities sum to one only where something is visible") {
    const Diagram diagram = load(R"(diagram visible {
  axis q = 6, x = 7
  input S[q, x], C[q]
  P[q, x] = softmax[x](if q % 2 == x // 9 then S[q, x] else -inf)
  output O[q] = sum(x) P[q, x] * C[q]
})");
    const State state = derive(diagram, "fuse all\nstream x by 3");
    check_against_reference(state);
}

}  // namespace napkin::test
