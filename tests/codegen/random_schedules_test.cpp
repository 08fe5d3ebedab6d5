// Schedules of diagrams that are known, derived at random: whatever a target takes, its program
// passes the independent checks, which throw where it does not.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "codegen/emit.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

/// Products opened and regions parted here and there, most of it fused again, and of each region
/// some axes in groups and chunks such as warps and warp groups take.
State derived(const Diagram& diagram, std::mt19937_64& random, std::string& steps) {
    State state = initial_state(diagram);
    const auto one_of = [&](const auto& all) -> const auto& {
        return all[random() % std::size(all)];
    };
    const auto try_text = [&](const std::string& text) {
        for (const Command& command : test::commands(text)) {
            Outcome next = apply(state, command);
            if (State* made = std::get_if<State>(&next)) {
                state = std::move(*made);
                steps += text + "\n";
            }
        }
    };
    constexpr const char* kOpening[] = {"distribute ", "unfuse ", "recompute "};
    constexpr std::int64_t kSizes[] = {16, 32, 64, 128, 256};
    for (auto left = random() % 4; left > 0; --left) {
        const std::string array =
            state.diagram[one_of(state.diagram.statements).targets.front()].name;
        try_text(one_of(kOpening) + array);
    }
    if (random() % 4 != 0) try_text("fuse all");
    for (const Region& region : std::vector<Region>(state.relabelling.regions)) {
        const std::string in = " in " + region_name(state.diagram, region);
        for (auto left = 1 + random() % 3; left > 0; --left)
            try_text((random() % 2 == 0 ? "group " : "stream ") + one_of(state.diagram.axes).name +
                     " by " + std::to_string(one_of(kSizes)) + in);
    }
    return state;
}

/// The diagram with axes of at most 256, so that blocks may hold some of them whole.
Diagram short_axes(const std::string& text) {
    constexpr std::int64_t kMost = 256;
    Sizes sizes;
    for (const Axis& axis : test::load(text).axes)
        if (axis.extent > kMost) sizes[axis.name] = kMost;
    return test::load(text, sizes);
}

TEST_CASE("schedules of random derivations pass the checks of their targets") {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    int taken = 0;
    for (const char* name : {"layernorm_linear", "rmsnorm_linear", "swiglu", "attention",
                             "matmul_epilogue", "cross_entropy", "fp8_matmul"}) {
        const Diagram diagram =
            short_axes(test::read_text(examples / (name + std::string(".ncd"))));
        constexpr std::uint64_t kDerivations = 80;
        for (std::uint64_t seed = 0; seed < kDerivations; ++seed) {
            std::mt19937_64 random(seed);
            std::string steps;
            const State state = derived(diagram, random, steps);
            const Result<TileProgram> program = expand(state);
            if (!program) continue;
            INFO(std::string(name), ", seed ", seed, ":\n", steps);
            for (const char* target : {"sm_80", "sm_90a"}) {
                EmitOptions options;
                options.target = target;
                bool made = false;
                CHECK_NOTHROW(made = emit(state, *program, options).has_value());
                taken += made ? 1 : 0;
            }
        }
    }
    CHECK(taken > 40);
}

TEST_CASE("what random schedules taught is right in the emulator") {
    const std::string diagram =
        test::read_text(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "layernorm_linear.ncd");
    for (const char* steps :
         {// W is read by a product and, behind it, by a sum that is done before the product is.
          "distribute Y\nunfuse Y\nfuse all\ngroup n by 32\nstream c by 128",
          // Sums along an axis that groups share, of which the results are along another one.
          "fuse all\ngroup n by 64\nstream d by 128"}) {
        const State state =
            test::derive(test::load(diagram, {{"n", 70}, {"d", 128}, {"c", 128}}), steps);
        EmitOptions options;
        options.target = "sm_90a";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program);
        CHECK_EQ(test::wrong_with(state, *program, 1), "");
    }
}

}  // namespace
}  // namespace napkin
