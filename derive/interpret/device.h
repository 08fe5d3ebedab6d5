// Device memory of the interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "derive/region_program.h"
#include "diagrams/evaluate.h"

namespace napkin {

/// A dense array of a domain's values, dimensions in the order of Array::axes.
template <class Value>
struct Grid {
    std::vector<std::int64_t> extents;
    std::vector<Value> values;

    [[nodiscard]] std::size_t offset(std::span<const std::int64_t> index) const {
        std::size_t result = 0;
        for (std::size_t at = 0; at < index.size(); ++at) result = offset(result, at, index[at]);
        return result;
    }
    /// The offset where the indices of the dimensions before `at` have come to `before`.
    [[nodiscard]] std::size_t offset(std::size_t before, std::size_t at, std::int64_t index) const {
        invariant(index >= 0 && index < extents[at], "an index outside its array");
        return before * static_cast<std::size_t>(extents[at]) + static_cast<std::size_t>(index);
    }
};
template <class Value>
using Grids = std::map<ArrayId, Grid<Value>>;

/// Every array's values, and how often each element of a saved array was written.
template <class Value>
struct Device {
    Grids<Value> values;
    std::map<ArrayId, std::vector<std::uint32_t>> writes;
    std::map<ArrayId, Value> parameters;
};

/// The types in which a program's regions save arrays.
[[nodiscard]] std::map<ArrayId, ElementType> storage_types(const TileProgram& program);

/// The extents of an array.
[[nodiscard]] std::vector<std::int64_t> extents_of(const Diagram& diagram, ArrayId array);

/// Inputs as given, parameters apart, everything that is saved poisoned.
template <class Value>
[[nodiscard]] Device<Value> device_memory(const Diagram& diagram, const TileProgram& program,
                                          const Grids<Value>& inputs, const Value& poison) {
    Device<Value> device;
    for (const auto& [id, grid] : inputs) {
        if (diagram[id].role == ArrayRole::Parameter)
            device.parameters[id] = grid.values.front();
        else
            device.values[id] = grid;
    }
    for (const auto& [array, type] : storage_types(program)) {
        Grid<Value> grid{extents_of(diagram, array), {}};
        std::size_t size = 1;
        for (const std::int64_t extent : grid.extents) size *= static_cast<std::size_t>(extent);
        grid.values.assign(size, poison);
        device.writes[array].assign(size, 0);
        device.values[array] = std::move(grid);
    }
    return device;
}

/// Elements that were saved never, and saves beyond each element's first.
struct WritesAmiss {
    std::int64_t never = 0;
    std::int64_t twice = 0;
};
[[nodiscard]] WritesAmiss writes_amiss(const std::map<ArrayId, std::vector<std::uint32_t>>& writes);

}  // namespace napkin
