// Target sm_90a: what is printed for warp groups, what they leave to an older target and why, and
// what the assembler says of the kernels that are measured.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "codegen/run/compile.h"
#include "tests/codegen/sm90_states.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

using test::group_attention;
using test::group_options;
using test::group_product;
using test::group_prologue;
using test::group_workloads;
using test::TensorWorkload;
using test::with_tiles;

}  // namespace

TEST_CASE("sm_90a: what warp groups do not take is made for sm_80, and the header says why") {
    const TensorWorkload workload =
        group_product("m, k", "k, n", "bf16", "group m by 16\ngroup n by 16\nstream k by 32");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> program = emit(state, test::program_of(state), group_options());
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
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
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
    const Result<EmittedProgram> program = emit(state, test::program_of(state), group_options());
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
        TensorWorkload workload = group_attention("bias", fmt::format("S[q, x] + {}", each.bias),
                                                  " input B[x], E[q] : f32", {{"x", each.keys}},
                                                  "fuse all\ngroup q by 64\nstream x by 64");
        workload.diagram.replace(workload.diagram.find("weave h = 2"), 11,
                                 "weave h = 2 over Q, K, V, B, E");
        const Result<EmittedProgram> program = emit(
            test::state_of(workload), test::program_of(test::state_of(workload)), group_options());
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
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
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
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(source.find("read_nibbles(") != std::string::npos, pairs);
        CHECK_EQ(source.find("nibble_of("), std::string::npos);
        // Those of the next chunk are read while the product of this one is on its way.
        const std::size_t multiplied = source.find("start_multiply<");
        CHECK_EQ(source.find("read_nibbles(", multiplied) <
                     source.find("finish_multiply<0>(C_", multiplied),
                 pairs);
    }
}

TEST_CASE("sm_90a: a left operand that no chunk changes is rounded once") {
    for (const auto& [axis, once] : {std::pair("d", true), {"x", false}}) {
        INFO(axis);
        const State state = test::state_of(
            {"",
             fmt::format(
                 "diagram scores {{ axis q = 64, x = 256, d = 64\n input Q[q, d], K[x, d], "
                 "V[x, d], g[{0}] : bf16\n S[q, x] = sum(d) exp(Q[q, d] * g[{0}]) * K[x, d]\n"
                 " output O[q, d] : bf16 = sum(x) relu(S[q, x]) * V[x, d] }}",
                 axis),
             {},
             "fuse all\nstream x by 64"});
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        const std::size_t rounded = source.find("as_left<bf16>(left");
        REQUIRE_NE(rounded, std::string::npos);
        CHECK_EQ(rounded < source.find("const auto turn_x"), once);
    }
}

TEST_CASE(
    "sm_80: halves of a row that a condition chooses are one vector, where it is of whole ones") {
    // Its own, and the one of the other half.
    for (const auto& [half, vectors] : {std::pair(16, 2), {12, 0}}) {
        INFO(half);
        const State state = test::state_of(
            {"",
             fmt::format(
                 "diagram rotary {{ axis t = 4, h = 2, d = 32\n input X[t, h, d] : bf16\n"
                 "output Y[t, h, d] : bf16 = if d < {0} then X[t, h, d] - X[t, h, d + {0}]\n"
                 "else X[t, h, d] + X[t, h, d - {0}] }}",
                 half),
             {},
             "group t by 2"});
        EmitOptions options;
        options.target = "sm_80";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        int found = 0;
        for (std::size_t at = source.find("values_at<8, 8>(X,"); at != std::string::npos;
             at = source.find("values_at<8, 8>(X,", at + 1))
            ++found;
        CHECK_EQ(found, vectors);
    }
}

TEST_CASE("sm_90a: what a condition chooses between is read before it") {
    const State state = test::state_of(
        {"",
         "diagram mm { axis m = 64, n = 64, k = 64\n input A[m, k], B[n, k] : bf16\n input M[m, k] "
         ": i8\n output C[m, n] : bf16 = sum(k) (if M[m, k] > 0 then A[m, k] else 0) * B[n, k] }",
         {},
         "group n by 64\nstream k by 32"});
    const Result<EmittedProgram> program = emit(state, test::program_of(state), group_options());
    REQUIRE(program);
    const std::string& source = program->kernels.front().source;
    const std::size_t read = source.find("= element_of(A_tile(");
    REQUIRE_NE(read, std::string::npos);
    CHECK_EQ(source.rfind("const float t", read), source.rfind("const ", read));
    CHECK_EQ(source.find("? element_of("), std::string::npos);
}

TEST_CASE("sm_90a: the other half of a row is read in vectors, the other of a pair is not") {
    for (const auto& [partner, vectors] :
         {std::pair("(d + 32) % 64", true), {"63 - d", false}, {"(d + 4) % 64", false}}) {
        INFO(partner);
        TensorWorkload workload = group_attention(
            "turned", "S[q, x]",
            fmt::format(" input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d] + K[x, {}]\n",
                        partner),
            {}, "fuse all\ngroup q by 64\nstream x by 32");
        workload.diagram.replace(workload.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
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
    for (const TensorWorkload& workload : group_workloads()) {
        const bool expert = workload.name == "the expert that an index names";
        if (!expert && workload.name != "attention, 1 pages at a time that an index names")
            continue;
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
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
          {"attention", "attention_d80", {{"d", 80}}, 20},
          {"attention", "attention_d96", {{"d", 96}}},
          {"attention", "attention_d192", {{"d", 192}}},
          {"attention", "attention_d256", {{"d", 256}}},
          // Where every block takes one tile, which it does not there.
          {"attention", "attention_d64", {{"d", 64}, {"q", 8192}, {"x", 8192}}, 16},
          {"attention", "attention_d64_to_1024", {{"d", 64}}},
          {"attention", "attention_d64_to_4096", {{"d", 64}}},
          {"attention_causal", "attention_causal"},
          {"attention_causal", "attention_causal_d64", {{"d", 64}}},
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
            emit(state, test::program_of(state), group_options())};
        if (text.find("persistent") == std::string::npos)
            programs = {with_tiles(state, false), with_tiles(state, true)};
        for (const Result<EmittedProgram>& program : programs) {
            // One tile after another, the agent that copies marks each one's chunks too.
            const bool marks =
                derivation == std::string("attention_documents") && &program == &programs.back();
            const std::int64_t most = marks ? 24 : spilled;
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
                CHECK_LE(compiled->spill_stores.value_or(1000), most);
                CHECK_EQ(compiled->log.find("C75"), std::string::npos);
            }
        }
    }
}

}  // namespace napkin
