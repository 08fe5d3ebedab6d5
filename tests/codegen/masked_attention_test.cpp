// The derivations under bench/masks/, which bench/masks.py times: right in the emulator at small
// sizes that reach every kind of border, and nothing spilled at the sizes that are measured.
#include <doctest/doctest.h>

#include <filesystem>

#include "codegen/emit.h"
#include "codegen/run/compile.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

struct Measured {
    std::string name;
    std::vector<Sizes> small;
    std::vector<Sizes> real;
};

std::vector<Measured> all_measured() {
    return {
        {"neighbourhood_1d",
         {{{"q", 500}, {"w", 130}, {"s", 1}, {"d", 16}, {"h", 1}},
          {{"q", 384}, {"w", 128}, {"s", 32}, {"d", 16}, {"h", 1}}},
         {{{"s", 1}}, {{"s", 256}}, {{"s", 2048}}}},
        {"neighbourhood_2d",
         {{{"i", 20}, {"j", 23}, {"w", 7}, {"s", 1}, {"d", 16}, {"h", 1}},
          {{"i", 32}, {"j", 32}, {"w", 16}, {"s", 16}, {"d", 16}, {"h", 1}}},
         {{{"s", 1}}, {{"s", 16}}}},
        {"neighbourhood_3d",
         {{{"t", 6}, {"i", 9}, {"j", 13}, {"wt", 4}, {"w", 6}, {"d", 16}, {"h", 1}}},
         {{}}},
        {"strided_heads", {{{"q", 1300}, {"d", 16}, {"h", 2}}}, {{}, {{"q", 65536}, {"h", 8}}}},
    };
}

State state_of(const std::string& name, const std::string& target, const Sizes& sizes) {
    const std::filesystem::path folder = std::filesystem::path(NAPKIN_BENCHMARKS_DIR) / "../masks";
    return test::derive(test::load(test::read_text(folder / (name + ".ncd")), sizes),
                        test::read_text(folder / target / (name + ".drv")));
}

EmittedProgram emitted(const State& state, const std::string& target) {
    EmitOptions how;
    how.target = target;
    Result<EmittedProgram> program = emit(state, test::program_of(state), how);
    REQUIRE(program);
    CHECK_EQ(program->kernels.front().target, target);
    return std::move(program).value();
}

}  // namespace

TEST_CASE("attention under masks is right in the emulator, as it is measured") {
    for (const Measured& measured : all_measured())
        for (const std::string target : {"sm_90a", "sm_80"})
            for (const Sizes& sizes : measured.small) {
                const State state = state_of(measured.name, target, sizes);
                INFO(measured.name, " for ", target);
                CHECK_EQ(test::wrong_with(state, emitted(state, target), 1), "");
            }
}

TEST_CASE("attention under masks spills nothing at the sizes that are measured") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    for (const Measured& measured : all_measured())
        for (const std::string target : {"sm_90a", "sm_80"})
            for (const Sizes& sizes : measured.real) {
                const State state = state_of(measured.name, target, sizes);
                INFO(measured.name, " for ", target);
                CompileOptions how;
                how.architecture = "sm_90";
                const Result<CompiledKernel> compiled =
                    compile(emitted(state, target).kernels.front(), how);
                REQUIRE(compiled);
                CHECK_EQ(compiled->spill_stores.value_or(-1), 0);
                CHECK_EQ(compiled->log.find("C75"), std::string::npos);
            }
}

}  // namespace napkin
