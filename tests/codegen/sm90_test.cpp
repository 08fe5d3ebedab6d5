// Target sm_90a: workloads of warp groups through derivation, emission and the emulator, within the
// derived tolerance; regions that it leaves to an older target, with the reason; and what the
// assembler says of the kernels that are measured.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "codegen/run/compile.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

using test::TensorWorkload;

EmitOptions options() {
    EmitOptions made;
    made.target = "sm_90a";
    return made;
}

/// What warp groups carry out has blocks that take one tile after another, or one tile each.
Result<EmittedProgram> with_tiles(const State& state, bool several) {
    EmitOptions made = options();
    const Result<EmittedProgram> plain = emit(state, test::program_of(state), made);
    if (!plain) return plain;
    for (const EmittedKernel& kernel : plain->kernels) {
        if (kernel.target != made.target) continue;
        schedule::Request request;
        request.region = kernel.region;
        request.schedule.persistent = several;
        made.schedules.push_back(request);
    }
    return emit(state, test::program_of(state), made);
}
Result<EmittedProgram> persistent(const State& state) {
    return with_tiles(state, true);
}

TensorWorkload product(const std::string& left, const std::string& right, const std::string& type,
                       const std::string& tiles) {
    return {fmt::format("{}, {} {}, {}", left, right, type, tiles),
            fmt::format("diagram mm {{ axis m = 136, n = 152, k = 104\n input A[{}], B[{}] : {}\n"
                        "output C[m, n] : bf16 = sum(k) A[{}] * B[{}] }}",
                        left, right, type, left, right),
            {},
            tiles};
}

/// A product of what the warps compute from its left array first.
TensorWorkload prologue(const std::string& left, const std::string& right,
                        const std::string& computed, const std::string& tiles) {
    return {fmt::format("{}, {}, {}, {}", computed, left, right, tiles),
            fmt::format("diagram mm {{ axis m = 136, n = 152, k = 104\n input A[{}], B[{}], g[k] : "
                        "bf16\n {}\n output C[m, n] : bf16 = sum(k) N[m, k] * B[{}] }}",
                        left, right, fmt::format(fmt::runtime(computed), left), right),
            {},
            "fuse all\n" + tiles};
}
const char* const kActivation = "N[m, k] = relu(A[{}] + g[k])";
const char* const kCentred = "N[m, k] = layernorm[k](A[{}], g[k], g[k], 0.001)";
const char* const kNorm = "N[m, k] = rmsnorm[k](A[{}], g[k], 0.001)";

TensorWorkload attention(const std::string& name, const std::string& score,
                         const std::string& extra, Sizes sizes, const std::string& derivation) {
    return {name,
            "diagram attention { axis q = 200, x = 216, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
            "bf16\n" +
                extra +
                "\n S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n M[q, x] = " + score +
                "\n P[q, x] = softmax[x](M[q, x])\n"
                " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 2 }",
            std::move(sizes), derivation};
}

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

