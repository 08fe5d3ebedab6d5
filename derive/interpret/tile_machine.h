// Executes tile programs on the values of a domain.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "derive/interpret/compute.h"
#include "derive/interpret/device.h"
#include "derive/interpret/processor_tiles.h"
#include "derive/interpret/walk.h"

namespace napkin {

/// Keeps the tiles of one region's processors and does to them what the walk says.
template <class Domain>
class TileMachine final : public Executor {
public:
    using Value = typename Domain::Value;
    TileMachine(Domain& domain, const RegionProgram& region, Device<Value>& device,
                const std::map<ArrayId, ElementType>& storage, MaskedChunks masked)
        : domain_(domain),
          region_(region),
          device_(device),
          storage_(storage),
          masked_(masked),
          tiles_(region, domain.poison()) {}

    void focus(const TileStatement& statement) override { tiles_.focus(statement); }
    void enter(Level level, std::int64_t start) override { tiles_.enter(level, start); }
    void leave() override { tiles_.leave(); }
    [[nodiscard]] bool leaves_out(const Loop& loop, const LevelRanges& ranges) override;
    void load(const Load& load, const std::vector<Interval>& box) override;
    /// Element by element; an index outside of the array (its read stands under a guard that is
    /// false there) loads zero.
    void gather(const Load& load, const std::vector<Interval>& box) override;
    void compute(const Compute& compute, const LevelRanges& ranges) override;
    void save(const Save& save, const std::vector<Interval>& box,
              const LevelRanges& ranges) override;

private:
    using Compiled = CompiledExpression<Domain>;
    [[nodiscard]] const std::vector<Compiled>& masks_of(const Loop& loop);
    [[nodiscard]] std::vector<Interval> box_at(VariableId id, const LevelRanges& ranges) const;
    [[nodiscard]] std::vector<Compiled> gather_indices(const Load& load);

    Domain& domain_;
    const RegionProgram& region_;
    Device<Value>& device_;
    const std::map<ArrayId, ElementType>& storage_;
    MaskedChunks masked_;
    ProcessorTiles<Value> tiles_;
    std::map<ArrayId, Tile<Value>> whole_;  ///< arrays that masks read
    std::map<const Loop*, std::vector<Compiled>> masks_;
    std::map<const Compute*, std::unique_ptr<ComputeRunner<Domain>>> runners_;
};

template <class Domain>
const std::vector<CompiledExpression<Domain>>& TileMachine<Domain>::masks_of(const Loop& loop) {
    const auto [found, fresh] = masks_.try_emplace(&loop);
    if (!fresh) return found->second;
    typename Compiled::Bind bind;
    for (const auto& [array, value] : device_.parameters) bind[array] = {nullptr, value};
    for (const std::vector<Expression>* masks : {&loop.data_masks, &loop.visible})
        for (const Expression& mask : *masks) {
            for (ArrayId array : arrays_read(mask)) {
                if (bind.count(array) != 0) continue;
                const Grid<Value>& grid = device_.values.at(array);
                Tile<Value>& tile = whole_[array];
                tile.low.assign(grid.extents.size(), 0);
                tile.extent = grid.extents;
                tile.values = grid.values;
                bind[array] = {&tile, {}};
            }
            found->second.emplace_back(domain_, region_.axes, mask, bind);
        }
    return found->second;
}

template <class Domain>
bool TileMachine<Domain>::leaves_out(const Loop& loop, const LevelRanges& ranges) {
    if (masked_ == MaskedChunks::Visit || loop.data_masks.empty()) return false;
    std::set<AxisId> used;
    for (const std::vector<Expression>* masks : {&loop.data_masks, &loop.visible})
        for (const Expression& mask : *masks) used.merge(axes_used(mask));
    const std::vector<AxisId> axes(used.begin(), used.end());
    std::vector<Interval> box;
    for (AxisId axis : axes) box.push_back(ranges.at(loop.level, axis));
    std::vector<std::int64_t> position(region_.axes.size(), 0);
    const std::vector<Compiled>& masks = masks_of(loop);
    const auto holds = [&](const Compiled& mask) {
        bool taken = false;
        (void)domain_.choose(mask.evaluate(position), [&](bool condition) {
            taken = condition;
            return domain_.number(0);
        });
        return taken;
    };
    bool seen = false;
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        for (std::size_t k = 0; k < axes.size(); ++k) position[axes[k].index()] = index[k];
        seen = seen || std::all_of(masks.begin(), masks.end(), holds);
    });
    return !seen;
}

