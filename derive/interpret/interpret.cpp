#include "derive/interpret.h"

#include <algorithm>
#include <utility>

#include "derive/interpret/tile_machine.h"

namespace napkin {
namespace {

/// Inputs as given, parameters with their defaults where they are not.
Grids<double> grids_of(const Diagram& diagram, const Tensors& inputs) {
    Grids<double> grids;
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const ArrayId id{i};
        const auto given = inputs.find(id);
        if (given != inputs.end())
            grids[id] = {given->second.extents, given->second.values};
        else if (diagram[id].role == ArrayRole::Parameter)
            grids[id] = {{}, {*diagram[id].value}};
    }
    return grids;
}

bool has_data_masks(const std::vector<TileStatement>& body) {
    return std::any_of(body.begin(), body.end(), [](const TileStatement& statement) {
        if (const Parallel* groups = std::get_if<Parallel>(&statement.node))
            return has_data_masks(groups->body);
        const Loop* loop = std::get_if<Loop>(&statement.node);
        return loop != nullptr && (!loop->data_masks.empty() || has_data_masks(loop->body));
    });
}

}  // namespace

bool has_data_masks(const TileProgram& program) {
    return std::any_of(program.regions.begin(), program.regions.end(),
                       [](const RegionProgram& region) { return has_data_masks(region.body); });
}

Result<Interpretation> interpret(const Diagram& diagram, const TileProgram& program,
                                 const Tensors& inputs, Arithmetic arithmetic,
                                 MaskedChunks masked) {
    if (const std::optional<Diagnostic> broken = check_inputs(diagram, inputs)) return *broken;
    RealDomain domain(arithmetic == Arithmetic::Storage);
    Run<double> run = run_program(domain, diagram, program, grids_of(diagram, inputs), masked);
    Interpretation result;
    result.counters = std::move(run.counters);
    const WritesAmiss amiss = writes_amiss(run.device.writes);
    result.never_written = amiss.never;
    result.written_twice = amiss.twice;
    for (ArrayId output : outputs_of(diagram)) {
        Grid<double>& grid = run.device.values.at(output);
        result.outputs[output] = {std::move(grid.extents), std::move(grid.values)};
    }
    return result;
}

std::vector<Counters> count(const TileProgram& program) {
    const std::map<ArrayId, ElementType> storage = storage_types(program);
    std::vector<Counters> counters;
    for (const RegionProgram& region : program.regions)
        counters.push_back(walk_region(region, storage, nullptr));
    return counters;
}

}  // namespace napkin
