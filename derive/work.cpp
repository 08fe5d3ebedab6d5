#include "derive/work.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "derive/interpret/memory.h"
#include "diagrams/overloaded.h"

namespace napkin {
namespace {

// What a statement costs however little it does: its expressions are prepared.
constexpr double kOverhead = 8;

double nodes_of(const Expression& expression) {
    double nodes = 0;
    walk(expression, [&](const Expression&) { ++nodes; });
    return nodes;
}

/// Of the expressions that are evaluated at each of a statement's places.
double nodes_of(const Statement& statement, const std::vector<Monoid>& monoids) {
    double nodes = 1;
    for (const Expression* expression : expressions_of(statement)) nodes += nodes_of(*expression);
    if (const Fold* fold = std::get_if<Fold>(&statement.body))
        for (const Expression& part : monoids[fold->monoid.index()].combine)
            nodes += nodes_of(part);
    return nodes;
}

double elements(const std::vector<Axis>& axes, const Array& array) {
    double count = 1;
    for (const AxisId axis : array.axes) count *= static_cast<double>(axes[axis.index()].extent);
    return count;
}

/// Nested tiles at their widest, each begun as often as there are.
class ProgramCounter {
public:
    explicit ProgramCounter(const RegionProgram& region)
        : region_(region), ranges_(region.axes), tiles_(region.variables.size()) {
        for (const Variable& variable : region.variables)
            whole_ += elements(region.axes, region.arrays[variable.array.index()]);
    }

    Work run() {
        walk(region_.body);
        // A whole array for every variable and processor; a block begins with nothing.
        work_.values = whole_ * processors_;
        work_.steps += whole_ * blocks_;
        return work_;
    }
    /// After `run`: values of all tiles.
    [[nodiscard]] double tiles() const {
        return std::accumulate(tiles_.begin(), tiles_.end(), 0.0);
    }

private:
    void walk(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body) {
            work_.steps += times_ * kOverhead;
            std::visit(overloaded{
                           [&](const Parallel& node) {
                               tiles(node.axis, node.size, node.level, node.body, true);
                           },
                           [&](const Loop& node) {
                               double nodes = 0;
                               for (const Expression& mask : node.visible) nodes += nodes_of(mask);
                               work_.steps += times_ * nodes * masked_places(node);
                               tiles(node.axis, node.size, node.level, node.body, false);
                           },
                           [&](const Load& load) {
                               work_.steps += times_ * loaded(load);
                               hold(load.target, boxed(load));
                           },
                           [&](const Compute& compute) { computed(compute); },
                           [&](const Save& save) {
                               const Variable& source = region_.variables[save.source.index()];
                               work_.steps +=
                                   times_ *
                                   volume(region_.arrays[save.array.index()].axes, source.level);
                           },
                       },
                       statement.node);
        }
    }

    void tiles(AxisId axis, std::int64_t size, Level level, const std::vector<TileStatement>& body,
               bool parallel) {
        const auto width = static_cast<double>(width_of(axis, level));
        const double count = std::ceil(width / static_cast<double>(size));
        const bool block = level == Level::Block;
        double& inside = block ? blocks_inside_ : processors_inside_;
        const double outside = inside;
        if (parallel) {
            inside *= count;
            double& most = block ? blocks_ : processors_;
            most = std::max(most, inside);
        }
        const std::int64_t widest = std::min(size, width_of(axis, level));
        const std::vector<Interval> saved = ranges_.narrow(level, axis, {0, widest - 1});
        times_ *= count;
        walk(body);
        times_ /= count;
        inside = outside;
        ranges_.restore(level, axis, saved);
    }

    [[nodiscard]] std::int64_t width_of(AxisId axis, Level level) const {
        const Interval range = ranges_.at(level, axis);
        return std::max<std::int64_t>(range.high - range.low + 1, 1);
    }
    [[nodiscard]] double volume(const std::vector<AxisId>& axes, Level level) const {
        double count = 1;
        for (const AxisId axis : axes) count *= static_cast<double>(width_of(axis, level));
        return count;
    }
    /// All places of a loop's tiles in which a mask is looked at.
    [[nodiscard]] double masked_places(const Loop& loop) const {
        std::set<AxisId> used;
        for (const Expression& mask : loop.visible) used.merge(axes_used(mask));
        return volume({used.begin(), used.end()}, Level::Thread);
    }
    void hold(VariableId id, double values) {
        double& most = tiles_[id.index()];
        most = std::max(most, values * processors_inside_);
    }
    [[nodiscard]] double loaded(const Load& load) const {
        double nodes = 1;
        for (const Expression& index : load.gather) nodes += nodes_of(index);
        return nodes * boxed(load);
    }
    /// Elements of what a load fills.
    [[nodiscard]] double boxed(const Load& load) const {
        const Variable& target = region_.variables[load.target.index()];
        if (!load.gather.empty())
            return volume(region_.arrays[target.array.index()].axes, target.level);
        double count = 1;
        for (const Interval& range : footprint(region_, load, ranges_.ranges(target.level)))
            count *= static_cast<double>(std::max<std::int64_t>(range.high - range.low + 1, 0));
        return count;
    }
    void computed(const Compute& compute) {
        for (const VariableId id : compute.targets) {
            const Variable& target = region_.variables[id.index()];
            hold(id, volume(region_.arrays[target.array.index()].axes, target.level));
        }
        std::vector<AxisId> axes = folded_axes(compute.statement);
        for (const AxisId axis : region_.arrays[compute.statement.targets.front().index()].axes)
            if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
        const double places = times_ * volume(axes, compute.level);
        work_.places += places;
        work_.steps += places * nodes_of(compute.statement, region_.monoids);
    }

    const RegionProgram& region_;
    LevelRanges ranges_;
    std::vector<double> tiles_;  ///< by variable
    double whole_ = 0;
    double times_ = 1;
    double blocks_ = 1;
    double processors_ = 1;  ///< below the block
    double blocks_inside_ = 1;
    double processors_inside_ = 1;
    Work work_;
};

}  // namespace

Work work_of(const Diagram& diagram) {
    Work work;
    for (const Array& array : diagram.arrays) work.values += elements(diagram.axes, array);
    for (const Statement& statement : diagram.statements) {
        double places = 1;
        for (const AxisId axis : axes_of(diagram, statement))
            places *= static_cast<double>(diagram[axis].extent);
        work.places += places;
        work.steps += places * nodes_of(statement, diagram.monoids);
    }
    return work;
}

Work work_of(const TileProgram& program) {
    Work work;
    for (const RegionProgram& region : program.regions) {
        const Work one = ProgramCounter(region).run();
        work.values = std::max(work.values, one.values);
        work.places += one.places;
        work.steps += one.steps;
    }
    return work;
}

Held held_by_run(const Diagram& diagram, const TileProgram& program) {
    Held held;
    for (const Array& array : diagram.arrays)
        if (array.role == ArrayRole::Input) held.inputs += elements(diagram.axes, array);
    for (const RegionProgram& region : program.regions) {
        for (const auto& [array, type] : region.stored)
            held.results += elements(diagram.axes, diagram[array]);
        ProgramCounter counter(region);
        (void)counter.run();
        held.tiles = std::max(held.tiles, counter.tiles());
    }
    return held;
}

}  // namespace napkin
