// The interpreter proper: walks a region's statements under ranges, moves tiles, counts. Counting
// alone skips the values and, along axes whose position nothing depends on, visits one full group
// and the ragged last one and multiplies.
#include "derive/interpret.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "derive/interpret/compute.h"
#include "derive/interpret/device.h"
#include "derive/interpret/lifetimes.h"
#include "derive/interpret/memory.h"
#include "derive/interpret/processor_tiles.h"
#include "derive/operations.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

class Interpreter {
public:
    /// Counts only when `device` is null.
    Interpreter(const RegionProgram& region, Device* device, Arithmetic arithmetic,
                const std::map<ArrayId, ElementType>& storage)
        : region_(region),
          device_(device),
          arithmetic_(arithmetic),
          storage_(storage),
          ranges_(region.axes),
          lifetimes_(lifetimes_of(region)),
          tiles_(region) {
        counters_.region = region.name;
        counters_.blocks = 1;
        collect(region.body);
    }

    Counters run() {
        walk(region_.body);
        return counters_;
    }

private:
    void collect(const std::vector<TileStatement>& body);
    void note_positions(const Expression& expression);
    void walk(const std::vector<TileStatement>& body);
    void visit_ranges(const std::vector<TileStatement>& body, AxisId axis, std::int64_t size,
                      Level level, const std::vector<Expression>& visible, bool is_chunk);
    bool visit_one(const std::vector<TileStatement>& body, AxisId axis, Interval range, Level level,
                   const std::vector<Expression>& visible, bool is_chunk);
    void load(const Load& load);
    void gather(const Load& load);
    void compute(const TileStatement& statement, const Compute& compute);
    void save(const Save& save);
    void hold(VariableId id);
    void release(VariableId id);
    [[nodiscard]] std::vector<Interval> axis_box(ArrayId array, Level level) const;
    void count_transfer(Level level, ElementType type, std::int64_t values);
    [[nodiscard]] std::int64_t capacity_of(const Variable& variable) const;

    const RegionProgram& region_;
    Device* device_;
    Arithmetic arithmetic_;
    const std::map<ArrayId, ElementType>& storage_;
    LevelRanges ranges_;
    Lifetimes lifetimes_;
    ProcessorTiles tiles_;
    std::set<AxisId> positional_;  // axes whose position, not only width, matters to counts
    std::map<const TileStatement*, std::unique_ptr<ComputeRunner>> runners_;
    std::map<Level, std::int64_t> held_;
    std::map<Level, std::int64_t> held_bits_;
    std::int64_t weight_ = 1;
    Counters counters_;
};

void Interpreter::note_positions(const Expression& expression) {
    if (std::holds_alternative<AxisIndex>(expression.node)) return;
    for (AxisId axis : axes_used(expression)) positional_.insert(axis);
}

void Interpreter::collect(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        std::visit(overloaded{
                       [&](const Parallel& parallel) {
                           const std::int64_t extent = region_.axes[parallel.axis.index()].extent;
                           if (parallel.level == Level::Block)
                               counters_.blocks *= (extent + parallel.size - 1) / parallel.size;
                           collect(parallel.body);
                       },
                       [&](const Loop& loop) {
                           for (const Expression& mask : loop.visible)
                               for (AxisId axis : axes_used(mask)) positional_.insert(axis);
                           collect(loop.body);
                       },
                       [&](const Load& load) {
                           for (const auto& dimension : load.index) {
                               for (const Expression& index : dimension) note_positions(index);
                               if (dimension.size() > 1)
                                   for (const Expression& index : dimension)
                                       for (AxisId axis : axes_used(index))
                                           positional_.insert(axis);
                           }
                       },
                       [](const Compute&) {},
                       [](const Save&) {},
                   },
                   statement.node);
}

void Interpreter::walk(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body) {
        if (device_ != nullptr) tiles_.focus(statement);
        if (const auto born = lifetimes_.births.find(&statement); born != lifetimes_.births.end())
            for (VariableId id : born->second) hold(id);
        std::visit(overloaded{
                       [&](const Parallel& node) {
                           visit_ranges(node.body, node.axis, node.size, node.level, {}, false);
                       },
                       [&](const Loop& node) {
                           visit_ranges(node.body, node.axis, node.size, node.level, node.visible,
                                        true);
                       },
                       [&](const Load& node) { node.gather.empty() ? load(node) : gather(node); },
                       [&](const Compute& node) { compute(statement, node); },
                       [&](const Save& node) { save(node); },
                   },
                   statement.node);
        if (const auto dead = lifetimes_.deaths.find(&statement); dead != lifetimes_.deaths.end())
            for (VariableId id : dead->second) release(id);
    }
}

