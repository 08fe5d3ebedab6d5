// Schedules of diagrams that are known, derived at random: whatever a target takes, its program
// passes the independent checks, which throw where it does not.
#include <doctest/doctest.h>

#include <algorithm>
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
    constexpr std::int64_t kSizes[] = {2, 4, 16, 32, 64, 128, 256};
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

/// Weights of 4 bits with their scales: operands that are published from several rings.
constexpr std::pair<std::string_view, std::string_view> kScaled = {"scaled", R"(diagram scaled {
  axis m = 16, n = 256, g = 64, k = 128
  input X[m, g, k], scale[n, g] : bf16
  input W[n, g, k] : i4
  output Y[m, n] : bf16 = sum(g, k) X[m, g, k] * W[n, g, k] * scale[n, g]
})"};

/// The diagram with axes of at most 256, so that blocks may hold some of them whole.
Diagram short_axes(const std::string& text) {
    constexpr std::int64_t kMost = 256;
    Sizes sizes;
    for (const Axis& axis : test::load(text).axes)
        if (axis.extent > kMost) sizes[axis.name] = kMost;
    return test::load(text, sizes);
}

/// What was chosen of a region, with some of it chosen otherwise.
schedule::RegionSchedule changed(schedule::RegionSchedule choices, std::mt19937_64& random) {
    const auto vary = [&](auto& chosen, auto choose) {
        for (auto& [name, value] : chosen)
            if (random() % 2 == 0) value = choose();
    };
    vary(choices.stages, [&] { return static_cast<std::int64_t>(1 + random() % 3); });
    vary(choices.leads, [&] { return static_cast<std::int64_t>(random() % 2); });
    vary(choices.fetched, [&] { return random() % 2 == 0; });
    vary(choices.deferred, [&] { return random() % 2 == 0; });
    if (choices.persistent && random() % 2 == 0) choices.persistent = random() % 2 == 0;
    if (random() % 4 == 0) choices.turns = true;
    if (random() % 2 == 0) choices.stages.clear();
    // What follows from the rest may stand in its way.
    choices.staged.clear();
    if (!choices.persistent.value_or(false)) choices.deferred.clear();
    return choices;
}

std::string sources_of(const std::vector<EmittedKernel>& kernels) {
    std::string all;
    for (const EmittedKernel& kernel : kernels) all += kernel.source;
    return all;
}

TEST_CASE("schedules of random derivations pass the checks, and asked for again are the same") {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    int taken = 0;
    int chosen = 0;
    constexpr std::string_view kNames[] = {"layernorm_linear", "rmsnorm_linear",  "swiglu",
                                           "attention",        "matmul_epilogue", "cross_entropy",
                                           "fp8_matmul",       kScaled.first};
    for (const std::string_view name : kNames) {
        const Diagram diagram = short_axes(
            name == kScaled.first ? std::string(kScaled.second)
                                  : test::read_text(examples / (std::string(name) + ".ncd")));
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
                std::optional<EmittedProgram> made;
                const auto try_options = [&] {
                    if (Result<EmittedProgram> emitted = emit(state, *program, options))
                        made = std::move(emitted).value();
                };
                CHECK_NOTHROW(try_options());
                taken += made ? 1 : 0;
                if (!made) continue;
                const std::vector<EmittedKernel> kernels = std::move(made->kernels);
                for (const EmittedKernel& kernel : kernels)
                    options.schedules.push_back({kernel.region, {}, kernel.choices, {}});
                // What another target took has choices of that one.
                if (std::any_of(kernels.begin(), kernels.end(), [&](const EmittedKernel& kernel) {
                        return kernel.target != target;
                    }))
                    continue;
                made.reset();
                CHECK_NOTHROW(try_options());
                CHECK(made);
                if (made) CHECK_EQ(sources_of(made->kernels), sources_of(kernels));
                for (schedule::Request& request : options.schedules)
                    request.schedule = changed(request.schedule, random);
                made.reset();
                CHECK_NOTHROW(try_options());
                chosen += made ? 1 : 0;
            }
        }
    }
    CHECK(taken > 40);
    CHECK(chosen > 20);
}

TEST_CASE("random choices of what is known to fit pass the checks of warp groups") {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const auto from_examples = [&](const std::string& name) {
        return std::pair(test::read_text(examples / (name + ".ncd")),
                         test::read_text(examples / (name + ".drv")));
    };
    const std::pair<std::string, std::string> workloads[] = {
        {std::string(kScaled.second), "group n by 64\nstream g by 2"},
        from_examples("attention"),
        from_examples("matmul_epilogue"),
        from_examples("swiglu"),
    };
    int chosen = 0;
    for (const auto& [diagram, steps] : workloads) {
        const State state = test::derive(test::load(diagram), steps);
        const TileProgram program = test::program_of(state);
        EmitOptions options;
        options.target = "sm_90a";
        const Result<EmittedProgram> plain = emit(state, program, options);
        REQUIRE(plain);
        constexpr std::uint64_t kDraws = 200;
        for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
            std::mt19937_64 random(seed);
            options.schedules.clear();
            for (const EmittedKernel& kernel : plain->kernels)
                options.schedules.push_back(
                    {kernel.region, {}, changed(kernel.choices, random), {}});
            std::string choices;
            for (const std::string& line : print(options.schedules.front().schedule, "region"))
                choices += line + "\n";
            INFO(diagram, steps, "\n", choices);
            bool made = false;
            CHECK_NOTHROW(made = emit(state, program, options).has_value());
            chosen += made ? 1 : 0;
        }
    }
    CHECK(chosen > 40);
}

/// Two products, one behind the other, of an operand that is published for each.
constexpr const char* kGated = R"(diagram gated {
  axis n = 7, d = 65, f = 33
  input X[n, d] : bf16
  input a[d] : f32
  input G[f, d], U[f, d] : bf16
  R[n, d] = X[n, d] * a[d]
  output T[n, f] : f32 = silu(sum(d) R[n, d] * G[f, d]) * (sum(d) R[n, d] * U[f, d])
})";

TEST_CASE("an operand that takes the memory of another one waits for its product") {
    const State state = initial_state(test::load(kGated));
    EmitOptions options;
    options.target = "sm_90a";
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    REQUIRE(program);
    REQUIRE_EQ(program->target, "sm_90a");
    CHECK_EQ(test::wrong_with(state, *program, 1), "");
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
