// Reads past the end of an array that nothing depends on come in bulk, as zeros; others repeat the
// last element. Both agree with the reference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

struct PastEnd {
    test::TensorWorkload workload;
    std::vector<std::string> bulk;      ///< arrays that bulk copies bring
    std::vector<std::string> repeated;  ///< arrays whose last element threads repeat
};

/// Keys and values three places further along, under a condition.
PastEnd shifted(const std::string& name, const std::string& condition, const std::string& weighted,
                std::vector<std::string> bulk, std::vector<std::string> repeated) {
    return {{name,
             fmt::format(
                 "diagram shifted {{ axis q = 70, x = 192, d = 64\n input Q[q, d], K[x, d], V[x, "
                 "d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[min(x + 3, size(x) - 1), d] * 0.1\n"
                 " M[q, x] = if {} then S[q, x] else -inf\n P[q, x] = softmax[x](M[q, x])\n output "
                 "O[q, d] : bf16 = sum(x) {} * V[min(x + 3, size(x) - 1), d] }}",
                 condition, weighted),
             {},
             "fuse all\ngroup q by 64\nstream x by 64"},
            std::move(bulk),
            std::move(repeated)};
}

std::vector<PastEnd> cases() {
    std::vector<PastEnd> list;
    list.push_back(
        {{"a loss in parts that its words do not fill",
          "diagram loss { axis n = 70, v = 300, d = 64\n input H[n, d], W[v, d] : bf16\n"
          " input label[n] : i32\n Z[n, v] = sum(d) H[n, d] * W[v, d]\n T[n] = sum(v) if "
          "v == label[n] then Z[n, v] else 0\n output nll[n] : f32 = logsumexp[v](Z[n, "
          "v]) - T[n] }",
          {},
          "fuse all\nstream v by 64 in nll\nsplit-stream v by 128 in nll\n"
          "group n by 64 in nll_sum_part\nstream d by 32 in nll_sum_part"},
         {"H", "W"},
         {}});
    list.push_back({{"attention in parts that its keys do not fill",
                     "diagram attention { axis q = 70, x = 300, d = 64\n input Q[q, d], K[x, d], "
                     "V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d] * 0.1\n P[q, x] = "
                     "softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }",
                     {},
                     "fuse all\ngroup q by 64\nstream x by 64\nsplit-stream x by 128"},
                    {"K", "V"},
                    {}});
    list.push_back({{"scores that are saved, of parts that their sum does not fill",
                     "diagram product { axis m = 70, n = 64, k = 304\n input A[m, k], B[k, n] : "
                     "bf16\n output C[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
                     {},
                     "group m by 64\ngroup n by 64\nstream k by 64\nsplit-stream k by 128"},
                    {"A", "B"},
                    {}});
    // Zeros have no inverse, and an infinite number times a weight of zero is none.
    for (const char* inverse : {"1 / (V[x, d] * V[x, d])", "V[x, d] * V[x, d] ^ -3"})
        list.push_back({{inverse,
                         fmt::format("diagram inverse {{ axis q = 70, x = 300, d = 64\n input Q[q, "
                                     "d], K[x, d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * "
                                     "K[x, d] * 0.1\n P[q, x] = softmax[x](S[q, x])\n output O[q, "
                                     "d] : bf16 = sum(x) P[q, x] * V[x, d]\n output R[q, d] : "
                                     "bf16 = sum(x) P[q, x] * ({}) }}",
                                     inverse),
                         {},
                         "fuse all\ngroup q by 64\nstream x by 64\nsplit-stream x by 128"},
                        {"K"},
                        {"V"}});
    list.push_back(
        shifted("both under their condition", "x + 3 < size(x)", "P[q, x]", {"K", "V"}, {}));
    list.push_back(shifted("both under a narrower condition", "x + 3 < size(x) and x <= q",
                           "P[q, x]", {"K", "V"}, {}));
    list.push_back(
        shifted("under another condition", "x + 2 < size(x)", "P[q, x]", {}, {"K", "V"}));
    list.push_back(shifted("under none", "x >= 0", "P[q, x]", {}, {"K", "V"}));
    list.push_back(shifted("values beside other weights", "x + 3 < size(x)", "(P[q, x] + 0.001)",
                           {"K"}, {"V"}));
    return list;
}

}  // namespace

