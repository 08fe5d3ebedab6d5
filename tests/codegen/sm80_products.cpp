#include <fmt/format.h>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

/// C = op(A) op(B) with ragged sizes whose rows are whole vectors.
std::string product(const std::string& left, const std::string& right, const std::string& type) {
    return fmt::format(
        "diagram mm {{ axis m = 72, n = 88, k = 56\n input A[{0}], B[{1}] : {2}\n"
        "output C[m, n] : {3} = sum(k) A[{0}] * B[{1}] }}",
        left, right, type, type == "tf32" ? "f32" : type);
}
constexpr const char* kProductTiles =
    "group m by 32 at l1\ngroup n by 64 at l1\nstream k by 32 at l1";

}  // namespace

std::vector<TensorWorkload> product_workloads() {
    std::vector<TensorWorkload> list = {
        {"product NN",
         product("m, k", "k, n", "bf16"),
         {},
         kProductTiles,
         {},
         {{{"m", 3}, {"n", 40}, {"k", 24}}, {{"m", 100}, {"n", 136}, {"k", 8}}},
         true},
        {"product NT", product("m, k", "n, k", "bf16"), {}, kProductTiles},
        {"product TN", product("k, m", "k, n", "bf16"), {}, kProductTiles},
        {"product TT", product("k, m", "n, k", "bf16"), {}, kProductTiles},
        {"product NN, f16", product("m, k", "k, n", "f16"), {}, kProductTiles},
        {"product TN, f16", product("k, m", "k, n", "f16"), {}, kProductTiles},
        {"product NN, tf32", product("m, k", "k, n", "tf32"), {}, kProductTiles, {}, {}, true},
        {"product NT, tf32", product("m, k", "n, k", "tf32"), {}, kProductTiles},
        {"product TN, tf32", product("k, m", "k, n", "tf32"), {}, kProductTiles},
        {"product TT, tf32", product("k, m", "n, k", "tf32"), {}, kProductTiles},
        {"product NN, f32", product("m, k", "k, n", "f32"), {}, kProductTiles, {}, {}, true},
        {"product NT, f32", product("m, k", "n, k", "f32"), {}, kProductTiles},
        {"product TN, f32", product("k, m", "k, n", "f32"), {}, kProductTiles},
        {"product TT, f32", product("k, m", "n, k", "f32"), {}, kProductTiles},
        {"product, rows of odd length",
         "diagram mm { axis m = 45, n = 39, k = 37\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 32 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, rows of even length",
         "diagram mm { axis m = 45, n = 42, k = 38\n input A[m, k], B[k, n] : f16\n"
         "output C[m, n] : f16 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 32 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, one k",
         "diagram mm { axis m = 33, n = 40, k = 1\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1"},
        {"product, not streamed",
         product("m, k", "k, n", "bf16"),
         {},
         "group m by 32 at l1\ngroup n by 64 at l1"},
        {"product, one block", product("m, k", "k, n", "bf16"), {}, ""},
        {"product, chunks of 24",
         product("m, k", "k, n", "bf16"),
         {},
         "group m by 24 at l1\ngroup n by 40 at l1\nstream k by 24 at l1"},
        {"product, tiles of 8",
         product("m, k", "n, k", "bf16"),
         {},
         "group m by 8 at l1\ngroup n by 8 at l1\nstream k by 8 at l1"},
        {"product, wide tile",
         product("m, k", "k, n", "bf16"),
         {{"m", 130}, {"n", 264}, {"k", 40}},
         "group m by 128 at l1\ngroup n by 256 at l1\nstream k by 32 at l1"},
        {"product, batched",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n weave b = 3 }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         {},
         {{{"b", 2}, {"m", 17}}}},
        {"product, batched on one side",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n weave b = 3 over A }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, batch behind the rows",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n weave b = 3\n layout A[m, b, k]\n "
         "layout C[m, b, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         {},
         {{{"b", 2}, {"m", 17}}}},
        {"product, column-major",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n layout A[k, m]\n layout B[n, k]\n "
         "layout C[n, m] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, batch innermost",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n]\n weave b = 3\n layout A[m, k, b]\n "
         "layout B[k, n, b]\n layout C[m, n, b] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, bias",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n], bias[n] : bf16\n"
         "output C[m, n] : bf16 = (sum(k) A[m, k] * B[k, n]) + bias[n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         {},
         {{{"m", 5}, {"n", 56}}}},
        {"product, bias of a row",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16, bias[m] : f32\n"
         "output C[m, n] : bf16 = (sum(k) A[m, k] * B[k, n]) + bias[m] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, scaled",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : bf16, s[m], t[n] : "
         "f32\n param alpha : f32 = 0.5\n"
         "output C[m, n] : bf16 = alpha * (sum(k) A[m, k] * B[k, n]) * s[m] * t[n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, activations",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n], bias[n] : bf16\n"
         "Z[m, n] = (sum(k) A[m, k] * B[k, n]) + bias[n]\n"
         "output C[m, n] : bf16 = gelu(Z[m, n])\n output D[m, n] : bf16 = silu(Z[m, n])\n"
         "output E[m, n] : bf16 = relu(Z[m, n]) ^ 2\n output F[m, n] : f32 = gelu_tanh(Z[m, n]) }",
         {},
         "fuse all\ngroup m by 16 at l1\ngroup n by 32 at l1"},
        {"product, epilogue",
         "matmul_epilogue",
         {{"m", 33}, {"n", 40}, {"k", 40}},
         "fuse all\ngroup m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         {},
         {},
         true},
        {"product, residual",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n], R[m, n] : bf16\n"
         "output C[m, n] : bf16 = R[m, n] + sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         {},
         {{{"m", 5}, {"n", 56}}}},
        {"product, residual of odd rows",
         "diagram mm { axis m = 40, n = 47, k = 24\n input A[m, k], B[k, n], R[m, n] : bf16\n"
         "output C[m, n] : bf16 = R[m, n] * 2 - sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, gated",
         "swiglu",
         {{"n", 40}, {"d", 24}, {"f", 48}},
         "fuse all\ngroup n by 16 at l1\ngroup f by 32 at l1\nstream d by 16 at l1",
         {},
         {},
         true},
        {"product, names that kernels use themselves",
         "diagram kernel { axis index = 40, r = 33, stage = 24, t = 20\n"
         "input store[index, stage], multiply[r, stage], seed[r, t] : bf16\n"
         "input Matrix[r], r0[index], threadIdx[index] : f32\n"
         "pack[index, r] = (sum(stage) store[index, stage] * multiply[r, stage]) * r0[index]\n"
         "turn[index, r] = softmax[r](pack[index, r] + Matrix[r] + threadIdx[index])\n"
         "output memory[index, t] : bf16 = sum(r) turn[index, r] * seed[r, t] }",
         {},
         "fuse all\ngroup index by 16 at l1\nstream r by 16 at l1"},
        {"product, blocks that visit no chunk",
         "diagram mm { axis m = 40, n = 8, k = 31\n input L[k, m], R[n, k] : bf16\n"
         "S[m, n] = sum(k) L[k, m] * R[n, k]\n"
         "output O[m] = logsumexp[n](if n <= m + size(n) - size(m) then S[m, n] else -inf) }",
         {},
         "fuse all\ngroup m by 16 at l1\nstream n by 32 at l1"},
        {"product of the expert that an index names",
         "diagram experts { axis b = 3, t = 33, e = 4, k = 72, n = 40\n"
         "input X[b, t, k], W[e, n, k] : bf16, which[b] : i32\n"
         "output Y[b, t, n] : bf16 = sum(k) X[b, t, k] * W[which[b], n, k] }",
         {},
         "group b by 1\ngroup t by 16\ngroup n by 32\nstream k by 32"},
        {"product in a loop inside a loop",
         "diagram mm { axis m = 40, n = 50, k = 8\n input A[k, m], B[k, n], v[k] : bf16\n"
         "output C[n, m] : f16 = silu(0.25 * sum(k) (B[k, n] * v[k]) * max(A[k, m], 0)) }",
         {},
         "stream n by 17 at l1\nstream m by 32 at l1"},
        {"product, neighbours before the first and past the last",
         "diagram mm { axis m = 40, n = 50, k = 24\n input A[m, k], B[k, n] : bf16\n"
         "input v[m], w[n] : f32\n"
         "output C[m, n] = (sum(k) A[m, k] * B[k, n]) + (if m >= 3 then v[m - 3] else 0)\n"
         "  * (if n + 2 < size(n) then w[n + 2] else 1) }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, gates far below zero",
         "diagram glu { axis n = 70, d = 90, f = 75\n input X[n, d], W[d, f], V[d, f] : bf16\n"
         "G[n, f] = 9 * sum(d) X[n, d] * W[d, f]\n U[n, f] = sum(d) X[n, d] * V[d, f]\n"
         "output Y[n, f] : bf16 = silu(G[n, f]) * U[n, f] }",
         {},
         "fuse all\ngroup n by 32 at l1\ngroup f by 32 at l1\nstream d by 16 at l1"},
        {"product, gated, one block of columns",
         "swiglu",
         {{"n", 20}, {"d", 24}, {"f", 36}},
         "fuse all\ngroup n by 8 at l1"},
        {"two products in a chain",
         "diagram mlp { axis n = 40, d = 32, f = 72, o = 40\n input X[n, d], U[d, f], W[f, o] : "
         "bf16\n"
         "H[n, f] = relu(sum(d) X[n, d] * U[d, f])\n output Y[n, o] : bf16 = sum(f) H[n, f] * W[f, "
         "o] }",
         {},
         "fuse all\ngroup n by 16 at l1\nstream f by 32 at l1"},
        {"two products in a chain, not streamed",
         "diagram mlp { axis n = 40, d = 32, f = 72, o = 40\n input X[n, d], U[d, f], W[f, o] : "
         "bf16\n"
         "H[n, f] = relu(sum(d) X[n, d] * U[d, f])\n output Y[n, o] : bf16 = sum(f) H[n, f] * W[f, "
         "o] }",
         {},
         "fuse all\ngroup n by 16 at l1"},
        {"product of types",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k] : f16, B[k, n] : bf16\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, i32 inputs",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k], B[k, n] : i32\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] / 2 }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1",
         "`C_sum` multiplies `A`, which is i32"},
        {"product of f32 and bf16",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k] : bf16, B[k, n] : f32\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product of f32, eight deep",
         "diagram mm { axis m = 40, n = 48, k = 8\n input A[m, k], B[k, n] : f32\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 32 at l1\ngroup n by 32 at l1"},
        {"product, fp8",
         "fp8_matmul",
         {{"m", 20}, {"n", 24}, {"k", 32}},
         "group m by 16 at l1 in Y\ngroup n by 16 at l1 in Y\nstream k by 16 at l1 in Y"},
        {"product, its computed operand saved too",
         "diagram mm { axis n = 40, d = 80, c = 200\n input X[n, d], W[c, d] : bf16\n"
         "Z[n, d] = X[n, d] + 1\n output Y[n, c] : bf16 = sum(d) Z[n, d] * W[c, d]\n"
         "output Zo[n, d] : bf16 = Z[n, d] }",
         {},
         "fuse all\ngroup n by 16"},
        {"product, its computed operand saved too, in chunks",
         "diagram mm { axis n = 64, d = 64, c = 256\n input X[n, d], W[c, d] : bf16\n"
         "Z[n, d] = X[n, d] + 1\n output Y[n, c] : bf16 = sum(d) Z[n, d] * W[c, d]\n"
         "output Zo[n, d] : bf16 = Z[n, d] }",
         {},
         "fuse all\ngroup n by 64\nstream d by 32"},
        {"product, i8 weights",
         "diagram mm { axis m = 40, n = 48, k = 24\n input A[m, k] : bf16, B[k, n] : i8, s[n] : "
         "f32\n"
         "output C[m, n] : bf16 = (sum(k) A[m, k] * B[k, n]) * s[n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, i4 weights in groups",
         "diagram mm { axis m = 40, n = 48, g = 3, k = 8\n input A[m, g, k] : bf16, B[g, k, n] : "
         "i4, s[g, n] : f32\n"
         "output C[m, n] : bf16 = sum(g, k) A[m, g, k] * B[g, k, n] * s[g, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream g by 1 at l1"},
        {"product, dynamic",
         "diagram mm { axis m = 40 dynamic, n = 48, k = 24 dynamic\n input A[m, k], B[k, n] : "
         "bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product, a scalar result",
         "diagram frob { axis m = 40, k = 24\n input A[m, k], B[m, k] : bf16\n"
         "output t : f32 = sum(m, k) A[m, k] * B[m, k] }",
         {},
         ""},
        {"matrix times vector",
         "diagram mv { axis m = 40, k = 72\n input A[m, k], v[k] : bf16\n"
         "output y[m] : f32 = sum(k) A[m, k] * v[k] }",
         {},
         "group m by 16 at l1\nstream k by 32 at l1"},
        {"vector times matrix",
         "diagram vm { axis n = 40, k = 72\n input A[k, n], v[k] : bf16\n"
         "output y[n] : f32 = sum(k) A[k, n] * v[k] }",
         {},
         "group n by 16 at l1\nstream k by 32 at l1"},
        {"outer product",
         "diagram op { axis n = 40, m = 72\n input u[n], v[m] : bf16\n"
         "output y[n, m] : f32 = u[n] * v[m] }",
         {},
         "group n by 16 at l1"},
        {"product, two axes of depth",
         "diagram mm { axis m = 40, n = 48, g = 3, k = 16\n input A[m, g, k], B[g, k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(g, k) A[m, g, k] * B[g, k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1"},
        {"product, two axes of depth, one streamed",
         "diagram mm { axis m = 40, n = 48, g = 3, k = 16\n input A[m, g, k], B[g, k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(g, k) A[m, g, k] * B[g, k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream g by 1 at l1"},
        {"masked product",
         "diagram mm { axis m = 40, n = 48, k = 40\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) (if k <= m then A[m, k] * B[k, n] else 0) }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"lower triangular product",
         "diagram mm { axis m = 40, n = 48, k = 40\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) (if k <= m then A[m, k] else 0) * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"product of transformed operands",
         "diagram mm { axis m = 40, n = 48, k = 40\n input A[m, k], B[k, n] : bf16, c[k] : f32\n"
         "output C[m, n] : f32 = sum(k) exp(A[m, k]) * c[k] * (B[k, n] + 1) }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"sum of two products",
         "diagram mm { axis m = 40, n = 48, k = 40, l = 24\n input A[m, k], B[k, n], D[m, l], E[l, "
         "n] : bf16\n"
         "output C[m, n] : f32 = (sum(k) A[m, k] * B[k, n]) + sum(l) D[m, l] * E[l, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1"},
        {"loss of a product",
         "diagram loss { axis n = 40, m = 24, k = 24\n input A[n, k], B[k, m], Y[n, m] : bf16\n"
         "Z[n, m] = sum(k) A[n, k] * B[k, m]\n E[n] = sum(m) (Z[n, m] - Y[n, m]) ^ 2\n output L : "
         "f32 = sum(n) E[n] }",
         {},
         "fuse Z, E\ngroup n by 16 at l1 in E"},
        {"split-K",
         product("m, k", "k, n", "bf16"),
         {{"k", 96}},
         "group m by 32\ngroup n by 32\nstream k by 16\nsplit-stream k by 32"},
        {"split-K, ragged parts",
         product("m, k", "k, n", "bf16"),
         {{"k", 88}},
         "group m by 32\ngroup n by 32\nstream k by 16\nsplit-stream k by 32",
         {},
         {{{"m", 40}}}},
        {"split-K, ragged parts, transposed",
         product("k, m", "n, k", "f16"),
         {{"k", 85}},
         "group m by 32\ngroup n by 32\nstream k by 16\nsplit-stream k by 32"},
        {"split-K, parts of one chunk",
         product("m, k", "k, n", "bf16"),
         {{"k", 40}},
         "group m by 16\ngroup n by 16\nsplit-stream k by 16"},
        {"flash-decoding",
         "attention_decoding",
         {{"q", 3}, {"x", 64}, {"d", 32}, {"b", 1}, {"h", 2}},
         "fuse S, P, O\nstream x by 16\nsplit-stream x by 32"},
        {"flash-decoding, ragged parts",
         "attention_decoding",
         {{"q", 3}, {"x", 75}, {"d", 32}, {"b", 1}, {"h", 2}},
         "fuse S, P, O\nstream x by 16\nsplit-stream x by 32"},
        {"one query, no group",
         "diagram one { axis q = 1, d = 16, x = 21\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
         "output O[q, d] : f32 = sum(x) softmax[x](S[q, x]) * V[x, d] }",
         {},
         "fuse all\nstream x by 7"},
        {"pooling",
         "diagram pool { axis i = 7, j = 5, c = 24, u = 2, v = 2, y = i * 2, x = j * 2\n"
         "input X[y, x, c] : bf16\n"
         "output Y[i, j, c] : bf16 = max(u, v) X[2 * i + u, 2 * j + v, c] }",
         {},
         "group i by 1\ngroup j by 4"},
        {"convolution along one axis",
         "diagram line { axis p = 37, r = 3, k = 24, c = 40, t = p + r - 1\n"
         "input X[t, k], W[r, k, c] : bf16\n"
         "output Y[p, c] : f32 = sum(r, k) X[p + r, k] * W[r, k, c] }",
         {},
         "group p by 16\ngroup c by 16\nstream r by 1"},
        {"squares of distances, norms beside their product",
         "diagram radial { axis i = 40, j = 72, d = 32\n input X[i, d], Y[j, d] : bf16\n"
         "input w[j] : f32\n D[i, j] = sum(d) (X[i, d] - Y[j, d]) ^ 2\n"
         "output F[i] : f32 = sum(j) exp(-0.125 * D[i, j]) * w[j] }",
         {},
         "distribute D\nunfuse D\nfuse all\ngroup i by 16\nstream j by 32"},
        {"distances, no root of what rounding makes negative",
         "diagram roots { axis i = 40, l = i, d = 32\n input X[i, d] : f32\n"
         "D[i, l] = sum(d) (X[i, d] - X[l, d]) ^ 2\n"
         "output F[i] : f32 = sum(l) exp(-sqrt(D[i, l])) }",
         {},
         "distribute D\nunfuse D\nfuse D_2, D_1, D, F\ngroup i by 16 in F\nstream l by 16 in F"},
        {"sums of a product's operands beside it, over its rows too",
         "diagram beside { axis a = 64, c = 64, k = 32\n input A[a, k], B[k, c] : bf16\n"
         "output C[a, c] : f32 = sum(k) A[a, k] * B[k, c]\n"
         "output s : f32 = sum(a, k) A[a, k] }",
         {},
         "fuse all"},
        {"depthwise convolution",
         "diagram depthwise { axis p = 37, r = 3, c = 40, t = p + r - 1\n"
         "input X[t, c], W[r, c] : bf16\n"
         "output Y[p, c] : f32 = sum(r) X[p + r, c] * W[r, c] }",
         {},
         "group p by 16"},
    };
    return list;
}

}  // namespace napkin::test
