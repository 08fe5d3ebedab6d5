// Several axes on one side of a product.
#include <fmt/format.h>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

/// Attention over pixels, of whose scores S[i, j, u, v] `scores` are left.
std::string pixels(const std::string& scores, const std::string& inputs = "",
                   const std::string& more = "") {
    return fmt::format(
        "diagram pixels {{ axis i = 7, j = 11, d = 16\n axis u = i, v = j\n"
        "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n {1}\n"
        "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d] * rsqrt(size(d))\n"
        "P[i, j, u, v] = softmax[u, v]({0})\n"
        "output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d]\n {2}\n weave h = 2 }}",
        scores, inputs, more);
}
constexpr const char* kPixelTiles =
    "fuse all\ngroup i by 4\ngroup j by 8\nstream u by 4\nstream v by 8";

}  // namespace

std::vector<TensorWorkload> tile_axis_workloads() {
    return {
        {"outer products",
         "diagram outer { axis s = 40, i = 6, j = 11, c = 16, d = 32\n"
         "input A[s, i, c], B[s, j, d] : bf16\n"
         "output O[i, j, c, d] : bf16 = sum(s) A[s, i, c] * B[s, j, d] / size(s) }",
         {},
         "group i by 4\ngroup j by 4\nstream s by 16"},
        {"outer products, rows that vectors do not divide",
         "diagram outer { axis s = 40, i = 6, j = 11, c = 16, d = 12\n"
         "input A[s, i, c], B[s, j, d] : bf16\n"
         "output O[i, j, c, d] : f16 = sum(s) A[s, i, c] * B[s, j, d] }",
         {},
         "group i by 4\ngroup j by 4\nstream s by 16"},
        {"neighbourhood of two axes",
         "attention_neighbourhood",
         {{"i", 9}, {"j", 13}, {"d", 16}, {"w", 5}, {"b", 1}, {"h", 2}},
         kPixelTiles,
         {},
         {{{"i", 12}, {"j", 5}}, {{"i", 5}, {"j", 16}}},
         true},
        {"neighbourhood of two axes, whole rows of keys",
         "attention_neighbourhood",
         {{"i", 9}, {"j", 8}, {"d", 16}, {"w", 3}, {"b", 1}, {"h", 2}},
         "fuse all\ngroup i by 4 at l1\ngroup j by 4 at l1\nstream u by 3 at l1"},
        {"neighbourhood of three axes",
         "diagram cube { axis i = 5, j = 4, k = 6, d = 16\n axis u = i, v = j, w = k\n"
         "input Q[i, j, k, d], K[u, v, w, d], V[u, v, w, d] : bf16\n"
         "S[i, j, k, u, v, w] = sum(d) Q[i, j, k, d] * K[u, v, w, d]\n"
         "M[i, j, k, u, v, w] = if neighbourhood[i, u](3, 1, 1) and neighbourhood[j, v](2, 1, 1) "
         "and neighbourhood[k, w](3, 2, 1) then S[i, j, k, u, v, w] else -inf\n"
         "P[i, j, k, u, v, w] = softmax[u, v, w](M[i, j, k, u, v, w])\n"
         "output O[i, j, k, d] : bf16 = sum(u, v, w) P[i, j, k, u, v, w] * V[u, v, w, d] }",
         {},
         "fuse all\ngroup i by 2\ngroup j by 2\ngroup k by 4\nstream u by 2\nstream v by 2\n"
         "stream w by 4"},
        {"pixels, all of them", pixels("S[i, j, u, v]"), {}, kPixelTiles, {}, {{{"i", 3}}}},
        {"pixels, no stream", pixels("S[i, j, u, v]"), {}, "fuse all\ngroup i by 4\ngroup j by 8"},
        {"pixels, causal in their order",
         pixels("if u * size(j) + v <= i * size(j) + j then S[i, j, u, v] else -inf"),
         {},
         kPixelTiles},
        {"pixels, a bias for each pair",
         pixels("S[i, j, u, v] + B[i, j, u, v]", "input B[i, j, u, v] : bf16"),
         {},
         kPixelTiles},
        {"pixels, a bias for each axis",
         pixels("S[i, j, u, v] + B[i, u] + C[j, v]", "input B[i, u], C[j, v] : bf16"),
         {},
         kPixelTiles},
        {"pixels, keys of length one",
         "diagram pixels { axis i = 7, j = 11, d = 16\n axis u = i, v = j\n"
         "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
         "N[u, v] = rsqrt(sum(d) K[u, v, d] * K[u, v, d])\n"
         "S[i, j, u, v] = (sum(d) Q[i, j, d] * K[u, v, d]) * N[u, v]\n"
         "P[i, j, u, v] = softmax[u, v](S[i, j, u, v])\n"
         "output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d] }",
         {},
         kPixelTiles},
        {"pixels, log-sum-exp beside the result",
         pixels("S[i, j, u, v]", "", "output L[i, j] : f32 = logsumexp[u, v](S[i, j, u, v])"),
         {},
         kPixelTiles},
        {"pixels, a document of every pixel",
         pixels("if own[i, j] == other[u, v] then S[i, j, u, v] else -inf",
                "input own[i, j], other[u, v] : i32"),
         {},
         "fuse all\ngroup i by 7\ngroup j by 8\nstream v by 4"},
        {"pixels, a document of every key and one of every row",
         pixels("if row[i] == other[u, v] then S[i, j, u, v] else -inf",
                "input row[i], other[u, v] : i32"),
         {},
         kPixelTiles},
        {"pixels, documents",
         pixels("if page[i] == leaf[u] then S[i, j, u, v] else -inf",
                "input page[i], leaf[u] : i32"),
         {},
         kPixelTiles},
        {"scores of pixels, saved",
         "diagram scores { axis i = 7, j = 11, u = 5, v = 9, d = 16\n"
         "input Q[i, j, d], K[u, v, d] : bf16\n"
         "output S[i, j, u, v] : bf16 = sum(d) Q[i, j, d] * K[u, v, d] }",
         {},
         "group i by 4\ngroup j by 4\ngroup u by 2\ngroup v by 8",
         {},
         {{{"i", 2}, {"v", 20}}}},
        {"keys in rows, one of them and a part of it at a time",
         "diagram rows { axis q = 64, x = 3, y = 48, d = 32\n"
         "input Q[q, d], K[x, y, d], V[x, y, d] : bf16\nS[q, x, y] = sum(d) Q[q, d] * K[x, y, d]\n"
         "P[q, x, y] = softmax[x, y](S[q, x, y])\n"
         "output O[q, d] : bf16 = sum(x, y) P[q, x, y] * V[x, y, d] }",
         {},
         "fuse all\ngroup q by 64\nstream x by 1\nstream y by 16"},
        {"product of two axes of rows",
         "diagram rows { axis a = 5, b = 7, k = 40, c = 24\n input A[a, b, k], B[k, c] : bf16\n"
         "output C[a, b, c] : bf16 = sum(k) A[a, b, k] * B[k, c] }",
         {},
         "group a by 4\ngroup b by 4\ngroup c by 16\nstream k by 16",
         {},
         {{{"a", 9}, {"b", 2}}},
         true},
        {"product of two axes of rows, f32 results and tf32",
         "diagram rows { axis a = 5, b = 7, k = 40, c = 24\n input A[a, b, k], B[k, c] : tf32\n"
         "output C[a, b, c] : f32 = sum(k) A[a, b, k] * B[k, c] }",
         {},
         "group a by 4\ngroup b by 4\ngroup c by 16\nstream k by 16"},
        {"product of two axes of rows, the second contiguous",
         "diagram rows { axis a = 5, b = 14, k = 40, c = 24\n input A[a, k, b], B[k, c] : bf16\n"
         "output C[a, c, b] : bf16 = sum(k) A[a, k, b] * B[k, c] }",
         {},
         "group a by 2\ngroup b by 8\ngroup c by 16\nstream k by 16"},
        {"product of two axes of columns",
         "diagram columns { axis a = 37, b = 5, k = 40, c = 12\n input A[a, k], B[k, b, c] : bf16\n"
         "output C[a, b, c] : bf16 = sum(k) A[a, k] * B[k, b, c] }",
         {},
         "group a by 16\ngroup b by 2\ngroup c by 8\nstream k by 16"},
        {"product over two axes",
         "diagram depth { axis m = 40, n = 24, g = 3, k = 12\n input A[m, g, k], B[g, k, n] : "
         "bf16\n"
         "output C[m, n] : bf16 = sum(g, k) A[m, g, k] * B[g, k, n] }",
         {},
         "group m by 16\ngroup n by 16\nstream g by 2"},
        {"product over two axes, in different orders",
         "diagram depth { axis m = 40, n = 24, g = 6, k = 12\n input A[m, g, k], B[n, k, g] : "
         "bf16\n"
         "output C[m, n] : bf16 = sum(g, k) A[m, g, k] * B[n, k, g] }",
         {},
         "group m by 16\ngroup n by 16\nstream g by 4"},
        {"product of two axes on every side",
         "diagram all { axis a = 5, b = 6, c = 7, e = 10, k = 5, l = 12\n"
         "input A[a, k, b, l], B[c, l, k, e] : bf16\n"
         "output C[a, b, c, e] : bf16 = sum(k, l) A[a, k, b, l] * B[c, l, k, e] }",
         {},
         "group a by 4\ngroup b by 4\ngroup c by 4\ngroup e by 4\nstream k by 2\nstream l by 8"},
        {"product of activations of two axes",
         "diagram rows { axis a = 5, b = 7, k = 40, c = 24\n input A[a, b, k], B[k, c] : bf16\n"
         "output C[a, b, c] : bf16 = sum(k) max(A[a, b, k], 0) * B[k, c] }",
         {},
         "group a by 4\ngroup b by 4\ngroup c by 16\nstream k by 16"},
        {"product of small integers of two axes",
         "diagram rows { axis a = 5, b = 7, k = 40, c = 24\n input A[a, b, k] : bf16, B[k, c] : "
         "i8\n"
         "output C[a, b, c] : bf16 = sum(k) A[a, b, k] * B[k, c] }",
         {},
         "group a by 4\ngroup b by 4\ngroup c by 16\nstream k by 16"},
        {"convolution",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 16}, {"c", 16}, {"b", 2}},
         "group y by 4 at l1\ngroup x by 4 at l1",
         {},
         {{{"y", 3}, {"x", 12}}},
         true},
        {"convolution in chunks",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 40}, {"c", 24}, {"b", 1}},
         "group y by 4\ngroup x by 8\ngroup c by 16\nstream k by 16"},
        {"convolution, a row of the filter at a time",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 24}, {"c", 16}, {"b", 1}},
         "group y by 4\ngroup x by 8\nstream r by 1\nstream k by 16"},
        {"convolution, two rows of the filter at a time",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 24}, {"c", 16}, {"b", 1}},
         "group y by 4\ngroup x by 8\nstream r by 2"},
        {"convolution with a stride",
         "diagram image { axis y = 7, x = 9, k = 24, c = 24, r = 3, s = 2\n"
         "axis height = y * 2 + r, width = x * 3 + s\n"
         "input X[height, width, k], W[c, r, s, k] : bf16\n"
         "output Y[y, x, c] : bf16 = sum(r, s, k) X[2 * y + r, 3 * x + s, k] * W[c, r, s, k]\n"
         "weave b = 2 over X }",
         {},
         "group y by 4\ngroup x by 4\ngroup c by 16\nstream k by 8"},
        {"separable convolution",
         "diagram separable { axis i = 8, j = 7, c = 16, o = 24, r = 3, s = 3\n"
         "axis y = i + r - 1, x = j + s - 1\n"
         "input X[y, x, c], D[r, s, c], W[c, o] : bf16\n"
         "T[i, j, c] = sum(r, s) X[i + r, j + s, c] * D[r, s, c]\n"
         "output Y[i, j, o] : f32 = sum(c) T[i, j, c] * W[c, o] }",
         {},
         "fuse all\ngroup i by 4\ngroup j by 4\nstream c by 2"},
        {"rows of two axes that fill no fragment, with a value of each",
         "diagram centred { axis b = 3, n = 16, k = 64, f = 16\n"
         "input X[n, b, k], W[k, f] : bf16, mu[n, b] : f32\n"
         "output Y[n, b, f] : bf16 = sum(k) (X[n, b, k] - mu[n, b]) * W[k, f] }",
         {},
         ""},
        {"rows of two axes that fill no fragment, softmax made again",
         "diagram again { axis i = 12, j = 7, u = 6, v = 8, d = 16\n"
         "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16, L[i, j] : f32\n"
         "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
         "output O[i, j, d] : bf16 = sum(u, v) exp(0.25 * S[i, j, u, v] - L[i, j]) * V[u, v, d] }",
         {},
         "fuse all"},
        {"pixels, sums of rows beside the result",
         "diagram pixels { axis i = 7, j = 11, d = 16\n axis u = i, v = j\n"
         "input Q[i, j, d], K[u, v, d] : bf16\n"
         "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
         "output L[i, u] : f32 = sum(j, v) S[i, j, u, v] * S[i, j, u, v] }",
         {},
         "fuse all\ngroup i by 4",
         "in one block, which holds arrays of two axes"},
    };
}

}  // namespace napkin::test
