#include "perfmodel/kernel_work.h"

#include <algorithm>
#include <cmath>

#include "diagrams/contains.h"
#include "perfmodel/block_pattern.h"
#include "perfmodel/element_work.h"
#include "perfmodel/live_registers.h"
#include "perfmodel/moved.h"
#include "perfmodel/scattered_reads.h"
#include "schedule/arrange_groups.h"
#include "schedule/operation_cost.h"
#include "schedule/own_copy.h"
#include "schedule/pairs.h"
#include "schedule/plan.h"
#include "schedule/schedule.h"
#include "schedule/statements.h"
#include "schedule/warp_shape.h"

namespace napkin {
namespace {

using schedule::Unit;

constexpr double kVector = 16;            ///< bytes of a copy or a store
constexpr double kPerVector = 4;          ///< instructions for one, addresses included
constexpr double kPerPiece = 24;          ///< for one whose place each thread has to find
constexpr double kPerShifted = 40;        ///< for one that two are put together to
constexpr double kPerElement = 10;        ///< for an element alone, and its place
constexpr double kPerWord = 8;            ///< integers of 4 bits
constexpr double kLine = 128;             ///< bytes of a cache's line
constexpr double kPerLine = 4;            ///< turns for one that is moved for few of its bytes
constexpr double kTogether = 4;           ///< copies of a thread that are on their way at once
constexpr double kPublish = 1;            ///< to round and store an element
constexpr double kPairAlone = 3;          ///< to read two of 16 bits, each by a load, into a word
constexpr double kWidenedPair = 4.25;     ///< of 4 bits: a quarter of a read, and to numbers
constexpr double kWordsAtOnce = 4;        ///< a lane's, of integers of 4 bits
constexpr double kAwait = 40;             ///< a warp's, to wait for a slot of a ring and release it
constexpr std::int64_t kBesideRows = 24;  ///< registers that a thread of rows needs besides
constexpr std::int64_t kBesideBuffers = 32;  ///< registers that a thread of a group needs besides
/// Barriers that take as long as lanes that put together what they have folded, and as warps.
constexpr double kShuffled = 3;
constexpr double kAcrossWarps = 4;

/// Walks a scheduled program with its plan.
class Reader {
public:
    Reader(const RegionProgram& region, const schedule::Plan& plan,
           const schedule::Program& program)
        : plan_(plan),
          program_(program),
          leaves_(schedule::leaves_of(region)),
          loops_(schedule::loops_of(region)),
          region_(region),
          elements_(region, plan),
          scattered_(region, plan, elements_) {}

    void read(KernelWork& work) {
        work.tensor_core = true;
        work.warps = 0;
        for (const schedule::Agent& agent : program_.agents) work.warps += agent.warps;
        work.groups = groups();
        work.shared_bytes = static_cast<double>(program_.shared_bytes);
        // Beside products the compiler loads ahead into whatever is free.
        if (plan_.has_products())
            for (const schedule::Buffer& buffer : program_.buffers)
                work.register_bytes += buffer.place == schedule::Buffer::Place::Registers
                                           ? static_cast<double>(buffer.bytes)
                                           : 0;
        else
            work.register_bytes = static_cast<double>(live_registers(program_));
        if (!plan_.has_products()) work.missing_registers = missing_of_rows(work);
        read(program_.body, work, work.edges, 1);
    }

private:
    void read(const schedule::Body& body, KernelWork& work, UnitWork& into, double times) {
        for (const schedule::Item& item : body) {
            if (const schedule::OpId* op = std::get_if<schedule::OpId>(&item.node))
                into += work_of(program_[*op]);
            if (const schedule::Sync* sync = std::get_if<schedule::Sync>(&item.node))
                into.barriers += sync->barrier ? 1 : 0;
            if (std::holds_alternative<schedule::Await>(item.node))
                into.instructions += kAwait * kLanes * static_cast<double>(work_warps());
            if (const schedule::Finish* finish = std::get_if<schedule::Finish>(&item.node))
                into.steps += finish->pending + finish->pending_apart == 0 ? 1 : 0;
            if (const schedule::ChunkLoop* loop = std::get_if<schedule::ChunkLoop>(&item.node))
                read(*loop, work, times);
        }
    }