std::vector<TensorWorkload> workloads() {
    std::vector<TensorWorkload> list;
    for (const char* left : {"m, k", "k, m"})
        for (const char* right : {"k, n", "n, k"})
            list.push_back(
                product(left, right, "bf16", "group m by 64\ngroup n by 64\nstream k by 64"));
    list.push_back(
        product("m, k", "n, k", "f16", "group m by 128\ngroup n by 128\nstream k by 32"));
    list.push_back(product("k, m", "k, n", "f16", "group m by 128\ngroup n by 80\nstream k by 48"));
    list.push_back(
        product("m, k", "k, n", "bf16", "group m by 128\ngroup n by 40\nstream k by 16"));
    list.push_back(product("m, k", "n, k", "bf16", "group m by 64\ngroup n by 152"));
    list.push_back({"rows of odd length",
                    "diagram mm { axis m = 130, n = 39, k = 37\n input A[m, k], B[k, n] : bf16\n"
                    "output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
                    {},
                    "group m by 64\ngroup n by 32\nstream k by 16"});
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
    list.push_back(product("m, k", "n, k", "bf16",
                           "group m by 64\ngroup n by 64\nstream k by 16\nsplit-stream k by 32"));
    for (const char* left : {"m, k", "k, m"})
        for (const char* computed : {kActivation, kNorm})
            list.push_back(
                prologue(left, "n, k", computed, "group m by 128\ngroup n by 64\nstream k by 32"));
    list.push_back(
        prologue("m, k", "k, n", kActivation, "group m by 64\ngroup n by 152\nstream k by 104"));
    // The sums of weights alone are shared by lanes, in vectors where the rows have them.
    for (const char* right : {"n, k", "k, n"})
        list.push_back(
            prologue("m, k", right, kCentred, "group m by 128\ngroup n by 64\nstream k by 48"));
    TensorWorkload odd =
        prologue("m, k", "n, k", kCentred, "group m by 64\ngroup n by 64\nstream k by 80");
    odd.sizes = {{"m", 100}, {"n", 90}, {"k", 101}};
    list.push_back(std::move(odd));
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
            list.push_back(product("m, k", "n, k", depth == 160 ? "e5m2" : "e4m3", tiles));
            list.back().sizes = {{"k", depth}};
        }
    list.push_back(product("m, k", "k, n", "e4m3", "group m by 64\ngroup n by 64\nstream k by 64"));
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
    const std::string tiles = "fuse all\ngroup q by 64\nstream x by 64";
    const std::string causal = "if x <= q + size(x) - size(q) then S[q, x] else -inf";
    list.push_back(attention("attention", "S[q, x]", "", {}, tiles));
    list.push_back(attention("attention, causal", causal, "", {}, tiles));
    TensorWorkload heads = attention("attention, causal, many heads", causal, "",
                                     {{"q", 130}, {"x", 130}, {"d", 16}}, tiles);
    heads.diagram.replace(heads.diagram.find("weave h = 2"), 11, "weave h = 70");
    list.push_back(std::move(heads));
    list.push_back(attention("attention, one chunk", causal, "", {{"x", 40}, {"q", 40}}, tiles));
    list.push_back(attention("attention, two groups", causal, "", {},
                             "fuse all\ngroup q by 128\nstream x by 32"));
    list.push_back(attention("attention, chunks of 80", "S[q, x]", "", {},
                             "fuse all\ngroup q by 128\nstream x by 80"));
    list.push_back(attention("attention, window", "if x <= q and q - x < 50 then S[q, x] else -inf",
                             "", {{"x", 200}}, tiles));
    list.push_back(attention("attention, more queries than keys", causal, "",
                             {{"q", 216}, {"x", 100}}, tiles));
    list.push_back({"two products of one array, the later one waited for at once",
                    "diagram two { axis q = 70, x = 512, d = 64\n input S[q, x], V[x, d], G[q, d] "
                    ": bf16\n input L[q] : f32\n output P[q, x] : bf16 = exp(S[q, x] - L[q])\n "
                    "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n output D[q, x] : bf16 = "
                    "sum(d) G[q, d] * V[x, d] }",
                    {},
                    "fuse all\ngroup q by 64\nstream x by 256"});
    list.push_back(attention("attention, narrow parts of saved scores", "S[q, x]", "", {},
                             "fuse M, P, O\ngroup q by 8 in O\nstream x by 16 in O\n"
                             "group q by 64 in S\ngroup x by 64 in S"));
    list.push_back(attention("attention, softcap", "30 * tanh(S[q, x] / 30)", "", {}, tiles));
    const char* const kTurned =
        " input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d] + K[x, (d + 32) % 64]\n";
    for (const char* groups : {"64", "128"}) {
        TensorWorkload turned =
            attention(fmt::format("attention, turned keys, {} queries", groups), "S[q, x]", kTurned,
                      {}, fmt::format("fuse all\ngroup q by {}\nstream x by 32", groups));
        turned.diagram.replace(turned.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        list.push_back(std::move(turned));
    }
    list.push_back(attention("attention, bias", "S[q, x] + B[x]", " input B[x] : f32", {}, tiles));
    // Groups that share columns: of one product, of the later of two, in two rows of groups.
    for (const char* right : {"k, n", "n, k"}) {
        list.push_back(
            product("m, k", right, "bf16", "group m by 64\ngroup n by 384\nstream k by 32"));
        list.back().sizes = {{"n", 390}};
    }
    list.push_back(product("k, m", "n, k", "f16",
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

}  // namespace

TEST_CASE("sm_90a: warp groups' kernels agree with the reference in the emulator") {
    std::vector<EmittedKernel> kernels;
    struct Made {
        TensorWorkload workload;
        State state;
        EmittedProgram program;
    };
    std::vector<Made> all;
    for (const TensorWorkload& workload : workloads()) {
        INFO(workload.name);
        State state = test::state_of(workload);
        Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        // What adds up the parts of a split sum has no product.
        CHECK_EQ(program->kernels.front().target, "sm_90a");
        for (const EmittedKernel& kernel : program->kernels) kernels.push_back(kernel);
        all.push_back({workload, std::move(state), std::move(program).value()});
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Made& made : all)
        for (const std::uint64_t seed : {1, 2}) {
            INFO(made.workload.name);
            CHECK_EQ(test::wrong_with(made.state, made.program, seed), "");
        }
}

TEST_CASE("sm_90a: blocks that take one, two, three or any number of tiles are right") {
    std::vector<EmittedKernel> kernels;
    std::vector<std::pair<State, EmittedProgram>> all;
    for (const TensorWorkload& workload : workloads()) {
        INFO(workload.name);
        State state = test::state_of(workload);
        Result<EmittedProgram> program = persistent(state);
        REQUIRE(program);
        for (const EmittedKernel& kernel : program->kernels) {
            CHECK_EQ(kernel.persistent, kernel.target == "sm_90a");
            kernels.push_back(kernel);
        }
        CHECK_EQ(program->kernels.front().target, "sm_90a");
        all.emplace_back(std::move(state), std::move(program).value());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    // One to four blocks, and as many as there are tiles.
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const std::uint64_t seed : {4, 1, 2, 3}) {
            INFO(workloads()[i].name, ", seed ", seed);
            CHECK_EQ(test::wrong_with(all[i].first, all[i].second, seed), "");
        }
}

TEST_CASE("sm_90a: what a tile leaves wrong for the next one is found") {
    const TensorWorkload workload = attention("attention", "S[q, x]", "", {{"x", 200}},
                                              "fuse all\ngroup q by 64\nstream x by 80");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> right = persistent(state);
    REQUIRE(right);
    REQUIRE_EQ(test::wrong_with(state, *right, 1), "");
    const auto found = [&](const std::string& from, const std::string& to) {
        EmittedProgram wrong = *right;
        std::string& source = wrong.kernels.front().source;
        const std::size_t at = source.rfind(from);
        REQUIRE_NE(at, std::string::npos);
        source.replace(at, from.size(), to);
        return test::wrong_with(state, wrong, 1);
    };
    // Three chunks of a ring of two slots: the next tile begins in the other one.
    CHECK_NE(found("tiles_before_2 += 1;", "tiles_before_2 += 1; chunk_of_x_2 = 0;"), "");
    CHECK_NE(found("tiles_before_2 += 1;", ""), "");
    CHECK_NE(found("tiles_before += 1;", ""), "");
    CHECK_NE(found("Q_ring.release(tiles_before_2);", ""), "");
    CHECK_NE(found("K_ring.release(chunk_of_x_2 + 1);", ""), "");
    CHECK_NE(found("tile_2 += int(gridDim.x)", "tile_2 += 1"), "");
}

TEST_CASE("sm_90a: copies and products take the tiles of a causal mask in the same order") {
    const TensorWorkload workload =
        attention("attention", "if x <= q then S[q, x] else -inf", "", {{"q", 500}, {"x", 500}},
                  "fuse all\ngroup q by 64\nstream x by 80");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> right = persistent(state);
    REQUIRE(right);
    REQUIRE_EQ(test::wrong_with(state, *right, 1), "");
    EmittedProgram wrong = *right;
    std::string& source = wrong.kernels.front().source;
    const std::string turn = "tile_2 = next_there_and_back(tile_2)";
    const std::size_t at = source.find(turn);
    REQUIRE_NE(at, std::string::npos);
    source.replace(at, turn.size(), "tile_2 += int(gridDim.x)");
    CHECK_NE(test::wrong_with(state, wrong, 1), "");
}

TEST_CASE("sm_90a: blocks take several tiles where these are many and can be evened out") {
    const auto chosen = [](const std::string& score, std::int64_t size) {
        const State state =
            test::state_of(attention("attention", score, "", {{"q", size}, {"x", size}, {"h", 16}},
                                     "fuse all\ngroup q by 64\nstream x by 64"));
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        return program->kernels.front().persistent;
    };
    CHECK(chosen("S[q, x]", 1024));
    CHECK_FALSE(chosen("S[q, x]", 512));
    CHECK_FALSE(chosen("S[q, x]", 32768));
    CHECK(chosen("if x <= q then S[q, x] else -inf", 16384));
    CHECK(chosen("if x <= q then S[q, x] else -inf", 1024));
    CHECK(chosen("if x <= q and q - x < 100 then S[q, x] else -inf", 1024));
    // The last queries see one chunk, those in the middle half of them.
    CHECK_FALSE(chosen("if (x <= q and x <= 1023 - q) then S[q, x] else -inf", 1024));
}

TEST_CASE("sm_90a: random products and attentions in random tiles are right") {
    // NAPKIN_TRIALS asks for more, from NAPKIN_SEED on.
    const auto number = [](const char* variable, std::uint64_t usual) {
        const char* given = std::getenv(variable);
        return given != nullptr ? std::stoull(given) : usual;
    };
    const std::uint64_t first = number("NAPKIN_SEED", 1);
    const std::uint64_t trials = number("NAPKIN_TRIALS", 6);
    std::size_t of_groups = 0;
    for (std::uint64_t seed = first; seed < first + trials; ++seed) {
        std::mt19937_64 random(seed);
        const auto pick = [&](std::initializer_list<std::int64_t> from) {
            return *(from.begin() + static_cast<std::ptrdiff_t>(random() % from.size()));
        };
        const auto any = [&](std::int64_t least, std::int64_t most) {
            return least + static_cast<std::int64_t>(random() %
                                                     static_cast<std::uint64_t>(most - least + 1));
        };
        // Half of the sizes keep rows at multiples of 16 bytes.
        const auto size = [&] { return random() % 2 == 0 ? 8 * any(1, 24) : any(1, 190); };
        TensorWorkload workload;
        if (const std::uint64_t kind = random() % 4; kind < 3) {
            const char* const left = random() % 2 == 0 ? "m, k" : "k, m";
            const char* const right = random() % 2 == 0 ? "k, n" : "n, k";
            const std::int64_t depth = pick({16, 32, 48, 64, 24, 13});
            const std::string tiles = fmt::format("group m by {}\ngroup n by {}\nstream k by {}",
                                                  pick({64, 128, 100, 192}), any(1, 20) * 8, depth);
            if (kind == 0)
                workload = product(left, right,
                                   std::array{"bf16", "f16", "e4m3", "e5m2"}[random() % 4], tiles);
            else if (kind == 1)
                workload = product(left, right, "bf16",
                                   fmt::format("{}\nsplit-stream k by {}", tiles, 2 * depth));
            else
                workload = prologue(left, right, random() % 2 == 0 ? kActivation : kNorm, tiles);
            workload.sizes = {{"m", size()}, {"n", size()}, {"k", size()}};
        } else {
            const char* const kKeys[] = {"",
                                         " input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d]\n"};
            const std::size_t turned = random() % std::size(kKeys);
            const char* const kScores[] = {"S[q, x]", "if x <= q then S[q, x] else -inf",
                                           "if x <= q and q - x < 37 then S[q, x] else -inf",
                                           "S[q, x] * 0.5 + 1"};
            workload = attention("random", kScores[random() % std::size(kScores)], kKeys[turned],
                                 {{"q", size()}, {"x", size()}, {"d", pick({16, 32, 40, 64, 80})}},
                                 fmt::format("fuse all\ngroup q by {}\nstream x by {}",
                                             pick({64, 128, 60}), pick({16, 32, 48, 64, 80, 7})));
            if (random() % 2 == 0) workload.derivation += "\nschedule stale = true";
            if (turned > 0)
                workload.diagram.replace(workload.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        }
        INFO("seed ", seed, ": ", workload.diagram, "\n", workload.derivation);
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        if (!program) {
            CHECK_EQ(program.error().list.front().code, "E0905");
            continue;
        }
        CHECK_EQ(test::wrong_with(state, *program, seed), "");
        if (program->kernels.front().target != "sm_90a") continue;
        ++of_groups;
        const Result<EmittedProgram> several = persistent(state);
        REQUIRE(several);
        CHECK_EQ(test::wrong_with(state, *several, seed), "");
    }
    CHECK_GE(2 * of_groups, trials / 2);
}

TEST_CASE("sm_90a: what warp groups do not take is made for sm_80, and the header says why") {
    const TensorWorkload workload =
        product("m, k", "k, n", "bf16", "group m by 16\ngroup n by 16\nstream k by 32");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
    REQUIRE(program);
    const EmittedKernel& kernel = program->kernels.front();
    CHECK_EQ(kernel.target, "sm_80");
    CHECK(kernel.source.find("// Target sm_80, for sm_90.\n// Since ") != std::string::npos);
    CHECK(kernel.source.find("warp groups take 64 rows at once") != std::string::npos);
}

TEST_CASE("sm_90a: what is multiplied in 8 bits, and why the rest is widened") {
    const auto source = [](const std::string& inputs, const std::string& left) {
        const State state =
            test::state_of({"",
                            "diagram mm { axis m = 128, n = 64, k = 128\n " + inputs +
                                "\n output C[m, n] : bf16 = sum(k) " + left + " * B[n, k] }",
                            {},
                            "fuse all\ngroup m by 64\ngroup n by 64\nstream k by 64"});
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        return program->kernels.front().source;
    };
    CHECK_NE(source("input A[m, k], B[n, k] : e4m3", "A[m, k]").find("multiply_narrow<64>"),
             std::string::npos);
    for (const auto& [inputs, left, why] :
         {std::tuple("input A[m, k] : bf16\n input B[n, k] : e4m3", "A[m, k]", "`A` is bf16"),
          {"input A[k, m], B[n, k] : e4m3", "A[k, m]",
           "neighbours along `k` of `A` are none in memory"},
          {"input A[m, k], B[n, k] : e4m3\n input g[k] : bf16", "relu(A[m, k] + g[k])",
           "the left operand of `C_sum` is computed"}}) {
        const std::string text = source(inputs, left);
        CHECK_EQ(text.find("multiply_narrow"), std::string::npos);
        CHECK_NE(text.find(fmt::format("// Operands of 8 bits are widened, since {}.\n", why)),
                 std::string::npos);
    }
}

TEST_CASE("sm_90a: two groups share values that are keys too, as printed") {
    const std::filesystem::path folder = NAPKIN_BENCHMARKS_DIR;
    const State state = test::derive(test::load(test::read_text(folder / "mla_decoding.ncd")),
                                     test::read_text(folder / "sm_90a" / "mla_decoding.drv"));
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
    REQUIRE(program);
    const EmittedKernel& kernel = program->kernels.front();
    test::check_golden("codegen/sm_90a/mla_decoding.schedule", kernel.scheduled());
    test::check_golden("codegen/sm_90a/mla_decoding.cu", kernel.source);
}

TEST_CASE("sm_90a: what columns read chunk by chunk comes in bulk where it can") {
    struct Case {
        const char* bias;
        std::int64_t keys;
        bool bulk;
    };
    for (const Case& each : {Case{"B[x]", 216, true}, {"B[x]", 214, false}, {"E[q]", 216, false}}) {
        INFO(each.bias, " ", each.keys);
        TensorWorkload workload =
            attention("bias", fmt::format("S[q, x] + {}", each.bias), " input B[x], E[q] : f32",
                      {{"x", each.keys}}, "fuse all\ngroup q by 64\nstream x by 64");
        workload.diagram.replace(workload.diagram.find("weave h = 2"), 11,
                                 "weave h = 2 over Q, K, V, B, E");
        const Result<EmittedProgram> program =
            emit(test::state_of(workload), test::program_of(test::state_of(workload)), options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(source.find("load_vector(B_tile(") != std::string::npos, each.bulk);
    }
}

TEST_CASE("sm_90a: integers of 4 and 8 bits come in bulk where their rows are whole panels") {
    for (const auto& [type, depth, bulk] :
         {std::tuple("i4", 64, true), {"i8", 64, true}, {"i4", 96, false}, {"i8", 24, false}}) {
        INFO(type, depth);
        const State state = test::state_of(
            {"",
             fmt::format(
                 "diagram mm {{ axis m = 64, n = 64, k = {}\n input A[m, k] : bf16, B[n, k] : {}\n"
                 " output C[m, n] : bf16 = sum(k) A[m, k] * B[n, k] }}",
                 4 * depth, type),
             {},
             fmt::format("group n by 64\nstream k by {}", depth)});
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(source.find("load_panels(B_tile(") != std::string::npos, bulk);
    }
}

TEST_CASE("sm_90a: integers of 4 bits are widened in registers where chunks are whole pairs") {
    for (const auto& [rows, derivation, pairs] :
         {std::tuple(16, "group n by 64\nstream g by 1", true),
          {64, "group n by 64\nstream g by 1", true},
          {128, "group m by 64\ngroup n by 128\nstream g by 1", true},
          {16, "group n by 64\nstream g by 1\nsplit-stream g by 2", true},
          {16, "group n by 64\nstream g by 1\nstream k by 48", false}}) {
        INFO(derivation);
        const State state = test::state_of(
            {"",
             fmt::format("diagram mm {{ axis m = {}, n = 256, g = 8, k = 128\n input A[m, g, k], "
                         "s[n, g] : bf16, B[n, g, k] : i4\n output C[m, n] : bf16 = sum(g, k) "
                         "A[m, g, k] * B[n, g, k] * s[n, g] }}",
                         rows),
             {},
             derivation});
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(source.find("read_nibbles<bf16>(") != std::string::npos, pairs);
        CHECK_EQ(source.find("nibble_of("), std::string::npos);
    }
}

TEST_CASE("sm_90a: the other half of a row is read in vectors, the other of a pair is not") {
    for (const auto& [partner, vectors] :
         {std::pair("(d + 32) % 64", true), {"63 - d", false}, {"(d + 4) % 64", false}}) {
        INFO(partner);
        TensorWorkload workload = attention(
            "turned", "S[q, x]",
            fmt::format(" input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d] + K[x, {}]\n",
                        partner),
            {}, "fuse all\ngroup q by 64\nstream x by 32");
        workload.diagram.replace(workload.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(source.find("d_turned") != std::string::npos, vectors);
        CHECK_EQ(source.find("= to_f32(K[") != std::string::npos ||
                     source.find("to_f32(K[t") != std::string::npos,
                 !vectors);
    }
}

TEST_CASE("sm_90a: what an index names comes in bulk where a block holds one index") {
    std::size_t found = 0;
    for (const TensorWorkload& workload : workloads()) {
        const bool expert = workload.name == "the expert that an index names";
        if (!expert && workload.name != "attention, 1 pages at a time that an index names")
            continue;
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        for (const char* tile : {expert ? "X" : "K", expert ? "W" : "V"})
            found += source.find(fmt::format("load_panels({}_", tile)) != std::string::npos;
    }
    CHECK_EQ(found, 4);
}

TEST_CASE("sm_90a: the assembler serialises and spills nothing of what is measured") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    const std::filesystem::path folder = NAPKIN_BENCHMARKS_DIR;
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    struct Measured {
        const char* diagram;
        const char* derivation;
        Sizes sizes = {};
        int spilled = 0;  ///< bytes at most
    };
    for (const auto& [diagram, derivation, sizes, spilled] :
         {Measured{"matmul", "matmul"},
          {"matmul", "matmul_split_k"},
          {"matmul_e4m3", "matmul_e4m3"},
          {"attention", "attention"},
          {"attention_causal", "attention"},
          {"convolution_valid", "convolution_valid"},
          {"swiglu", "swiglu"},
          {"matmul_epilogue", "matmul_epilogue"},
          {"rmsnorm_linear", "rmsnorm_linear_fused"},
          {"layernorm_linear", "layernorm_linear"},
          {"layernorm_linear", "layernorm_linear_distributed"},
          {"mla_decoding", "mla_decoding"},
          {"mla_decoding", "mla_decoding_wide", {{"q", 128}}},
          // Faster so than in chunks of 80, which spill nothing.
          {"attention", "attention_d80", {{"d", 80}}, 16},
          {"attention", "attention_d96", {{"d", 96}}},
          {"attention", "attention_d192", {{"d", 192}}},
          {"attention", "attention_d256", {{"d", 256}}},
          // Where every block takes one tile, which it does not there.
          {"attention", "attention_d64", {{"d", 64}, {"q", 8192}, {"x", 8192}}, 16},
          {"attention", "attention_d64_to_1024", {{"d", 64}}},
          {"attention", "attention_d64_to_4096", {{"d", 64}}},
          {"attention_causal", "attention_causal"},
          {"attention_causal", "attention_causal_d64", {{"d", 64}}},
          {"attention_causal", "attention_causal_d128_to_2048"},
          {"attention_causal", "attention_causal_d256", {{"d", 256}}},
          {"attention_gqa", "attention_gqa"},
          {"attention_softcap", "attention_softcap"},
          {"attention_window", "attention_window"},
          {"attention_alibi", "attention_alibi"},
          {"attention_documents", "attention_documents"},
          {"cross_entropy", "cross_entropy", {{"v", 131072}}},
          // A vocabulary that its parts do not fill, whose last one is tested.
          {"cross_entropy", "cross_entropy", {}, 64},
          {"attention_linear", "attention_linear"},
          {"attention_rope", "attention_rope"},
          {"matmul_chain", "matmul_chain"},
          {"matmul_experts", "matmul_experts"},
          {"matmul_f16", "matmul"},
          {"attention_f16", "attention"},
          {"matmul_dynamic", "matmul"},
          // In one of its two forms; as fast as that of fixed sizes on an H200.
          {"attention_dynamic", "attention", {}, 4},
          {"matmul_int4", "matmul_int4"},
          {"matmul_int4", "matmul_int4_split"},
          {"matmul_int4", "matmul_int4", {{"m", 64}}},
          {"convolution_padded", "convolution_padded"},
          {"attention_backward", "attention_backward"},
          {"attention_backward_causal", "attention_backward_causal"}}) {
        INFO(std::string(derivation));
        const std::string file = std::string(diagram) + ".ncd";
        const std::filesystem::path path =
            std::filesystem::exists(folder / file) ? folder / file : examples / file;
        const std::string text =
            test::read_text(folder / "sm_90a" / (std::string(derivation) + ".drv"));
        const State state = test::derive(test::load(test::read_text(path), sizes), text);
        // Both ways to take tiles, where the derivation leaves that open.
        std::vector<Result<EmittedProgram>> programs = {
            emit(state, test::program_of(state), options())};
        if (text.find("persistent") == std::string::npos)
            programs = {with_tiles(state, false), persistent(state)};
        // Where data decides which chunks a tile visits, a block takes one.
        if (derivation == std::string("attention_documents")) programs.pop_back();
        for (const Result<EmittedProgram>& program : programs) {
            REQUIRE(program);
            CHECK(std::any_of(program->kernels.begin(), program->kernels.end(),
                              [](const EmittedKernel& each) { return each.target == "sm_90a"; }));
            CompileOptions how;
            how.architecture = "sm_90";
            for (const EmittedKernel& kernel : program->kernels) {
                if (kernel.target != "sm_90a") continue;
                INFO(kernel.name);
                const Result<CompiledKernel> compiled = compile(kernel, how);
                REQUIRE(compiled);
                CHECK_LE(compiled->spill_stores.value_or(1000), spilled);
                CHECK_EQ(compiled->log.find("C75"), std::string::npos);
            }
        }
    }
}

}  // namespace napkin
