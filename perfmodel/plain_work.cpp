#include "perfmodel/plain_work.h"

#include <algorithm>
#include <cmath>

#include "derive/contraction.h"
#include "diagrams/contains.h"
#include "diagrams/memory_order.h"
#include "perfmodel/block_pattern.h"
#include "perfmodel/function_cost.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/memory_cost.h"
#include "perfmodel/moved.h"
#include "perfmodel/undivided_block.h"
#include "schedule/plain_block.h"

namespace napkin {
namespace {

constexpr double kWarp = 32;
constexpr double kPlainVector = 16;     ///< bytes of a copy
constexpr double kPerPlainVector = 6;   ///< instructions for one, addresses included
constexpr double kPerPlainElement = 4;  ///< instructions for an element's place, and the loop's own
constexpr double kRead = 2;             ///< for an operand in shared memory, its place included
constexpr double kSharedLatency = 6;    ///< a load from shared memory, in instructions waited for
constexpr double kSpecialLatency = 4;
constexpr double kPerComparison = 6;  ///< of an element with the best so far, and their places
constexpr double kShuffles = 10;      ///< to fold over the lanes of a warp
constexpr std::int64_t kRegisters = 64;

double ceil_of(double count, double parts) {
    return std::ceil(count / parts);
}

/// What one evaluation of a statement's value takes; the seed of a fold is evaluated once a result.
struct Evaluation {
    double instructions = 0;
    double special = 0;
    double reads = 0;
    [[nodiscard]] double latency() const {
        return instructions + kSpecialLatency * special + kSharedLatency * reads;
    }
};

Evaluation evaluation_of(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    std::vector<const Expression*> values;
    if (fold == nullptr)
        values = expressions_of(statement);
    else
        for (const Expression& value : fold->values) values.push_back(&value);
    Evaluation all;
    for (const Expression* value : values)
        walk(*value, [&](const Expression& part) {
            if (std::holds_alternative<Read>(part.node)) all.reads += 1;
            if (std::holds_alternative<Convert>(part.node)) all.instructions += 1;
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr) return;
            const FunctionCost cost = cost_of_call(*call);
            all.instructions += cost.instructions;
            all.special += cost.special;
        });
    if (fold != nullptr) all.instructions += static_cast<double>(values.size());
    return all;
}

class PlainReader {
public:
    PlainReader(const RegionProgram& region, KernelWork& work)
        : region_(region), work_(work), threads_(schedule::plain_threads(region)) {
        for (const Axis& axis : region.axes) extents_.push_back(static_cast<double>(axis.extent));
    }
    void read() {
        work_.warps = threads_ / static_cast<std::int64_t>(kWarp);
        read(region_.body, work_.edges, 1);
    }

private:
    void read(const std::vector<TileStatement>& body, UnitWork& into, double times) {
        double loads = 0;
        for (const TileStatement& statement : body) {
            if (const Parallel* group = std::get_if<Parallel>(&statement.node)) {
                within(group->axis, group->size, [&] { read(group->body, into, times); });
            } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
                read(*loop, times);
            } else if (const Compute* compute = std::get_if<Compute>(&statement.node)) {
                into += work_of(*compute);
                into.barriers += 1;
            } else if (const Load* load = std::get_if<Load>(&statement.node)) {
                if (!is_held(load->target)) continue;
                into += moved_by(statement);
                loads = 1;
            } else {
                const Save& save = std::get<Save>(statement.node);
                if (!is_held(save.source)) continue;
                into += save.target && is_held(*save.target) ? copied(save) : moved_by(statement);
            }
        }
        into.barriers += loads;
    }

    void read(const Loop& loop, double times) {
        LoopWork inner;
        const double extent = extents_[loop.axis.index()];
        inner.chunks = times * ceil_of(extent, static_cast<double>(loop.size));
        inner.is_masked = !loop.visible.empty() || !loop.data_masks.empty();
        const double chunks = inner.chunks;
        within(loop.axis, loop.size, [&] { read(loop.body, inner.chunk, chunks); });
        inner.loads = inner.chunk.loaded > 0;
        work_.loops.push_back(std::move(inner));
    }

