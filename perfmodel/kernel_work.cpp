#include "perfmodel/kernel_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "diagrams/contains.h"
#include "perfmodel/block_pattern.h"
#include "perfmodel/element_work.h"
#include "perfmodel/live_registers.h"
#include "perfmodel/move_work.h"
#include "perfmodel/product_work.h"
#include "perfmodel/scattered_reads.h"
#include "schedule/arrange_groups.h"
#include "schedule/defer_saves.h"
#include "schedule/pairs.h"
#include "schedule/plan.h"
#include "schedule/schedule.h"
#include "schedule/statements.h"
#include "schedule/warp_shape.h"

namespace napkin {
namespace {

constexpr double kPerHalf = 3;  ///< to take a number out of a register of two, or put it in
constexpr double kAwait = 40;   ///< a warp's, to wait for a slot of a ring and release it
constexpr std::int64_t kBesideRows = 24;  ///< registers that a thread of rows needs besides
/// Of a warp that multiplies: of eighty kernels those with 224 live registers and more spill, those
/// with 208 a little, which costs less than smaller tiles.
constexpr std::int64_t kBesideProducts = 44;
constexpr std::int64_t kBesideBuffers = 32;  ///< registers that a thread of a group needs besides
constexpr double kPerRanked = 4;  ///< to take a value in that may be the first, and its place
constexpr double kPerPassed = 3;  ///< to pass a value on to a lane further on, which takes it in
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
          scattered_(region, plan, elements_),
          moves_(region, plan, program, elements_, scattered_),
          products_(region, plan, program, elements_, scattered_) {
        for (const schedule::Op& op : program.ops)
            if (const auto product = schedule::paired_product(region, plan, program, op))
                for (const VariableId variable : products_.read_in_pairs(*product))
                    elements_.read_in_pairs(variable);
    }

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
        if (work.groups == 0) work.missing_registers = missing_of_warps(work);
        read(program_.body, work, work.edges, 1);
    }

private:
    void read(const schedule::Body& body, KernelWork& work, UnitWork& into, double times) {
        for (const schedule::Item& item : body) {
            if (const schedule::OpId* op = std::get_if<schedule::OpId>(&item.node))
                (schedule::is_deferred(program_, program_[*op]) ? work.deferred : into) +=
                    work_of(program_[*op]);
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
        if (groups() > 0)
            for (const schedule::Op* op : ops_of(loop))
                if (op->kind == schedule::Op::Kind::Copy && program_.apart(op->id))
                    if (const UnitWork copy = work_of(*op); copy.own_instructions > 0)
                        inner.copied += copy;
        inner.loads = inner.loads || inner.chunk.loaded > 0;
        inner.waits =
            inner.loads && (!plan_.has_products() || (groups() == 0 && inner.stages == 1));
        inner.late = groups() > 0 && is_late(loop);
        if (groups() > 0) inner.alone = copied_alone(loop);
        if (groups() > 0) inner.rings = rings_of(loop);
        work.loops.push_back(std::move(inner));
        masked_ = is_within;
    }

    [[nodiscard]] std::vector<const schedule::Op*> ops_of(const schedule::ChunkLoop& loop) const {
        std::vector<const schedule::Op*> ops;
        for (const schedule::Item& item : loop.body)
            if (const schedule::OpId* id = std::get_if<schedule::OpId>(&item.node))
                ops.push_back(&program_[*id]);
        return ops;
    }

    /// Whether some copy is asked for only when the turn that needs it begins: its agent goes
    /// through a chunk's copies in order, and a place is free when a turn has read it.
    [[nodiscard]] bool is_late(const schedule::ChunkLoop& loop) const {
        const std::vector<const schedule::Op*> ops = ops_of(loop);
        std::int64_t free =
            std::numeric_limits<std::int64_t>::max();  // turns after those it is for
        for (const schedule::Op* copy : ops) {
            if (copy->kind != schedule::Op::Kind::Copy || copy->writes.empty()) continue;
            const schedule::BufferId buffer = copy->writes.front();
            std::optional<std::int64_t> least;
            std::int64_t most = 0;
            for (const schedule::Op* op : ops)
                if (contains(op->reads, buffer)) {
                    least = std::min(least.value_or(op->lead), op->lead);
                    most = std::max(most, op->lead);
                }
            if (!least) continue;
            free = std::min(free, program_[buffer].stages + *least);
            if (program_[buffer].stages > 1 && free - most - 1 <= 0) return true;
        }
        return false;
    }

    /// The rings that bulk copies of a loop fill. What is read ahead of its turn and given back in
    /// it holds its place for the turns between.
    [[nodiscard]] std::vector<RingWork> rings_of(const schedule::ChunkLoop& loop) {
        std::map<schedule::RingId, std::int64_t> read;
        std::vector<RingWork> found;
        for (const schedule::Item& item : loop.body) {
            if (const schedule::Await* await = std::get_if<schedule::Await>(&item.node))
                read[await->ring] = await->lead;
            const schedule::Release* release = std::get_if<schedule::Release>(&item.node);
            if (release == nullptr || !read.contains(release->ring)) continue;
            const schedule::Ring& ring = program_[release->ring];
            RingWork work{0, program_[ring.buffers.front()].stages,
                          read.at(release->ring) - release->lead};
            for (const schedule::Op* op : ops_of(loop))
                if (op->kind == schedule::Op::Kind::Copy && !op->writes.empty() &&
                    contains(ring.buffers, op->writes.front()))
                    work.loaded += work_of(*op).loaded;
            if (work.stages > work.held && work.stages > 1) found.push_back(work);
        }
        return found;
    }

    /// Copies of a chunk that have one place.
    [[nodiscard]] std::vector<UnitWork> copied_alone(const schedule::ChunkLoop& loop) {
        std::vector<UnitWork> found;
        const std::vector<const schedule::Op*> ops = ops_of(loop);
        for (const schedule::Op* copy : ops) {
            if (copy->kind != schedule::Op::Kind::Copy || copy->writes.empty() ||
                program_[copy->writes.front()].stages > 1)
                continue;
            UnitWork work = work_of(*copy);
            for (const schedule::Op* op : ops)
                if (op->kind == schedule::Op::Kind::Multiply &&
                    contains(op->reads, copy->writes.front()))
                    for (const auto& [type, count] : work_of(*op).products)
                        work.products[type] += count;
            found.push_back(std::move(work));
        }
        return found;
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

    /// What threads lack that hold rows or a warp's part of products, as many as the block has.
    [[nodiscard]] std::int64_t missing_of_warps(const KernelWork& work) const {
        constexpr std::int64_t kMost = 255;
        const std::int64_t most =
            std::min(kMost, schedule::kRegisters / static_cast<std::int64_t>(plan_.threads()));
        const std::int64_t held =
            plan_.has_products() ? live_registers(program_) / 4 + kBesideProducts
                                 : static_cast<std::int64_t>(work.register_bytes) / 4 + kBesideRows;
        return std::max<std::int64_t>(0, held - most);
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
        if (op.kind == Kind::Combine) return combined(op.leaf);
        const bool rest = op.kind == Kind::Store && op.portion == schedule::Op::Portion::Tail;
        if (op.kind == Kind::Fetch || op.kind == Kind::Hold || rest || op.rare) return {};
        elements_.start(plan_.products.contains(op.leaf));
        const TileStatement& leaf = *leaves_[op.leaf.index()];
        if (const Compute* compute = std::get_if<Compute>(&leaf.node)) {
            if (const auto paired = schedule::paired_product(region_, plan_, program_, op))
                return products_.paired_left_of(*paired);
            const auto product = plan_.products.find(op.leaf);
            if (product == plan_.products.end())
                return is_put_together(op) ? UnitWork{} : elements_of(*compute, op.leaf);
            if (op.kind == Kind::Elements) return products_.left_of(*compute, product->second);
            if (op.kind == Kind::Accumulate)
                return products_.accumulation_of(*compute, product->second);
            if (op.kind == Kind::Publish)
                return products_.panel_of(*compute, op.side == schedule::Op::Side::Left
                                                        ? product->second.left
                                                        : product->second.right);
            return products_.of(op, *compute, product->second);
        }
        return moves_.of(op, leaf);
    }

    /// Whether it but puts together what warps have folded.
    [[nodiscard]] bool is_put_together(const schedule::Op& op) const {
        if (!plan_.shared_folds.contains(op.leaf)) return false;
        const bool by_lanes = plan_.lane_folds.contains(op.leaf);
        return (op.kind == schedule::Op::Kind::Part) == by_lanes;
    }

    /// Elements in registers, or published in shared memory.
    UnitWork elements_of(const Compute& compute, schedule::LeafId leaf) {
        const double places = elements_.places_of(compute);
        UnitWork work;
        for (const Expression* value : expressions_of(compute.statement))
            work += places * elements_.instructions_of(compute, *value);
        if (std::holds_alternative<Fold>(compute.statement.body)) work.instructions += places;
        if (std::holds_alternative<Select>(compute.statement.body))
            work.instructions += places * kPerRanked;
        if (schedule::is_scan(compute.statement)) work += passed_on(places);
        if (!plan_.has_products()) work += scattered_.read_by(compute, leaf);
        work.instructions += places * kPerHalf * halves_of(compute);
        const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
        if (plan_.has_products() && tile.home == schedule::Home::Matrix)
            for (const Expression* value : expressions_of(compute.statement))
                work += scattered_.of_operand(compute, *value, places);
        // Lanes that fold a row for what comes next wait for each other.
        if (std::holds_alternative<Fold>(compute.statement.body) && plan_.has_products() &&
            tile.home == schedule::Home::Row && !plan_.lane_folds.contains(leaf))
            work.steps += 1;
        if (combines_lanes(compute, leaf)) {
            // Of scans, vectors do not wait for each other; of a selection, a value and where it
            // stands.
            if (tile.home == schedule::Home::Fragment && plan_.serial.contains(leaf))
                work += columns_put_together(tile);
            else
                work.barriers += kShuffled * static_cast<double>(compute.targets.size()) +
                                 (plan_.across_warps ? kAcrossWarps : 0);
        }
        if (tile.home == schedule::Home::Matrix || tile.home == schedule::Home::Shared) {
            work.instructions += places * kPublish;
            work.shared += places * 2;
        }
        return work;
    }

    /// What a scan does beside folding each vector: lanes pass on what theirs come to, which then
    /// stands before each element.
    [[nodiscard]] UnitWork passed_on(double places) const {
        constexpr double kOfVector = 2;  // to tell all lanes the last, and each what is before it
        const auto lanes = static_cast<double>(std::min<std::int64_t>(plan_.lanes_per_row, 32));
        const double vectors = places / static_cast<double>(plan_.vector);
        UnitWork work;
        work.instructions = places + vectors * (std::log2(lanes) * kPerPassed + kOfVector);
        work.shared = vectors * (std::log2(lanes) + kOfVector) * 4;
        return work;
    }

    /// How many numbers that are held two in a register an element is made of, and whether it is
    /// one.
    [[nodiscard]] double halves_of(const Compute& compute) const {
        if (plan_.rows_in_pairs == 0 && plan_.bytes_in_shared == 0) return 0;
        const auto is_half = [&](VariableId variable) {
            const schedule::Tile& tile = plan_.tiles.at(variable);
            return tile.home == schedule::Home::Fragment && tile.type != ElementType::F32;
        };
        return static_cast<double>(
                   std::count_if(compute.reads.begin(), compute.reads.end(), is_half)) +
               (is_half(compute.targets.front()) ? 1 : 0);
    }

    /// Where no product is, whether threads put together what each has folded.
    [[nodiscard]] bool combines_lanes(const Compute& compute, schedule::LeafId leaf) const {
        if (plan_.has_products() || folded_axes(compute.statement).empty() ||
            plan_.lane_folds.contains(leaf))
            return false;
        const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
        if (tile.home == schedule::Home::Fragment && !schedule::is_scan(compute.statement))
            return plan_.serial.contains(leaf) && plan_.sharers() > 1;
        return plan_.lanes_per_row > 1;
    }

    /// What lanes have folded apart in a loop, put together behind it: of columns; of a row it is
    /// not counted.
    [[nodiscard]] UnitWork combined(schedule::LeafId leaf) const {
        if (!plan_.serial.contains(leaf)) return {};
        const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
        return columns_put_together(plan_.tiles.at(compute.targets.front()));
    }

    /// Every column of a fragment that threads share.
    [[nodiscard]] UnitWork columns_put_together(const schedule::Tile& tile) const {
        const auto values =
            static_cast<double>(schedule::columns_of(plan_, *tile.column).of_thread);
        UnitWork work;
        work.barriers = kShuffled * values + (plan_.across_warps ? kAcrossWarps : 0);
        // What a warp exchanges with its lanes, and what it leaves for other warps and reads of
        // every one; all but the first are added.
        const auto lanes = static_cast<double>(plan_.lanes_per_row);
        const double exchanged = std::max(0.0, std::log2(kLanes / lanes));
        const double warps = static_cast<double>(plan_.sharers()) / std::max(1.0, kLanes / lanes);
        const double passed = warps > 1 ? 1 + warps : 0;
        work.instructions = values * static_cast<double>(plan_.threads()) *
                            (2 * exchanged + passed + (warps > 1 ? warps : 0));
        work.turns = values * static_cast<double>(plan_.threads()) / kLanes * (exchanged + passed);
        return work;
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
    MoveWork moves_;
    ProductWork products_;
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
