#include <fmt/format.h>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

const char* const kGroupNorm =
    "diagram gn { axis n = 3, p = 29, g = 4, c = 16\n input X[n, p, g, c] : bf16\n input "
    "gamma[g, c], beta[g, c] : bf16\n"
    "m[n, g] = sum(p, c) X[n, p, g, c] / (size(p) * size(c))\n"
    "v[n, g] = sum(p, c) (X[n, p, g, c] - m[n, g]) ^ 2 / (size(p) * size(c))\n"
    "output Y[n, p, g, c] : bf16 = (X[n, p, g, c] - m[n, g]) * rsqrt(v[n, g] + 1e-5) * "
    "gamma[g, c] + beta[g, c] }";

std::string rows(const std::string& value, const std::string& more = "",
                 const std::string& type = "bf16") {
    return fmt::format(
        "diagram rows {{ axis n = 37, d = 96\n input X[n, d] : {1}\n{2}\noutput Y[n, d] : {1} = "
        "{0} }}",
        value, type, more);
}

}  // namespace

std::vector<TensorWorkload> row_workloads() {
    std::vector<TensorWorkload> list = {
        {"row, exponentials of numbers",
         "diagram numbers { axis n = 5, d = 24, q = 1\n input A[n, d] : bf16\n"
         "output Y[n, d, q] : f32 = A[n, d] * silu(exp(0.5) + 0.1 * q) + exp(exp(0.1 * q)) }",
         {},
         "group n by 4"},
        {"row, indices that are read, sums of what stays the same",
         "diagram gather { axis q = 15, x = 14, d = 3\n input label[x] : i32\n"
         "input table[x, d], B[q, x] : f16\n"
         "output T0[x] : f32 = tanh(table[label[x], 0]) / (1.5 + abs(B[0, x]))\n"
         "output T1[q, x] = (sum(q, x) table[label[x], 0] ^ 2) + max(d) B[q, x] }",
         {},
         "fuse all"},
        {"columns, put together behind their chunks",
         "diagram columns { axis n = 77, c = 40\n input X[n, c] : bf16, w[n] : f32\n"
         "output s[c] : f32 = sum(n) X[n, c] * w[n]\n output m[c] : f32 = max(n) X[n, c]\n"
         "output p[c] : f32 = prod(n) (1 + 0.01 * X[n, c])\n"
         "output l[c] : f32 = logsumexp[n](X[n, c]) }",
         {},
         "fuse all\ngroup c by 16\nstream n by 16",
         {},
         {{{"n", 9}, {"c", 64}}}},
        {"columns, in parts",
         "diagram columns { axis n = 200, c = 72\n input X[n, c] : bf16\n"
         "output s[c] : f32 = sum(n) X[n, c] }",
         {},
         "group c by 32\nstream n by 8\nsplit-stream n by 64"},
        {"columns, of which one needs what the other has so far",
         "diagram columns { axis n = 60, c = 24\n input X[n, c] : bf16\n"
         "output m[c] : f32 = sum(n) X[n, c] / size(n)\n"
         "output v[c] : f32 = sum(n) (X[n, c] - m[c]) ^ 2 / size(n) }",
         {},
         "fuse all\ngroup c by 8\nstream n by 16"},
        {"row, its other half",
         "diagram rotary { axis t = 5, h = 3, e = 16, d = 2 * e\n input X[t, h, d] : bf16\n"
         "input c[t, e], s[t, e] : f32\n output Y[t, h, d] : bf16 = if d < size(e)\n"
         "then X[t, h, d] * c[t, d] - X[t, h, d + size(e)] * s[t, d]\n"
         "else X[t, h, d] * c[t, d - size(e)] + X[t, h, d - size(e)] * s[t, d - size(e)] }",
         {},
         "group t by 2\nstream d by 16",
         {},
         {{{"t", 3}, {"e", 8}}, {{"t", 2}, {"e", 12}}}},
        {"row, its other half, all at once",
         "diagram rotary { axis t = 5, h = 3, e = 16, d = 2 * e\n input X[t, h, d] : bf16\n"
         "input c[t, e], s[t, e] : f32\n output Y[t, h, d] : bf16 = if d < size(e)\n"
         "then X[t, h, d] * c[t, d] - X[t, h, d + size(e)] * s[t, d]\n"
         "else X[t, h, d] * c[t, d - size(e)] + X[t, h, d - size(e)] * s[t, d - size(e)] }",
         {},
         "group t by 2",
         {},
         {{{"t", 3}}, {{"t", 8}}}},
        {"row, as another array has its columns",
         "diagram turned { axis i = 3, k = 70, c = 104\n input A[i, k, c] : bf16, B[c, k] : f32\n"
         "input D[k, c] : f16\n output L[c, i, k] : bf16 = A[i, k, c] * B[c, k] + D[k, c] }",
         {},
         "group i by 1\ngroup k by 48\nstream c by 24",
         {},
         {{{"k", 9}, {"c", 17}}, {{"k", 48}, {"c", 96}}}},
        {"row, as another array has its columns, all at once",
         "diagram turned { axis a = 100, b = 75\n input X[a, b] : f32, w[a] : bf16\n"
         "output Y[b, a] : f32 = if X[a, b] > 0 then X[a, b] * w[a] else 0 }",
         {},
         "group a by 64\ngroup b by 32"},
        {"row, turned by no whole vector",
         "diagram turned { axis t = 5, d = 24\n input X[t, d] : bf16\n"
         "output Y[t, d] : bf16 = X[t, (d + 12) % 24] - X[t, (d + 8) % 24] }",
         {},
         "group t by 2"},
        {"row, beside its diagonal",
         "diagram ratios { axis i = 40, j = i\n input S[i, j] : f32\n"
         "output E[i] : f32 = max(j) (S[i, j] - S[i, i])\n"
         "output T[i] : f32 = (sum(j) S[i, j]) * S[i, i] }",
         {},
         "fuse all\ngroup i by 16"},
        {"row, beside its diagonal, in chunks",
         "diagram ratios { axis i = 40, j = i\n input S[i, j] : f32\n"
         "output L[i] : f32 = logsumexp[j](S[i, j] * S[j, j] - S[i, i]) }",
         {},
         "group i by 16\nstream j by 8"},
        {"row, a product beside its diagonal",
         "diagram masked { axis i = 40, j = i, d = 32\n input S[i, j], B[j, d] : bf16\n"
         "output E[i, d] : f32 = sum(j) S[i, j] * S[i, i] * B[j, d] }",
         {},
         "group i by 16\nstream j by 16"},
        {"row, a matrix of one value",
         "diagram whole { axis q = 1, x = 14, d = 3\n input B[q], D[q, x, d] : bf16\n"
         "output T0[q] = max(x) B[q] * D[q, x, 0]\n"
         "output T1[q, d, x] = (sum(d, x) B[q] * 0.1 * d) }",
         {},
         "fuse all"},
        {"row, i4 weights in groups",
         "diagram packed { axis m = 5, n = 7, k = 64, g = k // 16\n input X[m, k] : i8, W[n, k] : "
         "i4, s[n, g] : f16\n"
         "output Y[m, n] : f32 = sum(k) X[m, k] * (W[n, k] - 1) * s[n, k // 16] }",
         {},
         "group m by 1\ngroup n by 1\nstream k by 64"},
        {"row, a vector that is padded further than the rows it is made of",
         "diagram linear { axis q = 33, x = 200, d = 8, e = 64\n input Q[q, d], K[x, d], V[x, e] : "
         "f16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n A[q, x] = if x <= q then S[q, x] else 0\n"
         "l[q] = sum(x) A[q, x]\n output O[q, e] : f16 = sum(x) A[q, x] * V[x, e] / (abs(l[q]) + "
         "1) }",
         {},
         "fuse all\nstream d by 1"},
        {"row, i4 of an odd length",
         "diagram packed { axis n = 7, k = 21\n input W[n, k] : i4, s[k] : f16\n"
         "output Y[n, k] : f16 = W[n, k] * s[k]\n output A[n] : f32 = max(k) W[n, k] * s[k] }",
         {},
         "fuse all\ngroup n by 4"},
        {"softmax", rows("softmax[d](X[n, d])"), {}, "group n by 16 at l1", {}, {{{"n", 5}}}, true},
        {"softmax, f32", rows("softmax[d](X[n, d])", "", "f32"), {}, "group n by 8 at l1"},
        {"softmax, one row a block",
         rows("softmax[d](X[n, d])"),
         {{"d", 1000}},
         "group n by 1 at l1"},
        {"softmax, odd rows", rows("softmax[d](X[n, d])"), {{"d", 77}}, "group n by 8 at l1"},
        {"softmax, even rows",
         rows("softmax[d](X[n, d])", "", "f16"),
         {{"d", 78}},
         "group n by 8 at l1"},
        {"softmax, short rows", rows("softmax[d](X[n, d])"), {{"d", 3}}, "group n by 32 at l1"},
        {"softmax, rows of one", rows("softmax[d](X[n, d])"), {{"d", 1}}, "group n by 32 at l1"},
        {"softmax, streamed", rows("softmax[d](X[n, d])"), {{"d", 200}}, "group n by 8 at l1"},
        {"softmax, rows of 4096",
         rows("softmax[d](X[n, d])"),
         {{"n", 3}, {"d", 4096}},
         "group n by 1 at l1"},
        {"softmax, rows of 8192",
         rows("softmax[d](X[n, d])"),
         {{"n", 2}, {"d", 8192}},
         "group n by 1 at l1",
         {},
         {},
         true},
        {"softmax, rows of 16384",
         rows("softmax[d](X[n, d])"),
         {{"n", 2}, {"d", 16384}},
         "group n by 1 at l1"},
        {"softmax, rows of 32768",
         rows("softmax[d](X[n, d])"),
         {{"n", 2}, {"d", 32768}},
         "group n by 1 at l1"},
        {"softmax, rows of 20001",
         rows("softmax[d](X[n, d])"),
         {{"n", 2}, {"d", 20001}},
         "group n by 1 at l1"},
        {"softmax, masked",
         rows("softmax[d](if d <= 2 * n then X[n, d] else -inf)"),
         {},
         "group n by 8 at l1"},
        {"softmax, of columns",
         "diagram rows { axis n = 37, d = 96\n input X[d, n] : bf16\n output Y[d, n] : bf16 = "
         "softmax[d](X[d, n]) }",
         {},
         "group n by 16 at l1"},
        {"softmax, batched",
         "diagram rows { axis n = 21, d = 96\n input X[n, d] : bf16\n output Y[n, d] : bf16 = "
         "softmax[d](X[n, d])\n weave b = 3\n layout X[n, b, d] }",
         {},
         "group n by 8 at l1",
         {},
         {{{"n", 5}, {"b", 2}}}},
        {"softmax, all rows in one block", rows("softmax[d](X[n, d])"), {}, ""},
        {"log-sum-exp",
         "diagram rows { axis n = 37, d = 96\n input X[n, d] : bf16\n output Y[n] : f32 = "
         "logsumexp[d](X[n, d]) }",
         {},
         "group n by 16 at l1",
         {},
         {},
         true},
        {"log-sum-exp, streamed",
         "diagram rows { axis n = 37, d = 200\n input X[n, d] : bf16\n output Y[n] : f32 = "
         "logsumexp[d](X[n, d]) }",
         {},
         "group n by 16 at l1\nstream d by 64 at l1",
         {},
         {{{"n", 5}, {"d", 77}}}},
        {"log-sum-exp, long rows",
         "diagram rows { axis n = 3, d = 10000\n input X[n, d] : f32\n output Y[n] : f32 = "
         "logsumexp[d](X[n, d]) }",
         {},
         "group n by 1 at l1"},
        {"sum, maximum, minimum, product",
         "diagram rows { axis n = 37, d = 50\n input X[n, d] : f32\n output A[n] : f32 = sum(d) "
         "X[n, d]\n output B[n] : f32 = max(d) X[n, d]\n"
         " output C[n] : f32 = min(d) X[n, d]\n output D[n] : f32 = prod(d) (1 + X[n, d] / 100)\n "
         "output E[n] : f32 = (sum(d) X[n, d] ^ 2) ^ 0.5 }",
         {},
         "fuse all\ngroup n by 8 at l1"},
        {"RMSNorm",
         rows("rmsnorm[d](X[n, d], G[d], eps)", "input G[d] : bf16\n param eps : f32 = 1e-5"),
         {},
         "group n by 8 at l1",
         {},
         {{{"n", 5}}},
         true},
        {"RMSNorm, odd rows",
         rows("rmsnorm[d](X[n, d], G[d], eps)", "input G[d] : bf16\n param eps : f32 = 1e-5"),
         {{"d", 53}},
         "group n by 8 at l1"},
        {"RMSNorm, long rows",
         rows("rmsnorm[d](X[n, d], G[d], eps)", "input G[d] : bf16\n param eps : f32 = 1e-5"),
         {{"n", 2}, {"d", 12288}},
         "group n by 1 at l1"},
        {"LayerNorm",
         rows("layernorm[d](X[n, d], G[d], B[d], eps)",
              "input G[d], B[d] : bf16\n param eps : f32 = 1e-5"),
         {},
         "group n by 8 at l1",
         {},
         {},
         true},
        {"LayerNorm, odd rows",
         rows("layernorm[d](X[n, d], G[d], B[d], eps)",
              "input G[d], B[d] : bf16\n param eps : f32 = 1e-5", "f16"),
         {{"d", 131}},
         "group n by 4 at l1"},
        {"LayerNorm, residual",
         rows("layernorm[d](X[n, d] + R[n, d], G[d], B[d], eps)",
              "input R[n, d], G[d], B[d] : bf16\n param eps : f32 = 1e-5"),
         {},
         "group n by 8 at l1"},
        {"RMSNorm then linear",
         "rmsnorm_linear",
         {{"n", 40}, {"d", 72}, {"c", 48}},
         "fuse all\ngroup n by 16 at l1\nstream d by 32 at l1",
         {},
         {},
         true},
        {"RMSNorm then linear, columns in groups",
         "rmsnorm_linear",
         {{"n", 40}, {"d", 72}, {"c", 48}},
         "fuse all\ngroup n by 16 at l1\ngroup c by 32 at l1\nstream d by 32 at l1"},
        {"RMSNorm then linear, whole",
         "rmsnorm_linear",
         {{"n", 40}, {"d", 72}, {"c", 48}},
         "fuse all\ngroup n by 16 at l1"},
        {"LayerNorm then linear",
         "layernorm_linear",
         {{"n", 40}, {"d", 72}, {"c", 48}},
         "fuse all\ngroup n by 16 at l1\nstream d by 32 at l1",
         {},
         {},
         true},
        {"LayerNorm then linear, whole",
         "layernorm_linear",
         {{"n", 20}, {"d", 40}, {"c", 24}},
         "fuse all\ngroup n by 8 at l1\ngroup c by 8 at l1"},
        {"scalar loss",
         "diagram loss { axis n = 37, d = 40\n input X[n, d], Y[n, d] : bf16\n output L : f32 = "
         "(sum(n, d) (X[n, d] - Y[n, d]) ^ 2) / (size(n) * size(d)) }",
         {},
         ""},
        {"scalar loss, rows first",
         "diagram loss { axis n = 37, d = 40\n input X[n, d], Y[n, d] : bf16\n E[n] = sum(d) (X[n, "
         "d] - Y[n, d]) ^ 2\n output L : f32 = sum(n) E[n] }",
         {},
         "group n by 8 at l1 in E"},
        {"scalar sum, streamed",
         "diagram loss { axis n = 300\n input X[n] : bf16\n output L : f32 = sum(n) X[n] ^ 2 }",
         {},
         "stream n by 64 at l1"},
        {"cross entropy", "cross_entropy", {{"n", 19}, {"d", 16}, {"v", 40}}, ""},
        {"cross entropy, streamed",
         "cross_entropy",
         {{"n", 19}, {"d", 16}, {"v", 40}},
         "fuse Z, T, nll\ngroup n by 16 at l1 in nll\nstream v by 16 at l1 in nll"},
        {"embedding",
         "embedding",
         {{"n", 21}, {"v", 37}, {"d", 24}},
         "group n by 8 at l1",
         {},
         {},
         true},
        {"embedding, odd rows",
         "embedding",
         {{"n", 21}, {"v", 37}, {"d", 23}},
         "group n by 8 at l1"},
        {"elementwise",
         "diagram e { axis n = 100\n input X[n], Y[n] : bf16\n output Z[n] : bf16 = silu(X[n]) * "
         "Y[n] }",
         {},
         "group n by 32 at l1"},
        {"elementwise, planes",
         "diagram e { axis a = 5, n = 20, m = 30\n input X[a, n, m], Y[a, n, m] : bf16\n output "
         "Z[a, n, m] : bf16 = silu(X[a, n, m]) * Y[a, n, m] }",
         {},
         "group a by 1 at l1\ngroup n by 8 at l1"},
        {"elementwise, three wide axes",
         "diagram e { axis a = 5, n = 20, m = 30\n input X[a, n, m], Y[a, n, m] : bf16\n output "
         "Z[a, n, m] : bf16 = silu(X[a, n, m]) * Y[a, n, m] }",
         {},
         "group n by 8 at l1"},
        {"group norm, a group a block",
         kGroupNorm,
         {},
         "fuse m, v\ngroup n by 1 at l1 in v\ngroup g by 1 at l1 in v\nstream p by 8 at l1 in v\n"
         "group n by 1 at l1 in Y\ngroup g by 1 at l1 in Y\nstream p by 8 at l1 in Y"},
        {"group norm, all in one",
         kGroupNorm,
         {},
         "fuse all\ngroup n by 1 at l1\ngroup g by 1 at l1"},
        {"group norm, groups as rows",
         kGroupNorm,
         {},
         "fuse m, v\ngroup n by 1 at l1 in v\nstream p by 8 at l1 in v\ngroup n by 1 at l1 in Y\n"
         "group p by 5 at l1 in Y"},
        {"instance norm, channels first",
         "diagram in { axis n = 3, c = 5, y = 7, x = 9\n input X[n, c, y, x] : bf16, w[c] : f32\n"
         "m[n, c] = sum(y, x) X[n, c, y, x] / (size(y) * size(x))\n"
         "output Y[n, c, y, x] : f32 = (X[n, c, y, x] - m[n, c]) * w[c] }",
         {},
         "fuse all\ngroup n by 1 at l1\ngroup c by 2 at l1"},
        {"batch statistics, channels first",
         "diagram bs { axis n = 3, c = 5, y = 7, x = 16\n input X[n, c, y, x] : bf16\n"
         "output s[c] : f32 = sum(n, y, x) X[n, c, y, x]\n"
         "output q[c] : f32 = sum(n, y, x) X[n, c, y, x] ^ 2 }",
         {},
         "fuse all\ngroup c by 2 at l1\nstream n by 2 at l1"},
        {"batch statistics, channels last",
         "diagram bs { axis n = 3, c = 40, y = 7, x = 16\n input X[n, y, x, c] : bf16\n"
         "output s[c] : f32 = sum(n, y, x) X[n, y, x, c]\n"
         "output q[c] : f32 = max(n, y, x) X[n, y, x, c] }",
         {},
         "fuse all\nstream y by 2 at l1"},
        {"depthwise convolution",
         "diagram dw { axis n = 2, y = 6, x = 7, c = 24, r = 3, s = 3\n"
         "axis height = y + r - 1, width = x + s - 1\n"
         "input X[n, height, width, c], W[r, s, c] : bf16\n"
         "output Y[n, y, x, c] : bf16 = sum(r, s) X[n, y + r, x + s, c] * W[r, s, c] }",
         {},
         "group n by 1 at l1\ngroup x by 1 at l1\nstream s by 1 at l1"},
        {"pooling",
         "diagram pool { axis n = 2, y = 6, x = 7, c = 24, r = 2, s = 2\n"
         "axis height = y * r, width = x * s\n"
         "input X[n, height, width, c] : bf16\n"
         "output Y[n, y, x, c] : bf16 = max(r, s) X[n, 2 * y + r, 2 * x + s, c] }",
         {},
         "group n by 1 at l1\ngroup y by 2 at l1\ngroup x by 1 at l1"},
        {"softmax, rows of two types in shared memory, a few rows a block",
         "diagram sq { axis n = 5, v = 12004\n input X[n, v] : f32, R[n, v] : bf16\n"
         "m[n] = max(v) X[n, v]\n s[n] = sum(v) R[n, v] ^ 2\n"
         "output Y[n, v] : f16 = (X[n, v] - m[n]) * R[n, v] * rsqrt(s[n] + 1)\n"
         "output Z[n, v] : f32 = R[n, v] - X[n, v] }",
         {},
         "fuse all\ngroup n by 3 at l1"},
        {"softmax, rows in shared memory",
         "diagram sp { axis n = 3, v = 41000\n input X[n, v] : bf16\n"
         "output Y[n, v] : bf16 = softmax[v](X[n, v]) }",
         {},
         "group n by 1 at l1"},
        {"softmax, rows of two blocks a processor",
         "diagram sp { axis n = 3, v = 20001\n input X[n, v] : bf16\n"
         "output Y[n, v] : bf16 = softmax[v](X[n, v])\n output m[n] : f32 = max(v) X[n, v] }",
         {},
         "fuse all\ngroup n by 1 at l1"},
        {"layer norm, odd rows in shared memory",
         "diagram lp { axis n = 3, v = 41003\n input X[n, v] : f16, w[v], b[v] : bf16\n"
         "m[n] = mean[v](X[n, v])\n"
         "s[n] = sum(v) (X[n, v] - m[n]) ^ 2 / size(v)\n"
         "output Y[n, v] : f16 = (X[n, v] - m[n]) * rsqrt(s[n] + 1e-5) * w[v] + b[v] }",
         {},
         "fuse all\ngroup n by 1 at l1"},
        {"odd rows of two types in shared memory, and what their labels are",
         "diagram lt { axis n = 4, v = 24007\n input X[n, v] : f32, R[n, v] : bf16\n"
         " input t[n] : i32, w[v] : i32\n"
         "L[n] = logsumexp[v](X[n, v])\n s[n] = sum(v) R[n, v] * X[n, v]\n"
         "output Z[n] : f32 = L[n] - X[n, min(max(t[n], 0), 24006)]\n"
         "output Y[n, v] : f16 = exp(X[n, v] - L[n]) * R[n, v] + s[n] * (if v == w[v] then 1 else "
         "0) }",
         {},
         "fuse all\ngroup n by 1 at l1"},
        {"layer norm, odd rows held in pairs, since strides are the caller's",
         "diagram lp { axis n = 2, v = 41003\n input X[n, v] : f16, w[v], b[v] : bf16\n"
         "m[n] = mean[v](X[n, v])\n"
         "s[n] = sum(v) (X[n, v] - m[n]) ^ 2 / size(v)\n"
         "output Y[n, v] : f16 = (X[n, v] - m[n]) * rsqrt(s[n] + 1e-5) * w[v] + b[v]\n"
         "weave h = 1 }",
         {},
         "fuse all\ngroup n by 1 at l1"},
        {"rows beside their place",
         "diagram rb { axis n = 21, v = 64, w = 72\n input X[n, w] : bf16\n"
         "output Y[n, v] : bf16 = exp(X[n, v + 1] - X[n, v + 4]) }",
         {},
         "group n by 8 at l1"},
        {"transposition",
         "diagram t { axis n = 37, m = 50\n input X[n, m] : bf16\n output Y[m, n] : bf16 = X[n, m] "
         "* 2 }",
         {},
         "group n by 16 at l1\ngroup m by 16 at l1"},
        {"sum of columns",
         "diagram s { axis n = 37, m = 50\n input X[n, m] : bf16\n output Y[m] : f32 = sum(n) X[n, "
         "m] }",
         {},
         "group m by 16 at l1\nstream n by 16 at l1"},
        {"sum of columns, whole",
         "diagram s { axis n = 37, m = 50\n input X[n, m] : bf16\n output Y[m] : f32 = sum(n) X[n, "
         "m] }",
         {},
         "group m by 16 at l1"},
        {"sum of columns, many threads a column",
         "diagram s { axis n = 200, m = 72\n input X[n, m] : bf16, w[n] : f32\n output Y[m] : f32 "
         "= "
         "sum(n) X[n, m] * w[n]\n output Z[m] : f32 = max(n) X[n, m] }",
         {},
         "fuse all\nstream n by 64 at l1"},
        {"shifted rows",
         "diagram s { axis n = 20, m = 30, k = m + 3\n input X[n, k] : bf16\n output Y[n, m] : "
         "bf16 = X[n, m + 1] - X[n, m + 3 - 1] }",
         {},
         "group n by 8 at l1"},
        {"rotary",
         "diagram rope { axis n = 20, d = 16, t = 2, d2 = d\n input X[n, t, d] : bf16, C[n, d], "
         "S[n, d] : f32\n"
         " output Y[n, d] : bf16 = X[n, 0, d] * C[n, d] - X[n, 1, d] * S[n, d]\n output Z[n, d] : "
         "bf16 = X[n, 1, d] * C[n, d] + X[n, 0, d] * S[n, d] }",
         {},
         "fuse all\ngroup n by 8 at l1"},
        {"quantised rows",
         "diagram qr { axis n = 20, d = 48\n input X[n, d] : bf16\n A[n] = max(d) abs(X[n, d])\n "
         "output s[n] : f32 = A[n] / 448\n output Y[n, d] : e4m3 = X[n, d] / max(A[n] / 448, 1e-6) "
         "}",
         {},
         "fuse all\ngroup n by 8 at l1"},
        {"types",
         "diagram types { axis n = 37\n input A[n] : f16, B[n] : e4m3, C[n] : e5m2, D[n] : i8\n"
         "input E[n] : i32, F[n] : i64, G[n] : bool, H[n] : tf32\n"
         "output P[n] : e5m2 = A[n] + B[n] * C[n]\n output R[n] : e4m3 = A[n] * 100\n"
         "output T[n] : i8 = D[n] * 2 + E[n] // 3\n output U[n] : i64 = F[n] % 7\n"
         "output W[n] : bool = G[n] and A[n] > 0\n output Y[n] : tf32 = H[n] * 1.5\n"
         "output Z[n] : f16 = if G[n] then A[n] else -A[n] }",
         {},
         "",
         "it computes `T`, which is i8"},
        {"gated scan",
         "gated_scan",
         {{"t", 20}, {"c", 12}, {"b", 2}},
         "",
         "`decay` has several parts"},
        {"top-k routing",
         "topk_routing",
         {{"n", 20}, {"d", 24}, {"e", 16}, {"k", 4}},
         "",
         "`gate` is a selection of several elements"},
        {"monoids of one's own",
         "monoid spread(lo, hi; l, h) = (min(lo, l), max(hi, h)) identity (inf, -inf)\n"
         "diagram own { axis n = 5, t = 90\n input X[n, t] : f32\n"
         "least[n], most[n] = spread(t) (X[n, t], X[n, t])\n output R[n] : f32 = most[n] - "
         "least[n] }",
         {},
         "",
         "`least` has several parts"},
        {"a run-time size that is held whole",
         "diagram held { axis n = 20 dynamic, d = 33 dynamic\n input X[n, d] : f16\n"
         "output Y[n, d] : f16 = softmax[d](X[n, d]) }",
         {},
         "group n by 6 at l1"},
    };
    return list;
}

std::vector<TensorWorkload> tensor_workloads() {
    std::vector<TensorWorkload> all = product_workloads();
    for (const std::vector<TensorWorkload>& more :
         {attention_workloads(), row_workloads(), ordered_workloads(), tile_axis_workloads()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace napkin::test
