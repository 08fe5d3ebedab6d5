// Kernels of integers (tests/support/random_integers.h) are exact in the emulator, of inputs of
// which an f32 has not all; a target that does not take them says so.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

TEST_CASE("kernels: sums of integers are exact in an f32, or a target does not take them") {
    struct Sum {
        const char* body;
        double first;
        double others;
    };
    const Sum sums[] = {
        {"input X[m, n] : i32\n output W[m] : f32 = sum(n) X[m, n]", 1 << 24, 1},
        {"input X[m, n] : i32\n output W[m, n] : f32 = scan[n] sum X[m, n]", 1 << 24, 1},
        {"input X[m, n] : i8, Y[k, n] : i8\n output W[m, k] : f32 = sum(n) X[m, n] * Y[k, n]", 127,
         127},
        {"input X[m, n] : i8, Y[k, n] : i8\n output W[m, k] : f32 = sum(n) 1.0 * X[m, n] * Y[k, n]",
         127, 126},
        {"input X[m, n] : i32, Y[k, n] : i8\n output W[m, k] : f32 = sum(n) (X[m, n] % 500) * "
         "(Y[k, n] % 8)",
         499, 499 + 500 * 3},
        {"output W[m] : f32 = sum(n) 1.0 * n * n", 0, 0},
    };
    for (const Sum& sum : sums) {
        const Diagram diagram = test::load(
            std::string("diagram sums { axis m = 16, k = 16, n = 1201\n ") + sum.body + " }");
        const State state = initial_state(diagram);
        for (const char* target : {"simt", "sm_80"}) {
            INFO(std::string(target), ": ", std::string(sum.body));
            EmitOptions how;
            how.target = target;
            const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
            if (!program) {
                CHECK_EQ(program.error().list.front().code, "E0905");
                CHECK_NE(std::string(target), "simt");
                continue;
            }
            const auto arrange = [&](Tensors& inputs) {
                for (auto& [id, tensor] : inputs) {
                    const double most = diagram[id].type == ElementType::I8 ? 127 : 1 << 24;
                    std::fill(tensor.values.begin(), tensor.values.end(),
                              std::min(sum.others, most));
                    tensor.values.front() = std::min(sum.first, most);
                }
            };
            CHECK_EQ(test::wrong_with(state, *program, 1, arrange), "");
        }
    }
}

TEST_CASE("kernels: extremes of integers are exact in chunks of parts that are not whole") {
    const Diagram diagram = test::load(R"(diagram extremes {
  axis n = 9, k = 37
  input A[n, k] : i32
  output most[n] : i32 = max(k) A[n, k]
  output least[n] = min(k) A[n, k]
})");
    const std::string chunks = "stream k by 8 in most\nstream k by 8 in least\n";
    const std::string parts = "split-stream k by 16 in most\nsplit-stream k by 16 in least\n";
    for (const std::string& derivation :
         {chunks + parts, parts + "stream k_in by 8 in most_max_part\n"
                                  "stream k_in2 by 8 in least_min_part\n"}) {
        CAPTURE(derivation);
        const State state = test::derive(diagram, derivation);
        EmitOptions how;
        how.target = "simt";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
        REQUIRE(program);
        const auto arrange = [&](Tensors& inputs) {
            inputs = test::wide_integers(state.diagram, 1);
            std::vector<double>& values = inputs.begin()->second.values;
            std::fill_n(values.begin(), 37, -0x1p31);
            std::fill_n(values.begin() + 37, 37, 0x1p31 - 1);
        };
        CHECK_EQ(test::wrong_with(state, *program, 1, arrange), "");
    }
}

TEST_CASE("kernels: numbers are rounded to every type as the reference does") {
    const std::string reals = R"(
  output A[n] : f32 = i4(X[n])
  output B[n] : f32 = i8(X[n])
  output F[n] : f32 = e4m3(X[n])
  output G[n] : f32 = e5m2(X[n])
  output H[n] : f32 = f16(X[n])
  output I[n] : f32 = bf16(X[n])
  output K[n] : f32 = tf32(X[n])
)";
    const std::string integers = R"(
  output D[n] : i32 = i4(C[n])
  output E[n] : i32 = i8(C[n])
  output J[n] : i32 = i32(X[n])
)";
    for (const auto& [target, outputs] :
         {std::pair("sm_80", reals), std::pair("simt", reals), std::pair("simt", integers)}) {
        INFO(std::string(target), outputs);
        const State state = initial_state(
            test::load("diagram rounds {\n  axis n = 64\n  input X[n] : f32\n  input C[n] : i32" +
                       outputs + "}"));
        EmitOptions how;
        how.target = target;
        const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
        REQUIRE(program);
        const auto arrange = [&](Tensors& inputs) {
            for (auto& [id, tensor] : inputs)
                for (std::size_t at = 0; at < tensor.values.size(); ++at) {
                    const double around = static_cast<double>(at) - 32;
                    tensor.values[at] = around * (at % 3 == 0 ? 0.5 : at % 3 == 1 ? 1 : 40);
                    if (state.diagram[id].name == "C")
                        tensor.values[at] = std::floor(tensor.values[at]);
                }
        };
        CHECK_EQ(test::wrong_with(state, *program, 1, arrange), "");
    }
}

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
