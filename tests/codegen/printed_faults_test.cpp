// Faults planted in whole printed kernels of target sm_80: each is found when the kernel runs in
// the emulator and is compared with the reference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "diagrams/contains.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"

namespace napkin {
namespace {

struct Edit {
    std::string what;  ///< stands in the kernel exactly once
    std::string by;
};
struct Fault {
    std::string name;
    std::vector<Edit> edits;
};

/// A kernel, and the faults planted in it one at a time.
struct Subject {
    std::string name;
    State state;
    EmittedProgram program;
    std::vector<Fault> faults;
    std::function<void(Tensors&)> arrange = {};  ///< of random inputs
};

EmittedProgram emitted_with_threads(const State& state, int threads) {
    EmitOptions options;
    options.target = "sm_80";
    options.threads = threads;
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    if (!program) FAIL(test::rendered(program.error(), {}));
    REQUIRE_EQ(program->kernels.size(), 1);
    return *program;
}

/// A copy that puts elements where they would stand without the swizzle.
constexpr const char* kPlainCopy = R"(template <class Tile>
void copy_plain(Tile tile, Global<const bf16> array, i64 from, i64 row_stride, int rows,
                int columns, int thread, int threads) {
    for (int e = thread; e < Tile::rows * Tile::columns; e += threads) {
        const int row = e / Tile::columns;
        const int column = e % Tile::columns;
        bf16 value{};
        if (row < rows && column < columns) value = array[from + row * row_stride + column];
        tile.data[e] = value;
    }
}

constexpr int kThreads)";

Subject attention() {
    const State state =
        test::derive(test::load("diagram attention { axis q = 56, x = 75, d = 32, e = d\n"
                                "input Q[q, d], K[x, d], V[x, e] : bf16\n"
                                "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
                                "P[q, x] = softmax[x](if x <= q + 19 then S[q, x] else -inf)\n"
                                "output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]\n weave h = 2 }"),
                     "fuse all\ngroup q by 32\nstream x by 16");
    const std::string wait = "wait_copies<0>();\n        ";
    const std::string barrier = "block_barrier();\n        ";
    const std::string load =
        "if (x_ahead < end_x) {\n            load_x(x_ahead, (stage + 1) % 2);\n"
        "        }\n        ";
    const std::string commit = "commit_copies();\n        ";
    return {
        "attention",
        state,
        emitted_with_threads(state, 64),
        {
            {"no wait for the copies", {{wait + barrier + load, barrier + load}}},
            {"a wait one stage late",
             {{wait + barrier + load, "wait_copies<1>();\n" + barrier + load}}},
            {"no barrier after the wait", {{wait + barrier + load, wait + load}}},
            {"the barrier before the wait", {{wait + barrier + load, barrier + wait + load}}},
            {"committed before it is started", {{load + commit, commit + load}}},
            {"the next chunk into the stage in use",
             {{"load_x(x_ahead, (stage + 1) % 2)", "load_x(x_ahead, stage)"}}},
            {"a stage off by one",
             {{"chunk_x(x0, stage, Flag<true>())", "chunk_x(x0, 1 - stage, Flag<true>())"}}},
            {"no barrier before results are written",
             {{"O_staging, warp_q, 0);\n    block_barrier();", "O_staging, warp_q, 0);"}}},
            {"values in the memory of the keys",
             {{"memory, 4096 + stage", "memory, 3072 + stage"}}},
            {"a barrier of the warp only",
             {{wait + barrier + load, wait + "warp_barrier();\n" + load}}},
            {"the next chunk before the barrier", {{wait + barrier + load, wait + load + barrier}}},
            {"the keys' stages in one place", {{"2048 + stage * 1024", "2048 + stage * 0"}}},
            {"the values' stages overlap", {{"4096 + stage * 1024", "4096 + stage * 1008"}}},
            {"results over values that are still read",
             {{"memory, 0, \"O_staging\"", "memory, 4096, \"O_staging\""},
              {"    wait_copies<1>();\n    block_barrier();\n\n", "    wait_copies<1>();\n"}}},
            {"results over keys that are still read",
             {{"memory, 0, \"O_staging\"", "memory, 2048, \"O_staging\""},
              {"    wait_copies<1>();\n    block_barrier();\n\n", "    wait_copies<1>();\n"}}},
            {"the warp's barrier before results are written",
             {{"O_staging, warp_q, 0);\n    block_barrier();",
               "O_staging, warp_q, 0);\n    warp_barrier();"}}},
            {"keys stored without the swizzle",
             {{"constexpr int kThreads", kPlainCopy},
              {"copy_async<8>(K_tile", "copy_plain(K_tile"}}},
            {"16-byte copies from odd places",
             {{"K_stride_h + x0 * 32", "K_stride_h + x0 * 32 + 1"}}},
            {"the other warp's queries",
             {{"Q_tile, warp_q, K_tile", "Q_tile, 16 - warp_q, K_tile"}}},
            {"a column of the fragment off by one",
             {{"column(j);\n                const float t1 = !kTested || ix <= t0 ? S(i, j) *",
               "column(j) + 1;\n                const float t1 = !kTested || ix <= t0 ? S(i, j) "
               "*"}}},
            {"the mask off by one",
             {{"1.442695f;\n            const int t0 = q0 + iq - x0 + 19;",
               "1.442695f;\n            const int t0 = q0 + iq - x0 + 18;"}}},
            {"a masked chunk taken as a whole one", {{"x0 + nx <= q0 + 20", "x0 + nx <= q0 + 52"}}},
            {"a visible chunk left out", {{"q0 + nq + 19", "q0 + nq + 2"}}},
            {"weights not repaired", {{"P_sum[i] * P_repair[i]", "P_sum[i]"}}},
            {"results not repaired", {{"O_sum(i, j) * P_repair[i]", "O_sum(i, j)"}}},
            {"no normalisation at the end", {{"multiply(O_sum(i, j), r0)", "O_sum(i, j)"}}},
            {"rows past the end written",
             {{"O_stride_h + q0 * 32, 32, nq", "O_stride_h + q0 * 32, 32, 32"}}},
        }};
}

/// Documents of 20 positions.
void pack(Tensors& inputs) {
    for (auto& [array, tensor] : inputs)
        if (tensor.extents.size() == 1)
            for (std::size_t at = 0; at < tensor.values.size(); ++at)
                tensor.values[at] = static_cast<double>(at / 20);
}

Subject documents() {
    const State state = test::derive(
        test::load("diagram documents { axis q = 75, x = q, d = 32\n"
                   "input Q[q, d], K[x, d], V[x, d] : bf16\n input document[x] : i32\n"
                   "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
                   "P[q, x] = softmax[x](if x <= q and document[q] == document[x] then S[q, x] "
                   "else -inf)\n"
                   "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }"),
        "fuse all\ngroup q by 32\nstream x by 16");
    return {
        "documents",
        state,
        emitted_with_threads(state, 64),
        {
            {"a chunk of the same document left out",
             {{"document_ends.least <= document_ends_2.greatest",
               "document_ends.least < document_ends_2.greatest"}}},
            {"marks that are not there yet",
             {{"});\n    block_barrier();\n    const auto next_x", "});\n    const auto next_x"}}},
            {"marks that their warp alone waited for",
             {{"});\n    block_barrier();\n    const auto next_x",
               "});\n    warp_barrier();\n    const auto next_x"}}},
            {"results over values that are still read",
             {{"memory, 0, \"O_staging\"", "memory, 4096, \"O_staging\""},
              {"    wait_copies<1>();\n    block_barrier();\n\n", "    wait_copies<1>();\n"}}},
            {"marks in the memory of the values", {{"memory, 6144, 128", "memory, 6016, 128"}}},
            {"a marked chunk passed by", {{"end_x, 16, x0 + 16)", "end_x, 16, x0 + 32)"}}},
        },
        pack};
}

Subject product() {
    const State state = test::derive(
        test::load("diagram product { axis m = 72, n = 88, k = 104\n input A[m, k], B[n, k] : "
                   "bf16\n output C[m, n] : bf16 = sum(k) A[m, k] * B[n, k] }"),
        "group m by 32\ngroup n by 64\nstream k by 32");
    return {"product",
            state,
            emitted_with_threads(state, 128),
            {
                {"a wait one stage late",
                 {{"wait_copies<2>();\n        block_barrier();",
                   "wait_copies<3>();\n        block_barrier();"}}},
                {"the first chunks in one group",
                 {{"commit_copies();\n        k_ahead += 32;\n    }\n    if",
                   "k_ahead += 32;\n    }\n    if"}}},
                {"a group too few",
                 {{"% 4);\n            }\n            commit_copies();", "% 4);\n            }"}}},
                {"the first operands read without a barrier",
                 {{"wait_copies<2>();\n    block_barrier();\n    if (k_next",
                   "wait_copies<2>();\n    if (k_next"}}},
                {"a barrier of the warp only",
                 {{"block_barrier();\n        if (more", "warp_barrier();\n        if (more"}}},
                {"a stage too few", {{"8192 + stage * 4096", "8192 + stage % 3 * 4096"}}},
                {"stages overlap by a vector", {{"memory, stage * 2048", "memory, stage * 2032"}}},
                {"no barrier between chunks", {{"block_barrier();\n        if (more", "if (more"}}},
                {"operands read before they came",
                 {{"wait_copies<2>();\n    block_barrier();\n    if (k_next",
                   "block_barrier();\n    if (k_next"}}},
                {"operands of the chunk after the next",
                 {{"fetch_k(k_next, (stage + 1) % 4)", "fetch_k(k_next, (stage + 2) % 4)"}}},
                {"the last step of a chunk left out", {{"multiply_tail(C_sum, operands);", ""}}},
                {"the next chunk into a stage in use", {{"(stage + 3) % 4", "stage"}}},
                {"no barrier before results are written",
                 {{"C_staging, warp_m, warp_n);\n    block_barrier();",
                   "C_staging, warp_m, warp_n);"}}},
                {"two warps' results in one place",
                 {{"C_staging, warp_m, warp_n)", "C_staging, warp_m, 0)"}}},
                {"copies past the end of a row",
                 {{"A, m0 * 104 + k_0, 104, nm, nk_2", "A, m0 * 104 + k_0, 104, nm, 32"}}},
                {"columns past the end written", {{"n0, 88, nm, nn", "n0, 88, nm, 64"}}},
                {"blocks that are nobody's", {{"band + plane % 32 % band_height", "band"}}},
            }};
}

Subject norm_of_rows() {
    const State state = test::derive(
        test::load("diagram norm { axis n = 21, d = 72\n input X[n, d], G[d] : bf16\n param eps : "
                   "f32 = 1e-3\n output Y[n, d] : bf16 = rmsnorm[d](X[n, d], G[d], eps) }"),
        "group n by 8");
    return {"norm",
            state,
            emitted_with_threads(state, 128),
            {
                {"sums of a thread's own columns", {{"acc = row_sum<Rows>(acc);", ""}}},
                {"columns left out of the sum", {{"id < 72 ?", "id < 64 ?"}}},
                {"rows past the end written",
                 {{"save_rows(Y_part, Y, n0 * 72 + warp_n * 72, 72, nn - warp_n",
                   "save_rows(Y_part, Y, n0 * 72 + warp_n * 72, 72, 2"}}},
            }};
}

EmittedProgram planted(const Subject& subject, const Fault& fault) {
    EmittedProgram program = subject.program;
    std::string& source = program.kernels.front().source;
    for (const Edit& edit : fault.edits) {
        const std::size_t at = source.find(edit.what);
        INFO(subject.name, ": ", fault.name, ": ", edit.what, " in\n", source);
        REQUIRE_NE(at, std::string::npos);
        REQUIRE_EQ(source.find(edit.what, at + 1), std::string::npos);
        source.replace(at, edit.what.size(), edit.by);
    }
    return program;
}

/// By what a fault was found, from what was said.
std::string finder_of(const std::string& said) {
    const std::pair<const char*, const char*> kFinders[] = {
        {"race: ", "race"},
        {"copy in flight", "copy in flight"},
        {"shared memory that was never written", "poison"},
        {"misaligned", "alignment"},
        {"out of bounds", "bounds"},
        {"outside its tile", "bounds"},
        {"elements never written", "not written"},
        {"the emulator found", "emulator"},
    };
    for (const auto& [words, finder] : kFinders)
        if (said.find(words) != std::string::npos) return finder;
    return said.empty() ? "NOT FOUND" : "wrong value";
}

constexpr std::uint64_t kRuns = 8;

/// In how many orders of threads a fault changes results.
std::uint64_t runs_wrong_by_results(const Subject& subject, const EmittedProgram& program) {
    std::uint64_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed)
        if (!test::wrong_with(subject.state, program, seed, subject.arrange, false).empty())
            ++wrong;
    return wrong;
}

