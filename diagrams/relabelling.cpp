#include "diagrams/relabelling.h"

#include <algorithm>
#include <set>
#include <utility>

#include "diagrams/contains.h"

namespace napkin {

namespace {

/// Whether every statement of the region that uses the axis keeps it, and every array that the
/// region saves has it.
bool weaves(const Diagram& diagram, const Region& region, AxisId axis) {
    bool used = false;
    for (StatementId id : region.statements) {
        const std::vector<AxisId> folded = folded_axes(diagram[id]);
        if (std::find(folded.begin(), folded.end(), axis) != folded.end()) return false;
        const std::vector<AxisId> axes = axes_of(diagram, diagram[id]);
        used = used || std::find(axes.begin(), axes.end(), axis) != axes.end();
    }
    for (ArrayId array : saves_of(diagram, region)) {
        const std::vector<AxisId>& axes = diagram[array].axes;
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) return false;
    }
    return used;
}

}  // namespace

Relabelling plain_relabelling(const Diagram& diagram) {
    Relabelling relabelling;
    for (const Box& box : diagram.boxes) {
        Region region;
        region.statements = box.statements;
        std::sort(region.statements.begin(), region.statements.end());
        relabelling.regions.push_back(std::move(region));
    }
    for (Region& region : relabelling.regions)
        for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
            if (diagram.axes[i].woven && weaves(diagram, region, AxisId{i}))
                region.groups.push_back({AxisId{i}, 1, Level::Block});
    return relabelling;
}

std::vector<ArrayId> loads_of(const Diagram& diagram, const Region& region) {
    std::set<ArrayId> defined;
    for (StatementId id : region.statements)
        for (ArrayId target : diagram[id].targets) defined.insert(target);
    std::vector<ArrayId> loads;
    for (StatementId id : region.statements)
        for (ArrayId input : inputs_of(diagram[id]))
            if (defined.count(input) == 0 &&
                std::find(loads.begin(), loads.end(), input) == loads.end())
                loads.push_back(input);
    return loads;
}

bool is_saved(const Diagram& diagram, const Region& region, ArrayId array) {
    if (diagram[array].role == ArrayRole::Output) return true;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        if (!contains(region.statements, StatementId{i}) && reads(diagram.statements[i], array))
            return true;
    return false;
}

std::vector<ArrayId> saves_of(const Diagram& diagram, const Region& region) {
    std::vector<ArrayId> saves;
    for (StatementId id : region.statements)
        for (ArrayId target : diagram[id].targets)
            if (is_saved(diagram, region, target)) saves.push_back(target);
    return saves;
}

std::string region_name(const Diagram& diagram, const Region& region) {
    std::string name;
    std::string output;
    for (StatementId id : region.statements)
        for (ArrayId target : diagram[id].targets) {
            if (diagram[target].named || name.empty()) name = diagram[target].name;
            if (diagram[target].role == ArrayRole::Output) output = diagram[target].name;
        }
    return output.empty() ? name : output;
}

namespace {

/// The widest floating type of inputs; f32 of f16 and bf16, of which neither holds the other.
/// Inputs of 8 bits are scaled to what these hold, and what is made of them is not: bf16 where
/// there are no others.
ElementType type_beside_inputs(const Diagram& diagram) {
    constexpr std::int64_t kLeastBits = 16;
    std::optional<ElementType> widest;
    bool narrow = false;
    for (const Array& input : diagram.arrays) {
        if (input.role != ArrayRole::Input || !is_floating(input.type)) continue;
        if (bits_of(input.type) < kLeastBits)
            narrow = true;
        else if (!widest || bits_of(input.type) > bits_of(*widest))
            widest = input.type;
        else if (bits_of(input.type) == bits_of(*widest) && input.type != *widest)
            widest = ElementType::F32;
    }
    return widest.value_or(narrow ? ElementType::BF16 : ElementType::F32);
}

}  // namespace

ElementType storage_type(const Diagram& diagram, const Relabelling& relabelling, ArrayId array) {
    if (const auto found = relabelling.wire_types.find(array);
        found != relabelling.wire_types.end())
        return found->second;
    const Array& wire = diagram[array];
    if (wire.role != ArrayRole::Intermediate || wire.rounds || !is_floating(wire.type))
        return wire.type;
    return type_beside_inputs(diagram);
}

std::string print(const Diagram& diagram, const Relabelling& relabelling) {
    std::string text;
    for (const Region& region : relabelling.regions) {
        text += "region " + region_name(diagram, region) + ":";
        for (StatementId id : region.statements)
            text += " " + diagram[diagram[id].targets.front()].name;
        text += "\n";
        for (const Group& group : region.groups)
            text += "  group " + diagram[group.axis].name + " by " + std::to_string(group.size) +
                    " at " + std::string(name_of(group.level)) + "\n";
        for (const Stream& stream : region.streams)
            text += "  stream " + diagram[stream.axis].name + " by " + std::to_string(stream.size) +
                    " at " + std::string(name_of(stream.level)) + "\n";
    }
    for (const auto& [statement, place] : relabelling.places)
        text += "place " + diagram[diagram[statement].targets.front()].name + " at " +
                (place.tensor_core ? "tensor-core" : std::string(name_of(place.level))) + "\n";
    for (const auto& [array, type] : relabelling.wire_types)
        text += "store " + diagram[array].name + " as " + std::string(name_of(type)) + "\n";
    return text;
}

}  // namespace napkin
