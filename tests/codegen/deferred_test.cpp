// Results that a block saves while it computes its next tile (schedule/defer_saves.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

using test::TensorWorkload;

TensorWorkload product(const Sizes& sizes, std::int64_t rows, std::int64_t columns,
                       const std::string& choices, const std::string& value = "Z[a, c]",
                       const std::string& type = "bf16") {
    return {fmt::format("{} x {}, {}, {}", rows, columns, value, choices),
            fmt::format("diagram product {{ axis a = 130, b = 200, c = 264\n"
                        " input X[a, b], W[c, b], V[c, b], B[c] : bf16\n"
                        " Z[a, c] = sum(b) X[a, b] * W[c, b]\n output Y[a, c] : {0} = {1} }}",
                        type, value),
            sizes,
            fmt::format("fuse all\ngroup a by {}\ngroup c by {}\nstream b by 64\n"
                        "schedule persistent = true\n{}",
                        rows, columns, choices)};
}

Result<EmittedProgram> emitted(const TensorWorkload& workload) {
    EmitOptions options;
    options.target = "sm_90a";
    const State state = test::state_of(workload);
    return emit(state, test::program_of(state), options);
}

bool holds(const EmittedKernel& kernel) {
    return kernel.source.find("save_held<") != std::string::npos;
}

}  // namespace

TEST_CASE("sm_90a: results of a tile are saved under the products of the next") {
    constexpr const char* kDeferred = "schedule deferred = true";
    std::vector<TensorWorkload> workloads;
    // As many turns as slices, fewer, one and ragged ones.
    for (const std::int64_t depth : {40, 64, 72, 128, 200, 320})
        for (const auto& [rows, columns] : {std::pair(64, 96), {128, 64}, {128, 256}, {64, 240}})
            workloads.push_back(product({{"b", depth}}, rows, columns, kDeferred));
    workloads.push_back(product({{"b", 65}}, 64, 96, kDeferred));
    workloads.push_back(product({{"a", 70}, {"c", 72}}, 64, 64, kDeferred));
    workloads.push_back(product({}, 64, 64, "schedule resident = 2\nschedule deferred = true"));
    workloads.push_back(product({}, 64, 128, kDeferred, "max(Z[a, c] + B[c], 0)", "f16"));
    workloads.push_back(
        product({}, 64, 128, kDeferred, "Z[a, c] * sigmoid(sum(b) X[a, b] * V[c, b])"));
    std::vector<test::Emission> made;
    for (const TensorWorkload& workload : workloads) {
        const std::string name = workload.name + " " + workload.derivation;
        INFO(name);
        const Result<EmittedProgram> program = emitted(workload);
        REQUIRE(program.has_value());
        CHECK(holds(program->kernels.front()));
        CHECK(program->kernels.front().choices.deferred.at("Y"));
        made.push_back({name, test::state_of(workload), *program});
    }
    CHECK_EQ(test::compile_together(made), "");
    for (const test::Emission& each : made) {
        INFO(each.name);
        for (const std::uint64_t order : {1, 2, 3})
            CHECK_EQ(test::wrong_with(each.state, each.program, {1, order}), "");
    }
}

TEST_CASE("sm_90a: saves are deferred where they are a share of a tile's time") {
    struct Choice {
        std::int64_t depth = 0;
        std::int64_t columns = 0;
        bool deferred = false;
    };
    for (const Choice& choice : {Choice{512, 256, true},
                                 {4096, 256, true},
                                 {8192, 256, false},
                                 {4096, 128, true},
                                 {64, 256, false}}) {
        CAPTURE(choice.depth);
        CAPTURE(choice.columns);
        const Result<EmittedProgram> program = emitted(
            product({{"a", 4096}, {"b", choice.depth}, {"c", 4096}}, 128, choice.columns, ""));
        REQUIRE(program.has_value());
        CHECK_EQ(holds(program->kernels.front()), choice.deferred);
    }
}

TEST_CASE("sm_90a: why a save is not deferred") {
    const auto why = [](const TensorWorkload& workload) {
        const Result<EmittedProgram> program = emitted(workload);
        REQUIRE_FALSE(program.has_value());
        return program.error().list.front().message;
    };
    constexpr const char* kOfY = "schedule deferred of Y = true";
    INFO("registers");
    CHECK_NE(why(product({}, 128, 192, kOfY, "Z[a, c] * sigmoid(sum(b) X[a, b] * V[c, b])"))
                 .find("registers"),
             std::string::npos);
    INFO("numbers of four bytes");
    CHECK_NE(why(product({}, 64, 64, kOfY, "Z[a, c]", "f32")).find("nothing of which"),
             std::string::npos);
}

}  // namespace napkin
