// Stale gauges: kernels that keep a maximum as it was are right where that goes on for ever, where
// no chunk allows it and in between, and faults in the one branch that tells are found.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

using test::TensorWorkload;

/// Attention with these scores, of a head of 32.
TensorWorkload stale_attention(const std::string& score, const std::string& more = {},
                               const std::string& type = "bf16") {
    return {
        score + more,
        fmt::format("diagram attention {{ axis q = 130, x = 210, d = 32\n input Q[q, d], K[x, d], "
                    "V[x, d] : {}\n S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
                    " M[q, x] = {}\n P[q, x] = softmax[x](M[q, x])\n output O[q, d] : {} = "
                    "sum(x) P[q, x] * V[x, d]\n{}\n weave h = 2 }}",
                    type, score, type, more),
        {},
        "fuse all\ngroup q by 128\nstream x by 32\nschedule stale = true"};
}

std::vector<TensorWorkload> stale_workloads() {
    std::vector<TensorWorkload> list;
    for (const char* type : {"bf16", "f16"})
        for (const char* score :
             {"S[q, x]", "S[q, x] * 40", "S[q, x] + x * 3", "S[q, x] - x * 3",
              "S[q, x] + (if x == 200 then 500 else 0)", "if x <= q then S[q, x] else -inf",
              "if x <= q and q - x < 50 then S[q, x] * 8 else -inf",
              // Rows that see nothing in their first chunks, and rows that never see anything.
              "if x >= q + 90 then S[q, x] else -inf", "30 * tanh(S[q, x] / 30)"})
            list.push_back(stale_attention(score, "", type));
    list.push_back(stale_attention("S[q, x] * 20", " output L[q] : f32 = logsumexp[x](M[q, x])"));
    list.push_back(
        {"queries and keys of two axes, in chunks along both",
         "diagram image { axis i = 12, j = 21, d = 32\n axis u = i, v = j\n input Q[i, j, d], K[u, "
         "v, d], "
         "V[u, v, d] : bf16\n S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d] * 4 + u * 5\n"
         " M[i, j, u, v] = if neighbourhood[i, u](7, 1, 1) and neighbourhood[j, v](9, 1, 1) then "
         "S[i, j, u, v] else -inf\n P[i, j, u, v] = softmax[u, v](M[i, j, u, v])\n"
         " output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d] }",
         {},
         "fuse all\ngroup i by 8\ngroup j by 16\nstream u by 4\nstream v by 8\n"
         "schedule stale = true"});
    for (const char* steps : {"", "distribute O\n"})
        list.push_back(
            {"two maxima, what is relative to one among what is relative to the other",
             "diagram difference { axis q = 130, x = 200, d = 32, e = 32\n input A[q, d], B[q, d], "
             "K[x, d], L[x, d], V[x, e] : bf16\n S[q, x] = sum(d) A[q, d] * K[x, d] * 0.2\n "
             "T[q, x] = sum(d) B[q, d] * L[x, d] + x * 3\n P[q, x] = softmax[x](if x <= q + 70 "
             "then S[q, x] else -inf)\n R[q, x] = softmax[x](if x <= q + 70 then T[q, x] else "
             "-inf)\n output O[q, e] : bf16 = sum(x) (P[q, x] - 0.3 * R[q, x]) * V[x, e] }",
             {},
             std::string("fuse all\n") + steps +
                 "group q by 128\nstream x by 32\nschedule stale = true"});
    list.push_back(
        {"sums alone, of chunks that are streamed themselves",
         "diagram loss { axis n = 130, v = 200, d = 96\n input H[n, d], W[v, d] : bf16\n"
         " input label[n] : i32\n Z[n, v] = sum(d) H[n, d] * W[v, d]\n T[n] = sum(v) if v "
         "== label[n] then Z[n, v] else 0\n output nll[n] : f32 = logsumexp[v](Z[n, v]) - "
         "T[n] }",
         {},
         "fuse all\nstream v by 64\ngroup n by 128\nstream d by 32\n"
         "schedule stale = true"});
    return list;
}

Result<EmittedProgram> stale_emitted(const State& state) {
    EmitOptions options;
    options.target = "sm_90a";
    return emit(state, test::program_of(state), options);
}

}  // namespace

TEST_CASE("sm_90a: kernels that keep a maximum as it was agree with the reference") {
    std::vector<EmittedKernel> kernels;
    std::vector<std::pair<State, EmittedProgram>> all;
    for (const TensorWorkload& workload : stale_workloads()) {
        INFO(workload.name);
        State state = test::state_of(workload);
        Result<EmittedProgram> program = stale_emitted(state);
        REQUIRE(program);
        REQUIRE_EQ(program->kernels.front().target, "sm_90a");
        REQUIRE_NE(program->kernels.front().source.find("_moved = lanes_where("),
                   std::string::npos);
        for (const EmittedKernel& kernel : program->kernels) kernels.push_back(kernel);
        all.emplace_back(std::move(state), std::move(program).value());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO(stale_workloads()[i].name);
        for (const std::uint64_t order : {1, 2})
            CHECK_EQ(test::wrong_with(all[i].first, all[i].second, {1, order}), "");
    }
}

