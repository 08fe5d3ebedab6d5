#include "derive/interpret/device.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace napkin {

std::map<ArrayId, ElementType> storage_types(const TileProgram& program) {
    std::map<ArrayId, ElementType> types;
    for (const RegionProgram& region : program.regions)
        for (const auto& [array, type] : region.stored) types[array] = type;
    return types;
}

Device device_memory(const Diagram& diagram, const TileProgram& program, const Tensors& inputs) {
    Device device;
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const ArrayId id{i};
        const auto given = inputs.find(id);
        if (diagram[id].role == ArrayRole::Parameter)
            device.parameters[id] =
                given != inputs.end() ? given->second.values.front() : *diagram[id].value;
        else if (given != inputs.end())
            device.values[id] = given->second;
    }
    for (const auto& [array, type] : storage_types(program)) {
        Tensor tensor = make_tensor(diagram, array);
        device.writes[array].assign(tensor.values.size(), 0);
        std::fill(tensor.values.begin(), tensor.values.end(),
                  std::numeric_limits<double>::quiet_NaN());
        device.values[array] = std::move(tensor);
    }
    return device;
}

WritesAmiss writes_amiss(const Device& device) {
    WritesAmiss amiss;
    for (const auto& [array, writes] : device.writes)
        for (std::uint32_t count : writes) {
            if (count == 0) ++amiss.never;
            if (count > 1) amiss.twice += count - 1;
        }
    return amiss;
}

}  // namespace napkin