void Interpreter::visit_ranges(const std::vector<TileStatement>& body, AxisId axis,
                               std::int64_t size, Level level,
                               const std::vector<Expression>& visible, bool is_chunk) {
    const Interval whole = ranges_.at(level, axis);
    const std::int64_t width = whole.high - whole.low + 1;
    const std::int64_t full = width / size;
    const bool multiply = device_ == nullptr && positional_.count(axis) == 0 && full > 1;
    const auto one = [&](std::int64_t start, std::int64_t count) {
        const Interval range{start, std::min(start + size - 1, whole.high)};
        weight_ *= count;
        const bool visited = visit_one(body, axis, range, level, visible, is_chunk);
        if (is_chunk) (visited ? counters_.chunks_visited : counters_.chunks_skipped) += weight_;
        weight_ /= count;
    };
    if (multiply) {
        one(whole.low, full);
        if (width % size != 0) one(whole.low + full * size, 1);
        return;
    }
    for (std::int64_t start = whole.low; start <= whole.high; start += size) one(start, 1);
}

bool Interpreter::visit_one(const std::vector<TileStatement>& body, AxisId axis, Interval range,
                            Level level, const std::vector<Expression>& visible, bool is_chunk) {
    const std::vector<Interval> saved = ranges_.narrow(level, axis, range);
    bool visited = true;
    if (!visible.empty()) {
        Expression together = visible.front();
        for (std::size_t i = 1; i < visible.size(); ++i)
            together = apply(Function::And, {together, visible[i]});
        visited = coverage(region_.axes, together, ranges_.ranges(level)) != Coverage::Empty;
    }
    const bool processor = !is_chunk && level != Level::Block;
    if (processor) tiles_.enter(level, range.low);
    if (visited) walk(body);
    if (processor) tiles_.leave();
    ranges_.restore(level, axis, saved);
    return visited;
}

std::vector<Interval> Interpreter::axis_box(ArrayId array, Level level) const {
    std::vector<Interval> box;
    for (AxisId axis : region_.arrays[array.index()].axes) box.push_back(ranges_.at(level, axis));
    return box;
}

std::int64_t Interpreter::capacity_of(const Variable& variable) const {
    std::int64_t capacity = 1;
    for (std::int64_t extent : variable.capacity_extent) capacity *= extent;
    return capacity;
}

void Interpreter::hold(VariableId id) {
    const Variable& variable = region_.variables[id.index()];
    const std::int64_t capacity = capacity_of(variable);
    held_[variable.level] += capacity;
    held_bits_[variable.level] += capacity * bits_of(variable.type);
    std::int64_t& peak = counters_.peak[variable.level];
    std::int64_t& peak_bits = counters_.peak_bits[variable.level];
    peak = std::max(peak, held_[variable.level]);
    peak_bits = std::max(peak_bits, held_bits_[variable.level]);
}

void Interpreter::release(VariableId id) {
    const Variable& variable = region_.variables[id.index()];
    held_[variable.level] -= capacity_of(variable);
    held_bits_[variable.level] -= capacity_of(variable) * bits_of(variable.type);
}

void Interpreter::count_transfer(Level level, ElementType type, std::int64_t values) {
    counters_.transferred[level] += weight_ * values;
    counters_.transferred_bits[level] += weight_ * values * bits_of(type);
}

std::int64_t volume(const std::vector<Interval>& box) {
    std::int64_t values = 1;
    for (const Interval& range : box)
        values *= std::max<std::int64_t>(range.high - range.low + 1, 0);
    return values;
}

void Interpreter::load(const Load& load) {
    const Variable& target = region_.variables[load.target.index()];
    const std::vector<Interval> box = footprint(region_, load, ranges_.ranges(target.level));
    count_transfer(target.level, target.type, volume(box));
    if (device_ == nullptr) return;
    tiles_.allocate(load.target, box);
    Tile& tile = tiles_[load.target];
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        double& to = tile.values[tile.offset(index)];
        if (load.source) {
            const Tile& from = tiles_[*load.source];
            to = from.values[from.offset(index)];
        } else {
            const Tensor& from = device_->values.at(load.array);
            to = from.values[static_cast<std::size_t>(from.offset(index))];
        }
    });
}

