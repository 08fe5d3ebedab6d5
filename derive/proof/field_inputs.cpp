#include "derive/proof/field_inputs.h"

#include "diagrams/evaluate.h"

namespace napkin::proof {
namespace {

std::uint64_t word_of(const std::string& name) {
    RandomFunction hash(0);
    for (const char letter : name) hash = hash(static_cast<unsigned char>(letter));
    return hash.word();
}

}  // namespace

Grids<FieldValue> field_inputs(FieldDomain& domain, const Diagram& diagram, std::uint64_t seed) {
    Grids<FieldValue> grids;
    for (const auto& [id, tensor] : random_inputs(diagram, seed)) {
        const Array& array = diagram[id];
        Grid<FieldValue>& grid = grids[id];
        grid.extents = tensor.extents;
        const std::uint64_t name = word_of(array.name);
        for (std::size_t at = 0; at < tensor.values.size(); ++at)
            grid.values.push_back(is_floating(array.type)
                                      ? domain.variable(name, at, tensor.values[at])
                                      : domain.number(tensor.values[at]));
    }
    return grids;
}

}  // namespace napkin::proof
