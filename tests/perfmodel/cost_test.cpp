// The model against the interpreter's counters, and the paper's ideal forms.
#include "perfmodel/cost.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/golden.h"
#include "tests/perfmodel/counted.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::check_counted;
using test::derived;

/// Whether a form of a diagram is the polynomial that the text says.
void check_form(const State& state, const std::optional<Polynomial>& form,
                const std::string& text) {
    const std::vector<Axis>& axes = state.diagram.axes;
    std::vector<Symbol> symbols;
    for (std::uint32_t i = 0; i < axes.size(); ++i)
        for (const Symbol symbol : {axis_size(AxisId{i}), group_size(AxisId{i}, Level::Block),
                                    stream_size(AxisId{i}, Level::Block)})
            symbols.push_back(symbol);
    const SymbolNames names(axes);
    const Result<Polynomial> expected = parse_polynomial(text, names, symbols);
    REQUIRE_MESSAGE(expected.has_value(), text);
    REQUIRE_MESSAGE(form.has_value(), text);
    INFO(print(*form, names));
    CHECK_MESSAGE(*form == *expected, text);
}

/// The ideal H of all regions at block level.
void check_transfers(const State& state, const std::string& text) {
    check_form(state, test::cost(state).transferred.at(Level::Block).ideal, text);
}

const char* const kMatmul =
    "diagram matmul {\n axis a = 37, b = 23, c = 41\n input A[a, b], B[b, c] : bf16\n"
    " output C[a, c] : f32 = sum(b) A[a, b] * B[b, c]\n}\n";
const char* const kSoftmaxContraction =
    "diagram figure9 {\n axis q = 20, x = 33, d = 7\n input S[q, x], V[x, d] : bf16\n"
    " P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
std::string attention(const std::string& sizes, const std::string& weave,
                      const std::string& score = "S[q, x]") {
    return "diagram attention {\n axis " + sizes +
           "\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
           " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](" +
           score + ")\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n" + weave + "}\n";
}
const char* const kFlash = "fuse S, P, O\ngroup q by 8 at l1\nstream x by 4 at l1\n";
const char* const kCausal = "if x <= q + size(x) - size(q) then S[q, x] else -inf";
const char* const kWindow =
    "if x <= q + size(x) - size(q) and x > q + size(x) - size(q) - 9 then S[q, x] else -inf";