    void read(const schedule::ChunkLoop& loop, KernelWork& work, double times) {
        const std::int64_t extent = region_.axes[loop.axis.index()].extent;
        LoopWork inner;
        inner.chunks =
            times * std::ceil(static_cast<double>(extent) / static_cast<double>(loop.size));
        const bool is_within = masked_;
        masked_ = masked_ || !loops_[loop.source]->visible.empty() ||
                  !loops_[loop.source]->data_masks.empty();
        inner.is_masked = masked_;
        for (const schedule::Item& item : loop.body)
            if (const schedule::OpId* op = std::get_if<schedule::OpId>(&item.node)) {
                // What a product is made of, where tests belong to it, is published or rounded.
                const Compute* compute =
                    std::get_if<Compute>(&leaves_[program_[*op].leaf.index()]->node);
                if (compute != nullptr && !plan_.products.contains(program_[*op].leaf))
                    inner.mask += elements_.mask_of(*compute) * elements_.places_of(*compute);
                inner.loads =
                    inner.loads || (compute != nullptr && reads_along(*compute, loop.axis));
                for (const schedule::BufferId written : program_[*op].writes)
                    if (program_[*op].kind == schedule::Op::Kind::Copy)
                        inner.stages = std::max(inner.stages, program_[written].stages);
            }
        const double chunks = inner.chunks;
        work.missing_registers = std::max(work.missing_registers, missing_registers(loop));
        read(loop.body, work, inner.chunk, chunks);
        inner.loads = inner.loads || inner.chunk.loaded > 0;
        inner.waits = inner.loads && !plan_.has_products();
        work.loops.push_back(std::move(inner));
        masked_ = is_within;
    }

    /// Whether it reads elements straight from device memory, others in every chunk.
    [[nodiscard]] bool reads_along(const Compute& compute, AxisId axis) const {
        bool found = false;
        for (const Expression* value : expressions_of(compute.statement))
            walk(*value, [&](const Expression& part) {
                const Read* read = std::get_if<Read>(&part.node);
                if (read == nullptr || !contains(region_.arrays[read->array.index()].axes, axis))
                    return;
                const std::optional<VariableId> variable =
                    schedule::variable_read(region_, compute, read->array);
                if (!variable) return;
                const auto tile = plan_.tiles.find(*variable);
                found = found ||
                        (tile != plan_.tiles.end() && tile->second.home == schedule::Home::Device);
            });
        return found;
    }

    /// What threads lack that hold rows, as many of them as the block has.
    [[nodiscard]] std::int64_t missing_of_rows(const KernelWork& work) const {
        constexpr std::int64_t kMost = 255;
        const std::int64_t most =
            std::min(kMost, schedule::kRegisters / static_cast<std::int64_t>(plan_.threads()));
        const auto held = static_cast<std::int64_t>(work.register_bytes) / 4;
        return std::max<std::int64_t>(0, held + kBesideRows - most);
    }

    /// What a warp group's threads lack where they round an operand: for what it is made of, for
    /// itself and for the results that products add to.
    [[nodiscard]] std::int64_t missing_registers(const schedule::ChunkLoop& loop) const {
        if (groups() == 0) return 0;
        std::int64_t results = 0;
        std::int64_t rounded = 0;
        const auto registers = [&](const std::vector<schedule::BufferId>& buffers) {
            std::int64_t bytes = 0;
            for (const schedule::BufferId buffer : buffers)
                if (program_[buffer].place == schedule::Buffer::Place::Registers)
                    bytes += program_[buffer].bytes;
            return bytes / 4;
        };
        for (const schedule::Item& item : loop.body) {
            const schedule::OpId* id = std::get_if<schedule::OpId>(&item.node);
            if (id == nullptr) continue;
            const schedule::Op& op = program_[*id];
            if (op.kind == schedule::Op::Kind::Prepare) results += registers(op.writes);
            if (op.kind == schedule::Op::Kind::Pack)
                rounded = std::max(rounded, registers(op.reads) + registers(op.writes));
        }
        const std::int64_t held = std::max(loop.registers, results + rounded);
        return held + kBesideBuffers - schedule::registers_of_group(program_);
    }

