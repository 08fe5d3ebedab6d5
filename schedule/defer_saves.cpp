#include "schedule/defer_saves.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "schedule/arrange_groups.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

constexpr std::int64_t kWord = 4;

/// A save that could be deferred.
struct Candidate {
    ArrayId array;
    std::size_t save = 0;  ///< where it stands in the body, and the loop before it
    std::size_t loop = 0;
    std::int64_t slices = 0;
    std::int64_t held = 0;  ///< bytes of a thread
};

/// Whether all that the loop computes is to add products, one of which is always on its way.
bool only_adds(const Program& program, const ChunkLoop& loop) {
    return std::all_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
        const OpId* op = std::get_if<OpId>(&item.node);
        return op != nullptr &&
               (program.apart(*op) || program[*op].lag > 0 || is_deferred(program, program[*op]));
    });
}

std::optional<std::size_t> loop_of(const Program& program, std::size_t save) {
    for (std::size_t i = 0; i < save; ++i)
        if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&program.body[i].node))
            return only_adds(program, *loop) ? std::optional(i) : std::nullopt;
    return std::nullopt;
}

std::vector<Candidate> candidates(const Program& program, const RegionProgram& region,
                                  const Plan& plan) {
    std::vector<Candidate> found;
    if (!program.persistent) return found;
    const std::vector<const TileStatement*> leaves = leaves_of(region);
    for (std::size_t i = 0; i < program.body.size(); ++i) {
        const OpId* id = std::get_if<OpId>(&program.body[i].node);
        if (id == nullptr || program[*id].kind != Op::Kind::Store || program[*id].writes.empty() ||
            is_deferred(program, program[*id]))
            continue;
        const Save& save = std::get<Save>(leaves[program[*id].leaf.index()]->node);
        const auto type = static_cast<std::int64_t>(bits_of(region.stored.at(save.array))) / 8;
        const std::optional<std::size_t> loop = loop_of(program, i);
        if (!loop || 2 * type != kWord) continue;
        const ColumnShare columns = columns_of(plan, *plan.tiles.at(save.source).column);
        found.push_back({save.array, i, *loop, ceil_quotient(columns.of_warp * type, kSliceBytes),
                         program[program[*id].reads.front()].bytes / 2});
    }
    return found;
}

std::int64_t chunks_of(const RegionProgram& region, const ChunkLoop& loop) {
    return ceil_quotient(region.axes[loop.axis.index()].extent, loop.size);
}

/// Whether every slice finds a turn, and they are a share of the tile's time. Measured on an H200:
/// 4096^3 with a byte for every clock of the loop gains 1.4 %, 8192^3 with half of that nothing,
/// and two products with half of it lose 1 %.
bool gains(const Program& program, const RegionProgram& region, const Candidate& candidate) {
    constexpr double kBytesOfClock = 0.75;
    constexpr std::int64_t kLanes = 32;
    const ChunkLoop& loop = std::get<ChunkLoop>(program.body[candidate.loop].node);
    const std::int64_t chunks = chunks_of(region, loop);
    const std::int64_t saved = candidate.held * kLanes * program.agents.front().warps;
    return chunks >= candidate.slices &&
           static_cast<double>(saved) >=
               kBytesOfClock * loop.interval * static_cast<double>(chunks);
}

bool fits(const Program& program, const ChunkLoop& loop, std::int64_t held) {
    return loop.registers + held / kWord <= registers_of_group(program) - kRegistersBesideBuffers;
}

OpId add_op(Program& program, Op op) {
    op.id = {static_cast<std::uint32_t>(program.ops.size())};
    program.ops.push_back(std::move(op));
    return program.ops.back().id;
}

/// The save becomes a hold where it stands, the last thing of a turn, and one behind the loop.
void defer(Program& program, const Candidate& candidate) {
    const OpId hold = std::get<OpId>(program.body[candidate.save].node);
    const BufferId held{static_cast<std::uint32_t>(program.buffers.size())};
    program.buffers.push_back({program[program[hold].reads.front()].name + "_held",
                               Buffer::Place::Registers, candidate.held, 1, 0, false});
    Op slice = program[hold];
    slice.portion = Op::Portion::Head;
    slice.text += ", a slice of the tile before";
    slice.reads = {held};
    Op rest = program[hold];
    rest.portion = Op::Portion::Tail;
    rest.text += ", what is left of the tile before";
    rest.reads = {held};
    program[hold].kind = Op::Kind::Hold;
    program[hold].text = "hold" + program[hold].text.substr(std::strlen("save"));
    program[hold].writes = {held};
    ChunkLoop& loop = std::get<ChunkLoop>(program.body[candidate.loop].node);
    loop.body.push_back({add_op(program, std::move(slice))});
    loop.registers += candidate.held / kWord;
    const auto behind = program.body.begin() + static_cast<std::ptrdiff_t>(candidate.loop) + 1;
    program.body.insert(behind, {add_op(program, std::move(rest))});
}

}  // namespace

std::variant<Program, Refusal> defer_saves(Program program, const RegionProgram& region,
                                           const Plan& plan, const RegionSchedule& wanted) {
    const std::size_t saves = candidates(program, region, plan).size();
    for (std::size_t i = 0, kept = 0; i < saves; ++i) {
        const Candidate candidate = candidates(program, region, plan)[kept];
        const ChunkLoop& loop = std::get<ChunkLoop>(program.body[candidate.loop].node);
        const std::string& name = region.arrays[candidate.array.index()].name;
        const bool is_wanted =
            choice_of(wanted.deferred, name).value_or(gains(program, region, candidate));
        if (is_wanted && fits(program, loop, candidate.held)) {
            defer(program, candidate);
            continue;
        }
        ++kept;
        if (const auto own = wanted.deferred.find(name);
            own != wanted.deferred.end() && own->second)
            return Refusal{"registers do not hold it beside the sums of the next tile",
                           "leave it out, and the planner chooses", SettingName{"deferred", name}};
    }
    return program;
}

bool is_deferred(const Program& program, const RegionProgram& region, ArrayId array) {
    const std::vector<const TileStatement*> leaves = leaves_of(region);
    return std::any_of(program.ops.begin(), program.ops.end(), [&](const Op& op) {
        return op.kind == Op::Kind::Hold &&
               std::get<Save>(leaves[op.leaf.index()]->node).array == array;
    });
}

bool is_deferred(const Program& program, const Op& op) {
    return op.kind == Op::Kind::Store &&
           std::any_of(program.ops.begin(), program.ops.end(), [&](const Op& other) {
               return other.kind == Op::Kind::Hold && other.writes == op.reads;
           });
}

std::vector<ArrayId> deferrable(const Program& program, const RegionProgram& region,
                                const Plan& plan) {
    std::vector<ArrayId> arrays;
    for (const Candidate& candidate : candidates(program, region, plan))
        if (fits(program, std::get<ChunkLoop>(program.body[candidate.loop].node), candidate.held))
            arrays.push_back(candidate.array);
    return arrays;
}

}  // namespace napkin::schedule
