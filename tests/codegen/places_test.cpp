// Elements are read where the diagram says: along an axis and another one that is equal to it, by
// indices that a condition keeps inside, and by indices that a block has copied.
#include <doctest/doctest.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"
#include "tests/support/examples.h"

namespace napkin {
namespace {

struct PlaceCase {
    const char* name;
    const char* diagram;
    const char* derivation = "";
};

/// Every target that takes it, and what is made where nobody asks for one.
void check_right(const PlaceCase& test) {
    CAPTURE(std::string(test.name));
    const State state = test::derive(
        test::load("diagram a {\n" + std::string(test.diagram) + "\n}"), test.derivation);
    for (const char* target : {"simt", "sm_80", "sm_90a", ""}) {
        CAPTURE(std::string(target));
        EmitOptions options;
        options.target = target;
        const TileProgram tiles = test::program_of(state);
        const Result<EmittedProgram> program =
            *target == '\0' ? emit_best(state, tiles, {}) : emit(state, tiles, options);
        if (!program) {
            CHECK_NE(std::string(target), "");
            CHECK_NE(std::string(target), "simt");
            continue;
        }
        CHECK_EQ(test::wrong_with(state, *program, 1), "");
    }
}

}  // namespace

TEST_CASE("elements along an axis and along its alias are different ones") {
    const PlaceCase cases[] = {
        {"products of columns, in parts",
         "axis n = 128, i = 32, j = i\n input X[n, i] : f32\n"
         "output C[i, j] : f32 = sum(n) X[n, i] * X[n, j]",
         "split-stream n by 64"},
        {"the same of 16 bits, streamed, in parts",
         "axis n = 128, i = 32, j = i\n input X[n, i] : bf16\n"
         "output C[i, j] : f32 = sum(n) X[n, i] * X[n, j]",
         "stream n by 16\nsplit-stream n by 64"},
        {"channels of an image by each other",
         "axis c = 16, e = c, y = 14, x = 14\n input F[c, y, x] : f32\n"
         "output G[c, e] : f32 = (sum(y, x) F[c, y, x] * F[e, y, x]) / (size(c) * size(y) * "
         "size(x))",
         "split-stream y by 7"},
        {"distances of rows",
         "axis i = 64, j = i, d = 16\n input X[i, d] : f32\n"
         "output C[i, j] : f32 = sum(d) abs(X[i, d] - X[j, d])",
         "split-stream d by 8"},
        {"covariances",
         "axis n = 128, i = 32, j = i\n input X[n, i] : f32\n mu[i] = mean[n](X[n, i])\n"
         "output C[i, j] : f32 = sum(n) (X[n, i] - mu[i]) * (X[n, j] - mu[j])",
         "fuse mu, C\nstream n by 16\nsplit-stream n by 64"},
        {"a vector along an alias",
         "axis d = 32, f = 64, k = 2, j = d\n input X[d], W[k, f, d] : bf16\n"
         "output A[k, f] : bf16 = sum(j) X[j] * W[k, f, j]"},
        {"shortest ways of two steps",
         "axis i = 64, k = i, j = i\n input A[i, j] : f32\n"
         "output C[i, j] : f32 = min(k) (A[i, k] + A[k, j])",
         "group i by 16"},
    };
    for (const PlaceCase& test : cases) check_right(test);
}

TEST_CASE("what a product is computed from is read once beside its place") {
    const PlaceCase cases[] = {
        {"a padded image of one axis, of what is positive",
         "axis p = 16, s = 2, c = 4, m = 8\n input H[p, c], W[s, c, m] : bf16\n"
         "output Y[p, m] : f32 = sum(s, c) relu(if p + s < size(p) then H[p + s, c] else 0) * "
         "W[s, c, m]"},
        {"a padded image, in parts",
         "axis p = 20, s = 3, c = 6, m = 8\n input H[p, c], W[s, c, m] : bf16\n"
         "output Y[p, m] : f32 = sum(s, c) (if p + s < size(p) then H[p + s, c] else 0) * W[s, c, "
         "m]",
         "split-stream s by 2"},
        {"round its end",
         "axis p = 20, r = 3, k = 8, c = 6\n input X[p, k], W[r, k, c] : bf16\n"
         "output Y[p, c] : bf16 = sum(r, k) relu(X[(p + r) % size(p), k]) * W[r, k, c]"},
        {"its last element again",
         "axis p = 20, r = 3, k = 8, c = 6\n input X[p, k], W[r, k, c] : bf16\n"
         "output Y[p, c] : bf16 = sum(r, k) relu(X[min(p + r, size(p) - 1), k]) * W[r, k, c]"},
        {"from its end",
         "axis p = 20, r = 3, k = 8, c = 6\n input X[p, k], W[r, k, c] : bf16\n"
         "output Y[p, c] : bf16 = sum(r, k) relu(X[size(p) - 1 - p, k] * r) * W[r, k, c]"},
        {"shifted and scaled by head",
         "axis q = 12, h = 3, d = 8, o = 10\n input X[q, d], W[h, d, o] : bf16\n"
         "input m[q, h] : f32\n output Y[q, o] : bf16 = "
         "sum(h, d) (if q >= h then X[q - h, d] * m[q, h] else X[q, d]) * W[h, d, o]"},
    };
    for (const PlaceCase& test : cases) check_right(test);
}

TEST_CASE("arrays that lie in another order are read where they lie, however often") {
    const PlaceCase cases[] = {
        {"rows by each other",
         "axis i = 64, j = i, d = 64\n input X[i, d] : f32\n layout X[d, i]\n"
         "output G[i, j] : f32 = sum(d) X[j, d] * X[i, d]",
         "group i by 64\ngroup j by 64\nstream d by 32"},
        {"the same at the edges",
         "axis i = 17, j = i, d = 21\n input X[i, d] : f32\n layout X[d, i]\n"
         "output G[i, j] : f32 = sum(d) X[j, d] * X[i, d]",
         "group i by 64\ngroup j by 64\nstream d by 32"},
        {"a column first",
         "axis q = 9, x = 9, d = 8\n input B[x, d] : f32, S[q, x] : f32\n layout B[d, x]\n"
         "output T[q, d] : f32 = sum(x) S[q, x] * B[x, 0] * B[x, d]"},
        {"a column beside a product",
         "axis q = 128, x = 64, d = 64\n input K[x, d] : bf16, Q[q, d] : bf16\n layout K[d, x]\n"
         "output U[q, x] : f32 = (sum(d) Q[q, d] * K[x, d]) + K[x, 1]",
         "fuse all\ngroup q by 64\nstream x by 16"},
        {"rows of two axes, as many as no tile has, beside others",
         "axis q = 2, d = 4, v = d // 2\n input A[b, q, d] : f16\n output T0[v] : f32 = 1\n"
         "output T1[b, q, d] = A[b, q, d]\n weave b = 2",
         "fuse all"},
    };
    for (const PlaceCase& each : cases) check_right(each);
}

TEST_CASE("rows that are held are read beside their place") {
    for (const char* first : {"v + 1", "v + 2", "v + 4", "v + 8", "3 + v", "v + size(w) - size(v)",
                              "size(v) - 1 - v", "v + t", "2 * v", "2 * v + 8"}) {
        const std::string read = "X[n, " + std::string(first) + "]";
        const std::string diagram =
            "axis n = 21, v = 64, w = 136, t = 2\n input X[n, w] : bf16\n" +
            (read.find("t]") == std::string::npos
                 ? "M[n] = max(v) " + read + "\n output Y[n, v] : bf16 = exp(" + read + " - M[n])"
                 : "output Y[n, v] : bf16 = sum(t) " + read);
        check_right(
            {first, diagram.c_str(),
             read.find("t]") == std::string::npos ? "fuse all\ngroup n by 8" : "group n by 8"});
    }
}

TEST_CASE("what a condition keeps inside its array is not read elsewhere") {
    const PlaceCase cases[] = {
        {"a neighbour of what data says",
         "axis y = 5, p = 37\n input X[y] : f32, i[p] : i32\n"
         "output Y[p] : f32 = if i[p] >= 0 and i[p] < size(y) - 1 then X[i[p] + 1] else 0"},
        {"an index of a long axis that a condition lets into a short one",
         "axis y = 50, z = 5, p = 37\n input X[y], Z[z] : f32, i[p] : i32\n"
         "output Y[p] : f32 = X[i[p]] + (if i[p] < size(z) then Z[i[p]] else 0)"},
        {"pages, some of them missing",
         "axis q = 64, x = 256, d = 64, pages = 20, slot = 16, l = x // 16\n input Q[q, d] : bf16\n"
         "input KC[pages, slot, d], VC[pages, slot, d] : bf16\n input table[l] : i32\n"
         "S[q, x] = if table[x // 16] >= 0 and table[x // 16] < size(pages)\n"
         "then sum(d) Q[q, d] * KC[table[x // 16], x % 16, d] * rsqrt(size(d)) else -inf\n"
         "P[q, x] = softmax[x](S[q, x])\n"
         "output O[q, d] : bf16 = sum(x) P[q, x] * (if table[x // 16] >= 0 and "
         "table[x // 16] < size(pages) then VC[table[x // 16], x % 16, d] else 0)",
         "fuse all\ngroup q by 64\nstream x by 64"},
    };
    for (const PlaceCase& test : cases) check_right(test);
}

TEST_CASE("indices of what is gathered are there when it is") {
    const PlaceCase cases[] = {
        {"a bias by a bucket",
         "axis q = 128, x = q, d = 64, n = 32\n"
         "input Q[q, d], K[x, d], V[x, d] : bf16, B[n] : f32, bucket[q, x] : i32\n"
         "S[q, x] = (sum(d) Q[q, d] * K[x, d]) + B[bucket[q, x]]\n P[q, x] = softmax[x](S[q, x])\n"
         "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]",
         "fuse all\ngroup q by 64\nstream x by 64"},
        {"rows by an index, in parts",
         "axis e = 4, d = 16, k = 2\n input W[e, d] : bf16, wt[k] : f32\n input ex[k] : i32\n"
         "output Y[d] : bf16 = sum(k) wt[k] * W[ex[k], d]",
         "split-stream k by 1"},
        {"the same of a group",
         "axis n = 8, e = 4, d = 16, k = 8\n input W[e, d] : bf16, wt[n, k] : f32\n input ex[n, k] "
         ": i32\n"
         "output Y[n, d] : bf16 = sum(k) wt[n, k] * W[ex[n, k], d]",
         "group n by 1\nsplit-stream k by 1"},
        {"indices along two parts of an axis",
         "axis q = 64, x = 16, d = 16, v = 8\n input Q[q, d], K[x, d] : bf16, B[v] : f32\n"
         "input t[q, x] : i32\n"
         "output Y[q, x] : f32 = (sum(d) Q[q, d] * K[x, d]) + B[t[q, x]]",
         "split-axis q as q1 by 8"},
    };
    for (const PlaceCase& test : cases) check_right(test);
}

TEST_CASE("a product of two norms with a factor has a kernel that compiles") {
    check_right({"similarities with a temperature",
                 "axis i = 64, j = 64, d = 16\n input A[i, d], B[j, d] : bf16\n"
                 "a[i, d] = l2norm[d](A[i, d], 0.000001)\n b[j, d] = l2norm[d](B[j, d], 0.000001)\n"
                 "output S[i, j] : bf16 = 3 * sum(d) a[i, d] * b[j, d]",
                 "fuse all"});
}

TEST_CASE("memory is reached in vectors, and columns are put together once") {
    struct Case {
        const char* diagram;
        const char* derivation;
        std::vector<std::string> has;
        std::vector<std::string> lacks;
    };
    const Case cases[] = {
        {"axis n = 4096, c = 512\n input G[n, c] : bf16\n output B[c] : f32 = sum(n) G[n, c]",
         "group c by 256\nstream n by 64",
         {"chunk_n(n0);", "combine_columns<Sum"},
         {}},
        {"axis t = 64, e = 64, d = 2 * e\n input X[t, d] : bf16\n input c[t, e] : f32\n"
         "output Y[t, d] : bf16 = if d < size(e) then X[t, d + size(e)] * c[t, d]\n"
         "else X[t, d - size(e)] * c[t, d - size(e)]",
         "group t by 4",
         {"values_at<8, 8>(X", "values_at<8, 4>(c"},
         {"to_f32(X["}},
        {"axis s = 64, i = 16, j = 16, c = 32, d = 32\n input A[s, i, c], B[s, j, d] : bf16\n"
         "output O[i, j, c, d] : bf16 = sum(s) A[s, i, c] * B[s, j, d]",
         "group i by 4\ngroup j by 4\nstream s by 16",
         {"save_pieces<8>(O_staging"},
         {"O[at]"}},
    };
    for (const Case& each : cases) {
        const State state = test::derive(
            test::load("diagram a {\n" + std::string(each.diagram) + "\n}"), each.derivation);
        EmitOptions options;
        options.target = "sm_80";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program.has_value());
        const std::string& text = program->kernels.front().source;
        CAPTURE(text);
        std::size_t at = 0;
        for (const std::string& part : each.has) {
            at = text.find(part, at);
            CHECK_MESSAGE(at != std::string::npos, part);
        }
        for (const std::string& part : each.lacks)
            CHECK_MESSAGE(text.find(part) == std::string::npos, part);
    }
}

}  // namespace napkin