    UnitWork work_of(const schedule::Op& op) {
        using Kind = schedule::Op::Kind;
        if (op.kind == Kind::Fetch || op.kind == Kind::Combine || op.rare) return {};
        elements_.start(plan_.products.contains(op.leaf));
        const TileStatement& leaf = *leaves_[op.leaf.index()];
        if (const Compute* compute = std::get_if<Compute>(&leaf.node)) {
            if (const auto paired = schedule::paired_product(region_, plan_, program_, op))
                return paired_left_of(*paired);
            const auto product = plan_.products.find(op.leaf);
            if (product == plan_.products.end())
                return is_put_together(op) ? UnitWork{} : elements_of(*compute, op.leaf);
            if (op.kind == Kind::Elements) return left_of(*compute, product->second);
            if (op.kind == Kind::Accumulate) return accumulation_of(*compute, product->second);
            if (op.kind == Kind::Publish)
                return panel_of(*compute, op.side == schedule::Op::Side::Left
                                              ? product->second.left
                                              : product->second.right);
            return product_of(op, *compute, product->second);
        }
        return moved_by(op, leaf);
    }

    /// Whether it but puts together what warps have folded.
    [[nodiscard]] bool is_put_together(const schedule::Op& op) const {
        if (!plan_.shared_folds.contains(op.leaf)) return false;
        const bool by_lanes = plan_.lane_folds.contains(op.leaf);
        return (op.kind == schedule::Op::Kind::Part) == by_lanes;
    }

    /// Copies and saves: 16 bytes an instruction, and what computes its addresses; a box comes by
    /// itself.
    UnitWork moved_by(const schedule::Op& op, const TileStatement& leaf) const {
        UnitWork work;
        const bool is_save = std::holds_alternative<Save>(leaf.node);
        const VariableId variable =
            is_save ? std::get<Save>(leaf.node).source : std::get<Load>(leaf.node).target;
        const auto bits = static_cast<double>(bits_of(region_.variables[variable.index()].type));
        const double bytes =
            elements_.elements(region_.variables[variable.index()].array) * bits / 8;
        if (op.kind != schedule::Op::Kind::Publish)
            (is_save ? work.saved : work.loaded) = sectors(leaf, bits) * bytes;
        const Load* load = std::get_if<Load>(&leaf.node);
        if (load != nullptr && scattered_.comes_one_by_one(*load))
            work += scattered_.loaded(*load);
        else if (load != nullptr && !op.box && op.kind == schedule::Op::Kind::Copy &&
                 plan_.tiles.at(variable).home != schedule::Home::Fragment)
            add_own_copy(*load, bytes, program_.apart(op.id), work);
        else if (!op.box)
            work.instructions = moves(variable, bits, bytes);
        if (!plan_.has_products()) work.turns += kPerLine * lines_beyond(leaf, bits, bytes);
        for (const schedule::BufferId buffer : op.writes)
            if (program_[buffer].place == schedule::Buffer::Place::Shared) work.shared += bytes;
        return work;
    }

    /// Instructions that move so many bytes of an array, in rows of registers as many at once as a
    /// thread has side by side.
    [[nodiscard]] double moves(VariableId variable, double bits, double bytes) const {
        const auto tile = plan_.tiles.find(variable);
        const bool rows = !plan_.has_products() && tile != plan_.tiles.end() &&
                          tile->second.home == schedule::Home::Fragment;
        const double together = rows ? static_cast<double>(plan_.vector) * bits / 8 : kVector;
        constexpr double kWord = 4;
        if (together < kWord) return bytes / together * kPerElement;
        return bytes / std::min(together, kVector) * kPerVector;
    }

