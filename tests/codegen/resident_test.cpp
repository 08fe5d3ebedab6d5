// Blocks that share a multiprocessor, each with its part of the registers and of the shared memory:
// the choice `resident`, rows in shared memory; and what else a block's tile is made for.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/run/compile.h"
#include "schedule/arrange_groups.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

using test::TensorWorkload;

TensorWorkload masked(std::int64_t rows, std::int64_t head, const std::string& choices,
                      std::int64_t keys = 64) {
    return {fmt::format("{} queries, heads of {}, {}", rows, head, choices),
            "diagram attention { axis q = 200, x = 200, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
            "bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
            " M[q, x] = if x <= q then S[q, x] else -inf\n P[q, x] = softmax[x](M[q, x])\n"
            " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 2 }",
            {{"d", head}},
            fmt::format("fuse all\ngroup q by {}\nstream x by {}\n{}", rows, keys, choices)};
}

TensorWorkload product(std::int64_t rows, std::int64_t columns, const std::string& choices) {
    return {
        fmt::format("a product of {} x {}, {}", rows, columns, choices),
        "diagram product { axis a = 768, b = 128, c = 768\n input X[a, b], W[c, b] : bf16\n"
        " output Y[a, c] : bf16 = sum(b) X[a, b] * W[c, b] }",
        {},
        fmt::format("group a by {}\ngroup c by {}\nstream b by 64\n{}", rows, columns, choices)};
}

std::string shared_by(std::int64_t resident) {
    return resident == 1 ? "" : fmt::format("schedule resident = {}", resident);
}

