// Kernels as the arguments ask for them.
#pragma once

#include "cli/commands.h"
#include "cli/json.h"
#include "codegen/emit.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// Target, threads, schedules and architecture as given; headers name the derivation by its hash.
[[nodiscard]] Result<EmitOptions> emit_options(const Context& context,
                                               const std::string& hash = {});
/// The same for the CUDA device that is there; as given where there is none.
[[nodiscard]] Result<EmitOptions> emit_options_for_device(const Context& context);

/// Emits for the target that was asked for; where none was, for the best of each region.
[[nodiscard]] Result<EmittedProgram> emit_chosen(const Context& context, const State& state,
                                                 const TileProgram& program,
                                                 const EmitOptions& options);
/// Notes what these kernels of a program do with the costs of its regions.
void add_work(const TileProgram& program, const EmittedProgram& kernels, const EmitOptions& options,
              Cost& cost);
/// Says which targets were chosen, and why no newer ones, where none was asked for.
void tell_target(const Context& context, const EmittedProgram& program);
/// Why kernels are not of the newest target, each reason once.
[[nodiscard]] std::vector<std::string> refusals_of(const EmittedProgram& program);
/// The same as members of an object: `target`, `refused`.
[[nodiscard]] Json to_json(const EmittedProgram& program);
/// `{"warps": 4, "stages": {"K": 2}}`.
[[nodiscard]] Json to_json(const schedule::RegionSchedule& choices);

}  // namespace napkin::cli