template <class Domain>
void TileMachine<Domain>::load(const Load& load, const std::vector<Interval>& box) {
    tiles_.allocate(load.target, box);
    Tile<Value>& tile = tiles_[load.target];
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        Value& to = tile.values[tile.offset(index)];
        if (load.source) {
            const Tile<Value>& from = tiles_[*load.source];
            to = from.values[from.offset(index)];
        } else {
            const Grid<Value>& from = device_.values.at(load.array);
            to = from.values[from.offset(index)];
        }
    });
}

template <class Domain>
std::vector<CompiledExpression<Domain>> TileMachine<Domain>::gather_indices(const Load& load) {
    const Level level = region_.variables[load.target.index()].level;
    typename CompiledExpression<Domain>::Bind bind;
    for (const auto& [array, value] : device_.parameters) bind[array] = {nullptr, value};
    for (const Expression& index : load.gather)
        for (ArrayId array : arrays_read(index))
            if (bind.count(array) == 0)
                bind[array] = {&tiles_[variable_of(region_, array, level)], {}};
    std::vector<CompiledExpression<Domain>> indices;
    for (const Expression& index : load.gather)
        indices.emplace_back(domain_, region_.axes, index, bind);
    return indices;
}

template <class Domain>
void TileMachine<Domain>::gather(const Load& load, const std::vector<Interval>& box) {
    tiles_.allocate(load.target, box);
    const std::vector<CompiledExpression<Domain>> indices = gather_indices(load);
    const std::vector<AxisId>& axes =
        region_.arrays[region_.variables[load.target.index()].array.index()].axes;
    const Grid<Value>& from = device_.values.at(load.array);
    Tile<Value>& tile = tiles_[load.target];
    std::vector<std::int64_t> position(region_.axes.size(), 0);
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        for (std::size_t k = 0; k < axes.size(); ++k) position[axes[k].index()] = index[k];
        std::vector<std::int64_t> at;
        std::vector<Value> places;
        bool inside = true;
        for (std::size_t k = 0; k < indices.size(); ++k) {
            places.push_back(indices[k].evaluate(position));
            at.push_back(domain_.index(places.back()));
            inside = inside && at.back() >= 0 && at.back() < from.extents[k];
        }
        tile.values[tile.offset(index)] =
            inside ? domain_.read(from.values[from.offset(at)], places) : domain_.number(0);
    });
}

/// The part of a variable's array under the ranges of its level.
template <class Domain>
std::vector<Interval> TileMachine<Domain>::box_at(VariableId id, const LevelRanges& ranges) const {
    const Variable& variable = region_.variables[id.index()];
    std::vector<Interval> box;
    for (AxisId axis : region_.arrays[variable.array.index()].axes)
        box.push_back(ranges.at(variable.level, axis));
    return box;
}

template <class Domain>
void TileMachine<Domain>::compute(const Compute& compute, const LevelRanges& ranges) {
    for (VariableId id : compute.targets) tiles_.allocate(id, box_at(id, ranges));
    std::unique_ptr<ComputeRunner<Domain>>& runner = runners_[&compute];
    if (runner == nullptr)
        runner = std::make_unique<ComputeRunner<Domain>>(domain_, region_, compute,
                                                         tiles_.current(), device_.parameters);
    runner->run(ranges);
}

template <class Domain>
void TileMachine<Domain>::save(const Save& save, const std::vector<Interval>& box,
                               const LevelRanges& ranges) {
    if (save.target) tiles_.allocate(*save.target, box_at(*save.target, ranges));
    const Tile<Value>& from = tiles_[save.source];
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        const Value& value = from.values[from.offset(index)];
        if (save.target) {
            Tile<Value>& to = tiles_[*save.target];
            to.values[to.offset(index)] = value;
            return;
        }
        Grid<Value>& to = device_.values.at(save.array);
        const std::size_t at = to.offset(index);
        to.values[at] = domain_.saved(storage_.at(save.array), value);
        ++device_.writes.at(save.array)[at];
    });
}

/// What running a program left in device memory.
template <class Value>
struct Run {
    Device<Value> device;
    std::vector<Counters> counters;
};

/// Runs all regions of a program on inputs and parameters of a domain.
template <class Domain>
[[nodiscard]] Run<typename Domain::Value> run_program(Domain& domain, const Diagram& diagram,
                                                      const TileProgram& program,
                                                      const Grids<typename Domain::Value>& inputs,
                                                      MaskedChunks masked = MaskedChunks::Visit) {
    const std::map<ArrayId, ElementType> storage = storage_types(program);
    Run<typename Domain::Value> run;
    run.device = device_memory(diagram, program, inputs, domain.poison());
    for (const RegionProgram& region : program.regions) {
        TileMachine<Domain> machine(domain, region, run.device, storage, masked);
        run.counters.push_back(walk_region(region, storage, &machine));
    }
    return run;
}

}  // namespace napkin
