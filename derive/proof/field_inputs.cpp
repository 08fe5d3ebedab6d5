#include "derive/proof/field_inputs.h"

#include "derive/proof/boundaries.h"
#include "diagrams/evaluate.h"

namespace napkin::proof {
namespace {

constexpr std::uint64_t kBoundary = 0x626f756e64617279;

std::uint64_t word_of(const std::string& name) {
    RandomFunction hash(0);
    for (const char letter : name) hash = hash(static_cast<unsigned char>(letter));
    return hash.word();
}

/// One, two or three in four elements are where a comparison changes.
std::optional<double> at_boundary(const std::set<double>& boundary, std::uint64_t seed,
                                  RandomFunction element) {
    const std::uint64_t word = element(kBoundary).word();
    const std::uint64_t of_four = 1 + RandomFunction(seed)(kBoundary).word() % 3;
    if (boundary.empty() || word % 4 >= of_four) return std::nullopt;
    return *std::next(boundary.begin(), static_cast<std::ptrdiff_t>(word / 4 % boundary.size()));
}

}  // namespace

Grids<FieldValue> field_inputs(FieldDomain& domain, const Diagram& diagram, std::uint64_t seed) {
    Boundaries boundaries = boundaries_of(diagram);
    Grids<FieldValue> grids;
    for (const auto& [id, tensor] : random_inputs(diagram, seed)) {
        const Array& array = diagram[id];
        Grid<FieldValue>& grid = grids[id];
        grid.extents = tensor.extents;
        const std::uint64_t name = word_of(array.name);
        const std::set<double>& boundary = boundaries[id];
        for (std::size_t at = 0; at < tensor.values.size(); ++at) {
            const auto fixed = at_boundary(boundary, seed, RandomFunction(seed)(name)(at));
            grid.values.push_back(!fixed && is_floating(array.type)
                                      ? domain.variable(name, at, tensor.values[at])
                                      : domain.number(fixed.value_or(tensor.values[at])));
        }
    }
    return grids;
}

}  // namespace napkin::proof
