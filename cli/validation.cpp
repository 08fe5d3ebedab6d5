#include "cli/validation.h"

#include <algorithm>

namespace napkin::cli {
namespace {

// Elements that the reference may visit in a validation.
constexpr double kMostWork = 3e7;

double extents_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    double count = 1;
    for (const AxisId axis : axes) count *= static_cast<double>(diagram[axis].extent);
    return count;
}

/// An upper bound of what evaluating one element of an array visits.
double work_of_element(const Diagram& diagram, ArrayId array) {
    const std::vector<AxisId>& kept = diagram[array].axes;
    double work = 1;
    for (const Statement& statement : diagram.statements) {
        const std::vector<AxisId> folded = folded_axes(statement);
        double visits = 1;
        for (const AxisId axis : axes_of(diagram, statement)) {
            const bool fixed = std::find(kept.begin(), kept.end(), axis) != kept.end() &&
                               std::find(folded.begin(), folded.end(), axis) == folded.end();
            if (!fixed) visits *= static_cast<double>(diagram[axis].extent);
        }
        work += visits;
    }
    return work;
}

std::map<AxisId, std::int64_t> tiles_of(const Relabelling& relabelling) {
    std::map<AxisId, std::int64_t> tiles;
    for (const Region& region : relabelling.regions) {
        for (const Stream& stream : region.streams) tiles.emplace(stream.axis, stream.size);
        for (const Group& group : region.groups) tiles.emplace(group.axis, group.size);
    }
    return tiles;
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

Validation validate(const Diagram& diagram, const Relabelling& relabelling, const Tensors& inputs,
                    const Tensors& outputs, const Precision& precision, std::uint64_t seed) {
    Validation validation;
    Reference reference(diagram, inputs, precision);
    const bool all = work_of(diagram) <= kMostWork;
    const std::vector<ArrayId> arrays = outputs_of(diagram);
    for (const ArrayId array : arrays) {
        std::vector<std::int64_t> offsets;
        if (!all) {
            const double share = kMostWork / static_cast<double>(arrays.size());
            const double count = std::clamp(share / work_of_element(diagram, array), 16.0, 4096.0);
            offsets = sample_offsets(diagram, array, static_cast<std::int64_t>(count),
                                     tiles_of(relabelling), seed);
        }
        validation.outputs.push_back(compare(reference, array, outputs.at(array), offsets));
    }
    return validation;
}

}  // namespace napkin::cli
