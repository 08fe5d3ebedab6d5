// A NaN in the data is in every result that depends on it, and in no other: maxima, minima and
// rankings do not lose it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

struct Poisoned {
    test::TensorWorkload workload;
    std::vector<std::string> targets;
    std::vector<const char*> pieces = {};  ///< of the kernels' text: what the case is there for
};

std::vector<Poisoned> poisoned() {
    const std::string product = "group m by 64\ngroup n by 64\nstream k by 32";
    const auto of_product = [](const char* left, const char* result) {
        return fmt::format(
            "diagram product {{ axis m = 70, k = 96, n = 72\n input X[m, k], W[n, k], B[k] : bf16\n"
            " Z[m, n] = sum(k) {} * W[n, k]\n output Y[m, n] : bf16 = {} }}",
            left, result);
    };
    const std::vector<std::string> tensor = {"sm_80", "sm_90a"};
    std::vector<Poisoned> list;
    list.push_back({{"relu of a product",
                     of_product("X[m, k]", "max(Z[m, n], 0)"),
                     {},
                     "fuse all\n" + product},
                    tensor,
                    {"maximum("}});
    list.push_back({{"a product of what is clamped",
                     of_product("relu(X[m, k] + B[k])", "Z[m, n]"),
                     {},
                     "fuse all\n" + product},
                    {"sm_90a"},
                    {"maximum_pair"}});
    const auto of_rows = [](const char* result) {
        return fmt::format(
            "diagram rows {{ axis n = 70, d = 128\n input X[n, d] : bf16\n output {} }}", result);
    };
    for (const char* monoid : {"max", "min"})
        list.push_back({{fmt::format("{} of rows", monoid),
                         of_rows(fmt::format("Y[n] : f32 = {}(d) X[n, d]", monoid).c_str()),
                         {},
                         "group n by 8"},
                        {"simt", "sm_80"},
                        {"row_m"}});
    list.push_back(
        {{"softmax of rows", of_rows("P[n, d] : bf16 = softmax[d](X[n, d])"), {}, "group n by 8"},
         {"simt", "sm_80"}});
    list.push_back(
        {{"a running maximum", of_rows("Y[n, d] : f32 = scan[d] max X[n, d]"), {}, "group n by 8"},
         {"simt", "sm_80"},
         {"scan_row"}});
    for (const char* ranking : {"argmax", "argmin"})
        list.push_back({{ranking,
                         of_rows(fmt::format("Y[n] : i32 = {}(d) X[n, d]", ranking).c_str()),
                         {},
                         "group n by 8\nstream d by 32"},
                        {"simt", "sm_80"},
                        {"row_first"}});
    for (const char* steps : {"group n by 8\nstream d by 32", "split-stream d by 32\nfuse all"})
        list.push_back({{fmt::format("the largest three, {}", steps),
                         "diagram rows { axis n = 70, d = 128, k = 3\n input X[n, d] : bf16\n"
                         " output V[n, k], I[n, k] = topk[d](X[n, d]) }",
                         {},
                         steps},
                        {"simt"}});
    for (const char* schedule : {"", "\nschedule stale = true in O"})
        list.push_back(
            {{fmt::format("attention{}", schedule),
              "diagram attention { axis q = 70, x = 192, d = 64\n input Q[q, d], K[x, d], V[x, d] "
              ": bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d] * 0.1\n P[q, x] = softmax[x](S[q, x])\n"
              " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }",
              {},
              fmt::format("fuse all\ngroup q by 64\nstream x by 64{}", schedule)},
             *schedule == '\0' ? tensor : std::vector<std::string>{"sm_90a"}});
    return list;
}

}  // namespace

TEST_CASE("a NaN reaches what depends on it, and nothing else") {
    struct Emitted {
        std::string name;
        State state;
        EmittedProgram program;
    };
    std::vector<EmittedKernel> kernels;
    std::vector<Emitted> all;
    for (const Poisoned& each : poisoned())
        for (const std::string& target : each.targets) {
            const std::string name = each.workload.name + ", " + target;
            INFO(name);
            State state = test::state_of(each.workload);
            EmitOptions options;
            options.target = target;
            Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            REQUIRE(program);
            for (const EmittedKernel& kernel : program->kernels) {
                if (target != "simt")
                    for (const char* piece : each.pieces)
                        CHECK_NE(kernel.source.find(piece), std::string::npos);
                kernels.push_back(kernel);
            }
            all.push_back({name, std::move(state), std::move(program).value()});
        }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Emitted& each : all)
        for (std::uint64_t seed = 1; seed < 7; ++seed) {
            INFO(each.name << ", seed " << seed);
            CHECK_EQ(test::wrong_with_nan(each.state, each.program, seed), "");
        }
}

TEST_CASE("rows that are no numbers have their first element ranked first") {
    for (const char* steps : {"group n by 1", "group n by 1\nstream d by 8"}) {
        INFO(steps);
        const State state = test::state_of(
            {"ranking",
             "diagram ranking { axis n = 3, d = 40\n input X[n, d] : f32\n output Y[n] : i32 = "
             "argmax(d) X[n, d] }",
             {},
             steps});
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), {.target = "simt"});
        REQUIRE(program);
        CHECK_EQ(test::wrong_with(state, *program, 1,
                                  [](Tensors& inputs) {
                                      std::vector<double>& values = inputs.begin()->second.values;
                                      std::fill(values.begin(), values.begin() + 80, NAN);
                                  }),
                 "");
    }
}

}  // namespace napkin