    /// Lines of a cache that rows are moved through, beyond those that neighbours fill.
    [[nodiscard]] double lines_beyond(const TileStatement& leaf, double bits, double bytes) const {
        const Save* save = std::get_if<Save>(&leaf.node);
        const ArrayId id = save ? save->array : std::get<Load>(leaf.node).array;
        const VariableId variable = save ? save->source : std::get<Load>(leaf.node).target;
        const auto tile = plan_.tiles.find(variable);
        if (tile == plan_.tiles.end() || tile->second.home != schedule::Home::Fragment) return 0;
        const Array& array = region_.arrays[id.index()];
        double run = bits / 8;
        for (std::size_t i = array.axes.size(); i-- > 0 && run < kLine;) {
            const AxisId axis = array.axes[array.layout.empty() ? i : array.layout[i]];
            run *= elements_.extent(axis);
            if (elements_.extent(axis) < static_cast<double>(region_.axes[axis.index()].extent))
                break;
        }
        return bytes / std::min(run, kLine) - bytes / kLine;
    }

    /// By threads, which are an agent of their own or those that compute.
    void add_own_copy(const Load& load, double bytes, bool apart, UnitWork& work) const {
        using How = schedule::OwnCopy::How;
        const schedule::OwnCopy copy = schedule::own_copy_of(region_, plan_, load);
        const double each = copy.how == How::Shifted    ? kPerShifted
                            : copy.how == How::Elements ? kPerElement
                            : copy.gathered             ? kPerPiece
                                                        : kPerVector;
        const double copies = bytes / static_cast<double>(copy.bytes);
        work.instructions = copies * each;
        const std::int64_t warps = apart ? schedule::kWarpsOfGroup : work_warps();
        const double of_thread = copies / (kLanes * static_cast<double>(warps));
        const bool waits = copy.how != How::Vectors;
        if (apart || waits) work.own_instructions = of_thread * each;
        if (waits) work.own_trips = std::ceil(of_thread / kTogether);
    }

    /// Bytes that memory gives for each of them.
    double sectors(const TileStatement& leaf, double bits) const {
        const Save* save = std::get_if<Save>(&leaf.node);
        const std::optional<AxisId> along =
            axis_along(save ? napkin::moved_by(region_, *save)
                            : napkin::moved_by(region_, std::get<Load>(leaf.node)));
        if (!along) return 1;
        const double piece = elements_.extent(*along);
        if (piece >= static_cast<double>(region_.axes[along->index()].extent)) return 1;
        return sector_share(piece, bits);
    }

    UnitWork product_of(const schedule::Op& op, const Compute& compute,
                        const schedule::Product& product) {
        const auto warps = static_cast<double>(work_warps());
        const double share =
            op.cost.of(Unit::Tensor) * schedule::tensor_rate(groups() > 0, product) * warps;
        const double depth = static_cast<double>(plan_.extents.at(product.depth));
        const double columns =
            static_cast<double>(schedule::columns_of(plan_, product.column).of_warp);
        const auto rows = static_cast<double>(plan_.rows_of_warp);
        const double part = share / (2 * rows * columns * depth * warps);
        UnitWork work;
        work.products[product.type] = share;
        // A warp group waits where the program says so.
        if (groups() == 0) work.steps = part * std::ceil(depth / schedule::kTile);
        if (groups() > 0 && op.completion == schedule::Completion::Immediate &&
            !is_narrow(product)) {
            work.awaited[product.type] = share;
            work.steps = part;
        }
        // Each warp fetches its rows of the left operand and its columns of the right one; of a
        // group's warps each its rows, and all together the columns.
        const double right = groups() > 0 ? columns / schedule::kWarpsOfGroup : columns;
        const double fetched =
            (schedule::in_matrix(plan_, product.left) ? rows + right : right) * depth * warps;
        work.shared = part * fetched * static_cast<double>(bits_of(product.type)) / 8;
        double each = is_accumulated(op.leaf) ? 0 : accumulated_each(compute, product);
        // Parts of a sum in 8 bits are waited for, and added up.
        if (is_narrow(product)) {
            const auto parts = static_cast<double>(schedule::narrow_parts(plan_, product));
            work.steps = parts - 1;
            each += parts;
        }
        work.instructions = part * each * rows * columns * warps;
        // Operands are taken apart: clamped, rounded, masked and subtracted; and every step's sum
        // is added up.
        constexpr double kApart = 4;
        constexpr double kStep = 8;
        if (is_in_parts(product.type))
            work.instructions +=
                part * (kApart * (rows + columns) + rows * columns / kStep) * depth * warps;
        // Pairs are words already; of others two elements are put into each.
        if (!schedule::in_matrix(plan_, product.left) &&
            !schedule::paired_value(region_, plan_, program_, op.leaf))
            work.instructions += part * rows * depth * warps / 2;
        return work;
    }