/// Programs with a subject's faults, compiled together.
std::vector<EmittedProgram> planted(const Subject& subject) {
    std::vector<EmittedProgram> programs;
    std::vector<EmittedKernel> kernels;
    for (const Fault& fault : subject.faults) {
        programs.push_back(planted(subject, fault));
        kernels.push_back(programs.back().kernels.front());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    return programs;
}

}  // namespace

TEST_CASE("sm_80: faults planted in printed kernels are found") {
    const std::vector<std::string> by_order = {"race", "copy in flight", "poison"};
    std::string table;
    int of_order = 0;
    int quiet = 0;  // of these, those that most runs do not show
    for (const Subject& subject : {attention(), documents(), product(), norm_of_rows()}) {
        CHECK_EQ(test::wrong_with(subject.state, subject.program, 1, subject.arrange), "");
        const std::vector<EmittedProgram> programs = planted(subject);
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const std::string said =
                test::wrong_with(subject.state, programs[i], 1, subject.arrange);
            const std::string finder = finder_of(said);
            const std::string& name = subject.faults[i].name;
            table += fmt::format("{:10} {:45} {}", subject.name, name, finder);
            INFO(subject.name, ": ", name, ": ", said);
            CHECK_UNARY(!said.empty());
            if (contains(by_order, finder)) {
                const std::uint64_t wrong = runs_wrong_by_results(subject, programs[i]);
                table += fmt::format(", {} of {} runs by their results", wrong, kRuns);
                CHECK_NE(test::wrong_with(subject.state, programs[i], 2, subject.arrange), "");
                ++of_order;
                if (2 * wrong < kRuns) ++quiet;
            }
            table += "\n";
        }
    }
    MESSAGE("planted faults and what found them:\n" << table);
    CHECK_GE(of_order, 12);
    CHECK_GE(quiet, 3);
}

}  // namespace napkin
