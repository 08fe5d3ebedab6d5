// The kernels of the workloads of target sm_90a.
#pragma once

#include "codegen/emit.h"
#include "tests/codegen/sm90_workloads.h"
#include "tests/codegen/tensor_states.h"

namespace napkin::test {

inline EmitOptions group_options() {
    EmitOptions made;
    made.target = "sm_90a";
    return made;
}

/// What warp groups carry out has blocks that take one tile after another, or one tile each.
inline Result<EmittedProgram> with_tiles(const State& state, bool several) {
    EmitOptions made = group_options();
    const Result<EmittedProgram> plain = emit(state, program_of(state), made);
    if (!plain) return plain;
    for (const EmittedKernel& kernel : plain->kernels) {
        if (kernel.target != made.target) continue;
        schedule::Request request;
        request.region = kernel.region;
        request.schedule.persistent = several;
        made.schedules.push_back(request);
    }
    return emit(state, program_of(state), made);
}
}  // namespace napkin::test
