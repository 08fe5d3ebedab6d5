// How a relabelled diagram rounds, and the diagram that has those roundings of its own.
#include <algorithm>

#include "diagrams/compare.h"

namespace napkin {
namespace {

/// Whether the region reads the array before it is rounded.
bool reads(const Diagram& diagram, const Region& region, ArrayId array) {
    return std::any_of(region.statements.begin(), region.statements.end(), [&](StatementId id) {
        const std::vector<ArrayId> inputs = inputs_of(diagram[id]);
        return std::find(inputs.begin(), inputs.end(), array) != inputs.end();
    });
}

/// Whether the array has elements of another one that are of the type already.
bool has_type(const Diagram& diagram, ArrayId array, ElementType type) {
    const std::optional<StatementId> source = producer(diagram, array);
    const Map* map = source ? std::get_if<Map>(&diagram[*source].body) : nullptr;
    const Read* element = map != nullptr ? std::get_if<Read>(&map->value.node) : nullptr;
    if (element == nullptr) return false;
    const Array& read = diagram[element->array];
    return read.type == type && (read.role == ArrayRole::Input || read.rounds);
}

}  // namespace

Precision precision_of(const Diagram& diagram, const Relabelling& relabelling) {
    Precision precision;
    for (const Region& region : relabelling.regions)
        for (const ArrayId array : saves_of(diagram, region)) {
            precision.stored[array] = storage_type(diagram, relabelling, array);
            // A type of its own may round the chunks of an array, relative to a state, before it.
            if (is_floating(diagram[array].type) && !diagram[array].rounds &&
                relabelling.wire_types.count(array) == 0 && !reads(diagram, region, array))
                precision.handed_over.insert(array);
        }
    for (const auto& [array, type] : relabelling.wire_types)
        if (has_type(diagram, array, type))
            precision.stored.erase(array);  // which loses nothing
        else
            precision.stored[array] = type;
    return precision;
}

RoundedDiagram round_handed_over(const Diagram& diagram, const Precision& precision) {
    RoundedDiagram rounded{diagram, precision};
    for (const ArrayId array : precision.handed_over) {
        const ElementType type = precision.stored.at(array);
        if (type == precision.arithmetic) continue;
        rounded.diagram.arrays[array.index()].type = type;
        rounded.diagram.arrays[array.index()].rounds = true;
        rounded.precision.stored.erase(array);
    }
    rounded.precision.handed_over.clear();
    return rounded;
}

}  // namespace napkin