    /// Instructions for an element of what a product is multiplied by and added to.
    double accumulated_each(const Compute& compute, const schedule::Product& product) {
        double each = 0;
        for (const Expression& seed : std::get<Fold>(compute.statement.body).seed)
            each += elements_.instructions_of(compute, seed).instructions;
        for (const Expression& outside : product.outside)
            each += 1 + elements_.instructions_of(compute, outside).instructions;
        return each;
    }

    [[nodiscard]] bool is_accumulated(schedule::LeafId product) const {
        return std::any_of(program_.ops.begin(), program_.ops.end(), [&](const schedule::Op& op) {
            return op.leaf == product && op.kind == schedule::Op::Kind::Accumulate;
        });
    }

    UnitWork accumulation_of(const Compute& compute, const schedule::Product& product) {
        UnitWork work;
        work.instructions =
            accumulated_each(compute, product) * static_cast<double>(plan_.rows_of_warp) *
            static_cast<double>(schedule::columns_of(plan_, product.column).of_warp) *
            static_cast<double>(work_warps());
        return work;
    }

    /// A left operand that every warp computes for its own rows, element by element.
    UnitWork left_of(const Compute& compute, const schedule::Product& product) {
        elements_.start(false);
        return elements_of_left(product) * elements_.instructions_of(compute, product.left.value);
    }

    /// One that is computed in pairs, two elements an instruction. What they are made of in shared
    /// memory comes a word at a time, with nothing to convert, integers of 4 bits four words at a
    /// time, of each of which a lane takes a byte; of device memory each is loaded alone.
    UnitWork paired_left_of(schedule::LeafId leaf) const {
        const Expression value = *schedule::paired_value(region_, plan_, program_, leaf);
        const Compute& maker = *schedule::maker_of(region_, plan_, leaf);
        UnitWork pair;
        walk(value, [&](const Expression& part) {
            pair.instructions += std::holds_alternative<Apply>(part.node) ? 1 : 0;
        });
        for (const Expression& read : schedule::elements_read(value)) {
            const ArrayId array = std::get<Read>(read.node).array;
            const VariableId variable = *schedule::variable_read(region_, maker, array);
            const schedule::Tile& tile = plan_.tiles.at(variable);
            if (tile.type == ElementType::I4) {
                pair.instructions += kWidenedPair;
                pair.turns += 1 / kWordsAtOnce / kLanes;
                continue;
            }
            const bool is_far = tile.home == schedule::Home::Device;
            pair.instructions += is_far ? kPairAlone : 1;
            pair.turns += (is_far ? 2 : 1) / kLanes;
        }
        return elements_of_left(plan_.products.at(leaf)) / 2 * std::move(pair);
    }

    /// Elements of a left operand in registers, of all warps.
    [[nodiscard]] double elements_of_left(const schedule::Product& product) const {
        return static_cast<double>(plan_.rows_of_warp) *
               static_cast<double>(plan_.extents.at(product.depth)) *
               static_cast<double>(work_warps());
    }

    /// Whether elements of a matrix come straight from device memory, where no copy has gone ahead.
    [[nodiscard]] bool is_far(const Compute& compute, const Expression& value) const {
        bool found = false;
        walk(value, [&](const Expression& part) {
            const Read* read = std::get_if<Read>(&part.node);
            if (read == nullptr || region_.arrays[read->array.index()].axes.size() < 2) return;
            const auto variable = schedule::variable_read(region_, compute, read->array);
            const auto tile = variable ? plan_.tiles.find(*variable) : plan_.tiles.end();
            found = found ||
                    (tile != plan_.tiles.end() && tile->second.home == schedule::Home::Device &&
                     tile->second.type == ElementType::I4);
        });
        return found;
    }