/// Element by element; an index outside of the array (its read stands under a guard that is false
/// there) loads zero.
void Interpreter::gather(const Load& load) {
    const Variable& target = region_.variables[load.target.index()];
    const std::vector<Interval> box = axis_box(target.array, target.level);
    count_transfer(target.level, target.type, volume(box));
    if (device_ == nullptr) return;
    tiles_.allocate(load.target, box);
    CompiledExpression::Bind bind;
    for (const auto& [array, value] : device_->parameters) bind[array] = {nullptr, value};
    for (const Expression& index : load.gather)
        for (ArrayId array : arrays_read(index))
            if (bind.count(array) == 0)
                bind[array] = {&tiles_[variable_of(region_, array, target.level)], 0};
    std::vector<CompiledExpression> indices;
    for (const Expression& index : load.gather) indices.emplace_back(region_.axes, index, bind);
    const std::vector<AxisId>& axes = region_.arrays[target.array.index()].axes;
    const Tensor& from = device_->values.at(load.array);
    Tile& tile = tiles_[load.target];
    std::vector<std::int64_t> position(region_.axes.size(), 0);
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        for (std::size_t k = 0; k < axes.size(); ++k) position[axes[k].index()] = index[k];
        std::vector<std::int64_t> at;
        bool inside = true;
        for (std::size_t k = 0; k < indices.size(); ++k) {
            at.push_back(static_cast<std::int64_t>(indices[k].evaluate(position)));
            inside = inside && at.back() >= 0 && at.back() < from.extents[k];
        }
        tile.values[tile.offset(index)] =
            inside ? from.values[static_cast<std::size_t>(from.offset(at))] : 0;
    });
}

void Interpreter::compute(const TileStatement& statement, const Compute& compute) {
    std::int64_t once = 1;
    const std::vector<AxisId> axes = region_.arrays[compute.statement.targets.front().index()].axes;
    for (AxisId axis : axes) {
        const Interval range = ranges_.at(compute.level, axis);
        once *= range.high - range.low + 1;
    }
    std::int64_t each = once;
    for (AxisId axis : folded_axes(compute.statement)) {
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
        const Interval range = ranges_.at(compute.level, axis);
        each *= range.high - range.low + 1;
    }
    const Operations operations = operations_of(compute.statement);
    counters_.flops += weight_ * (operations.flops_each * each + operations.flops_once * once);
    counters_.exponentials +=
        weight_ * (operations.exponentials_each * each + operations.exponentials_once * once);
    if (device_ == nullptr) return;
    for (VariableId id : compute.targets) {
        const Variable& target = region_.variables[id.index()];
        tiles_.allocate(id, axis_box(target.array, target.level));
    }
    std::unique_ptr<ComputeRunner>& runner = runners_[&statement];
    if (runner == nullptr)
        runner = std::make_unique<ComputeRunner>(region_, compute, tiles_.current(),
                                                 device_->parameters, arithmetic_);
    runner->run(ranges_);
}

void Interpreter::save(const Save& save) {
    const Variable& source = region_.variables[save.source.index()];
    const std::vector<Interval> box = axis_box(save.array, source.level);
    const ElementType type = save.target ? source.type : storage_.at(save.array);
    count_transfer(source.level, type, volume(box));
    if (device_ == nullptr) return;
    if (save.target) {
        const Variable& target = region_.variables[save.target->index()];
        tiles_.allocate(*save.target, axis_box(save.array, target.level));
    }
    const Tile& from = tiles_[save.source];
    for_each_index(box, [&](const std::vector<std::int64_t>& index) {
        const double value = from.values[from.offset(index)];
        if (save.target) {
            Tile& to = tiles_[*save.target];
            to.values[to.offset(index)] = value;
            return;
        }
        Tensor& to = device_->values.at(save.array);
        const auto at = static_cast<std::size_t>(to.offset(index));
        to.values[at] = arithmetic_ == Arithmetic::Storage ? round_to(type, value) : value;
        ++device_->writes.at(save.array)[at];
    });
}

}  // namespace

Result<Interpretation> interpret(const Diagram& diagram, const TileProgram& program,
                                 const Tensors& inputs, Arithmetic arithmetic) {
    if (const std::optional<Diagnostic> broken = check_inputs(diagram, inputs)) return *broken;
    const std::map<ArrayId, ElementType> storage = storage_types(program);
    Device device = device_memory(diagram, program, inputs);
    Interpretation result;
    for (const RegionProgram& region : program.regions)
        result.counters.push_back(Interpreter(region, &device, arithmetic, storage).run());
    const WritesAmiss amiss = writes_amiss(device);
    result.never_written = amiss.never;
    result.written_twice = amiss.twice;
    for (ArrayId output : outputs_of(diagram))
        result.outputs[output] = std::move(device.values.at(output));
    return result;
}

std::vector<Counters> count(const TileProgram& program) {
    const std::map<ArrayId, ElementType> storage = storage_types(program);
    std::vector<Counters> counters;
    for (const RegionProgram& region : program.regions)
        counters.push_back(Interpreter(region, nullptr, Arithmetic::Exact, storage).run());
    return counters;
}

}  // namespace napkin
