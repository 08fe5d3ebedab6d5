#include "cli/validation.h"

#include <algorithm>

#include "cli/messages.h"

namespace napkin::cli {
namespace {

// Indices that the reference may visit in a validation: up to the first number everything is
// compared, above it samples that cost the second. A few seconds in Release, bounds included.
constexpr double kMostSampleWork = 3e7;
constexpr double kSampleWork = 1.5e8;
// An element that costs more is not computed from the inputs: it is compared with what follows from
// the outputs that it reads, which are compared for themselves.
constexpr double kMostWorkOfOne = 2e9;

double extents_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    double count = 1;
    for (const AxisId axis : axes) count *= static_cast<double>(diagram[axis].extent);
    return count;
}

TileSizes tiles_of(const Relabelling& relabelling) {
    TileSizes tiles;
    for (const Region& region : relabelling.regions) {
        for (const Stream& stream : region.streams) tiles[stream.axis].insert(stream.size);
        for (const Group& group : region.groups) tiles[group.axis].insert(group.size);
    }
    return tiles;
}

Result<Comparison> compare_given_outputs(const Diagram& diagram, ArrayId array,
                                         const Tensors& inputs, const Tensors& outputs,
                                         const Precision& precision, const Sampling& sampling) {
    const GivenOutputs given = give_outputs(diagram, array, inputs, outputs);
    const double visits = visits_of_one(given.diagram, array);
    if (visits > kMostWorkOfOne) return reference_too_large(diagram[array].name, visits);
    Reference reference(given.diagram, given.inputs, precision);
    Comparison comparison = compare(reference, array, outputs.at(array),
                                    sample_offsets(given.diagram, array, sampling));
    for (const ArrayId known : given.given) comparison.given.push_back(diagram[known].name);
    return comparison;
}

}  // namespace

bool Validation::ok() const {
    return std::all_of(outputs.begin(), outputs.end(), [](const Comparison& c) { return c.ok; });
}

bool Validation::sampled() const {
    return std::any_of(outputs.begin(), outputs.end(),
                       [](const Comparison& c) { return c.sampled; });
}

double work_of(const Diagram& diagram) {
    double work = 0;
    for (const Statement& statement : diagram.statements)
        work += extents_of(diagram, axes_of(diagram, statement));
    return work;
}

bool has_values(const Diagram& diagram) {
    return std::none_of(
        diagram.statements.begin(), diagram.statements.end(),
        [](const Statement& statement) { return std::holds_alternative<Opaque>(statement.body); });
}

Result<Validation> validate(const Diagram& diagram, const Relabelling& relabelling,
                            const Tensors& inputs, const Tensors& outputs,
                            const Precision& precision, std::uint64_t seed) {
    const std::vector<ArrayId> arrays = outputs_of(diagram);
    const bool all = work_of(diagram) <= kMostSampleWork;
    Sampling sampling;
    sampling.tiles = tiles_of(relabelling);
    sampling.budget = kSampleWork / static_cast<double>(arrays.size());
    sampling.seed = seed;
    Validation validation;
    Reference reference(diagram, inputs, precision);
    for (const ArrayId array : arrays) {
        if (all || visits_of_one(diagram, array) <= kMostWorkOfOne) {
            std::vector<std::int64_t> offsets;
            if (!all) offsets = sample_offsets(diagram, array, sampling);
            validation.outputs.push_back(compare(reference, array, outputs.at(array), offsets));
            continue;
        }
        Result<Comparison> compared =
            compare_given_outputs(diagram, array, inputs, outputs, precision, sampling);
        if (!compared) return compared.error();
        validation.outputs.push_back(std::move(compared).value());
    }
    return validation;
}

}  // namespace napkin::cli
