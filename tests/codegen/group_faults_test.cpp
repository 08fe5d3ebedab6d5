// Faults planted in loops of warp groups, where products, copies and what the block publishes are
// on their way together: the emulator finds each.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

struct GroupFault {
    std::string name;
    std::string what;  ///< stands in the kernel exactly once
    std::string by;
};
struct GroupLoop {
    std::string name;
    std::string body;  ///< of the diagram, behind its axes and A
    std::vector<GroupFault> faults;
};

std::vector<GroupLoop> subjects() {
    const std::string filled = "_ring.wait_filled(chunk_of_k_2 + 1);";
    const std::string meet = "        fence_async();\n        named_barrier(1, kThreads);\n";
    return {
        {"a product that is waited for a chunk later",
         "input B[n, k] : bf16\noutput C[m, n] : bf16 = sum(k) A[m, k] * B[n, k]",
         {{"operands released under the product", "wait_products<1>();", "wait_products<2>();"},
          {"a chunk used before it is there", "A" + filled, ""},
          {"the slot of the chunk after", "B_tile((chunk_of_k_2 + 1) % 4)",
           "B_tile((chunk_of_k_2 + 2) % 4)"},
          {"results used before the product is through", "finish_multiply<0>(C_sum);",
           "finish_multiply<1>(C_sum);"}}},
        {"a left operand in registers",
         "input B[n, k], g[k] : bf16\nN[m, k] = relu(A[m, k] + g[k])\n"
         "output C[m, n] : bf16 = sum(k) N[m, k] * B[n, k]",
         {{"elements read before they are there", "A" + filled, ""},
          {"elements of the chunk after", "A_tile((chunk_of_k_2 + 1) % 4)",
           "A_tile((chunk_of_k_2 + 2) % 4)"},
          {"registers changed under the product", "finish_multiply<0>(C_sum);",
           "finish_multiply<1>(C_sum);"}}},
        {"an operand published a chunk ahead",
         "input B[n, k] : e4m3\noutput C[m, n] : bf16 = sum(k) A[m, k] * B[n, k]",
         {{"multiplied before all have published", meet, "        fence_async();\n"},
          {"published without a fence", meet, "        named_barrier(1, kThreads);\n"},
          {"published over what is multiplied", "C_sum_right_tile((chunk_of_k_2 + 1) % 2)",
           "C_sum_right_tile((chunk_of_k_2 + 2) % 2)"},
          {"converted before it is there", "B" + filled, ""}}},
    };
}

/// The program with a fault in its kernel.
EmittedProgram planted(EmittedProgram program, const GroupFault& fault) {
    std::string& source = program.kernels.front().source;
    const std::size_t at = source.find(fault.what);
    INFO(fault.name, " in\n", source);
    REQUIRE_NE(at, std::string::npos);
    REQUIRE_EQ(source.find(fault.what, at + 1), std::string::npos);
    source.replace(at, fault.what.size(), fault.by);
    return program;
}

void check_found(const std::string& name, const State& state,
                 const std::vector<GroupFault>& faults) {
    EmitOptions options;
    options.target = "sm_90a";
    const Result<EmittedProgram> right = emit(state, test::program_of(state), options);
    REQUIRE(right);
    std::vector<EmittedProgram> programs;
    std::vector<EmittedKernel> kernels = right->kernels;
    for (const GroupFault& fault : faults) {
        programs.push_back(planted(*right, fault));
        kernels.push_back(programs.back().kernels.front());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    CHECK_EQ(test::wrong_with(state, *right, 1), "");
    for (std::size_t i = 0; i < faults.size(); ++i) {
        INFO(name, ": ", faults[i].name, " in\n", programs[i].kernels.front().source);
        CHECK_NE(test::wrong_with(state, programs[i], 1), "");
    }
}

}  // namespace

TEST_CASE("sm_90a: faults planted in loops of warp groups are found") {
    for (const GroupLoop& subject : subjects()) {
        const State state = test::derive(
            test::load("diagram mm { axis m = 136, n = 72, k = 104\n input A[m, k] : bf16\n" +
                       subject.body + " }"),
            "fuse all\ngroup m by 128\ngroup n by 64\nstream k by 16");
        check_found(subject.name, state, subject.faults);
    }
}

TEST_CASE("sm_90a: faults planted where groups share columns are found") {
    const State state = test::derive(
        test::load(
            "diagram latent { axis q = 64, x = 150, e = 384\n input Q[q, e], C[x, e] : bf16\n"
            "S[q, x] = sum(e) Q[q, e] * C[x, e] * 0.05\n P[q, x] = softmax[x](S[q, x])\n"
            "output O[q, e] : bf16 = sum(x) P[q, x] * C[x, e] }"),
        "fuse all\nstream x by 64");
    const std::string fence = "        fence_async();\n";
    const std::string meet = "        named_barrier(1, kThreads);\n";
    const std::string part = "= part;\n                }\n            }\n        }\n";
    const std::string product = "        if (now.value) {\n            // O_sum[q, e] =";
    check_found(
        "values that are keys too", state,
        {{"parts put together before all are there", part + fence + meet, part},
         {"both groups' parts in one place", "P_max_new_parts_tile[warp_index() / 4 % 2 * 64 + iq]",
          "P_max_new_parts_tile[iq]"},
         {"multiplied before all have published", fence + meet + product, fence + product},
         {"published without a fence", fence + meet + product, meet + product},
         {"published in another group's columns", "warp_q, warp_x)", "warp_q, 0)"},
         {"another group's columns multiplied", "warp_e, true)", "0, true)"}});
}