    template <class Body>
    void within(AxisId axis, std::int64_t size, const Body& body) {
        double& extent = extents_[axis.index()];
        const double whole = extent;
        extent = std::min(extent, static_cast<double>(size));
        body();
        extent = whole;
    }

    /// Whether threads hold it: tiles further out than a block are the kernel's name for memory.
    [[nodiscard]] bool is_held(VariableId id) const {
        return region_.variables[id.index()].level >= Level::Block;
    }

    /// From one tile of the block to another.
    [[nodiscard]] UnitWork copied(const Save& save) const {
        double count = 1;
        for (const AxisId axis : region_.arrays[save.array.index()].axes)
            count *= extents_[axis.index()];
        UnitWork work;
        work.turns = count / kWarp;
        work.instructions = count * (kPerPlainElement + kRead);
        work.barriers = 1;
        return work;
    }

    [[nodiscard]] UnitWork moved_by(const TileStatement& statement) const {
        const Save* save = std::get_if<Save>(&statement.node);
        const VariableId id = save ? save->source : std::get<Load>(statement.node).target;
        const Variable& variable = region_.variables[id.index()];
        double count = 1;
        for (const std::int64_t extent : variable.capacity_extent)
            count *= static_cast<double>(extent);
        const auto bits = static_cast<double>(bits_of(variable.type));
        const double bytes = count * bits / 8;
        const Moved moved = save ? napkin::moved_by(region_, *save)
                                 : napkin::moved_by(region_, std::get<Load>(statement.node));
        double sectors = 1;
        if (const std::optional<AxisId> along = axis_along(moved);
            along &&
            extents_[along->index()] < static_cast<double>(region_.axes[along->index()].extent))
            sectors = sector_share(extents_[along->index()], bits);
        UnitWork work;
        (save ? work.saved : work.loaded) = sectors * bytes;
        work.shared = save ? 0 : bytes;
        work.turns = save ? count / kWarp : 0;
        work.instructions = save                    ? count * (kPerPlainElement + kRead)
                            : in_vectors(statement) ? bytes / kPlainVector * kPerPlainVector
                                                    : count * kPerPlainElement;
        return work;
    }

    /// As SimtLowering::vector_width asks.
    [[nodiscard]] bool in_vectors(const TileStatement& statement) const {
        const Load& load = std::get<Load>(statement.node);
        const Array& array = region_.arrays[load.array.index()];
        const Variable& tile = region_.variables[load.target.index()];
        if (array.axes.empty() || !load.gather.empty()) return false;
        const std::size_t last = array.axes.size() - 1;
        if (innermost_dimension(array) != last) return false;
        const std::int64_t width = static_cast<std::int64_t>(kPlainVector) * 8 / bits_of(tile.type);
        return region_.axes[array.axes[last].index()].extent % width == 0 &&
               tile.capacity_extent[last] % width == 0;
    }

    [[nodiscard]] UnitWork work_of(const Compute& compute) const {
        const Evaluation each = evaluation_of(compute.statement);
        const Array& target = region_.arrays[compute.statement.targets.front().index()];
        const std::vector<AxisId> over = folded_axes(compute.statement);
        const double results = elements_of(target.axes);
        const double folded = elements_of(over);
        // As SimtLowering::recognise asks.
        const auto counts = [&](AxisId axis) {
            return extents_[axis.index()] > 1 || contains(over, axis);
        };
        if (is_floating(target.type))
            if (std::optional<Contraction> found =
                    contraction_of(compute.statement, target.axes, counts))
                return contraction(each, *std::move(found));
        const Fold* fold = std::get_if<Fold>(&compute.statement.body);
        if (fold != nullptr && fold->every_prefix) return in_order(each, results / folded, folded);
        // As SimtLowering::lower_fold does.
        if (fold != nullptr)
            return region_.monoids[fold->monoid.index()].commutative &&
                           schedule::folds_by_warps(std::llround(results), std::llround(folded),
                                                    threads_)
                       ? across_lanes(each, results, 1, folded)
                       : in_order(each, results, folded);
        if (const Select* select = std::get_if<Select>(&compute.statement.body)) {
            const double ranks = select->rank ? extents_[select->rank->index()] : 1;
            Evaluation compared = each;
            compared.instructions += kPerComparison;
            return across_lanes(compared, results / ranks, ranks, extents_[select->over.index()]);
        }
        UnitWork work = evaluated(each, results);
        work.instructions += results * kPerPlainElement;
        work.steps = turns_of(results) * (each.instructions + kPerPlainElement);
        return work;
    }

