// Diagrams that between them reach every rule; random ones join them (random_diagram.h).
#pragma once

#include <array>

namespace napkin::test {

inline constexpr std::array kTrialDiagrams = {
    R"(diagram norm_linear {
  axis n = 7, d = 12, m = 5
  input X[n, d], G[d], W[d, m]
  param eps : f32 = 1e-3
  N[n, d] = rmsnorm[d](X[n, d], G[d], eps)
  output Y[n, m] = sum(d) N[n, d] * W[d, m]
})",
    R"(diagram windowed {
  axis q = 9, x = 12, d = 4, e = d
  input Q[q, d], K[x, d], V[x, e]
  S[q, x] = if x <= q + 3 and q - x < 4 then sum(d) Q[q, d] * K[x, d] else -inf
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] = sum(x) P[q, x] * V[x, e]
  weave h = 2
})",
    R"(diagram convolution {
  axis p = 10, r = 3, k = 4, c = 6
  input X[p, k], W[r, k, c]
  output Y[p, c] = sum(r, k) if 0 <= p + r - 1 and p + r - 1 < size(p) then X[p + r - 1, k] * W[r, k, c] else 0
})",
    R"(diagram gated {
  axis n = 8, d = 6, f = 10, o = d
  input X[n, d], U[d, f], G[d, f], W[f, o]
  A[n, f] = sum(d) X[n, d] * U[d, f]
  B[n, f] = sum(d) X[n, d] * G[d, f]
  H[n, f] = silu(A[n, f]) * B[n, f]
  output Y[n, o] = sum(f) H[n, f] * W[f, o]
})",
    R"(diagram unstabilised {
  axis q = 5, x = 9, d = 3, e = d
  input Q[q, d], K[x, d], V[x, e]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  E[q, x] = if x <= q + 2 then exp(S[q, x]) else 0
  l[q] = sum(x) E[q, x]
  output L[q] = log(l[q])
  P[q, x] = E[q, x] / l[q]
  output O[q, e] = sum(x) P[q, x] * V[x, e]
})",
    R"(monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative
monoid pair(n, s; m, t) = (n + m, s + t) identity (0, 0)
diagram monoids {
  axis t = 9, c = 4, k = 2
  input A[t, c], B[t, c]
  p[c], b[c] = affine(t) (A[t, c], B[t, c])
  n[c], s[c] = pair(t) (1, A[t, c])
  output Y[c] = p[c] + b[c] * s[c]
  output F[c] = prod(t) A[t, c] * B[t, c]
  output v[c, k], i[c, k] = topk[t](A[t, c])
  h[t, c], g[t, c] = scan[t] affine (A[t, c], B[t, c])
  output G[t, c] = g[t, c]
})",
    R"(diagram chain {
  axis i = 4, j = 6, k = 5, l = 3
  input A[i, j], B[j, k], C[k, l], D[i, k]
  T[i, k] = sum(j) A[i, j] * B[j, k]
  output Y[i, l] = sum(k) T[i, k] * C[k, l]
  output Z[i] = sum(k) T[i, k] * D[i, k]
})",
    R"(diagram distances {
  axis i = 5, j = 6, d = 4
  input X[i, d], Y[j, d], w[j]
  D[i, j] = sum(d) (X[i, d] - Y[j, d]) ^ 2
  output F[i] = sum(j) exp(-0.125 * D[i, j]) * w[j]
  output N[i] = argmin(j) D[i, j]
})",
    R"(monoid left(a; b) = if a != 0 then a else b identity 0 noncommutative
monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative
diagram order {
  axis t = 4, u = 6, c = 3
  input A[t, u, c], B[t, u, c]
  output F[c] = left(t, u) (if A[t, u, c] > 0.5 then A[t, u, c] else 0)
  output L[c] = left(u, t) (if A[t, u, c] > 0.5 then A[t, u, c] else 0)
  p[c], h[c] = affine(t, u) (A[t, u, c], B[t, u, c])
  output H[c] = h[c]
  output N[c] = left(u) (left(t) (if B[t, u, c] > 0.5 then B[t, u, c] else 0))
})",
    R"(diagram lookup {
  axis n = 6, v = 9, d = 8
  input label[n] : i32
  input E[v, d], B[d]
  output Y[n, d] = E[label[n], d] + B[d]
})",
    R"(diagram labelled {
  axis i = 6, j = i, d = 3, n = i
  input A[i, d], B[j, d]
  input y[i] : i32
  S[i, j] = sum(d) A[i, d] * B[j, d]
  M[i, j] = if y[i] != y[j] then S[i, j] else -inf
  output R[i] = logsumexp[j](M[i, j]) - S[i, i]
  h[i] = max(j) if j <= i then S[i, j] else -inf
  output H[i] = h[i] + sum(n) S[i, n]
})",
    R"(diagram elsewhere {
  axis i = 6, j = i, d = 3
  input A[i, d], B[j, d], X[i, j]
  S[i, j] = sum(d) A[i, d] * B[j, d]
  output C[i] = sum(j) S[i, j] * S[j, i]
  T[i, j] = tanh(X[i, j]) + A[i, 0]
  U[i, j] = T[i, j] - T[size(i) - 1 - i, j] + T[i, max(j - 1, 0)]
  output V[i, j] = U[i, j] * (if i >= 1 then T[i - 1, j] else 1) - T[j, i]
  output W[i] = sum(j) T[i, j] * T[i, min(j + 2, size(j) - 1)]
})",
};

}  // namespace napkin::test