Result<EmittedProgram> emitted(const TensorWorkload& workload, const std::string& target) {
    EmitOptions options;
    options.target = target;
    const State state = test::state_of(workload);
    return emit(state, test::program_of(state), options);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("sm_80: rows that leave a processor to one block lie in shared memory") {
    struct Rows {
        std::int64_t columns = 0;
        std::string type;
        std::int64_t of_block = 1;
        std::string held;           ///< how a thread holds its rows
        std::int64_t resident = 0;  ///< blocks of a processor; 0 where it is not said
    };
    for (const Rows& rows : {Rows{16384, "bf16", 1, "RowFragment<", 0},
                             {24576, "bf16", 1, "SharedRows<bf16, 1, 12, 8, 256, 256>", 4},
                             {24577, "bf16", 1, "SharedRows<bf16, 1, 13, 8, 256, 256>", 4},
                             {50257, "bf16", 1, "SharedRows<bf16, 1, 13, 8, 512, 512>", 2},
                             {32768, "bf16", 1, "SharedRows<bf16, 1, 8, 8, 512, 512>", 3},
                             {65536, "f16", 1, "SharedRows<f16, 1, 8, 8, 1024, 1024>", 1},
                             {50256, "f32", 1, "SharedRows<float, 1, 13, 8, 512, 512>", 1},
                             {8192, "bf16", 4, "SharedRows<bf16, 1, 8, 8, 128, 512>", 3}}) {
        CAPTURE(rows.columns);
        CAPTURE(rows.type);
        const TensorWorkload softmax = {
            "softmax",
            fmt::format("diagram s {{ axis n = 4096, c = {}\n input X[n, c] : {}\n"
                        " output Y[n, c] : bf16 = softmax[c](X[n, c]) }}",
                        rows.columns, rows.type),
            {},
            fmt::format("group n by {}", rows.of_block)};
        const Result<EmittedProgram> program = emitted(softmax, "sm_80");
        REQUIRE(program.has_value());
        const EmittedKernel& kernel = program->kernels.front();
        CHECK_MESSAGE(has(kernel.source, rows.held), kernel.source);
        const char* saved = rows.columns % 4 == 0 ? "SavedRows<" : "SkewedRows<";
        CHECK_EQ(has(kernel.source, "SharedRows<"), has(kernel.source, saved));
        if (rows.resident > 1)
            CHECK(
                has(kernel.source, fmt::format("__launch_bounds__(kThreads, {})", rows.resident)));
        if (has(rows.held, "SharedRows<"))
            CHECK_GE(kernel.shared_bytes,
                     rows.of_block * rows.columns * (rows.type == "f32" ? 4 : 2));
    }
}

TEST_CASE("sm_80: products that share what is computed each multiply their own type") {
    const TensorWorkload router = {
        "a norm, then a layer in bf16 and a router in f32",
        "diagram router { axis m = 256, n = 128, e = n, k = 256\n"
        " input X[m, k], g[k], W[n, k] : bf16\n input R[e, k] : f32\n"
        " r[m] = rsqrt((sum(k) X[m, k] * X[m, k]) / size(k) + 1e-5)\n"
        " output Y[m, n] : bf16 = sum(k) X[m, k] * r[m] * g[k] * W[n, k]\n"
        " output L[m, e] : f32 = sum(k) X[m, k] * r[m] * g[k] * R[e, k] }",
        {{"m", 70}, {"n", 64}, {"k", 96}},
        "fuse all\ngroup m by 64\nstream k by 32"};
    const TensorWorkload in_parts = {
        "f32 beside a bias of bf16",
        "diagram parts { axis m = 64, n = 64, k = 64\n input X[m, k], W[n, k] : f32\n"
        " input b[k] : bf16\n output Y[m, n] : f32 = sum(k) (X[m, k] + b[k]) * max(W[n, k], 0) }",
        {},
        "group m by 32\ngroup n by 32\nstream k by 16"};
    for (const TensorWorkload& workload : {router, in_parts}) {
        INFO(workload.name);
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program = emitted(workload, "sm_80");
        REQUIRE(program.has_value());
        CHECK_EQ(test::wrong_with(state, *program, 3), "");
        CHECK(has(program->kernels.back().source, "f32_parts"));
    }
}

TEST_CASE("sm_80: weights that cancel are rounded one by one, and are right so") {
    const TensorWorkload difference = {
        "a difference of two softmaxes",
        "diagram difference { axis q = 128, x = 128, d = 64, e = 64\n"
        " input Q[q, d], K[x, d], Q2[q, d], V[x, e] : bf16\n"
        " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n"
        " T[q, x] = sum(d) Q2[q, d] * K[x, d] * rsqrt(size(d))\n"
        " P1[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
        " P2[q, x] = softmax[x](if x <= q then T[q, x] else -inf)\n"
        " output O[q, e] : bf16 = sum(x) (P1[q, x] - 0.5 * P2[q, x]) * V[x, e] }",
        {},
        "fuse all\ngroup q by 64\nstream x by 64"};
    const State state = test::state_of(difference);
    const Result<EmittedProgram> program = emitted(difference, "sm_80");
    REQUIRE(program.has_value());
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        CHECK_EQ(test::wrong_with(state, *program, seed), "");
    }
}

TEST_CASE("sm_80: a kernel says the most that it serves of a size at run time") {
    const TensorWorkload dynamic = {
        "a default below the tile",
        "diagram mm { axis m = 8 dynamic, n = 64, k = 64\n input A[m, k], B[n, k] : bf16\n"
        " output C[m, n] : bf16 = sum(k) A[m, k] * B[n, k] }",
        {},
        "group m by 64\ngroup n by 32\nstream k by 32"};
    const Result<EmittedProgram> program = emitted(dynamic, "sm_80");
    REQUIRE(program.has_value());
    CHECK(has(program->kernels.front().source, "// At run time m is at most 8.\n"));
}

TEST_CASE("sm_90a: blocks that share a multiprocessor take no more registers than it has") {
    constexpr std::int64_t kRegisters = 65536;
    constexpr std::int64_t kThreads = 128;
    for (const std::int64_t of_copies : {schedule::kCopyRegisters, schedule::kOwnCopyRegisters})
        for (std::int64_t resident = 1; resident <= 4; ++resident)
            for (std::int64_t groups = 1; groups <= 3; ++groups) {
                INFO(groups, " groups, ", resident, " blocks");
                const std::int64_t of_group =
                    schedule::registers_of_group(groups, resident, of_copies);
                CHECK_LE(resident * kThreads * (groups * of_group + of_copies), kRegisters);
                CHECK_EQ(of_group % 8, 0);
            }
}

