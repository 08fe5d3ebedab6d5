// Kernels of integers (tests/support/random_integers.h) are exact in the emulator, of inputs of
// which an f32 has not all; a target that does not take them says so.
#include <doctest/doctest.h>

#include <optional>
#include <random>

#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_integers.h"

namespace napkin {
namespace {

struct IntegerTrial {
    std::uint64_t seed = 0;
    std::string text;  ///< diagram and derivation
    State state;
    std::optional<EmittedProgram> program;
};

IntegerTrial draw_integers(std::uint32_t seed, const char* target) {
    std::mt19937_64 random(seed);
    IntegerTrial trial;
    trial.seed = seed;
    trial.text = test::random_integers(seed);
    trial.state = test::random_derivation(test::load(trial.text), random, 8);
    trial.text += test::steps_text(trial.state);
    EmitOptions how;
    how.target = target;
    Result<EmittedProgram> program = emit(trial.state, test::program_of(trial.state), how);
    if (program) {
        trial.program = std::move(program).value();
        test::rename_kernels(*trial.program, seed);
    }
    return trial;
}

}  // namespace

// NAPKIN_TRIALS lengthens the search for counterexamples, NAPKIN_SEED says where it starts.
TEST_CASE("kernels of integers, at random, are exact on every target that takes them") {
    const std::uint64_t first = test::number_from("NAPKIN_SEED", 1);
    const std::uint64_t trials = test::number_from("NAPKIN_TRIALS", 48);
    for (const char* target : {"simt", "sm_80"}) {
        std::vector<IntegerTrial> drawn;
        std::vector<EmittedKernel> kernels;
        for (std::uint64_t seed = first; seed < first + trials; ++seed) {
            drawn.push_back(draw_integers(static_cast<std::uint32_t>(seed), target));
            if (!drawn.back().program) continue;
            for (const EmittedKernel& kernel : drawn.back().program->kernels)
                kernels.push_back(kernel);
        }
        CHECK_EQ(test::compile_together(kernels), "");
        for (const IntegerTrial& trial : drawn) {
            if (!trial.program) continue;
            INFO(std::string(target), ", seed ", trial.seed, " of\n", trial.text);
            const auto arrange = [&](Tensors& inputs) {
                inputs = test::wide_integers(trial.state.diagram, trial.seed);
            };
            CHECK_EQ(test::wrong_with(trial.state, *trial.program, trial.seed, arrange), "");
        }
    }
}

}  // namespace napkin