    UnitWork panel_of(const Compute& compute, const schedule::Operand& side) {
        const double count =
            static_cast<double>(schedule::panel_extent(plan_, side.panel->rows) *
                                schedule::panel_extent(plan_, side.panel->columns));
        UnitWork work = count * elements_.instructions_of(compute, side.value);
        work.instructions += count * kPublish;
        work.shared += count * 2;
        if (groups() == 0 && is_far(compute, side.value)) {
            const double of_thread =
                count / kPerWord / (kLanes * static_cast<double>(work_warps()));
            work.own_trips = std::ceil(of_thread / kTogether);
        }
        if (groups() == 0) work += scattered_.of_operand(compute, side.value, count);
        return work;
    }

    /// Elements in registers, or published in shared memory.
    UnitWork elements_of(const Compute& compute, schedule::LeafId leaf) {
        const double places = elements_.places_of(compute);
        UnitWork work;
        for (const Expression* value : expressions_of(compute.statement))
            work += places * elements_.instructions_of(compute, *value);
        if (std::holds_alternative<Fold>(compute.statement.body)) work.instructions += places;
        if (!plan_.has_products()) work += scattered_.read_by(compute, leaf);
        const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
        // Lanes that fold a row for what comes next wait for each other.
        if (std::holds_alternative<Fold>(compute.statement.body) && plan_.has_products() &&
            tile.home == schedule::Home::Row && !plan_.lane_folds.contains(leaf))
            work.steps += 1;
        if (combines_lanes(compute, leaf)) {
            // Of a fragment, every column that a thread has.
            const bool columns = tile.home == schedule::Home::Fragment;
            const auto values = static_cast<double>(
                columns ? schedule::columns_of(plan_, *tile.column).of_thread : 1);
            work.barriers += kShuffled * values + (plan_.across_warps ? kAcrossWarps : 0);
        }
        if (tile.home == schedule::Home::Matrix || tile.home == schedule::Home::Shared) {
            work.instructions += places * kPublish;
            work.shared += places * 2;
        }
        return work;
    }

    /// Where no product is, whether threads put together what each has folded.
    [[nodiscard]] bool combines_lanes(const Compute& compute, schedule::LeafId leaf) const {
        if (plan_.has_products() || !std::holds_alternative<Fold>(compute.statement.body) ||
            plan_.lane_folds.contains(leaf))
            return false;
        const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
        if (tile.home == schedule::Home::Fragment)
            return plan_.serial.contains(leaf) && plan_.sharers() > 1;
        return plan_.lanes_per_row > 1;
    }

    [[nodiscard]] std::int64_t work_warps() const { return plan_.warps_down * plan_.warps_across; }
    [[nodiscard]] std::int64_t groups() const {
        return program_.rings.empty() ? 0 : work_warps() / schedule::kWarpsOfGroup;
    }

    const schedule::Plan& plan_;
    const schedule::Program& program_;
    std::vector<const TileStatement*> leaves_;
    std::vector<const Loop*> loops_;
    const RegionProgram& region_;
    ElementWork elements_;
    ScatteredReads scattered_;
    bool masked_ = false;  ///< within a loop of which chunks may be left out
};

}  // namespace

std::variant<KernelWork, schedule::Refusal> tensor_work(const RegionProgram& region,
                                                        const RegionCost& cost,
                                                        const KernelRequest& request) {
    const RegionProgram simpler = schedule::simplified(region);
    const auto made = schedule::schedule(simpler, request.schedule, request.limits);
    if (const schedule::Refusal* reason = std::get_if<schedule::Refusal>(&made)) return *reason;
    const schedule::Scheduled& scheduled = std::get<schedule::Scheduled>(made);
    KernelWork work;
    work.name = region.name;
    work.choices = scheduled.choices;
    add_transfers(cost, work);
    Reader(scheduled.region, scheduled.plan, scheduled.program()).read(work);
    work.pattern = pattern_of(simpler);
    work.together = scheduled.plan.order.together;
    work.target = request.limits.warp_groups ? "sm_90a" : "sm_80";
    return work;
}

}  // namespace napkin