TEST_CASE(
    "sm_90a: blocks of one warp group share a multiprocessor where there are tiles for them") {
    const auto residents = [&](std::int64_t rows, std::int64_t group, const std::string& more) {
        const TensorWorkload workload{
            "product",
            fmt::format("diagram mm {{ axis m = {}, n = 4096, k = 128\n input A[m, k], B[k, n] : "
                        "bf16\n output C[m, n] : bf16 = sum(k) A[m, k] * B[k, n] }}",
                        rows),
            {},
            fmt::format("group m by {}\ngroup n by 64\nstream k by 32{}", group, more)};
        const Result<EmittedProgram> program = emitted(workload, "sm_90a");
        REQUIRE(program.has_value());
        return program->kernels.front().choices.resident.value_or(1);
    };
    CHECK_EQ(residents(512, 64, ""), 3);    // 512 tiles
    CHECK_EQ(residents(320, 64, ""), 2);    // 320
    CHECK_EQ(residents(128, 64, ""), 1);    // 128
    CHECK_EQ(residents(2048, 128, ""), 1);  // two groups
    CHECK_EQ(residents(512, 64, "\nschedule resident = 1"), 1);
}

TEST_CASE("sm_90a: blocks that share a multiprocessor are right, and say how many they are") {
    std::vector<EmittedKernel> kernels;
    std::vector<std::pair<State, EmittedProgram>> all;
    for (const std::int64_t rows : {64, 128})
        for (const char* more : {"", "\nschedule persistent = true", "\nschedule stale = true"}) {
            const TensorWorkload workload =
                masked(rows, 64, fmt::format("schedule resident = 2{}", more));
            INFO(workload.name);
            Result<EmittedProgram> program = emitted(workload, "sm_90a");
            REQUIRE(program);
            const std::string& source = program->kernels.front().source;
            CHECK(has(source, "__launch_bounds__(kThreads + 128, 2)"));
            CHECK(has(source, "give_up_registers<24>"));
            CHECK(has(source, rows == 64 ? "take_registers<232>" : "take_registers<104>"));
            CHECK_LE(program->kernels.front().shared_bytes, (232448 + 1024) / 2 - 1024);
            kernels.push_back(program->kernels.front());
            all.emplace_back(test::state_of(workload), std::move(program).value());
        }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const auto& [state, program] : all) CHECK_EQ(test::wrong_with(state, program, 1), "");
}

TEST_CASE("sm_90a: registers that another block of the multiprocessor has are found missing") {
    const TensorWorkload workload = masked(64, 64, "schedule resident = 2");
    const State state = test::state_of(workload);
    Result<EmittedProgram> program = emitted(workload, "sm_90a");
    REQUIRE(program);
    std::string& source = program->kernels.front().source;
    const std::string took = "take_registers<232>";
    const std::size_t at = source.find(took);
    REQUIRE_NE(at, std::string::npos);
    source.replace(at, took.size(), "take_registers<240>");
    CHECK(has(test::wrong_with(state, *program, 1), "registers"));
}

TEST_CASE(
    "sm_90a: the assembler gives blocks that share a multiprocessor their part, and spills "
    "nothing") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    struct Case {
        TensorWorkload workload;
        std::int64_t begun;  ///< registers that a thread is launched with
    };
    // The widest products that fit, but for the first two.
    for (const auto& [workload, begun] :
         {Case{masked(64, 64, shared_by(2)), 128}, Case{masked(64, 128, shared_by(2)), 128},
          Case{masked(64, 64, shared_by(2), 128), 128}, Case{masked(64, 192, shared_by(2)), 128},
          Case{masked(64, 96, shared_by(3), 32), 80}, Case{product(64, 192, shared_by(2)), 128},
          Case{product(64, 64, shared_by(4)), 64}, Case{product(192, 192, shared_by(1)), 128}}) {
        INFO(workload.name);
        const Result<EmittedProgram> program = emitted(workload, "sm_90a");
        REQUIRE(program);
        REQUIRE_EQ(program->kernels.front().target, "sm_90a");
        CompileOptions how;
        how.architecture = "sm_90";
        const Result<CompiledKernel> compiled = compile(program->kernels.front(), how);
        REQUIRE(compiled);
        CHECK_LE(compiled->registers.value_or(1000), begun);
        CHECK_EQ(compiled->spill_stores.value_or(1000), 0);
    }
}

