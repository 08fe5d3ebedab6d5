// Arrays of one diagram under the ids of another: a derivation may split axes and add arrays, but
// keeps the names of inputs and outputs, and the order of their elements.
#pragma once

#include <string>
#include <vector>

#include "derive/interpret/device.h"

namespace napkin::proof {

/// The same elements under the arrays of `to` that have the same names.
template <class Value>
[[nodiscard]] Grids<Value> renamed_grids(const Diagram& to, const Diagram& from,
                                         const Grids<Value>& grids) {
    Grids<Value> result;
    for (const auto& [id, grid] : grids) {
        const std::optional<ArrayId> array = find_array(to, from[id].name);
        if (!array) continue;
        Grid<Value> renamed{extents_of(to, *array), grid.values};
        std::size_t size = 1;
        for (const std::int64_t extent : renamed.extents) size *= static_cast<std::size_t>(extent);
        invariant(size == grid.values.size(), "a derivation keeps the size of every input");
        result[*array] = std::move(renamed);
    }
    return result;
}

/// The index of a row-major offset.
[[nodiscard]] std::vector<std::int64_t> index_at(std::vector<std::int64_t> extents,
                                                 std::size_t offset);
/// `K[5, 0]`.
[[nodiscard]] std::string element_name(const std::string& array,
                                       const std::vector<std::int64_t>& index);
[[nodiscard]] std::string element_name(const std::string& array,
                                       const std::vector<std::int64_t>& extents,
                                       std::size_t offset);

}  // namespace napkin::proof
