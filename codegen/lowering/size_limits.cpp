#include "codegen/lowering/size_limits.h"

#include <algorithm>

#include "codegen/emit.h"
#include "diagrams/integer_range.h"

namespace napkin::lowering {
namespace {

template <class Visit>
void for_expressions(const std::vector<TileStatement>& body, const Visit& visit) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            for_expressions(parallel->body, visit);
        if (const Loop* loop = std::get_if<Loop>(&statement.node))
            for_expressions(loop->body, visit);
        if (const Load* load = std::get_if<Load>(&statement.node))
            for (const Expression& index : load->gather) visit(index);
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const Expression* expression : expressions_of(compute->statement))
                visit(*expression);
    }
}

/// Whether everything that is computed from sizes and indices is an integer of the language.
bool exact(const RegionProgram& region, const std::vector<bool>& run_time, const Limits& limits) {
    bool fits = true;
    const LeafRange leaf = [&](const Expression& part) -> std::optional<Interval> {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            return Interval{0, limits[index->axis.index()] - 1};
        const SizeOf* size = std::get_if<SizeOf>(&part.node);
        if (size == nullptr) return std::nullopt;
        const std::size_t axis = size->axis.index();
        return Interval{run_time[axis] ? 1 : limits[axis], limits[axis]};
    };
    for_expressions(region.body, [&](const Expression& expression) {
        value_range(expression, leaf, [&](const Expression&, const Interval& range) {
            fits = fits && range.within(kExactIntegers);
        });
    });
    return fits;
}

}  // namespace

Limits size_limits(const RegionProgram& region, const std::vector<bool>& run_time) {
    for (std::int64_t most = kMostRunTimeSize;; most /= 2) {
        Limits limits;
        for (std::size_t i = 0; i < region.axes.size(); ++i) {
            const std::int64_t extent = region.axes[i].extent;
            limits.push_back(run_time[i] ? std::max(most, extent) : extent);
        }
        if (most == 0 || exact(region, run_time, limits)) return limits;
    }
}

}  // namespace napkin::lowering
