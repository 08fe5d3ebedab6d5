// Selections and scans of rows.
#include <fmt/format.h>

#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

std::string argmax_of(std::int64_t columns, const char* type = "bf16", const char* which = "argmax",
                      const char* value = "X[n, v]") {
    return fmt::format(
        "diagram am {{ axis n = 13, v = {}\n input X[n, v] : {}\n output T[n] : i32 = {}(v) {} }}",
        columns, type, which, value);
}

std::string scan_of(std::int64_t columns, const char* fold = "scan[t] sum",
                    const char* value = "X[n, t]", const char* type = "f32") {
    return fmt::format(
        "diagram sc {{ axis n = 13, t = {}\n input X[n, t] : {}\n output Y[n, t] : f32 = {} {} }}",
        columns, type, fold, value);
}

std::vector<TensorWorkload> selections() {
    return {
        {"argmax", argmax_of(40, "f32"), {}, "group n by 4 at l1", {}, {{{"n", 5}}}, true},
        {"argmax, odd rows", argmax_of(77), {}, "group n by 3 at l1"},
        {"argmax, short rows", argmax_of(3, "f16"), {}, "group n by 13 at l1"},
        {"argmin, rows of one", argmax_of(1, "f32", "argmin"), {}, "group n by 4 at l1"},
        {"argmin, a row by several warps", argmax_of(4500, "bf16", "argmin"), {}, "group n by 1"},
        {"argmax, several rows by several warps", argmax_of(2600), {}, "group n by 4"},
        {"argmax, streamed",
         argmax_of(200),
         {},
         "group n by 8 at l1\nstream v by 64 at l1",
         {},
         {{{"n", 5}}},
         true},
        {"argmax, streamed by one", argmax_of(5), {}, "group n by 8\nstream v by 1"},
        {"argmax, streamed by several warps",
         argmax_of(6000, "f16"),
         {},
         "group n by 2\nstream v by 2500"},
        {"argmax of what a mask leaves",
         argmax_of(200, "f32", "argmax", "(if v % 3 == n % 3 then X[n, v] * 2 else -inf)"),
         {},
         "group n by 4\nstream v by 48"},
        {"argmax where nothing is left",
         argmax_of(50, "f32", "argmax", "(if v < n - 5 then X[n, v] else -inf)"),
         {},
         "group n by 4"},
        {"argmax of a vector",
         "diagram am { axis v = 3001\n input X[v] : f16\n output T : i64 = argmax(v) X[v] }",
         {},
         "stream v by 1024"},
        {"argmax and maximum, what stands there and softmax",
         "diagram am { axis n = 9, v = 150\n input X[n, v] : bf16, b[v] : f32\n"
         " T[n] = argmax(v) (X[n, v] + b[v])\n m[n] = max(v) (X[n, v] + b[v])\n K = argmin(v) "
         "b[v]\n"
         " output A[n] : i32 = 2 * T[n] - 1\n output M[n] : f32 = m[n] * T[n]\n"
         " output H[n, v] : bf16 = if v == T[n] then X[n, v] else b[v]\n"
         " output L[n] : bool = T[n] > K or m[n] > 2\n"
         " output P[n, v] : f16 = softmax[v](X[n, v] + b[v]) }",
         {},
         "fuse all\ngroup n by 4"},
        {"argmax of probabilities",
         "diagram am { axis n = 9, v = 150\n input X[n, v] : bf16\n P[n, v] = softmax[v](X[n, v])\n"
         " output T[n] : i32 = argmax(v) P[n, v] }",
         {},
         "fuse all\ngroup n by 4\nstream v by 64"},
        {"argmax of integers",
         argmax_of(40, "i32", "argmax", "X[n, v]"),
         {},
         "group n by 4",
         "it computes `T.0`, which is i32"},
        {"argmax along what is far apart",
         "diagram am { axis n = 13, v = 40\n input X[v, n] : f32\n output T[n] : i32 = argmax(v) "
         "X[v, n] }",
         {},
         "group n by 4",
         "it computes `T`, which is i32"},
        {"argmax beside a product",
         "diagram am { axis n = 16, v = 64, d = 32\n input X[n, d], W[d, v] : bf16\n"
         " S[n, v] = sum(d) X[n, d] * W[d, v]\n output T[n] : i32 = argmax(v) S[n, v] }",
         {},
         "fuse all\ngroup n by 16",
         "`T.0` is a selection beside a product"},
        {"what stands where argmax says",
         "diagram am { axis n = 13, v = 40, d = 16\n input X[n, v], E[v, d] : f32\n"
         " T[n] = argmax(v) X[n, v]\n output Y[n, d] : f32 = E[T[n], d] }",
         {},
         "fuse all\ngroup n by 4",
         "`E` is read where `T` says, which it computes"},
        {"what a table says stands where argmax says",
         "diagram am { axis n = 13, v = 40, s = 9, d = 16\n input X[n, v], E[s, d] : f32\n input "
         "slot[v] : i32\n"
         " T[n] = argmax(v) X[n, v]\n output Y[n, d] : f32 = E[slot[T[n]], d] }",
         {},
         "fuse all\ngroup n by 4",
         "`slot` is read where `T` says, which it computes"},
        {"what a table holds where a parameter says",
         "diagram moved { axis n = 13, v = 40, s = 9, d = 16\n param off : i32 = -2\n input st[n], "
         "slot[v] : i32\n input E[s, d], Z[n, d] : f32\n"
         " output Y[n] : f32 = sum(d) E[slot[(st[n] + off) % size(v)], d] * Z[n, d] }",
         {},
         "group n by 4"},
    };
}