    [[nodiscard]] double elements_of(const std::vector<AxisId>& axes) const {
        double elements = 1;
        for (const AxisId axis : axes) elements *= extents_[axis.index()];
        return elements;
    }

    /// How often a thread takes one of so many.
    [[nodiscard]] double turns_of(double count) const {
        return ceil_of(count, static_cast<double>(threads_));
    }

    static UnitWork evaluated(const Evaluation& each, double times) {
        UnitWork work;
        work.instructions = times * (each.instructions + kRead * each.reads);
        work.exponentials = times * each.special;
        work.turns = times * each.reads / kWarp;
        return work;
    }

    /// Every thread adds to a micro-tile of the result in registers, of which each side is read
    /// once; what is beyond the result is computed as well.
    [[nodiscard]] UnitWork contraction(const Evaluation& each, Contraction found) const {
        place_either(found);
        found.rows.insert(found.rows.end(), found.others.begin(), found.others.end());
        const auto rows = std::llround(elements_of(found.rows));
        const auto columns = std::llround(elements_of(found.columns));
        const schedule::ThreadGrid grid = schedule::thread_grid(rows, columns, threads_);
        const double depth = elements_of(found.depth);
        const double passes =
            elements_of(found.batch) *
            static_cast<double>(grid.row_passes(rows) * grid.column_passes(columns));
        const auto products = static_cast<double>(grid.rows * grid.columns);
        const auto sides = static_cast<double>(grid.rows + grid.columns);
        const auto threads = static_cast<double>(threads_);
        UnitWork work = evaluated({1, 0, sides / products}, passes * threads * products * depth);
        work.exponentials +=
            elements_of(found.batch) * static_cast<double>(rows * columns) * each.special;
        work.steps = passes * depth * products;
        return work;
    }
    /// A row by one thread, each element after the one before.
    [[nodiscard]] UnitWork in_order(const Evaluation& each, double rows, double length) const {
        UnitWork work = evaluated(each, rows * length);
        work.instructions += rows * length * kPerPlainElement;
        work.turns += rows * length / kWarp;
        work.steps = turns_of(rows) * length * (each.latency() + kPerPlainElement);
        return work;
    }
    /// A row by the lanes of one warp, which then combine what they have, so often.
    [[nodiscard]] UnitWork across_lanes(const Evaluation& each, double rows, double times,
                                        double length) const {
        UnitWork work = evaluated(each, rows * times * length);
        const double turns = ceil_of(length, kWarp);
        work.instructions += rows * times * kWarp * (turns * kPerPlainElement + kShuffles);
        work.steps = turns_of(rows * kWarp) * times *
                     (turns * (each.instructions + kPerPlainElement) + kShuffles * kSharedLatency);
        return work;
    }

    const RegionProgram& region_;
    KernelWork& work_;
    std::int64_t threads_;
    std::vector<double> extents_;  ///< of axes, where the reader stands
};

}  // namespace

KernelWork plain_work(const RegionProgram& region, const RegionCost& cost) {
    KernelWork work;
    work.name = region.name;
    work.target = "simt";
    add_transfers(cost, work);
    work.shared_bytes = static_cast<double>(cost.levels.at(Level::Block).allocated.bytes());
    work.register_bytes = kRegisters;
    work.pattern = pattern_of(region);
    const std::optional<RegionProgram> undivided = undivided_block(region);
    if (undivided)
        if (const auto bits = allocated_bits(*undivided, Level::Block))
            work.shared_bytes = std::ceil(static_cast<double>(*bits) / 8);
    PlainReader(undivided ? *undivided : region, work).read();
    return work;
}

}  // namespace napkin