TEST_CASE("sm_90a: faults planted where groups multiply in turn are found") {
    const State state =
        test::derive(test::load("diagram a { axis q = 330, x = q, d = 16, h = 2\n"
                                "input Q[q, h, d], K[x, h, d], V[x, h, d] : bf16\n"
                                "S[q, x, h] = sum(d) Q[q, h, d] * K[x, h, d] * 0.25\n"
                                "M[q, x, h] = if x <= q then S[q, x, h] else -inf\n"
                                "P[q, x, h] = softmax[x](M[q, x, h])\n"
                                "output O[q, h, d] : bf16 = sum(x) P[q, x, h] * V[x, h, d] }"),
                     "fuse all\ngroup h by 1\ngroup q by 192\nstream x by 16\n"
                     "schedule turns = true in O\nschedule persistent = true in O");
    check_found("three groups", state,
                {{"a turn that nobody hands on", "pass_turn<3>();", ""},
                 {"handed on to one of two", "pass_turn<3>();", "pass_turn<2>();"},
                 {"handed on twice", "pass_turn<3>();", "pass_turn<3>(); pass_turn<3>();"},
                 {"nobody has the first", "begin_turns<3>();", ""},
                 {"the last is left over", "end_turns();", ""}});
}

TEST_CASE("sm_90a: faults planted where chunks are listed are found") {
    const State state = test::derive(
        test::load("diagram strided { axis q = 330, x = q, d = 16, h = 2\n"
                   "input Q[q, h, d], K[x, h, d], V[x, h, d] : bf16\n"
                   "S[q, x, h] = sum(d) Q[q, h, d] * K[x, h, d] * 0.25\n"
                   "M[q, x, h] = if strided_heads[q, x, h](2, 2, 3, 0, 12, 0) then S[q, x, h] "
                   "else -inf\n"
                   "P[q, x, h] = softmax[x](M[q, x, h])\n"
                   "output O[q, h, d] : bf16 = sum(x) P[q, x, h] * V[x, h, d] }"),
        "fuse all\ngroup h by 1\ngroup q by 64\nstream x by 16");
    const std::string put = "x_list.put(x_listed, x0,";
    const std::string take = "x_list.take(x_listed_2, x_whole)";
    const std::string listed = "x_list.chunks[x_listed_2 % 8]";
    check_found(
        "strided heads", state,
        {{"a chunk listed in the place of the next", put, "x_list.put(x_listed + 1, x0,"},
         {"a list without an end", "x_list.put(x_listed, 330, true);", ""},
         {"taken before it is listed", take,
          "[&] { const int n = " + listed + "; x_list.ring.wait_filled(x_listed_2); " +
              "x_list.ring.release(x_listed_2); x_whole = n >= 0; return x_whole ? n : ~n; }()"},
         {"nothing is ever tested", "if (x_whole) {\n                    turn_x",
          "if (true) {\n                    turn_x"}});
}

TEST_CASE("sm_90a: faults planted where blocks draw their tiles are found") {
    const State state = test::derive(
        test::load("diagram documents { axis q = 330, x = q, d = 16, h = 2, b = 2\n"
                   "input Q[b, q, h, d], K[b, x, h, d], V[b, x, h, d] : bf16\n"
                   "input document[b, x] : i32\n"
                   "S[b, q, x, h] = sum(d) Q[b, q, h, d] * K[b, x, h, d] * 0.25\n"
                   "M[b, q, x, h] = if document[b, q] == document[b, x] then S[b, q, x, h] "
                   "else -inf\n"
                   "P[b, q, x, h] = softmax[x](M[b, q, x, h])\n"
                   "output O[b, q, h, d] : bf16 = sum(x) P[b, q, x, h] * V[b, x, h, d] }"),
        "fuse all\ngroup b by 1\ngroup h by 1\ngroup q by 64\nstream x by 16\n"
        "schedule persistent = true in O");
    check_found(
        "documents", state,
        {{"nobody is told of a tile", "x_list.put(x_listed, tile, true);", ""},
         {"nobody is told that none is left", "x_list.put(x_listed, 24, true);", ""},
         {"drawn by all", "draw_tile(tiles_drawn, 24, threadIdx.x == kThreads)",
          "draw_tile(tiles_drawn, 24, threadIdx.x % 32 == 0)"},
         {"one draws for another's", "next_tile[0] = drawn;", "next_tile[0] = drawn + 1;"},
         {"ends of another sequence", "found_ends(x_ends, b0 * 21 + ", "found_ends(x_ends, "},
         {"ends that were not found", "find_ends<8>(x_ends, 0, 42,",
          "find_ends<8>(x_ends, 0, 41,"}});
}

}  // namespace napkin
