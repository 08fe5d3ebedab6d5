// Arrays that a product reads twice, along different axes, and computed arrays that are read at
// another index than they are computed at: one tile in shared memory serves both.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

std::vector<test::TensorWorkload> workloads() {
    std::vector<test::TensorWorkload> list;
    for (const int size : {64, 96})
        list.push_back({fmt::format("a square of {}", size),
                        fmt::format("diagram square {{ axis m = {}, k = m, p = m\n input A[m, k] : "
                                    "bf16\n output C[m, p] : bf16 = sum(k) A[m, k] * A[k, p] }}",
                                    size),
                        {},
                        ""});
    list.push_back({"attention of an array to itself",
                    "diagram own { axis i = 64, j = i, d = 64, e = d\n input X[i, d] : bf16\n"
                    " S[i, j] = sum(d) X[i, d] * X[j, d] * 0.1\n P[i, j] = softmax[j](S[i, j])\n"
                    " output O[i, e] : bf16 = sum(j) P[i, j] * X[j, e] }",
                    {},
                    "fuse all"});
    for (const auto& [rows, depth] : {std::pair(64, 64), {77, 40}})
        list.push_back({fmt::format("{} rows times themselves", rows),
                        fmt::format("diagram gram {{ axis i = {}, j = i, d = {}\n input X[i, d] : "
                                    "bf16\n input s[j] : f32\n output D[i, j] : f32 = (sum(d) X[i, "
                                    "d] * X[j, d]) + s[j] }}",
                                    rows, depth),
                        {},
                        "fuse all"});
    for (const char* derivation : {"fuse all\ngroup j by 32", "fuse all\nstream j by 64"})
        list.push_back({"a norm of rows that columns read",
                        "diagram cosine { axis i = 77, j = i, d = 40\n input X[i, d] : bf16\n"
                        " s[i] = rsqrt((sum(d) X[i, d] ^ 2) + 0.001)\n output C[i, j] : bf16 ="
                        " (sum(d) X[i, d] * X[j, d]) * s[i] * s[j] }",
                        {},
                        derivation});
    for (const char* pair : {"max(B[s] - B[t], 0)", "B[s] * B[t]", "exp(-(B[s] + B[t]))"})
        for (const char* derivation : {"", "group t by 4", "stream s by 4"})
            list.push_back({"a vector beside itself",
                            fmt::format("diagram pairs {{ axis t = 21, s = t\n input B[t] : f32\n"
                                        " output X[t] : f32 = sum(s) {} }}",
                                        pair),
                            {},
                            derivation});
    return list;
}

}  // namespace

TEST_CASE("one tile is read along the axes of each of its readers") {
    std::vector<test::Emission> made;
    for (const test::TensorWorkload& workload : workloads()) {
        const State state = test::state_of(workload);
        for (const char* target : {"sm_80", "sm_90a"}) {
            EmitOptions options;
            options.target = target;
            const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            if (!program) continue;  // a region of another thread's values
            made.push_back({fmt::format("{} {} {}", workload.name, workload.derivation, target),
                            state, *program});
        }
    }
    CHECK_EQ(test::compile_together(made), "");
    for (const test::Emission& each : made) {
        INFO(each.name);
        CHECK_EQ(test::wrong_with(each.state, each.program, 1), "");
    }
}

}  // namespace napkin
