#include "codegen/verify_kernel.h"

#include <set>

#include "codegen/accesses.h"
#include "codegen/kernel_walk.h"
#include "diagrams/result.h"

namespace napkin::kernel {
namespace {

void declared_once(const Program& program, const Body& body) {
    std::set<std::string> own;
    for (const Statement& statement : body) {
        const auto declared = [&](const std::string& name) {
            invariant(own.insert(name).second, program.name, " declares `", name,
                      "` twice in one scope");
        };
        if (const Declare* each = std::get_if<Declare>(&statement.node)) declared(each->name);
        if (const Alias* each = std::get_if<Alias>(&statement.node)) declared(each->name);
        const auto inside = [&](const Body& inner) { declared_once(program, inner); };
        for_bodies(statement, inside);
        for_functions(statement, inside);
    }
}

}  // namespace

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
    declared_once(program, program.body);
}

}  // namespace napkin::kernel
