#include "tests/codegen/workloads.h"

namespace napkin::test {

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> list = {
        {"matmul, plain", "matmul", {{"a", 40}, {"b", 36}, {"c", 24}}, ""},
        {"matmul, tiled",
         "diagram mm { axis m = 45, n = 70, k = 50\n input A[m, k], B[k, n] : f32\n"
         "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 16 at l1\ngroup n by 32 at l1\nstream k by 8 at l1"},
        {"matmul, sizes that divide",
         "diagram mm { axis m = 64, n = 64, k = 64\n input A[m, k], B[k, n] : bf16\n"
         "output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n] }",
         {},
         "group m by 32 at l1\ngroup n by 32 at l1\nstream k by 16 at l1"},
        {"attention, plain",
         "attention",
         {{"q", 20}, {"x", 33}, {"d", 16}, {"b", 2}, {"h", 2}},
         ""},
        {"attention, fused",
         "attention",
         {{"q", 40}, {"x", 52}, {"d", 24}, {"b", 2}, {"h", 3}},
         "fuse S, P, O\ngroup q by 16 at l1\nstream x by 8 at l1"},
        {"attention, nested",
         "attention",
         {{"q", 40}, {"x", 52}, {"d", 16}, {"b", 1}, {"h", 2}},
         "fuse S, P, O\ngroup q by 32 at l1\ngroup q by 8 at l2\nstream x by 16 at l1"},
        {"attention, window",
         "attention_window",
         {{"q", 50}, {"d", 16}, {"w", 12}, {"b", 1}, {"h", 2}},
         "fuse all\ngroup q by 8 at l1\nstream x by 8 at l1"},
        {"attention, documents",
         "attention_documents",
         {{"q", 40}, {"d", 16}, {"b", 2}, {"h", 2}},
         "fuse all\ngroup q by 16 at l1\nstream x by 8 at l1"},
        {"attention, ALiBi",
         "attention_alibi",
         {{"q", 40}, {"d", 16}, {"b", 2}, {"h", 2}},
         "fuse all\ngroup q by 16 at l1\nstream x by 8 at l1"},
        {"attention, softcap",
         "attention_softcap",
         {{"q", 40}, {"x", 40}, {"d", 16}, {"b", 2}, {"h", 2}},
         "fuse all\ngroup q by 16 at l1\nstream x by 8 at l1"},
        {"attention, grouped queries",
         "attention_gqa",
         {{"q", 40}, {"x", 44}, {"d", 16}, {"e", 12}, {"b", 1}, {"h", 2}, {"g", 3}},
         "fuse all\ngroup q by 16 at l1\nstream x by 8 at l1"},
        {"attention, neighbourhood",
         "attention_neighbourhood",
         {{"i", 9}, {"j", 8}, {"d", 8}, {"w", 3}, {"b", 1}, {"h", 2}},
         "fuse all\ngroup i by 4 at l1\ngroup j by 4 at l1\nstream u by 3 at l1"},
        {"attention, backward",
         "attention_backward",
         {{"q", 24}, {"x", 30}, {"d", 8}, {"b", 1}, {"h", 2}},
         ""},
        {"convolution",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 6}, {"c", 5}, {"b", 2}},
         "group y by 4 at l1\ngroup x by 4 at l1"},
        {"cross entropy", "cross_entropy", {{"n", 19}, {"d", 16}, {"v", 37}}, ""},
        {"embedding", "embedding", {{"n", 21}, {"v", 37}, {"d", 24}}, "group n by 8 at l1"},
        {"fp8 matmul", "fp8_matmul", {{"m", 20}, {"n", 24}, {"k", 32}}, ""},
        {"gated scan", "gated_scan", {{"t", 20}, {"c", 12}, {"b", 2}}, ""},
        {"prefix sum", "prefix_sum", {{"n", 12}, {"t", 37}}, "group n by 5 at l1"},
        {"prefix sum, streamed",
         "prefix_sum",
         {{"n", 12}, {"t", 37}},
         "group n by 5 at l1\nstream t by 8 at l1"},
        {"layernorm then linear", "layernorm_linear", {{"n", 20}, {"d", 40}, {"c", 24}}, ""},
        {"rmsnorm then linear, fused",
         "rmsnorm_linear",
         {{"n", 20}, {"d", 40}, {"c", 24}},
         "fuse all\ngroup n by 8 at l1\nstream d by 16 at l1"},
        {"matmul with epilogue", "matmul_epilogue", {{"m", 33}, {"n", 20}, {"k", 40}}, ""},
        {"gated product",
         "swiglu",
         {{"n", 20}, {"d", 24}, {"f", 36}},
         "fuse all\ngroup n by 8 at l1"},
        {"top-k routing", "topk_routing", {{"n", 20}, {"d", 24}, {"e", 12}, {"k", 4}}, ""},
        {"types",
         "diagram types { axis n = 37\n input A[n] : f16, B[n] : e4m3, C[n] : e5m2, D[n] : i8\n"
         "input E[n] : i32, F[n] : i64, G[n] : bool, H[n] : tf32\n"
         "output P[n] : e5m2 = A[n] + B[n] * C[n]\n output R[n] : e4m3 = A[n] * 100\n"
         "output T[n] : i8 = D[n] * 2 + E[n] // 3\n output U[n] : i64 = F[n] % 7\n"
         "output W[n] : bool = G[n] and A[n] > 0\n output Y[n] : tf32 = H[n] * 1.5\n"
         "output Z[n] : f16 = if G[n] then A[n] else -A[n] }",
         {},
         ""},
        {"rows with nothing visible",
         "diagram empty { axis q = 20, x = 24, d = 8\n input Q[q, d], K[x, d], V[x, d] : f32\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
         "P[q, x] = softmax[x](if x + 10 < q then S[q, x] else -inf)\n"
         "output O[q, d] : f32 = sum(x) P[q, x] * V[x, d] }",
         {},
         "fuse all\ngroup q by 8 at l1\nstream x by 4 at l1"},
        {"layout and four-bit integers",
         "diagram packed { axis q = 10, x = 14, d = 8\n input Q[q, d] : f32, K[x, d] : i4\n"
         "layout Q[b, q, h, d]\n"
         "output S[q, x] : f32 = sum(d) Q[q, d] * K[x, d]\n layout S[h, b, x, q]\n"
         "weave b = 2, h = 3 }",
         {},
         "group q by 4 at l1\ngroup x by 8 at l1"},
        {"monoids of one's own",
         "monoid spread(lo, hi; l, h) = (min(lo, l), max(hi, h)) identity (inf, -inf)\n"
         "monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative\n"
         "diagram own { axis n = 5, t = 90\n input X[n, t], Y[n, t] : f32\n"
         "least[n], most[n] = spread(t) (X[n, t], X[n, t])\n"
         "decay[n], last[n] = affine(t) (sigmoid(Y[n, t]), X[n, t])\n"
         "output R[n] : f32 = most[n] - least[n] + last[n] * decay[n]\n"
         "output best[n] : i32 = argmax(t) X[n, t] * Y[n, t] }",
         {},
         ""},
        {"gather by a computed index",
         "diagram pick { axis n = 12, e = 40, d = 8\n input X[n, e], W[e, d] : f32\n"
         "best[n] = argmax(e) X[n, e]\n output Y[n, d] : f32 = W[best[n], d] * 2 }",
         {},
         "group n by 5 at l1 in Y"},
        {"gather by what a table holds at a computed index",
         "diagram pick { axis n = 12, e = 40, k = 2, s = 10, d = 8\n input X[n, e], Z[n, d], "
         "W[s, d] : f32\n input slot[e] : i32\n"
         "val[n, k], idx[n, k] = topk[e](X[n, e])\n"
         "output Y[n, k] : f32 = val[n, k] * sum(d) Z[n, d] * W[slot[idx[n, k]], d] }",
         {},
         "fuse all\ngroup n by 5 at l1\nstream d by 3"},
        {"gathers three tables deep, of each chunk",
         "diagram pick { axis n = 12, e = 9, d = 8\n input st[n, d], nx[e] : i32\n"
         "input X[e], Z[n, d] : f32\n h[n, d] = (st[n, d] * 7 + d) % size(e)\n"
         "a[n, d] = nx[h[n, d]]\n output Y[n] : f32 = sum(d) X[nx[nx[a[n, d]]]] * Z[n, d] }",
         {},
         "fuse all\ngroup n by 8 at l1\ngroup n by 4 at l2\nstream d by 3"},
        {"attention, retyped",
         "attention",
         {{"q", 40}, {"x", 52}, {"d", 16}, {"b", 1}, {"h", 2}},
         "fuse S, P, O\nretype S to f16\ngroup q by 8 at l1\nstream x by 8 at l1"},
        {"attention, streams in streams",
         "attention",
         {{"q", 40}, {"x", 52}, {"d", 16}, {"b", 1}, {"h", 2}},
         "fuse S, P, O\ngroup q by 16 at l1\ngroup q by 4 at thread\nstream x by 24 at l1\n"
         "stream x by 8 at l2"},
        {"attention, split queries",
         "attention",
         {{"q", 48}, {"x", 20}, {"d", 16}, {"b", 1}, {"h", 2}},
         "split-axis q as q1 by 8\nfuse S, P, O\ngroup q1 by 4 at l1\nstream x by 8 at l1"},
        {"convolution, streamed",
         "convolution",
         {{"y", 9}, {"x", 10}, {"k", 6}, {"c", 5}, {"b", 2}},
         "group y by 4 at l1\ngroup c by 2 at l1\nstream k by 4 at l1"},
        {"strided reads",
         "diagram strided { axis p = 13, r = 3, m = 2 * p + 3 * r\n input X[m], W[r] : f32\n"
         "output Y[p] : f32 = sum(r) X[2 * p + 3 * r] * W[r] }",
         {},
         "group p by 4 at l1"},
        {"strided mask",
         "diagram strided { axis q = 30, x = 30, d = 8\n input Q[q, d], K[x, d], V[x, d] : f32\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
         "P[q, x] = softmax[x](if x % 4 == q % 4 or x // 8 == q // 8 then S[q, x] else -inf)\n"
         "output O[q, d] : f32 = sum(x) P[q, x] * V[x, d] }",
         {},
         "fuse all\ngroup q by 8 at l1\nstream x by 2 at l1"},
        {"cross entropy, streamed",
         "cross_entropy",
         {{"n", 19}, {"d", 16}, {"v", 37}},
         "fuse Z, T, nll\ngroup n by 8 at l1 in nll\nstream v by 16 at l1 in nll"},
        {"attention backward, streamed",
         "attention_backward",
         {{"q", 24}, {"x", 30}, {"d", 8}, {"b", 1}, {"h", 2}},
         "fuse S, P, dP, dS, dQ\ngroup q by 8 at l1 in dQ\nstream x by 8 at l1 in dQ"},
        {"layernorm into linear",
         "layernorm_linear",
         {{"n", 20}, {"d", 40}, {"c", 24}},
         "fuse all\ngroup n by 8 at l1\ngroup c by 8 at l1"},
        {"streams inside a chunk, below groups",
         "diagram t { axis q = 5, h = 6, x = 12, d = 8\n input Q[q, h, d], K[x, d] : bf16\n"
         "S[q, h, x] = sum(d) Q[q, h, d] * K[x, d]\n"
         "output O[q, h] : f32 = logsumexp[x](S[q, h, x]) }",
         {},
         "fuse all\ngroup h by 2 at l2\nstream q by 2\nstream x by 4"},
        {"results of chunks further in than where they are kept",
         "diagram t { axis q = 7, h = 12, x = 21\n input A[q, h, x], B[q] : f32\n"
         "T[q, h, x] = A[q, h, x] * B[q]\n output O[q, h] : bf16 = sum(x) T[q, h, x]\n"
         "output Z[q, h, x] : f32 = T[q, h, x] + 1 }",
         {},
         "fuse all\nstream q by 4\ngroup h by 4 at l2\nstream q by 2 at l2"},
        {"a run-time size that is held whole",
         "diagram held { axis n = 20 dynamic, d = 33 dynamic\n input X[n, d] : f16\n"
         "output Y[n, d] : f16 = softmax[d](X[n, d]) }",
         {},
         "group n by 6 at l1"},
    };
    return list;
}

}  // namespace napkin::test
