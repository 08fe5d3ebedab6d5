#include "codegen/verify_kernel.h"

#include "codegen/accesses.h"
#include "diagrams/result.h"

namespace napkin::kernel {

void verify(const Program& program) {
    std::set<std::string> readable = {"kThreads", "threadIdx", "blockIdx", "gridDim", "memory"};
    std::set<std::string> writable;
    for (const KernelParameter& parameter : program.parameters) {
        readable.insert(parameter.name);
        if (parameter.written) writable.insert(parameter.name);
    }
    for (const Tile& tile : program.tiles) {
        readable.insert(tile.name);
        writable.insert(tile.name);
    }
    const Accesses found = accesses_of(program.body);
    for (const std::string& name : found.reads)
        invariant(readable.contains(name), program.name, " reads `", name,
                  "`, which nothing declares");
    for (const std::string& name : found.writes)
        invariant(writable.contains(name), program.name, " writes `", name,
                  "`, which is not for it to write");
}

}  // namespace napkin::kernel
