#include "derive/interpret/walk.h"

#include <algorithm>
#include <utility>

#include "derive/operations.h"
#include "diagrams/index/mask.h"
#include "diagrams/overloaded.h"
#include "diagrams/rounding.h"

namespace napkin {

namespace {

class Walker {
public:
    Walker(const RegionProgram& region, const std::map<ArrayId, ElementType>& storage,
           Executor* executor)
        : region_(region),
          storage_(storage),
          executor_(executor),
          ranges_(region.axes),
          lifetimes_(lifetimes_of(region)) {
        counters_.region = region.name;
        counters_.blocks = 1;
        collect(region.body);
    }

    Counters run() {
        walk(region_.body);
        for (const auto& [loop, is_entered] : entered_)
            counters_.skips_all = counters_.skips_all || !is_entered;
        return counters_;
    }

private:
    void collect(const std::vector<TileStatement>& body);
    void note_positions(const Expression& expression);
    void walk(const std::vector<TileStatement>& body);
    /// Groups, or chunks of a loop where there is one.
    void visit_ranges(const std::vector<TileStatement>& body, AxisId axis, std::int64_t size,
                      Level level, const Loop* loop);
    bool visit_one(const std::vector<TileStatement>& body, AxisId axis, Interval range, Level level,
                   const Loop* loop);
    void walk_chunk(const Loop& loop);
    void load(const Load& load);
    void compute(const Compute& compute);
    void save(const Save& save);
    void hold(VariableId id);
    void release(VariableId id);
    [[nodiscard]] std::vector<Interval> axis_box(ArrayId array, Level level) const;
    void count_transfer(Level level, ElementType type, std::int64_t values);
    [[nodiscard]] std::int64_t capacity_of(const Variable& variable) const;

