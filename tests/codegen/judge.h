// Runs an emitted program, in the emulator or on the GPU, and judges what comes out, as the command
// line does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "derive/state.h"
#include "diagrams/evaluate.h"

namespace napkin::test {

enum class RunOn { Emulator, Gpu };

/// What a run leaves to chance: its inputs, and the order of its threads; where blocks take several
/// tiles, 1 + order % 4 of them run. Runs of the same inputs share a reference.
struct Chance {
    std::uint64_t inputs;
    std::uint64_t order;
    Chance(std::uint64_t seed) : Chance(seed, seed) {}  // NOLINT: a seed of both
    Chance(std::uint64_t of_inputs, std::uint64_t of_order) : inputs(of_inputs), order(of_order) {}
};

/// Where the tests keep what is compiled for the emulator.
[[nodiscard]] std::filesystem::path emulator_folder();

/// Compiles kernels for the emulator, many in a call of the compiler, for those who run them next,
/// and says what the compiler rejects, which they will find too. Empty: nothing.
std::string compile_together(const std::vector<EmittedKernel>& kernels);

/// A state under a name, and what is emitted of it.
struct Emission {
    std::string name;
    State state;
    EmittedProgram program;
};
/// The same for all kernels of some programs: a tenth of what they take one by one.
std::string compile_together(const std::vector<Emission>& emissions);

/// Gives kernels names of their own, so that those of other trials can be compiled with them.
void rename_kernels(EmittedProgram& program, std::uint64_t trial);

/// The number that a variable of the environment holds, such as NAPKIN_SEED.
[[nodiscard]] std::uint64_t number_from(const char* variable, std::uint64_t usual);

/// What is wrong with a run: what the emulator found, runs that differ in a bit, elements that
/// differ by more than the derived tolerance, elements that nobody wrote. Empty: nothing.
[[nodiscard]] std::string wrong_with(const State& state, const EmittedProgram& program,
                                     Chance chance, RunOn where = RunOn::Emulator);
/// The same, judged by the diagram that rules made the state's of.
[[nodiscard]] std::string wrong_with(const Diagram& plain, const State& state,
                                     const EmittedProgram& program, Chance chance,
                                     RunOn where = RunOn::Emulator);
/// The same in the emulator, of random inputs that `arrange` changes; only of results, where order
/// is not checked.
[[nodiscard]] std::string wrong_with(const State& state, const EmittedProgram& program,
                                     Chance chance, const std::function<void(Tensors&)>& arrange,
                                     bool check_order = true);

/// The same in the emulator, where one element of an input is no number: what depends on it is none
/// either, and all else is right. Empty too where no input holds real numbers.
[[nodiscard]] std::string wrong_with_nan(const State& state, const EmittedProgram& program,
                                         std::uint64_t seed);

}  // namespace napkin::test