TEST_CASE("sm_90a: a product that the assembler finds too wide for a block's launch is refused") {
    struct Case {
        TensorWorkload workload;
        const char* reason;
    };
    // The narrowest of their kind; what is a little narrower compiles.
    for (const auto& [workload, reason] :
         {Case{masked(64, 208, shared_by(2)),
               "a product of 208 columns takes 134 registers of a thread, and the 512 threads of 2 "
               "blocks begin with 128 each, enough for 192 columns"},
          Case{masked(64, 256, shared_by(2)), "a product of 256 columns takes 158 registers"},
          Case{masked(64, 64, shared_by(3), 128),
               "a product of 128 columns takes 90 registers of a thread, and the 768 threads of 3 "
               "blocks begin with 80 each, enough for 96 columns"},
          Case{masked(64, 96, shared_by(4), 32), "a product of 96 columns takes 78 registers"},
          Case{product(64, 208, shared_by(2)), "a product of 208 columns takes 130 registers"},
          Case{product(128, 128, shared_by(2)), "a product of 128 columns takes 90 registers"},
          Case{product(128, 256, shared_by(2)),
               "256 columns take 128 registers of a thread beside 40 others, and it has 104"}}) {
        INFO(workload.name);
        const Result<EmittedProgram> program = emitted(workload, "sm_90a");
        CHECK_FALSE(program);
        if (program) continue;
        const Diagnostic& refusal = program.error().list.front();
        INFO(refusal.message);
        CHECK(has(refusal.message, "cannot have this `resident`: " + std::string(reason)));
        CHECK(has(refusal.help, "leave it out"));
    }
    // Where a block has a multiprocessor for itself, tensor cores take it in another way.
    for (const auto& [workload, reason] :
         {Case{product(192, 208, ""),
               "a product of 208 columns takes 130 registers of a thread, and the 512 threads of a "
               "block begin with 128 each, enough for 192 columns"},
          Case{product(256, 144, ""), "the 640 threads of a block begin with 96 each"}}) {
        INFO(workload.name);
        const Result<EmittedProgram> program = emitted(workload, "sm_90a");
        REQUIRE(program);
        CHECK_EQ(program->kernels.front().target, "sm_80");
        CHECK(has(program->kernels.front().not_newer.front(), reason));
    }
}

TEST_CASE("sm_90a: more blocks than a multiprocessor runs are refused, with what it lacks") {
    struct Case {
        std::int64_t rows, head, resident;
        const char* target;
        const char* reason;
    };
    for (const auto& [rows, head, resident, target, reason] :
         {Case{64, 64, 0, "sm_90a", "from 1 to"},
          Case{64, 64, 9, "sm_90a", "a multiprocessor runs 2048 threads at once"},
          Case{128, 256, 2, "sm_90a", "registers of a thread"},
          Case{64, 256, 3, "sm_90a", "registers of a thread"},
          Case{64, 64, 2, "sm_80", "resident"}}) {
        const TensorWorkload workload =
            masked(rows, head, fmt::format("schedule resident = {}", resident));
        INFO(workload.name);
        const Result<EmittedProgram> program = emitted(workload, target);
        CHECK_FALSE(program);
        if (program) continue;
        INFO(program.error().list.front().message);
        CHECK(has(program.error().list.front().message, reason));
    }
}

}  // namespace napkin