    const RegionProgram& region_;
    const std::map<ArrayId, ElementType>& storage_;
    Executor* executor_;
    LevelRanges ranges_;
    Lifetimes lifetimes_;
    std::map<const Loop*, index::Mask> masks_;
    std::set<AxisId> positional_;  // axes whose position, not only width, matters to counts
    std::map<Level, std::int64_t> held_;
    std::map<Level, std::int64_t> held_bits_;
    std::int64_t weight_ = 1;
    Counters counters_;
    std::map<const Loop*, bool> entered_;
};

void Walker::note_positions(const Expression& expression) {
    if (std::holds_alternative<AxisIndex>(expression.node)) return;
    for (AxisId axis : axes_used(expression)) positional_.insert(axis);
}

void Walker::collect(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        std::visit(overloaded{
                       [&](const Parallel& parallel) {
                           const std::int64_t extent = region_.axes[parallel.axis.index()].extent;
                           if (parallel.level == Level::Block)
                               counters_.blocks *= ceil_quotient(extent, parallel.size);
                           collect(parallel.body);
                       },
                       [&](const Loop& loop) {
                           for (const Expression& mask : loop.visible)
                               for (AxisId axis : axes_used(mask)) positional_.insert(axis);
                           if (!loop.visible.empty())
                               masks_.emplace(&loop, index::Mask(region_.axes, loop.visible));
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

void Walker::walk(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body) {
        if (executor_ != nullptr) executor_->focus(statement);
        if (const auto born = lifetimes_.births.find(&statement); born != lifetimes_.births.end())
            for (VariableId id : born->second) hold(id);
        std::visit(overloaded{
                       [&](const Parallel& node) {
                           visit_ranges(node.body, node.axis, node.size, node.level, nullptr);
                       },
                       [&](const Loop& node) {
                           visit_ranges(node.body, node.axis, node.size, node.level, &node);
                       },
                       [&](const Load& node) { load(node); },
                       [&](const Compute& node) { compute(node); },
                       [&](const Save& node) { save(node); },
                   },
                   statement.node);
        if (const auto dead = lifetimes_.deaths.find(&statement); dead != lifetimes_.deaths.end())
            for (VariableId id : dead->second) release(id);
    }
}

void Walker::visit_ranges(const std::vector<TileStatement>& body, AxisId axis, std::int64_t size,
                          Level level, const Loop* loop) {
    const Interval whole = ranges_.at(level, axis);
    const std::int64_t width = whole.high - whole.low + 1;
    const std::int64_t full = width / size;
    const bool multiply = executor_ == nullptr && positional_.count(axis) == 0 && full > 1;
    const auto one = [&](std::int64_t start, std::int64_t count) {
        const Interval range{start, std::min(start + size - 1, whole.high)};
        weight_ *= count;
        const bool visited = visit_one(body, axis, range, level, loop);
        if (loop != nullptr) {
            (visited ? counters_.chunks_visited : counters_.chunks_skipped) += weight_;
            bool& is_entered = entered_[loop];
            is_entered = is_entered || visited;
        }
        weight_ /= count;
    };
    if (multiply) {
        one(whole.low, full);
        if (width % size != 0) one(whole.low + full * size, 1);
        return;
    }
    for (std::int64_t start = whole.low; start <= whole.high; start += size) one(start, 1);
}

bool Walker::visit_one(const std::vector<TileStatement>& body, AxisId axis, Interval range,
                       Level level, const Loop* loop) {
    const std::vector<Interval> saved = ranges_.narrow(level, axis, range);
    const auto mask = masks_.find(loop);
    const bool visited = mask == masks_.end() || mask->second.meets(ranges_.ranges(level));
    const bool processor = executor_ != nullptr && loop == nullptr && level != Level::Block;
    if (processor) executor_->enter(level, range.low);
    if (visited) loop == nullptr ? walk(body) : walk_chunk(*loop);
    if (processor) executor_->leave();
    ranges_.restore(level, axis, saved);
    return visited;
}

void Walker::walk_chunk(const Loop& loop) {
    Executor* const executor = executor_;
    if (executor_ != nullptr && executor_->leaves_out(loop, ranges_)) executor_ = nullptr;
    walk(loop.body);
    executor_ = executor;
}

std::vector<Interval> Walker::axis_box(ArrayId array, Level level) const {
    std::vector<Interval> box;
    for (AxisId axis : region_.arrays[array.index()].axes) box.push_back(ranges_.at(level, axis));
    return box;
}

std::int64_t Walker::capacity_of(const Variable& variable) const {
    std::int64_t capacity = 1;
    for (std::int64_t extent : variable.capacity_extent) capacity *= extent;
    return capacity;
}

void Walker::hold(VariableId id) {
    const Variable& variable = region_.variables[id.index()];
    const std::int64_t capacity = capacity_of(variable);
    held_[variable.level] += capacity;
    held_bits_[variable.level] += capacity * bits_of(variable.type);
    std::int64_t& peak = counters_.peak[variable.level];
    std::int64_t& peak_bits = counters_.peak_bits[variable.level];
    peak = std::max(peak, held_[variable.level]);
    peak_bits = std::max(peak_bits, held_bits_[variable.level]);
}

void Walker::release(VariableId id) {
    const Variable& variable = region_.variables[id.index()];
    held_[variable.level] -= capacity_of(variable);
    held_bits_[variable.level] -= capacity_of(variable) * bits_of(variable.type);
}

void Walker::count_transfer(Level level, ElementType type, std::int64_t values) {
    counters_.transferred[level] += weight_ * values;
    counters_.transferred_bits[level] += weight_ * values * bits_of(type);
}

std::int64_t volume(const std::vector<Interval>& box) {
    std::int64_t values = 1;
    for (const Interval& range : box)
        values *= std::max<std::int64_t>(range.high - range.low + 1, 0);
    return values;
}

void Walker::load(const Load& load) {
    const Variable& target = region_.variables[load.target.index()];
    const bool gathers = !load.gather.empty();
    const std::vector<Interval> box = gathers
                                          ? axis_box(target.array, target.level)
                                          : footprint(region_, load, ranges_.ranges(target.level));
    count_transfer(target.level, target.type, volume(box));
    if (executor_ == nullptr) return;
    gathers ? executor_->gather(load, box) : executor_->load(load, box);
}

void Walker::compute(const Compute& compute) {
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
    const OperationCounts operations = operations_of(compute.statement);
    counters_.flops += weight_ * (operations.flops_each * each + operations.flops_once * once);
    counters_.exponentials +=
        weight_ * (operations.exponentials_each * each + operations.exponentials_once * once);
    if (executor_ != nullptr) executor_->compute(compute, ranges_);
}

void Walker::save(const Save& save) {
    const Variable& source = region_.variables[save.source.index()];
    const std::vector<Interval> box = axis_box(save.array, source.level);
    const ElementType type = save.target ? source.type : storage_.at(save.array);
    count_transfer(source.level, type, volume(box));
    if (executor_ != nullptr) executor_->save(save, box, ranges_);
}

}  // namespace

Counters walk_region(const RegionProgram& region, const std::map<ArrayId, ElementType>& storage,
                     Executor* executor) {
    return Walker(region, storage, executor).run();
}

}  // namespace napkin