TEST_CASE("sm_90a: what goes wrong with a maximum that is kept is found") {
    const auto wrong = [](const std::string& score, const std::string& from,
                          const std::string& to) {
        const State state = test::state_of(stale_attention(score));
        Result<EmittedProgram> program = stale_emitted(state);
        REQUIRE(program);
        std::string& source = program->kernels.front().source;
        const std::size_t at = source.find(from);
        REQUIRE_NE(at, std::string::npos);
        source.replace(at, from.size(), to);
        return test::wrong_with(state, *program, 1);
    };
    // Never replaced; never looked at; replaced but not repaired; a row without a maximum.
    CHECK_NE(
        wrong("S[q, x] + x * 3", "P_max_moved = lanes_where(leaves) != 0", "P_max_moved = false"),
        "");
    CHECK_NE(wrong("S[q, x] + x * 3", "<= 1.1529215e+18f", "<= infinity()"), "");
    // Replaced once more in the last chunk.
    CHECK_NE(wrong("S[q, x] + x * 2", "O_sum(i, j) = O_sum(i, j) * P_repair[i]", ""), "");
    CHECK_NE(wrong("S[q, x]", "P_sum[i] += P_sum_more[i]", ""), "");
    CHECK_NE(wrong("S[q, x] + x * 3", "lanes_where(leaves) != 0", "leaves"), "");
    // With so much room above it that what is relative to it vanishes.
    CHECK_NE(wrong("S[q, x]", "P_max_new[i] + 41.58883f", "P_max_new[i] + 95.0f"), "");
}

TEST_CASE("a maximum that cannot be kept is refused with the reason") {
    struct Case {
        const char* diagram;
        const char* derivation;
        const char* reason;
    };
    const char* const kAttention =
        "diagram a { axis q = 128, x = 256, d = 64\n input Q[q, d], K[x, d], V[x, d] : bf16\n S[q, "
        "x] "
        "= sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = "
        "sum(x) "
        "P[q, x] * V[x, d] }";
    for (const Case& each :
         {Case{kAttention,
               "fuse all\ngroup q by 128\nstream x by 64\nschedule stale of P_mx = true",
               "it can be chosen of `P_max`"},
          {"diagram m { axis a = 128, b = 128, c = 128\n input A[a, b], B[b, c] : bf16\n output "
           "C[a, c] "
           ": bf16 = sum(b) A[a, b] * B[b, c] }",
           "group a by 64\ngroup c by 64\nstream b by 64\nschedule stale of C = true",
           "there is nothing of which it could be chosen"},
          // A maximum that is a result, by itself or in what it cancels from.
          {"diagram a { axis q = 128, x = 256, d = 64\n input Q[q, d], K[x, d], V[x, d] : bf16\n "
           "S[q, x] = sum(d) Q[q, d] * K[x, d]\n output m[q] : f32 = max(x) S[q, x]\n output O[q, "
           "d] "
           ": bf16 = sum(x) softmax[x](S[q, x]) * V[x, d] }",
           "fuse all\ngroup q by 128\nstream x by 64\nschedule stale of m_max = true",
           "`m` would be another number with another maximum"},
          {"diagram a { axis q = 128, x = 256, d = 64\n input Q[q, d], K[x, d] : bf16\n S[q, x] = "
           "sum(d) Q[q, d] * K[x, d]\n m[q] = max(x) S[q, x]\n output Z[q] : f32 = sum(x) exp(S[q, "
           "x] "
           "- m[q]) }",
           "fuse all\ngroup q by 128\nstream x by 64\nschedule stale of m_max = true",
           "`Z` would be another number with another maximum"},
          {"diagram a { axis q = 128, x = 256, d = 64\n input Q[q, d], K[x, d] : bf16\n S[q, x] = "
           "sum(d) Q[q, d] * K[x, d]\n output m[q] : f32 = max(x) S[q, x]\n output O[q] : f32 = "
           "sum(x) "
           "exp(S[q, x] - m[q]) * S[q, x] }",
           "fuse all\ngroup q by 128\nstream x by 64\nschedule stale of m_max = true",
           "no sum along the rows tells whether `O_weight` keeps in range"}}) {
        INFO(each.derivation);
        const State state = test::derive(test::load(each.diagram), each.derivation);
        const Result<EmittedProgram> program = stale_emitted(state);
        REQUIRE_FALSE(program);
        CHECK_NE(program.error().list.front().message.find(each.reason), std::string::npos);
        INFO(program.error().list.front().message);
    }
}

}  // namespace napkin
