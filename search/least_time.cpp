#include "search/least_time.h"

#include <algorithm>

#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "diagrams/masks.h"
#include "perfmodel/bound.h"
#include "perfmodel/cost.h"

namespace napkin {
namespace {

/// Blocks where each axis that may be grouped is, as finely as can be; any number where something
/// is folded, since its parts may run side by side.
std::int64_t most_blocks(const State& state, const Region& region) {
    constexpr double kEnough = 1e9;
    if (std::any_of(region.statements.begin(), region.statements.end(),
                    [&](StatementId id) { return !folded_axes(state.diagram[id]).empty(); }))
        return static_cast<std::int64_t>(kEnough);
    std::set<AxisId> axes;
    for (const StatementId id : region.statements)
        for (const AxisId axis : axes_of(state.diagram, state.diagram[id])) axes.insert(axis);
    double blocks = 1;
    for (const AxisId axis : axes) {
        const bool grouped = std::any_of(region.groups.begin(), region.groups.end(),
                                         [&](const Group& group) { return group.axis == axis; });
        Command group;
        group.rule = "group";
        group.names = {state.diagram[axis].name};
        group.size = 1;
        group.in = region_name(state.diagram, region);
        if (grouped || std::holds_alternative<State>(apply(state, group)))
            blocks = std::min(kEnough, blocks * static_cast<double>(state.diagram[axis].extent));
    }
    return static_cast<std::int64_t>(blocks);
}

/// The diagram as if the region were all that is asked of it. What makes the arrays that it loads
/// stays, since masks are known from there.
Diagram diagram_of(const State& state, const Region& region) {
    Diagram part = state.diagram;
    const std::vector<ArrayId> saves = saves_of(state.diagram, region);
    const std::vector<ArrayId> loads = loads_of(state.diagram, region);
    for (std::uint32_t i = 0; i < part.arrays.size(); ++i) {
        Array& array = part.arrays[i];
        array.type = storage_type(state.diagram, state.relabelling, ArrayId{i});
        if (array.role == ArrayRole::Parameter) continue;
        array.role = contains(saves, ArrayId{i})   ? ArrayRole::Output
                     : contains(loads, ArrayId{i}) ? ArrayRole::Input
                                                   : ArrayRole::Intermediate;
    }
    return part;
}

/// Kernels round what they compute, and may multiply it as bf16.
void add_products(const RegionCost& cost, KernelWork& work) {
    for (const auto& [type, count] : cost.arithmetic.products)
        work.edges.products[bits_of(type) > 16 ? ElementType::BF16 : type] +=
            static_cast<double>(count) / static_cast<double>(work.blocks);
}

/// By warps that multiply alone, or by groups of them.
Seconds least_of_targets(KernelWork work, const BlockClock& clock) {
    constexpr double kRounding = 1 - 1e-6;
    const Seconds alone = clock.middle_of(work);
    work.groups = 1;
    return kRounding * std::min(alone, clock.middle_of(work));
}

}  // namespace

bool is_conditional(const Diagram& diagram, const Region& region) {
    const auto selects = [](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        return call != nullptr && call->function == Function::Select;
    };
    return std::any_of(region.statements.begin(), region.statements.end(), [&](StatementId id) {
        const Fold* fold = std::get_if<Fold>(&diagram[id].body);
        const auto masked = [&](const Expression& value) {
            return fold != nullptr && !masks_of(diagram, value, fold->monoid).empty();
        };
        const std::vector<const Expression*> all = expressions_of(diagram[id]);
        return std::any_of(all.begin(), all.end(), [&](const Expression* each) {
            return any_part(*each, selects) || masked(*each);
        });
    });
}

std::optional<Seconds> least_time(const State& state, const Region& region,
                                  const Machine& machine) {
    const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
    if (!program) return std::nullopt;
    const Result<RegionCost> cost = quick_cost_of(*program);
    if (!cost) return std::nullopt;
    KernelWork work;
    work.tensor_core = true;
    work.blocks = most_blocks(state, region);
    const Diagram part = diagram_of(state, region);
    if (const auto once = bound_of(part, initial_state(part)))
        work.loaded = work.compulsory = static_cast<double>(once->bytes());
    if (!is_conditional(state.diagram, region)) add_products(*cost, work);
    return least_of_targets(std::move(work), BlockClock(machine));
}

Seconds least_time(const RegionCost& cost, const Machine& machine, const BlockClock& clock) {
    KernelWork work;
    work.tensor_core = true;
    work.blocks = machine.processors();
    for (const Transfer& transfer : cost.transfers)
        if (transfer.level == Level::Block)
            work.loaded += static_cast<double>(transfer.amount.bytes());
    work.compulsory = static_cast<double>(cost.compulsory_bits) / 8;
    if (!cost.data_decides) add_products(cost, work);
    return least_of_targets(std::move(work), clock);
}

}  // namespace napkin
