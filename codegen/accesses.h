// What kernels read and write.
#pragma once

#include <map>
#include <set>
#include <string>

#include "codegen/kernel_tree.h"

namespace napkin::kernel {

/// Names of variables, of arrays in registers, shared and device memory.
struct Accesses {
    std::set<std::string> reads;
    std::set<std::string> writes;
    bool operator==(const Accesses&) const = default;
    void add(const Accesses& other);
};

/// What functions of the kernel do when they are called, by name.
using Functions = std::map<std::string, Accesses>;

/// What a body does to names that it does not declare itself. `known` are functions from around it.
/// Throws InternalError where it runs a device primitive of which accesses.cpp does not say what it
/// writes.
[[nodiscard]] Accesses accesses_of(const Body& body, const Functions& known = {});

}  // namespace napkin::kernel
