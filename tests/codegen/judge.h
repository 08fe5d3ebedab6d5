// Runs an emitted program, in the emulator or on the GPU, and judges what comes out, as the command
// line does.
#pragma once

#include <string>

#include "codegen/emit.h"
#include "derive/state.h"

namespace napkin::test {

enum class RunOn { Emulator, Gpu };

/// What is wrong with a run: what the emulator found, runs that differ in a bit, elements that
/// differ by more than the derived tolerance, elements that nobody wrote. Empty: nothing.
[[nodiscard]] std::string wrong_with(const State& state, const EmittedProgram& program,
                                     std::uint64_t seed, RunOn where = RunOn::Emulator);
/// The same, judged by the diagram that rules made the state's of.
[[nodiscard]] std::string wrong_with(const Diagram& plain, const State& state,
                                     const EmittedProgram& program, std::uint64_t seed,
                                     RunOn where = RunOn::Emulator);

}  // namespace napkin::test
