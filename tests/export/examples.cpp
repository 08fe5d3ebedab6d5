#include "tests/export/examples.h"

#include <algorithm>
#include <stdexcept>

namespace napkin::test {

const std::vector<ExportExample>& export_examples() {
    static const std::vector<ExportExample> list = {
        {"attention on tensor cores, sizes at run time",
         R"(diagram attention {
  axis q = 64 dynamic, x = 64 dynamic, d = 32
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  M[q, x] = if x <= q + size(x) - size(q) then S[q, x] else -inf
  P[q, x] = softmax[x](M[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  output L[q] : f32 = logsumexp[x](M[q, x])
  weave b = 2 dynamic, h = 3 dynamic
})",
         "fuse all\ngroup q by 32\nstream x by 16",
         "sm_80",
         {{{"q", 37}, {"x", 70}, {"b", 2}, {"h", 2}}, {{"q", 1}, {"x", 3}, {"b", 1}, {"h", 1}}}},
        {"attention of warp groups, sizes at run time",
         R"(diagram grouped {
  axis q = 128 dynamic, x = 96 dynamic, d = 32
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  M[q, x] = if x <= q + size(x) - size(q) then S[q, x] else -inf
  P[q, x] = softmax[x](M[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  weave b = 2 dynamic, h = 3 dynamic
})",
         "fuse all\ngroup q by 64\nstream x by 32",
         "sm_90a",
         {{{"q", 70}, {"x", 97}, {"b", 1}, {"h", 2}}, {{"q", 1}, {"x", 1}, {"b", 1}, {"h", 1}}}},
        {"attention of warp groups with a bias of keys that comes in bulk",
         R"(diagram biased {
  axis q = 96 dynamic, x = 72, d = 32
  input Q[q, d], K[x, d], V[x, d] : bf16
  input B[x] : f32
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)) + B[x]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  weave h = 2
})",
         "fuse all\ngroup q by 64\nstream x by 32",
         "sm_90a",
         {{{"q", 70}}, {{"q", 1}}}},
        {"weights of 4 bits in bulk, outputs at run time",
         R"(diagram quantised {
  axis m = 16, n = 200 dynamic, g = 3, k = 128
  input X[m, g, k] : bf16
  input W[n, g, k] : i4
  input scale[n, g] : bf16
  output Y[m, n] : bf16 = sum(g, k) X[m, g, k] * W[n, g, k] * scale[n, g]
})",
         "group n by 128\nstream g by 1",
         "sm_90a",
         {{{"n", 136}}, {{"n", 1}}}},
        {"rows that begin at no multiple of 16 bytes",
         R"(diagram odd_rows {
  axis n = 3 dynamic, v = 24577
  input X[n, v] : bf16
  output Y[n, v] : bf16 = softmax[v](X[n, v])
})",
         "group n by 1",
         "sm_80",
         {{{"n", 3}}, {{"n", 1}}}},
        {"weights of 4 bits on tensor cores, another axis contiguous in memory",
         R"(diagram turned {
  axis m = 100 dynamic, n = 90 dynamic, k = 32
  input A[m, k] : bf16
  input W[n, k] : i4
  layout W[k, n]
  output C[m, n] : f32 = sum(k) A[m, k] * W[n, k]
})",
         "group m by 32\ngroup n by 32\nstream k by 16",
         "sm_80",
         {{{"m", 40}, {"n", 50}}, {{"m", 1}, {"n", 2}}}},
        {"a product of warp groups whose blocks take several tiles",
         R"(diagram several {
  axis m = 200 dynamic, n = 96, k = 64
  input A[m, k], B[n, k] : bf16
  output C[m, n] : bf16 = sum(k) A[m, k] * B[n, k]
})",
         "group m by 64\ngroup n by 32\nstream k by 32\nschedule persistent = true in C",
         "sm_90a",
         {{{"m", 200}}, {{"m", 1}}}},
        {"products of warp groups with an array in memory between them, and one for an older "
         "target",
         R"(diagram chained {
  axis m = 72 dynamic, n = 64, k = 48, l = 40
  input A[m, k], B[k, n], D[l, n] : f16
  layout A[k, m]
  C[m, n] : f16 = sum(k) A[m, k] * B[k, n]
  E[m, l] : f16 = sum(n) C[m, n] * D[l, n]
  output Y[m, l] : f32 = E[m, l] + 1
})",
         "group m by 64 in C\nstream k by 16 in C\ngroup m by 64 in E\ngroup m by 8 in Y",
         "sm_90a",
         {{{"m", 24}}, {{"m", 65}}}},
        {"several kernels with a workspace, sizes at run time",
         R"(diagram unfused {
  axis q = 20 dynamic, x = 33 dynamic, d = 16
  input Q[q, d], K[x, d], V[x, d] : f16
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : f16 = sum(x) P[q, x] * V[x, d]
  weave h = 2
})",
         "group q by 8 in S\ngroup q by 4 in P\ngroup q by 8 in O",
         "simt",
         {{{"q", 21}, {"x", 30}}, {{"q", 3}, {"x", 1}}}},
        {"a layout of its own, and an array in memory between kernels of another target",
         R"(diagram laid_out {
  axis m = 40, n = 48, k = 32
  input A[m, k], B[n, k] : bf16, bias[n] : f32
  layout A[k, m]
  C[m, n] : bf16 = sum(k) A[m, k] * B[n, k]
  output D[m, n] : bf16 = max(C[m, n] + bias[n], 0)
  layout D[n, m]
})",
         "group m by 32 in C\ngroup n by 16 in C\nstream k by 16 in C\ngroup m by 32 in D",
         "sm_80",
         {}},
        {"integers, documents, lengths and a parameter",
         R"(diagram documents {
  axis q = 40, x = q, d = 16
  input Q[q, d], K[x, d], V[x, d] : bf16
  input document[b, x], length[b] : i32
  param cap : f32 = 5.0
  S[q, x] = softcap(sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)), cap)
  M[q, x] = if x <= q and x < length[b] and document[b, q] == document[b, x] then S[q, x] else -inf
  P[q, x] = softmax[x](M[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  weave b = 2, h = 2
})",
         "fuse all\ngroup q by 16\nstream x by 8",
         "simt",
         {}},
        {"documents of warp groups whose blocks draw their tiles, and a kernel before them",
         R"(diagram drawn {
  axis q = 200, x = q, d = 16
  input Q[q, d], K[x, d], V[x, d] : bf16
  input document[b, x] : i32
  W[x, d] : bf16 = 2 * V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  M[q, x] = if x <= q and document[b, q] == document[b, x] then S[q, x] else -inf
  P[q, x] = softmax[x](M[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * W[x, d]
  weave b = 2, h = 3
})",
         "fuse S, M, P, O\ngroup q by 64 in O\nstream x by 32 in O\ngroup x by 8 in W\n"
         "schedule persistent = true in O",
         "sm_90a",
         {}},
        {"rows gathered by index, small types, numbers by value",
         R"(diagram gathered {
  axis n = 30 dynamic, v = 50, d = 24
  input E[v, d] : e4m3, W[d] : e5m2, label[n] : i64, keep[n] : bool, shift[d] : i8
  input scale : f32, offset : i32
  output Y[n, d] : f32 = if keep[n] then E[label[n], d] * W[d] * scale + shift[d] + offset else 0
  output total[n] : f32 = sum(d) Y[n, d]
})",
         "group n by 8 in Y\ngroup n by 8 in total",
         "simt",
         {{{"n", 13}}, {{"n", 1}}}},
        {"numbers by value, of types narrower than they are passed in",
         R"(diagram narrow {
  axis n = 8
  input X[n] : f32
  param s : bf16 = 0.25
  param t : i8 = 5
  param u : tf32 = 1
  output Y[n] : f32 = X[n] * s * u + t
})",
         "",
         "simt",
         {}},
        {"sizes that follow from others",
         R"(diagram filtered {
  axis p = 20 dynamic, r = 3, c = 12, k = 8
  axis n = 2 * p + r - 1
  input X[n, k], W[r, k, c] : f32
  output Y[p, c] : f32 = sum(r, k) X[2 * p + r, k] * W[r, k, c]
})",
         "group p by 8",
         "simt",
         {{{"p", 9}}, {{"p", 1}}}},
        {"one number for everything, selections and no sizes to choose",
         R"(diagram summed {
  axis m = 12, e = 20, k = 2
  input G[m, e] : f32
  val[m, k], idx[m, k] = topk[e](G[m, e])
  output best[m, k] : f32 = val[m, k]
  output which[m, k] : i32 = idx[m, k]
  output total : f32 = sum(m, k) val[m, k]
})",
         "",
         "simt",
         {}},
    };
    return list;
}

const ExportExample& export_example(const std::string& name) {
    const std::vector<ExportExample>& all = export_examples();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const ExportExample& example) { return example.name == name; });
    if (found == all.end()) throw std::runtime_error("there is no example " + name);
    return *found;
}

}  // namespace napkin::test
