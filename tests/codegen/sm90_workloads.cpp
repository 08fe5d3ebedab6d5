#include "tests/codegen/sm90_workloads.h"

#include <fmt/format.h>

namespace napkin::test {
namespace {

/// A product in 8 bits with a scale of every row and column, a bias and a residual.
TensorWorkload scaled(const std::string& sum) {
    return {sum,
            "diagram mm { axis m = 136, n = 72, k = 320\n input A[m, k] : e4m3\n"
            "input B[n, k] : e5m2\n input sa[m], sb[n], bias[n] : f32\n input R[m, n] : bf16\n"
            "output C[m, n] : bf16 = relu((" +
                sum + ") * sb[n] + bias[n]) + R[m, n] }",
            {},
            "fuse all\ngroup m by 128\ngroup n by 64\nstream k by 128"};
}

}  // namespace

TensorWorkload group_product(const std::string& left, const std::string& right,
                             const std::string& type, const std::string& tiles) {
    return {fmt::format("{}, {} {}, {}", left, right, type, tiles),
            fmt::format("diagram mm {{ axis m = 136, n = 152, k = 104\n input A[{}], B[{}] : {}\n"
                        "output C[m, n] : bf16 = sum(k) A[{}] * B[{}] }}",
                        left, right, type, left, right),
            {},
            tiles};
}

TensorWorkload group_prologue(const std::string& left, const std::string& right,
                              const std::string& computed, const std::string& tiles) {
    return {fmt::format("{}, {}, {}, {}", computed, left, right, tiles),
            fmt::format("diagram mm {{ axis m = 136, n = 152, k = 104\n input A[{}], B[{}], g[k] : "
                        "bf16\n {}\n output C[m, n] : bf16 = sum(k) N[m, k] * B[{}] }}",
                        left, right, fmt::format(fmt::runtime(computed), left), right),
            {},
            "fuse all\n" + tiles};
}

TensorWorkload group_attention(const std::string& name, const std::string& score,
                               const std::string& extra, Sizes sizes,
                               const std::string& derivation) {
    return {name,
            "diagram attention { axis q = 200, x = 216, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
            "bf16\n" +
                extra +
                "\n S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n M[q, x] = " + score +
                "\n P[q, x] = softmax[x](M[q, x])\n"
                " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 2 }",
            std::move(sizes), derivation};
}

std::vector<TensorWorkload> group_workloads() {
    std::vector<TensorWorkload> list;
    for (const char* left : {"m, k", "k, m"})
        for (const char* right : {"k, n", "n, k"})
            list.push_back(
                group_product(left, right, "bf16", "group m by 64\ngroup n by 64\nstream k by 64"));
    list.push_back(
        group_product("m, k", "n, k", "f16", "group m by 128\ngroup n by 128\nstream k by 32"));
    list.push_back(
        group_product("k, m", "k, n", "f16", "group m by 128\ngroup n by 80\nstream k by 48"));
    list.push_back(
        group_product("m, k", "k, n", "bf16", "group m by 128\ngroup n by 40\nstream k by 16"));
    list.push_back(group_product("m, k", "n, k", "bf16", "group m by 64\ngroup n by 152"));
    list.push_back({"rows of odd length",
                    "diagram mm { axis m = 130, n = 39, k = 37\n input A[m, k], B[k, n] : bf16\n"
                    "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
                    {},
                    "group m by 64\ngroup n by 32\nstream k by 16"});
    // The agent waits for its own copies where no slot is free.
    for (const char* stages : {"1", "2"})
        list.push_back({fmt::format("rows of odd length, {} stages", stages),
                        "diagram mm { axis m = 70, n = 39, k = 75\n input A[m, k], B[k, n] : bf16, "
                        "D[n, m] : bf16\n output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n] * "
                        "D[n, m]\n weave b = 3 over A }",
                        {},
                        fmt::format("group m by 64\ngroup n by 32\nstream k by 32\n"
                                    "schedule stages = {}\nschedule persistent = true",
                                    stages)});
    list.push_back({"batched",
                    "diagram mm { axis m = 70, n = 64, k = 96\n input A[m, k], B[k, n] : bf16\n"
                    "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n weave b = 3 over A }",
                    {},
                    "group m by 64\ngroup n by 64\nstream k by 32"});
    list.push_back({"a chain of two",
                    "diagram mm { axis m = 130, n = 64, k = 96, l = 48\n input A[m, k], B[k, n], "
                    "D[n, l] : bf16\n T[m, n] = sum(k) A[m, k] * B[k, n] * 0.25\n output C[m, l] : "
                    "bf16 = sum(n) T[m, n] * D[n, l] }",
                    {},
                    "fuse all\ngroup m by 128\nstream n by 32"});
    list.push_back({"a convolution",
                    "diagram c { axis y = 3, x = 70, k = 48, c = 40, r = 2, s = 3\n"
                    "axis height = y + r - 1, width = x + s - 1\n"
                    "input X[height, width, k], W[r, s, k, c] : bf16\noutput Y[y, x, c] : bf16 = "
                    "sum(r, s, k) X[y + r, x + s, k] * W[r, s, k, c]\n weave b = 2 over X }",
                    {},
                    "group y by 1\ngroup x by 64\nstream r by 1\nstream s by 1\nstream k by 16"});
    list.push_back({"the expert that an index names",
                    "diagram experts { axis b = 3, t = 70, e = 4, k = 72, n = 40\n input X[b, t, "
                    "k], W[e, n, k] : bf16\n input which[b] : i32\n output Y[b, t, n] : bf16 = "
                    "sum(k) X[b, t, k] * W[which[b], n, k] }",
                    {},
                    "group b by 1\ngroup t by 64\ngroup n by 32\nstream k by 32"});
    for (const char* pages : {"1", "2"})
        list.push_back(
            {fmt::format("attention, {} pages at a time that an index names", pages),
             "diagram paged { axis q = 70, p = 5, i = 32, d = 64, pages = 7\n input Q[q, "
             "d], K[pages, i, d], V[pages, i, d] : bf16\n input page[p] : i32\n"
             "S[q, p, i] = sum(d) Q[q, d] * K[page[p], i, d] * rsqrt(size(d))\n"
             "P[q, p, i] = softmax[p, i](S[q, p, i])\n output O[q, d] : bf16 = sum(p, i) "
             "P[q, p, i] * V[page[p], i, d]\n weave b = 2 over Q, page }",
             {},
             fmt::format("fuse all\ngroup q by 64\nstream p by {}", pages)});
    list.push_back(
        group_product("m, k", "n, k", "bf16",
                      "group m by 64\ngroup n by 64\nstream k by 16\nsplit-stream k by 32"));
    for (const char* left : {"m, k", "k, m"})
        for (const char* computed : {kActivation, kNorm})
            list.push_back(group_prologue(left, "n, k", computed,
                                          "group m by 128\ngroup n by 64\nstream k by 32"));
    list.push_back(group_prologue("m, k", "k, n", kActivation,
                                  "group m by 64\ngroup n by 152\nstream k by 104"));
    // The sums of weights alone are shared by lanes, in vectors where the rows have them.
    for (const char* right : {"n, k", "k, n"})
        list.push_back(group_prologue("m, k", right, kCentred,
                                      "group m by 128\ngroup n by 64\nstream k by 48"));
    TensorWorkload odd =
        group_prologue("m, k", "n, k", kCentred, "group m by 64\ngroup n by 64\nstream k by 80");
    odd.sizes = {{"m", 100}, {"n", 90}, {"k", 101}};
    list.push_back(std::move(odd));
    list.push_back({"squares of distances, norms beside their product",
                    "diagram radial { axis i = 136, j = 152, d = 64\n input X[i, d], Y[j, d] : "
                    "bf16\n input w[j] : f32\n D[i, j] = sum(d) (X[i, d] - Y[j, d]) ^ 2\n"
                    "output F[i] : f32 = sum(j) exp(-0.125 * D[i, j]) * w[j] }",
                    {},
                    "distribute D\nunfuse D\nfuse all\ngroup i by 64\nstream j by 64"});
    list.push_back({"one left operand of two products",
                    "diagram mm { axis m = 130, n = 72, k = 96\n input A[m, k], B[n, k], D[n, k], "
                    "g[k] : bf16\n N[m, k] = rmsnorm[k](A[m, k], g[k], 0.001)\n"
                    "G[m, n] = sum(k) N[m, k] * B[n, k]\n U[m, n] = sum(k) N[m, k] * D[n, k]\n"
                    "output C[m, n] : bf16 = silu(G[m, n]) * U[m, n] }",
                    {},
                    "fuse all\ngroup m by 128\ngroup n by 32\nstream k by 32"});
    // 8 bits: rows that bulk copies take and others, sums of more than 128, padded depths.
    for (const char* tiles :
         {"group m by 128\ngroup n by 64\nstream k by 64", "group m by 64\ngroup n by 152",
          "group m by 64\ngroup n by 40\nstream k by 48"})
        for (const std::int64_t depth : {104, 160, 304}) {
            list.push_back(group_product("m, k", "n, k", depth == 160 ? "e5m2" : "e4m3", tiles));
            list.back().sizes = {{"k", depth}};
        }
    list.push_back(
        group_product("m, k", "k, n", "e4m3", "group m by 64\ngroup n by 64\nstream k by 64"));
    list.push_back(scaled("sum(k) A[m, k] * B[n, k]"));
    list.push_back(scaled("sum(k) (sa[m] * A[m, k]) * B[n, k]"));
    list.push_back(
        {"a gate of two products in 8 bits, batched",
         "diagram mm { axis m = 130, n = 72, k = 96\n input A[m, k], B[n, k], D[n, k] : "
         "e4m3\n input s[m] : f32\n G[m, n] = sum(k) A[m, k] * B[n, k]\n"
         "U[m, n] = sum(k) A[m, k] * D[n, k]\n output C[m, n] : bf16 = "
         "if n <= m then silu(s[m] * G[m, n]) * U[m, n] else 0\n weave b = 2 over A, s }",
         {},
         "fuse all\ngroup m by 128\ngroup n by 32\nstream k by 32"});
    list.push_back({"attention with scores in 8 bits",
                    "diagram attention { axis q = 136, x = 152, d = 64\n input Q[q, d], K[x, d] : "
                    "e4m3\n input V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d] * "
                    "rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = "
                    "sum(x) P[q, x] * V[x, d]\n weave h = 2 }",
                    {},
                    "fuse all\ngroup q by 64\nstream x by 64"});
    for (const char* type : {"e4m3", "i8"})
        list.push_back({fmt::format("a right operand of {}", type),
                        fmt::format("diagram mm {{ axis m = 136, n = 72, k = 104\n input A[m, k] : "
                                    "bf16\n input B[n, k] : {}\n input s[n] : f32\n output C[m, n] "
                                    ": bf16 = sum(k) A[m, k] * (B[n, k] * s[n]) }}",
                                    type),
                        {},
                        "group m by 128\ngroup n by 64\nstream k by 32"});
    // 4 bits: scales of a chunk or inside it, along either axis, rows that bulk copies do not take.
    for (const auto& [weight, chunk, groups] :
         {std::tuple("n, g, k", 64, 3), {"g, k, n", 64, 3}, {"n, g, k", 24, 4}})
        list.push_back(
            {fmt::format("weights of 4 bits, {}, groups of {}", weight, chunk),
             fmt::format("diagram mm {{ axis m = 24, n = 96, g = {}, k = {}\n input A[m, "
                         "g, k] : bf16, B[{}] : i4, s[n, g] : bf16\n output C[m, n] : bf16 = "
                         "sum(g, k) A[m, g, k] * B[{}] * s[n, g] }}",
                         groups, chunk, weight, weight),
             {},
             "group n by 64\nstream g by 1"});
    for (const char* shared :
         {"group n by 64\nschedule warps_across = 2",
          "group n by 64\nstream d by 32\nschedule warps_across = 2",
          "group n by 64\nschedule repeated = true\nschedule warps_across = 2"})
        list.push_back({fmt::format("an operand that is saved too, {}", shared),
                        "diagram mm { axis n = 150, d = 64, c = 256\n input X[n, d], W[c, d] : "
                        "bf16\n Z[n, d] = X[n, d] + 1\n output Y[n, c] : bf16 = sum(d) Z[n, d] * "
                        "W[c, d]\n output Zo[n, d] : bf16 = Z[n, d] }",
                        {},
                        std::string("fuse all\n") + shared});
    list.push_back({"weights of 4 bits in pairs, of a bias's row",
                    "diagram mm { axis m = 70, n = 72, k = 96\n input A[m, k], U[n, k] : f16\n "
                    "input B[n, k] : i4\n output C[m, n] : f16 = sum(k) A[m, k] * (B[n, k] + U[n, "
                    "k]) }",
                    {},
                    "group m by 64\ngroup n by 64\nstream k by 32"});
    for (const char* tiles : {"group n by 64\nstream k by 64", "group m by 64\nstream k by 64"})
        list.push_back(
            {fmt::format("weights of 4 bits, a scale of every 32, {}", tiles),
             "diagram mm { axis m = 70, n = 72, k = 160\n axis g = k // 32\n input A[m, k] "
             ": bf16, B[n, k] : i4, s[n, g] : bf16\n output C[m, n] : bf16 = sum(k) A[m, "
             "k] * (B[n, k] * s[n, k // 32]) }",
             {},
             tiles});
    list.push_back({"a norm of 8 bits before weights of 4 bits, read ahead and in their turn",
                    "diagram mm { axis m = 5, n = 128, k = 64\n axis g = k // 16\n input A[m, k] : "
                    "e4m3, B[n, k] : i4, s[n, g] : f32, Z[m, n] : bf16\n"
                    "N[m, k] = layernorm[k](A[m, k], 1, 0, 0.001)\n"
                    "Y[m, n] = sum(k) N[m, k] * B[n, k] * s[n, k // 16]\n"
                    "output C[m, n] : f32 = gelu(Y[m, n]) + Z[m, n] }",
                    {},
                    "fuse all\ngroup m by 64\ngroup n by 128\nstream k by 64"});
    list.push_back({"a left operand that bytes of a mask choose",
                    "diagram mm { axis m = 136, n = 152, k = 104\n input A[m, k], B[n, k] : bf16\n"
                    "input M[m, k] : i8\n output C[m, n] : bf16 = sum(k) (if M[m, k] > 0 then "
                    "A[m, k] else 0) * B[n, k] }",
                    {},
                    "group m by 64\ngroup n by 80\nstream k by 32"});
    list.push_back({"a left operand of bytes, bias and residual",
                    "diagram mm { axis m = 136, n = 152, k = 104\n input A[m, k] : i8\n"
                    "input B[n, k], bias[n], R[m, n] : bf16\n input s[m] : f32\n"
                    "Y[m, n] = sum(k) A[m, k] * B[n, k]\n"
                    "output C[m, n] : bf16 = gelu(Y[m, n] * s[m] + bias[n]) + R[m, n] }",
                    {},
                    "fuse all\ngroup m by 64\ngroup n by 80\nstream k by 32"});
    const std::string tiles = "fuse all\ngroup q by 64\nstream x by 64";
    list.push_back({"attention of queries that threads scale",
                    "diagram attention { axis q = 200, x = 216, d = 64\n"
                    "input Q[q, d], K[x, d], V[x, d] : bf16\n"
                    "U[q, d] = Q[q, d] * rsqrt((sum(d) Q[q, d] ^ 2) + 0.001)\n"
                    "S[q, x] = sum(d) U[q, d] * K[x, d]\n P[q, x] = softmax[x](S[q, x])\n"
                    "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 2 }",
                    {},
                    tiles});
    const std::string causal = "if x <= q + size(x) - size(q) then S[q, x] else -inf";
    list.push_back(group_attention("attention", "S[q, x]", "", {}, tiles));
    list.push_back(group_attention("attention, causal", causal, "", {}, tiles));
    TensorWorkload heads = group_attention("attention, causal, many heads", causal, "",
                                           {{"q", 130}, {"x", 130}, {"d", 16}}, tiles);
    heads.diagram.replace(heads.diagram.find("weave h = 2"), 11, "weave h = 70");
    list.push_back(std::move(heads));
    list.push_back(
        group_attention("attention, one chunk", causal, "", {{"x", 40}, {"q", 40}}, tiles));
    list.push_back(group_attention("attention, two groups", causal, "", {},
                                   "fuse all\ngroup q by 128\nstream x by 32"));
    list.push_back(group_attention("attention, chunks of 80", "S[q, x]", "", {},
                                   "fuse all\ngroup q by 128\nstream x by 80"));
    list.push_back(group_attention("attention, window",
                                   "if x <= q and q - x < 50 then S[q, x] else -inf", "",
                                   {{"x", 200}}, tiles));
    list.push_back(group_attention("attention, more queries than keys", causal, "",
                                   {{"q", 216}, {"x", 100}}, tiles));
    list.push_back({"two products of one array, the later one waited for at once",
                    "diagram two { axis q = 70, x = 512, d = 64\n input S[q, x], V[x, d], G[q, d] "
                    ": bf16\n input L[q] : f32\n output P[q, x] : bf16 = exp(S[q, x] - L[q])\n "
                    "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n output D[q, x] : bf16 = "
                    "sum(d) G[q, d] * V[x, d] }",
                    {},
                    "fuse all\ngroup q by 64\nstream x by 256"});
    list.push_back(group_attention("attention, narrow parts of saved scores", "S[q, x]", "", {},
                                   "fuse M, P, O\ngroup q by 8 in O\nstream x by 16 in O\n"
                                   "group q by 64 in S\ngroup x by 64 in S"));
    list.push_back(group_attention("attention, softcap", "30 * tanh(S[q, x] / 30)", "", {}, tiles));
    const char* const kTurned =
        " input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d] + K[x, (d + 32) % 64]\n";
    for (const char* groups : {"64", "128"}) {
        TensorWorkload turned = group_attention(
            fmt::format("attention, turned keys, {} queries", groups), "S[q, x]", kTurned, {},
            fmt::format("fuse all\ngroup q by {}\nstream x by 32", groups));
        turned.diagram.replace(turned.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        list.push_back(std::move(turned));
    }
    list.push_back(
        group_attention("attention, bias", "S[q, x] + B[x]", " input B[x] : f32", {}, tiles));
    // Groups that share columns: of one product, of the later of two, in two rows of groups.
    for (const char* right : {"k, n", "n, k"}) {
        list.push_back(
            group_product("m, k", right, "bf16", "group m by 64\ngroup n by 384\nstream k by 32"));
        list.back().sizes = {{"n", 390}};
    }
    list.push_back(group_product("k, m", "n, k", "f16",
                                 "group m by 128\ngroup n by 128\nstream k by 32\n"
                                 "schedule warps_across = 2 in C"));
    list.push_back({"a softmax of columns that groups share",
                    "diagram mm { axis m = 70, n = 384, k = 40\n input A[m, k], B[k, n] : bf16\n"
                    "S[m, n] = sum(k) A[m, k] * B[k, n] * 0.125\n"
                    "output P[m, n] : bf16 = softmax[n](S[m, n]) }",
                    {},
                    "fuse all\ngroup m by 64\nstream k by 16"});
    for (const char* choice : {"", "repeated = true", "warps_down = 4"})
        list.push_back(
            {fmt::format("attention, values of 384 that are keys too, {}", choice),
             "diagram latent { axis q = 70, x = 150, e = 384, r = 16\n input Q[q, e], T[q, r], "
             "C[x, e], U[x, r] : bf16\n S[q, x] = (sum(e) Q[q, e] * C[x, e] + sum(r) T[q, r] * "
             "U[x, r]) * 0.05\n P[q, x] = softmax[x](S[q, x])\n output O[q, e] : bf16 = sum(x) "
             "P[q, x] * C[x, e] }",
             {},
             fmt::format(
                 "fuse all\ngroup q by {}\nstream x by 64\nsplit-stream x by 128{}",
                 choice[0] == 'w' ? 24 : 64,
                 choice[0] == 0 ? "" : fmt::format("\nschedule {} in O_sum_part", choice))});
    return list;
}

}  // namespace napkin::test
