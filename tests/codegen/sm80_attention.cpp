#include <fmt/format.h>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

constexpr const char* kTiles = "fuse all\ngroup q by 32 at l1\nstream x by 32 at l1";

/// Attention whose scores are `score`, of S[q, x]; `more` are lines of the diagram.
std::string attention(const std::string& score, const std::string& more = "",
                      const std::string& type = "bf16") {
    return fmt::format(
        "diagram attention {{ axis q = 56, x = q, d = 32, e = d\n"
        "input Q[q, d], K[x, d], V[x, e] : {1}\n"
        "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
        "P[q, x] = softmax[x]({0})\noutput O[q, e] : {1} = sum(x) P[q, x] * V[x, e]\n{2}\n"
        "weave b = 1, h = 2 }}",
        score, type, more);
}

/// Plain attention, keys as long as they are set.
std::string plain(const std::string& score = "S[q, x]", const std::string& type = "bf16",
                  const std::string& more = "", const std::string& weave = "weave b = 1, h = 2") {
    return fmt::format(
        "diagram attention {{ axis q = 40, x = 75, d = 32, e = d\n"
        "input Q[q, d], K[x, d], V[x, e] : {1}\n"
        "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
        "P[q, x] = softmax[x]({0})\noutput O[q, e] : {1} = sum(x) P[q, x] * V[x, e]\n{2}\n{3} }}",
        score, type, more, weave);
}

void add_head_sizes(std::vector<TensorWorkload>& list) {
    for (int size = 16; size <= 256; size += 16)
        list.push_back({fmt::format("attention, heads of {}", size),
                        plain(),
                        {{"q", 40}, {"x", 75}, {"d", size}},
                        size <= 128 ? "fuse all\ngroup q by 32 at l1\nstream x by 32 at l1"
                                    : "fuse all\ngroup q by 32 at l1\nstream x by 16 at l1",
                        {},
                        {},
                        size == 64 || size == 128 || size == 256});
    list.push_back({"attention, heads of 40", plain(), {{"d", 40}}, kTiles});
    list.push_back({"attention, heads of 36", plain(), {{"d", 36}}, kTiles});
    list.push_back({"attention, heads of 33", plain(), {{"d", 33}}, kTiles});
    list.push_back({"attention, heads of 8", plain(), {{"d", 8}}, kTiles});
    list.push_back({"attention, wide blocks",
                    plain(),
                    {{"q", 140}, {"x", 150}, {"d", 64}},
                    "fuse all\ngroup q by 128 at l1\nstream x by 64 at l1",
                    {},
                    {},
                    true});
}

}  // namespace

