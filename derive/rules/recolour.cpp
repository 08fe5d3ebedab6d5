// recolour: where a box runs does not change what it computes.
//
//   ──[ F ]──     ==>     ──[ F ]──  at another place
//
// Side condition: the tensor core takes products of matrices, whose operands may be computed; other
// places take any box.
// Citation: arXiv 2412.03317, section 2.2 (levels as colours).
#include <algorithm>

#include "derive/contraction.h"
#include "derive/divisors.h"
#include "derive/product_divisor.h"
#include "derive/rules/rule_support.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

/// A group or stream size that the new place forbids.
std::optional<NotApplicable> size_in_the_way(const State& state, const Region& region) {
    for (const Group& group : region.groups)
        if (auto refusal = why_not_divided(state, region, group.axis, group.size)) return refusal;
    for (const Stream& stream : region.streams)
        if (auto refusal = why_not_divided(state, region, stream.axis, stream.size)) return refusal;
    return std::nullopt;
}

/// How to write what would be a product but for a divisor.
std::string divide_a_factor(const std::string& divisor) {
    return "`" + divisor +
           "` divides the product: where it is finite, divide a factor by it, as in " + "`(u / " +
           divisor + ") * v`";
}

/// Why the array is nothing that a tensor core multiplies; nullopt where it is.
std::optional<NotApplicable> why_no_product(const Diagram& diagram, const Region& region,
                                            ArrayId array) {
    const AxisFilter counts = tiled_axes(diagram.axes, region);
    const auto axes_of = [&](StatementId id) -> const std::vector<AxisId>& {
        return diagram[diagram[id].targets.front()].axes;
    };
    const auto contracts = [&](StatementId id) {
        return contraction_of(diagram[id], axes_of(id), counts).has_value();
    };
    const StatementId whole = producer(diagram, array).value();
    if (contracts(whole)) return std::nullopt;
    NotApplicable refused{
        "`" + diagram[array].name + "` is not a sum of products of two matrices",
        "the tensor core multiplies what runs along some axes of the result by what runs along "
        "others"};
    if (const auto divisor = divisor_of_product(diagram[whole], axes_of(whole), counts)) {
        refused.help = divide_a_factor(print(diagram, *divisor));
        return refused;
    }
    return with_parts(diagram, whole, std::move(refused), contracts);
}

}  // namespace

Outcome recolour(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.at.empty())
        return out_of_place("it takes one array and a place", "write `recolour ARRAY at PLACE`");
    const std::optional<ArrayId> array = find_array(state.diagram, command.names.front());
    if (!array) return out_of_place("there is no array `" + command.names.front() + "`", "");
    const std::optional<StatementId> statement = producer(state.diagram, *array);
    if (!statement)
        return out_of_place("`" + command.names.front() + "` is an input: no box computes it", "");
    const std::vector<Region>& regions = state.relabelling.regions;
    const auto region = std::find_if(regions.begin(), regions.end(), [&](const Region& one) {
        return contains(one.statements, *statement);
    });
    invariant(region != regions.end(), "every statement is in a region");
    Place place;
    if (command.at == "tensor-core") {
        if (std::optional<NotApplicable> refusal = why_no_product(state.diagram, *region, *array))
            return *refusal;
        place = {Level::Warps, true};
    } else if (const std::optional<Level> level = level_named(command.at);
               level && *level >= Level::Block) {
        place.level = *level;
    } else {
        return out_of_place("`" + command.at + "` is no place to compute at",
                            "places are block, warps, thread and tensor-core");
    }
    State next = state;
    next.relabelling.places[*statement] = place;
    if (std::optional<NotApplicable> refusal = size_in_the_way(next, *region)) return *refusal;
    return with_step(std::move(next), command, {"the box computes the same wherever it runs"});
}

}  // namespace napkin::rules