TEST_CASE("sm_90a: what is read past the end comes in bulk where nothing depends on it") {
    std::vector<EmittedKernel> kernels;
    std::vector<std::tuple<std::string, State, EmittedProgram>> all;
    for (const PastEnd& each : cases()) {
        INFO(each.workload.name);
        State state = test::state_of(each.workload);
        EmitOptions options;
        options.target = "sm_90a";
        Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_EQ(program->kernels.front().target, "sm_90a");
        const auto copies = [&](const char* call, const std::string& array) {
            return source.find(fmt::format("{}({}_tile", call, array)) != std::string::npos;
        };
        for (const std::string& array : each.bulk) {
            INFO(array);
            CHECK(copies("load_panels", array));
        }
        for (const std::string& array : each.repeated) {
            INFO(array);
            CHECK(copies("copy_repeating<8>", array));
            CHECK_NE(source.find(fmt::format("// load {0} by threads: `{0}` repeats", array)),
                     std::string::npos);
        }
        for (const EmittedKernel& kernel : program->kernels) kernels.push_back(kernel);
        all.emplace_back(each.workload.name, std::move(state), std::move(program).value());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const auto& [name, state, program] : all) {
        INFO(name);
        CHECK_EQ(test::wrong_with(state, program, 1), "");
    }
}

TEST_CASE("sm_90a: rows that are all there is of their axis fill panels of 64 bytes") {
    struct Row {
        std::int64_t columns;
        std::int64_t in_panels;
    };
    std::vector<std::tuple<std::int64_t, State, EmittedProgram>> all;
    for (const Row& row : {Row{16, 16}, Row{32, 32}, Row{48, 64}, Row{80, 96}, Row{112, 128}}) {
        INFO(row.columns);
        State state = test::state_of(
            {"attention",
             fmt::format("diagram attention {{ axis q = 70, x = 200, d = {}\n input Q[q, d], K[x, "
                         "d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d] * 0.1\n P[q, "
                         "x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * "
                         "V[x, d] }}",
                         row.columns),
             {},
             "fuse all\ngroup q by 64\nstream x by 64"});
        Result<EmittedProgram> program = emit(state, test::program_of(state), {.target = "sm_90a"});
        REQUIRE(program);
        const std::string& source = program->kernels.front().source;
        CHECK_NE(source.find(fmt::format("shared_panels<bf16, 64, {}>", row.in_panels)),
                 std::string::npos);
        all.emplace_back(row.columns, std::move(state), std::move(program).value());
    }
    for (const auto& [columns, state, program] : all) {
        INFO(columns);
        CHECK_EQ(test::wrong_with(state, program, 1), "");
    }
    // Of a part of an axis more would come, which nothing needs.
    const State state = test::state_of(
        {"product",
         "diagram product { axis m = 64, n = 64, k = 160\n input A[m, k], B[n, k] : bf16\n "
         "output C[m, n] : f32 = sum(k) A[m, k] * B[n, k] }",
         {},
         "group m by 64\ngroup n by 64\nstream k by 80"});
    const Result<EmittedProgram> program =
        emit(state, test::program_of(state), {.target = "sm_90a"});
    REQUIRE(program);
    CHECK_NE(program->kernels.front().source.find("shared_panels<bf16, 64, 80>"),
             std::string::npos);
}

TEST_CASE(
    "past the end: operands that a block computes are wider than their axes, and read to the end") {
    for (const int depth : {16, 48, 80, 96})
        for (const int keys : {40, 64}) {
            const std::string text = fmt::format(
                "diagram wide {{ axis q = 3, x = {}, d = {}, f = 32\n input Q[q, d], K[x, d], V[x, "
                "f] "
                ": bf16\n input s[d] : f32\n A[q, d] = Q[q, d] * 2\n R[x, d] = K[x, d] * s[d]\n "
                "S[q, x] = sum(d) A[q, d] * R[x, d]\n output O[q, f] : f32 = sum(x) S[q, x] * V[x, "
                "f] }}",
                keys, depth);
            INFO(text);
            const State state = test::derive(test::load(text), "fuse all\ngroup q by 1");
            EmitOptions how;
            how.target = "sm_80";
            const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
            REQUIRE(program);
            CHECK_EQ(test::wrong_with(state, *program, 1), "");
        }
}

}  // namespace napkin
