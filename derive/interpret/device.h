// Device memory of the interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/evaluate.h"

namespace napkin {

/// Every array's values, and how often each element of a saved array was written.
struct Device {
    Tensors values;
    std::map<ArrayId, std::vector<std::uint32_t>> writes;
    std::map<ArrayId, double> parameters;
};

/// The types in which a program's regions save arrays.
[[nodiscard]] std::map<ArrayId, ElementType> storage_types(const TileProgram& program);

/// Inputs as given, parameters with their defaults, everything that is saved poisoned.
[[nodiscard]] Device device_memory(const Diagram& diagram, const TileProgram& program,
                                   const Tensors& inputs);

/// Elements that were saved never, and saves beyond each element's first.
struct WritesAmiss {
    std::int64_t never = 0;
    std::int64_t twice = 0;
};
[[nodiscard]] WritesAmiss writes_amiss(const Device& device);

}  // namespace napkin