std::vector<TensorWorkload> scans() {
    return {
        {"prefix sum", "prefix_sum", {{"n", 12}, {"t", 37}}, "group n by 5 at l1"},
        {"scan", scan_of(96), {}, "group n by 4", {}, {{{"n", 5}}}, true},
        {"scan, odd rows", scan_of(77, "scan[t] sum", "X[n, t]", "bf16"), {}, "group n by 3"},
        {"scan, short rows", scan_of(3, "scan[t] max"), {}, "group n by 13"},
        {"scan, rows of one", scan_of(1, "scan[t] prod"), {}, "group n by 4"},
        {"scan, a row by several warps", scan_of(4500), {}, "group n by 1"},
        {"scan, several rows by several warps", scan_of(2601, "scan[t] min"), {}, "group n by 4"},
        {"scan, streamed",
         scan_of(200),
         {},
         "group n by 8\nstream t by 64",
         {},
         {{{"n", 5}}},
         true},
        {"scan, streamed by one", scan_of(5), {}, "group n by 8\nstream t by 1"},
        {"scan, streamed by several warps",
         scan_of(6000, "scan[t] sum", "X[n, t]", "f16"),
         {},
         "group n by 2\nstream t by 2500"},
        {"running maximum, streamed",
         scan_of(200, "scan[t] max"),
         {},
         "group n by 8\nstream t by 64"},
        {"scan of what a mask leaves",
         scan_of(200, "scan[t] sum", "(if t % 3 == n % 3 then X[n, t] * 2 else 0)"),
         {},
         "group n by 4\nstream t by 48"},
        {"product of factors near one",
         scan_of(130, "scan[t] prod", "(1 + 0.01 * X[n, t])"),
         {},
         "group n by 4"},
        {"what comes before", scan_of(130, "exclusive_scan[t] sum"), {}, "group n by 4"},
        {"what comes before, streamed",
         scan_of(130, "exclusive_scan[t] max"),
         {},
         "group n by 4\nstream t by 32"},
        {"scan of a vector",
         "diagram sc { axis t = 3001\n input X[t] : f16\n output Y[t] : f16 = scan[t] sum X[t] }",
         {},
         "stream t by 1024"},
        {"what reads a prefix",
         "diagram sc { axis n = 9, t = 150\n input X[n, t] : bf16, w[t] : f32\n"
         " P[n, t] = softmax[t](X[n, t])\n C[n, t] = scan[t] sum P[n, t]\n"
         " D[n, t] : bf16 = scan[t] max X[n, t] * w[t]\n"
         " output Y[n, t] : bf16 = if C[n, t] < 0.9 then P[n, t] else 0\n"
         " output K[n] : f32 = sum(t) C[n, t] * D[n, t]\n output Z[n, t] : f32 = X[n, t] - D[n, "
         "t]\n"
         " output T[n] : i32 = argmax(t) (D[n, t] - w[t]) }",
         {},
         "fuse all\ngroup n by 4"},
        {"what comes before in registers",
         "diagram sc { axis n = 9, t = 150\n input X[n, t] : bf16\n"
         " P[n, t] = softmax[t](X[n, t])\n output C[n, t] : f32 = exclusive_scan[t] sum P[n, t] }",
         {},
         "fuse all\ngroup n by 4",
         "`C` reads `P` at an index of `t` that another thread holds"},
        {"scan along what is far apart",
         "diagram sc { axis n = 13, t = 40\n input X[t, n] : f32\n output Y[t, n] : f32 = scan[t] "
         "sum X[t, n] }",
         {},
         "group n by 4",
         "`Y` is a scan along `t`, whose neighbours are far apart in memory"},
        {"scan without rows beside rows",
         "diagram sc { axis n = 13, t = 40\n input X[n, t] : f32, w[t] : f32\n"
         " W[t] = scan[t] sum w[t]\n output Y[n, t] : f32 = X[n, t] * W[t] }",
         {},
         "fuse all\ngroup n by 4",
         "`W` is a scan along `t`, and has no index along `n`"},
        {"a scan of one's own",
         "monoid last(a; b) = (b) identity (0)\n"
         "diagram own { axis n = 5, t = 90\n input X[n, t] : f32\n"
         " output Y[n, t] : f32 = scan[t] last X[n, t] }",
         {},
         "",
         "`Y` folds with a monoid of your own"},
    };
}

}  // namespace

std::vector<TensorWorkload> ordered_workloads() {
    std::vector<TensorWorkload> list = selections();
    for (TensorWorkload& scan : scans()) list.push_back(std::move(scan));
    return list;
}

}  // namespace napkin::test