TEST_CASE("matmul costs what it counts") {
    check_counted("plain", derived(kMatmul));
    check_counted("grouped", derived(kMatmul, "group a by 8 at l1\ngroup c by 16 at l1\n"));
    check_counted(
        "nested",
        derived(kMatmul, "group a by 8 at l1\ngroup c by 16 at l1\ngroup a by 3 at l2\n"));
    check_counted("streamed", derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\n"));
    check_counted(
        "streamed below",
        derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\ngroup a by 4 at l2\n"));
}

TEST_CASE("attention costs what it counts, at sizes that divide and sizes that do not") {
    for (const char* sizes : {"q = 32, x = 32, d = 4", "q = 29, x = 31, d = 5",
                              "q = 7, x = 50, d = 3", "q = 50, x = 7, d = 3"})
        for (const char* weave : {"", " weave b = 2, h = 3\n", " weave g = 4 over Q\n"})
            for (const char* score : {"S[q, x]", kCausal, kWindow}) {
                const std::string text = attention(sizes, weave, score);
                check_counted(std::string(sizes) + score, derived(text));
                check_counted(std::string(sizes) + score, derived(text, kFlash));
                check_counted(std::string(sizes) + score,
                              derived(text, std::string(kFlash) + "group q by 3 at l2\n"));
            }
}

TEST_CASE("affine indices, masks on several axes and gathers cost what they count") {
    const std::string padded =
        "diagram conv {\n axis y = 13, x = 11, k = 6, c = 5, r = 3, s = 3\n"
        " input X[y, x, k], W[c, r, s, k] : bf16\n"
        " output Y[y, x, c] : bf16 = sum(r, s, k) W[c, r, s, k] * (if 0 <= y + r - 1 and "
        "y + r - 1 < size(y) and 0 <= x + s - 1 and x + s - 1 < size(x) then "
        "X[y + r - 1, x + s - 1, k] else 0)\n weave b = 2 over X\n}\n";
    for (const char* derivation :
         {"", "group y by 4\ngroup x by 3\n", "group y by 4\ngroup c by 2\nstream k by 4\n",
          "group y by 4\nstream r by 1\n", "group x by 3\ngroup y by 5\nstream s by 2\n"})
        check_counted(derivation, derived(padded, derivation));
    const std::string dilated =
        "diagram dilated {\n axis p = 17, r = 3, n = 2 * p + 3 * r, w = 4\n"
        " input X[n], Z[w], W[r] : f32\n"
        " output Y[p] = sum(r) X[2 * p + 3 * r] * W[r] * Z[p % 4]\n}\n";
    for (const char* derivation : {"", "group p by 5\n", "group p by 4\nstream r by 2\n"})
        check_counted(derivation, derived(dilated, derivation));
    const std::string lookup =
        "diagram lookup {\n axis n = 10, v = 40, d = 6\n input E[v, d] : f32\n"
        " input label[n] : i32\n output Y[n, d] = E[label[n], d] * 2\n}\n";
    for (const char* derivation : {"", "group n by 3\n", "group n by 3\ngroup d by 4\n"})
        check_counted(derivation, derived(lookup, derivation));
}

TEST_CASE("every example costs what it counts, at sizes that divide nothing") {
    int checked = 0;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        if (entry.path().extension() != ".drv") continue;
        std::filesystem::path diagram = entry.path();
        diagram.replace_extension(".ncd");
        if (!std::filesystem::exists(diagram)) continue;
        SourceMap sources;
        const Result<Checked> plain = load_diagram(sources, "x", test::read_text(diagram));
        REQUIRE(plain.has_value());
        Sizes sizes;
        for (std::uint32_t i = 0; i < plain->diagram.axes.size(); ++i) {
            const Axis& axis = plain->diagram.axes[i];
            if (has_own_size(plain->diagram, AxisId{i}) && axis.extent > 40)
                sizes[axis.name] = 37 + static_cast<std::int64_t>(axis.name.size());
        }
        SourceMap fresh;
        if (!load_diagram(fresh, "x", test::read_text(diagram), sizes)) sizes.clear();
        check_counted(entry.path().stem().string(),
                      derived(test::read_text(diagram), test::read_text(entry.path()), sizes));
        ++checked;
    }
    CHECK_GE(checked, 10);
}

TEST_CASE("ideal transfers are the paper's") {
    check_transfers(derived(kSoftmaxContraction), "3qx + xd + qd");
    check_transfers(derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\n"),
                    "abc(1/g_a + 1/g_c) + ac");
    check_transfers(derived(kMatmul, "group a by 8\ngroup c by 16\n"), "abc(1/g_a + 1/g_c) + ac");
    const std::string figure11 =
        "diagram figure11 {\n axis a = 30, x = 7, w = 5, y = 4\n input X[a, x], W[w] : f32\n"
        " output opaque F(X[a, x], W[w]) -> Y[a, y]\n}\n";
    check_transfers(derived(figure11, "group a by 8\n"), "ax + ay + aw/g_a");
    check_counted("figure 11", derived(figure11, "group a by 8\n"));
    const std::string figure12 =
        "diagram figure12 {\n axis a = 30, b = 20, x = 7, w = 5, y = 4\n"
        " input X[a, x], W[b, w] : f32\n output opaque F(X[a, x], W[b, w]) -> Y[a, b, y]\n}\n";
    check_transfers(derived(figure12, "group a by 8\ngroup b by 6\n"), "abx/g_b + abw/g_a + aby");
    check_counted("figure 12", derived(figure12, "group a by 8\ngroup b by 6\n"));
    const std::string sizes = "q = 29, x = 31, d = 5";
    check_transfers(derived(attention(sizes, ""), kFlash), "2qd + 2xqd/g_q");
    check_transfers(derived(attention(sizes, " weave h = 3\n"), kFlash), "2hqd + 2hxqd/g_q");
    const std::string grouped = attention(sizes, " weave h = 3\n weave g = 4 over Q\n");
    check_transfers(derived(grouped, std::string(kFlash) + "ungroup g\ngroup g by 2 at l1\n"),
                    "2hgqd + 2hgxqd/(g_q g_g)");
    // Scales of groups of 64: a chunk reads those that it is of, one where it lies in a group.
    const char* scaled =
        "diagram scaled {\n axis m = 16, k = 512, n = 128, g = k // 64\n input X[m, k], W[k, n], "
        "scale[g, n] : bf16\n output Y[m, n] : bf16 = sum(k) X[m, k] * (W[k, n] * scale[k // 64, "
        "n])\n}\n";
    for (const char* chunk : {"64", "128"})
        check_transfers(derived(scaled, std::string("group n by 64\nstream k by ") + chunk),
                        "mn + kn + kn/64 + mkn/g_n");
    for (const char* chunk : {"32", "16"})
        check_transfers(derived(scaled, std::string("group n by 64\nstream k by ") + chunk),
                        "mn + kn + kn/s_k + mkn/g_n");
}

TEST_CASE("ideal memory keeps the leading terms") {
    const auto check_memory = [](const State& state, const std::string& text) {
        std::optional<Polynomial> most;
        std::int64_t values = -1;
        for (const RegionCost& region : test::cost(state).regions) {
            const Amount& amount = region.levels.at(Level::Block).memory;
            if (amount.values <= values) continue;
            values = amount.values;
            most = amount.ideal;
        }
        check_form(state, most, text);
    };
    check_memory(derived(kSoftmaxContraction), "qx + xd");
    check_memory(derived(attention("q = 29, x = 31, d = 5", ""), kFlash), "2g_q d + 2s_x d");
}

TEST_CASE(
    "what a tile holds of an array that is read at computed places is a formula of the sizes") {
    const std::string pool =
        "diagram pool {\n axis y = 12, k = 5, r = 3\n axis z = 2 * y + 1\n input X[z, k] : f32\n"
        " output Y[y, k] : f32 = max(r) X[2 * y + r, k]\n}\n";
    const auto held = [](const State& state) {
        return test::cost(state).regions.front().columns.front().memory.ideal;
    };
    check_form(derived(pool), held(derived(pool)), "z k");
    const State grouped = derived(pool, "group y by 4\n");
    check_form(grouped, held(grouped), "2g_y k + r k");
    check_counted("pool", grouped);
}

}  // namespace
TEST_CASE(
    "a union over several axes is counted quickly as it is counted exactly, however many tiles") {
    // 160,000 tiles, more than a mask is asked of one by one.
    const State state = derived(
        "diagram near {\n axis i = 80, j = 80, d = 32, u = i, v = j\n"
        " input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
        " S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
        " M[i, j, u, v] = if (neighbourhood[i, u](3, 1, 1) and neighbourhood[j, v](3, 1, 1))"
        " or (u == 0 and v < 2) then S[i, j, u, v] else -inf\n"
        " output O[i, j, d] : bf16 = sum(u, v) softmax[u, v](M[i, j, u, v]) * V[u, v, d]\n}\n",
        "fuse all\ngroup i by 4\ngroup j by 4\nstream u by 4\nstream v by 4\n");
    const RegionProgram region = test::expanded(state).regions.front();
    const std::int64_t bytes = cost_of(region)->levels.at(Level::Block).transferred.bytes();
    CHECK_EQ(quick_cost_of(region)->levels.at(Level::Block).transferred.bytes(), bytes);
    CHECK_EQ(bytes, 8519680);
}

}  // namespace napkin