std::vector<TensorWorkload> attention_workloads() {
    std::vector<TensorWorkload> list = {
        {"attention, full",
         plain(),
         {},
         kTiles,
         {},
         {{{"q", 1}, {"x", 1}}, {{"q", 65}, {"x", 130}, {"h", 3}}},
         true},
        {"attention, f16", plain("S[q, x]", "f16"), {}, kTiles},
        {"attention, causal, a head of keys for three by its number",
         "diagram attention { axis q = 56, x = 70, d = 32, h = 6, g = 2\n"
         "input Q[h, q, d], K[g, x, d], V[g, x, d] : bf16\n"
         "S[h, q, x] = sum(d) Q[h, q, d] * K[h // 3, x, d] * rsqrt(size(d))\n"
         "M[h, q, x] = if x <= q + size(x) - size(q) then S[h, q, x] else -inf\n"
         "P[h, q, x] = softmax[x](M[h, q, x])\n"
         "output O[h, q, d] : bf16 = sum(x) P[h, q, x] * V[h // 3, x, d] }",
         {},
         "fuse all\ngroup h by 1\ngroup q by 32\nstream x by 32"},
        {"attention, tf32", plain("S[q, x]", "tf32"), {}, kTiles},
        {"attention, f32", plain("S[q, x]", "f32"), {}, kTiles},
        {"attention, not streamed", plain(), {}, "fuse all\ngroup q by 32 at l1"},
        {"attention, unfused", plain(), {}, ""},
        {"attention, scores apart",
         plain(),
         {},
         "fuse P, O\ngroup q by 32 at l1 in O\nstream x by 32 at l1 in O\ngroup q by 32 at l1 in "
         "S\ngroup x by 32 at l1 in S"},
        {"attention, chunks of 40",
         plain(),
         {},
         "fuse all\ngroup q by 24 at l1\nstream x by 40 at l1"},
        {"attention, one query",
         plain(),
         {{"q", 1}},
         "fuse all\nstream x by 32 at l1",
         {},
         {},
         true},
        {"attention, causal",
         attention("if x <= q then S[q, x] else -inf"),
         {},
         kTiles,
         {},
         {{{"q", 3}}, {{"q", 100}}},
         true},
        {"attention, causal, ends aligned",
         plain("if x <= q + size(x) - size(q) then S[q, x] else -inf"),
         {},
         kTiles,
         {},
         {{{"q", 20}, {"x", 9}}, {{"q", 9}, {"x", 100}}}},
        {"attention, causal, queries the longer",
         plain("if x <= q + size(x) - size(q) then S[q, x] else -inf"),
         {{"q", 75}, {"x", 40}},
         kTiles},
        {"attention, window",
         "attention_window",
         {{"q", 70}, {"d", 32}, {"w", 20}, {"b", 1}, {"h", 2}},
         kTiles,
         {},
         {{{"q", 33}}},
         true},
        {"attention, window both sides",
         attention("if q - x < 9 and x - q < 12 then S[q, x] else -inf"),
         {},
         kTiles},
        {"attention, dilated", attention("if x % 3 == q % 3 then S[q, x] else -inf"), {}, kTiles},
        {"attention, blocks",
         attention("if x // 16 == q // 16 or x < 4 then S[q, x] else -inf"),
         {},
         kTiles},
        {"attention, documents",
         "attention_documents",
         {{"q", 56}, {"d", 32}, {"b", 2}, {"h", 2}},
         kTiles,
         {},
         {{{"q", 40}}},
         true},
        {"attention, lengths",
         plain("if x < len[b] then S[q, x] else -inf", "bf16", "input len[b] : i32",
               "weave b = 3, h = 2"),
         {},
         kTiles},
        {"attention, boolean mask",
         plain("if keep[q, x] then S[q, x] else -inf", "bf16", "input keep[q, x] : bool"),
         {},
         kTiles},
        {"attention, bias matrix",
         plain("S[q, x] + B[q, x]", "bf16", "input B[q, x] : bf16"),
         {},
         kTiles},
        {"attention, grouped queries",
         "attention_gqa",
         {{"q", 40}, {"x", 75}, {"d", 32}, {"e", 48}, {"b", 1}, {"h", 2}, {"g", 3}},
         kTiles,
         {},
         {{{"q", 17}, {"x", 33}}},
         true},
        {"attention, queries of a group together",
         "diagram gqa { axis g = 4, q = 20, x = 40, d = 32, e = d\n input Q[g, q, d], K[x, d], "
         "V[x, e] : bf16\n"
         "S[g, q, x] = sum(d) Q[g, q, d] * K[x, d] * rsqrt(size(d))\n P[g, q, x] = softmax[x](S[g, "
         "q, x])\n"
         "output O[g, q, e] : bf16 = sum(x) P[g, q, x] * V[x, e]\n weave h = 2 }",
         {},
         "join-axes g, q as r\nfuse all\ngroup r by 32 at l1\nstream x by 32 at l1"},
        {"attention, ALiBi",
         "attention_alibi",
         {{"q", 56}, {"d", 32}, {"b", 2}, {"h", 2}},
         kTiles,
         {},
         {{{"q", 40}}},
         true},
        {"attention, softcap",
         "attention_softcap",
         {{"q", 40}, {"x", 56}, {"d", 32}, {"b", 1}, {"h", 2}},
         kTiles,
         {},
         {{{"q", 20}}},
         true},
        {"attention, sink",
         "diagram sink { axis q = 40, x = 56, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16, sink[h] : f32\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n M[q] = max(x) S[q, x]\n N[q] = "
         "max(M[q], sink[h])\n"
         "L[q] = exp(sink[h] - N[q]) + sum(x) exp(S[q, x] - N[q])\n"
         "output O[q, e] : bf16 = (sum(x) exp(S[q, x] - N[q]) * V[x, e]) / L[q]\n weave b = 1, h = "
         "2 }",
         {},
         kTiles,
         {},
         {},
         true},
        {"attention, sink in a plain denominator",
         "diagram sink { axis q = 40, x = 56, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16, sink[h] : f32\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n M[q] = max(x) S[q, x]\n"
         "L[q] = exp(sink[h] - M[q]) + sum(x) exp(S[q, x] - M[q])\n"
         "output O[q, e] : bf16 = (sum(x) exp(S[q, x] - M[q]) * V[x, e]) / L[q]\n weave b = 1, h = "
         "2 }",
         {},
         kTiles},
        {"attention, log-sum-exp",
         plain("S[q, x]", "bf16", "output L[q] : f32 = logsumexp[x](S[q, x])"),
         {},
         kTiles,
         {},
         {},
         true},
        {"attention, log-sum-exp, causal",
         attention("if x <= q then S[q, x] else -inf",
                   "output L[q] : f32 = logsumexp[x](if x <= q then S[q, x] else -inf)"),
         {},
         kTiles},
        {"attention, values of another size", plain(), {{"d", 48}}, kTiles},
        {"attention, latent, values too wide for a warp",
         "diagram latent { axis q = 24, x = 75, e = 512, r = 32\n input A[q, e], B[q, r], C[x, e], "
         "R[x, r] : bf16\n S[q, x] = (sum(e) A[q, e] * C[x, e]) + (sum(r) B[q, r] * R[x, r])\n"
         "P[q, x] = softmax[x](S[q, x] * rsqrt(size(e)))\n"
         "output O[q, e] : bf16 = sum(x) P[q, x] * C[x, e]\n"
         "output L[q] : f32 = max(x) S[q, x] }",
         {},
         "fuse all\ngroup q by 16\nstream x by 32"},
        {"attention, rows with nothing visible",
         attention("if x + 10 < q then S[q, x] else -inf",
                   "output L[q] : f32 = logsumexp[x](if x + 10 < q then S[q, x] else -inf)"),
         {},
         kTiles,
         {},
         {},
         true},
        {"attention in parts, rows with nothing visible",
         plain("if x >= q + 40 then S[q, x] else -inf", "bf16",
               "output L[q] : f32 = logsumexp[x](if x >= q + 40 then S[q, x] else -inf)"),
         {},
         "fuse all\ngroup q by 32 at l1\nsplit-stream x by 32"},
        {"attention, rows with nothing visible between kernels",
         "diagram attention { axis q = 40, x = 75, d = 32, e = d\n"
         "input Q[q, d], K[x, d], V[x, e] : bf16\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
         "M[q, x] = if x >= q + 40 then S[q, x] else -inf\n"
         "output L[q] : f32 = logsumexp[x](M[q, x])\n"
         "P[q, x] = exp(M[q, x] - L[q])\noutput O[q, e] : bf16 = sum(x) P[q, x] * V[x, e] }",
         {},
         "fuse S, M\nfuse P, O\ngroup q by 16 at l1 in O"},
        {"attention, biases read at an index and beside it",
         "diagram attention { axis q = 40, x = 96, d = 32\n axis after = x + 1, late = q + 2\n"
         "input Q[q, d], K[x, d], V[x, d] : bf16\n input b[after], c[late] : f32\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)) + b[x] * b[x + 1] + c[q + 1] - c[q]\n"
         "P[q, x] = softmax[x](S[q, x])\noutput O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }",
         {},
         kTiles},
        {"attention, queries and keys beside each other",
         "diagram attention { axis q = 40, x = 96, d = 32\n axis after = x + 1, late = q + 2\n"
         "input Q[late, d], K[after, d], V[x, d] : bf16\n"
         "S[q, x] = sum(d) (Q[q, d] + Q[q + 2, d]) * (K[x, d] - K[x + 1, d]) * rsqrt(size(d))\n"
         "P[q, x] = softmax[x](S[q, x])\noutput O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }",
         {},
         kTiles},
        {"attention, nothing visible at all",
         plain("if x < len[b] then S[q, x] else -inf", "bf16", "input len[b] : i32",
               "weave b = 4, h = 1"),
         {{"x", 2}},
         kTiles},
        {"attention, layout of projections",
         plain("S[q, x]", "bf16",
               "layout Q[b, q, h, d]\nlayout K[b, x, h, d]\nlayout V[b, x, h, e]\nlayout O[b, q, "
               "h, e]"),
         {},
         kTiles,
         {},
         {{{"q", 17}, {"x", 33}}},
         true},
        {"attention, keys transposed",
         plain("S[q, x]", "bf16", "layout K[b, h, d, x]\nlayout V[h, b, e, x]"),
         {},
         kTiles},
        {"attention, queries transposed",
         plain("S[q, x]", "bf16", "layout Q[b, h, d, q]\nlayout O[b, h, e, q]"),
         {},
         kTiles},
        {"attention, retyped scores",
         plain(),
         {},
         "fuse all\nretype S to f16\ngroup q by 32 at l1\nstream x by 32 at l1"},
        {"attention, retyped weights",
         plain(),
         {},
         "fuse all\nretype P to f16\ngroup q by 32 at l1\nstream x by 32 at l1"},
        {"attention, split queries",
         plain(),
         {},
         "split-axis q as q1 by 8\nfuse all\ngroup q1 by 4 at l1\nstream x by 16 at l1"},
        {"attention, split keys",
         plain(),
         {{"x", 64}},
         "split-axis x as x1 by 16\nfuse all\ngroup q by 32 at l1\nstream x1 by 1 at l1"},
        {"attention, nested groups",
         plain(),
         {},
         "fuse all\ngroup q by 32 at l1\ngroup q by 16 at l2\nstream x by 32 at l1",
         "it groups `q` at warps"},
        {"attention, two batches a block",
         plain(),
         {},
         "fuse all\nungroup b\nungroup h\ngroup q by 32 at l1\nstream x by 32 at l1",
         "`S` has `h`, `q` and `x` in one block"},
        {"attention, sigmoid",
         "diagram sig { axis q = 40, x = 75, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16\n param bias : f32 = -3.0\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)) + bias\n"
         "output O[q, e] : bf16 = sum(x) sigmoid(S[q, x]) * V[x, e]\n weave b = 1, h = 2 }",
         {},
         kTiles,
         {},
         {},
         true},
        {"attention, sigmoid, causal",
         "diagram sig { axis q = 56, x = q, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)) - 3\n"
         "output O[q, e] : bf16 = sum(x) (if x <= q then sigmoid(S[q, x]) else 0) * V[x, e]\n "
         "weave b = 1, h = 2 }",
         {},
         kTiles},
        {"attention, spherical",
         "diagram sph { axis q = 40, x = 75, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16\n param eps : f32 = 1e-3\n"
         "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n W[q] = sum(x) S[q, x] ^ 2\n"
         "output O[q, e] : bf16 = sum(x) S[q, x] * rsqrt(W[q] + eps) * V[x, e]\n weave b = 1, h = "
         "2 }",
         {},
         kTiles,
         {},
         {},
         true},
        {"attention, linear",
         "diagram lin { axis q = 40, x = 75, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e] : "
         "bf16\n"
         "S[q, x] = sum(d) exp(Q[q, d]) * exp(K[x, d])\n W[q] = sum(x) S[q, x]\n"
         "output O[q, e] : bf16 = (sum(x) S[q, x] * V[x, e]) / W[q]\n weave b = 1, h = 2 }",
         {},
         kTiles},
        {"attention, queries and keys normed",
         "diagram qk { axis q = 40, x = 75, d = 32, e = d\n input Q[q, d], K[x, d], V[x, e], G[d] "
         ": bf16\n param eps : f32 = 1e-3\n"
         "N[q, d] = rmsnorm[d](Q[q, d], G[d], eps)\n"
         "S[q, x] = sum(d) N[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n"
         "output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]\n weave b = 1, h = 2 }",
         {},
         kTiles},
        {"attention, gated output",
         plain("S[q, x]", "bf16",
               "input G[q, e] : bf16\n output Y[q, e] : bf16 = O[q, e] * sigmoid(G[q, e])"),
         {},
         kTiles},
        {"attention, paged keys",
         "diagram paged { axis q = 24, p = 5, t = 8, n = 12, d = 32, e = d\n input Q[q, d], K[n, "
         "t, d], V[n, t, e] : bf16, page[p] : i32\n"
         "S[q, p, t] = sum(d) Q[q, d] * K[page[p], t, d] * rsqrt(size(d))\n P[q, p, t] = "
         "softmax[p, t](S[q, p, t])\n"
         "output O[q, e] : bf16 = sum(p, t) P[q, p, t] * V[page[p], t, e] }",
         {},
         "fuse all\ngroup q by 16 at l1\nstream p by 1 at l1"},
        {"attention, backward, queries",
         "attention_backward",
         {{"q", 40}, {"x", 56}, {"d", 32}, {"b", 1}, {"h", 2}},
         "fuse S, P, dP, dS, dQ\ngroup q by 32 at l1 in dQ\nstream x by 32 at l1 in dQ"},
        {"attention, backward, plain",
         "attention_backward",
         {{"q", 40}, {"x", 56}, {"d", 32}, {"b", 1}, {"h", 2}},
         ""},
        {"attention, backward, recomputed",
         "attention_backward",
         {{"q", 40}, {"x", 56}, {"d", 32}, {"b", 1}, {"h", 2}},
         "recompute S, P, dP, dS in dK\nrecompute S, P in dV\nfuse S, P, dP, dS, dQ\ngroup q by 32 "
         "at l1 in dQ\nstream x by 32 at l1 in dQ\n"
         "group x by 32 at l1 in dK\nstream q by 16 at l1 in dK\ngroup x by 32 at l1 in dV\nstream "
         "q by 16 at l1 in dV"},
    };
    add_head_sizes(list);
    return list;
}

}  // namespace napkin::test
