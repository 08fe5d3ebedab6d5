// Scheduled programs: what the agents of a block do with which buffers, in which order and under
// which synchronisation. The one tree between tile programs and printed kernels.
//
// A region's loads, computations and saves become operations that read and write buffers; loops
// over chunks keep them in a body. Passes then decide, a file each:
//
//   form         operations, buffers and agents from a tile program and its plan
//   form_agents  an agent of its own for copies, and the rings that it fills, on targets with one
//   rotate       how many chunks ahead of its loop an operation runs, and in which order
//   defer_saves  results that blocks of several tiles save under the next one's products
//   add_stages   how many chunks' contents a buffer holds
//   synchronise  waits and barriers, from what operations read and write
//   add_finishes where products are waited for that go on beside other work
//   add_tokens   where agents wait for each other's rings
//   take_turns   where warp groups start products one after the other
//   place        where buffers lie in shared memory, from when they are in use
//   verify       that all of it is right, by running it; shares no code with the passes above
//
// Everything is a value with an id, so that the model costs what is printed, and search can choose
// it. What is chosen and not derived is the RegionSchedule (schedule/region_schedule.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/id.h"
#include "schedule/kept_ends.h"
#include "schedule/statements.h"

namespace napkin::schedule {

using AgentId = Id<struct AgentTag>;    ///< into Program::agents
using BufferId = Id<struct BufferTag>;  ///< into Program::buffers
using OpId = Id<struct OpTag>;          ///< into Program::ops
using RingId = Id<struct RingTag>;      ///< into Program::rings

inline constexpr std::int64_t kWarpsOfGroup = 4;

/// Warps of a block that run one body.
struct Agent {
    enum class Job { Everything, Load, Compute, Store };
    Job job = Job::Everything;
    std::int64_t warps = 4;
    bool operator==(const Agent&) const = default;
};

/// What a processor has one of, shared by all warps on it.
enum class Unit { Tensor, Exponential, Issue, Shared, Copy };
inline constexpr std::array kUnits = {Unit::Tensor, Unit::Exponential, Unit::Issue, Unit::Shared,
                                      Unit::Copy};
[[nodiscard]] const char* name_of(Unit unit);

/// Clocks for which one agent's operation on one chunk keeps each unit busy, were it alone.
struct Cost {
    std::array<double, kUnits.size()> clocks{};
    [[nodiscard]] double of(Unit unit) const { return clocks[static_cast<std::size_t>(unit)]; }
    double& of(Unit unit) { return clocks[static_cast<std::size_t>(unit)]; }
    /// Issue where none is busy.
    [[nodiscard]] Unit busiest() const {
        Unit most = Unit::Issue;
        for (const Unit unit : kUnits)
            if (of(unit) > of(most)) most = unit;
        return most;
    }
    [[nodiscard]] double of_busiest() const { return of(busiest()); }
    auto operator<=>(const Cost&) const = default;
};

/// Of what lies in shared memory: bulk copies ask for it.
inline constexpr std::int64_t kSharedAlignment = 128;

struct Buffer {
    enum class Place { Registers, Shared };
    std::string name;
    Place place = Place::Registers;
    /// Bytes of one chunk's content: of the block in shared memory, of a thread in registers.
    std::int64_t bytes = 0;
    /// Chunks whose contents it holds at once; chunk c is in slot c modulo stages.
    std::int64_t stages = 1;
    std::int64_t offset = 0;  ///< in shared memory, bytes
    /// Primitives that use it bring their own barriers; it shares its memory with nothing.
    bool guarded = false;
    std::int64_t alignment = kSharedAlignment;  ///< of its offset
    bool operator==(const Buffer&) const = default;
};

/// How an operation's writes become visible to its own warp.
enum class Completion {
    Immediate,  // in order
    CopyGroup,  // when so many groups of asynchronous copies are through
    Filled,     // when the barrier of the ring says so
    Hardware,   // a result in registers for which its reader waits by itself
    Finish,     // a result in registers, at its Finish
};

/// What one bulk copy brings: a box of an array, dimension by dimension of the array.
struct Box {
    std::vector<std::uint32_t> dimensions;  ///< of the array, the contiguous one first
    std::vector<std::int64_t> extents;      ///< along each of them
    bool operator==(const Box&) const = default;
};

struct Op {
    /// Publish: all threads compute a matrix or vector in shared memory, or stage a result there.
    /// Fetch: the first operands of a product come to registers, before its chunk's turn.
    /// Combine: the lanes of a row put together what each has folded in the loop before.
    /// Part: what a warp has folded of its share of a row's columns comes to shared memory, for
    /// those that share the row.
    /// Of products of warp groups: Pack rounds a left operand in registers, Prepare brings the
    /// state to what the product is added to; Accumulate multiplies a product by what is constant
    /// along its depth and adds it to the state, where the tensor core cannot.
    /// Hold: results are rounded and kept in registers, of which a Store in a loop saves a slice a
    /// turn, those of the tile before (schedule/defer_saves.h).
    enum class Kind {
        Copy,
        Fetch,
        Pack,
        Prepare,
        Multiply,
        Accumulate,
        Elements,
        Part,
        Combine,
        Publish,
        Hold,
        Store,
    };
    /// Of a product whose operands are fetched: all but its last step along the depth, and that. Of
    /// a save of what is held: a slice, and what is left.
    enum class Portion { Whole, Head, Tail };
    /// Which operand of a product is published.
    enum class Side { None, Left, Right };
    OpId id;
    AgentId agent;
    Kind kind = Kind::Elements;
    Portion portion = Portion::Whole;
    Side side = Side::None;
    /// Of what is published, whether threads have it in registers; of what is packed, whether it is
    /// rounded already.
    bool held = false;
    bool again = false;  ///< of elements, whether they may be computed again, from what they read
    bool rare = false;   ///< whether few chunks need it, which cost nothing then
    /// Of a product: whether its operands are in shared memory and it adds to what is there, so
    /// that they can be fetched ahead.
    bool fetchable = false;
    std::string text;  ///< `load K`, `S`: what it brings, computes or saves
    /// Which load, computation or save of the region it carries out, counted in the order of the
    /// text (leaves_of in schedule/form.h); several operations may share one.
    LeafId leaf;
    std::vector<BufferId> reads;
    std::vector<BufferId> writes;
    Completion completion = Completion::Immediate;
    /// Of an agent's copy: its boxes, or why no box brings it and threads copy it.
    std::optional<Box> box;
    std::string unboxed;
    Cost cost;
    /// Chunks by which it is ahead of the loop around it, and by how many it may be, copies aside.
    std::int64_t lead = 0;
    std::int64_t most_lead = 0;
    /// Of a product: chunks by which it is waited for later than its own turn.
    std::int64_t lag = 0;
    bool operator==(const Op&) const = default;
};

/// Buffers that one agent fills for another, chunk after chunk: barriers say when the content of a
/// slot is there, and when nobody needs it any more.
struct Ring {
    std::vector<BufferId> buffers;  ///< of as many stages
    BufferId barriers;              ///< two of 8 bytes a stage
    bool bulk = true;               ///< whether bulk copies fill it, or threads
    bool operator==(const Ring&) const = default;
};
/// Waits until a ring's content for the chunk that is `lead` ahead is there.
struct Await {
    RingId ring;
    std::int64_t lead = 0;
    bool operator==(const Await&) const = default;
};
/// The agent is through with that content.
struct Release {
    RingId ring;
    std::int64_t lead = 0;
    bool operator==(const Release&) const = default;
};

/// Waits until a product is through, with all but the last ones that were started: so many that are
/// as far ahead as it is, and so many that are not, which some turns lack.
struct Finish {
    OpId op;
    std::int64_t lead = 0;  ///< of the chunk whose product it waits for
    std::int64_t pending = 0;
    std::int64_t pending_apart = 0;
    bool operator==(const Finish&) const = default;
};

struct ChunkLoop;
/// Makes what was done before visible to all warps of the block: at most `pending` groups of copies
/// stay on their way (none is waited for where empty), then all warps meet.
struct Sync {
    std::optional<std::int64_t> pending;
    bool barrier = true;
    bool operator==(const Sync&) const = default;
};
/// Ends a group of asynchronous copies.
struct Commit {
    bool operator==(const Commit&) const = default;
};
/// Waits until it is this warp group's turn to start products, and hands the turn on to the next.
struct TakeTurn {
    bool operator==(const TakeTurn&) const = default;
};
struct PassTurn {
    bool operator==(const PassTurn&) const = default;
};
struct Item;
using Body = std::vector<Item>;

/// Chunks of an axis, in order. An operation that is `lead` ahead has run for the first `lead`
/// chunks before the loop begins, those with the largest lead first.
struct ChunkLoop {
    AxisId axis;
    std::int64_t size = 1;
    std::uint32_t source = 0;  ///< which loop of the region, counted in the order of the text
    std::vector<Item> body;
    /// Clocks from one chunk to the next, their lower bound, and the unit that sets it; none where
    /// the body was not timed.
    double interval = 0;
    double bound = 0;
    std::optional<Unit> binds;
    std::int64_t registers = 0;  ///< of a thread, that buffers take at the worst place of a turn
    bool operator==(const ChunkLoop&) const;
};
struct Item {
    std::variant<OpId, Sync, Commit, Await, Release, Finish, TakeTurn, PassTurn, ChunkLoop> node;
    bool operator==(const Item&) const = default;
};
inline bool ChunkLoop::operator==(const ChunkLoop& other) const {
    return axis == other.axis && size == other.size && source == other.source &&
           body == other.body && interval == other.interval && bound == other.bound &&
           binds == other.binds && registers == other.registers;
}

struct Program {
    std::string region;
    std::vector<Agent> agents;
    std::vector<Buffer> buffers;
    std::vector<Op> ops;
    std::vector<Ring> rings;
    Body body;
    /// Whether a block runs the body for one tile after another: what the agents of the others fill
    /// goes on into the next tile, and the turn of a ring that the body fills is the tile's.
    bool persistent = false;
    std::int64_t resident = 1;  ///< blocks that share the registers of a multiprocessor
    /// Left operands in registers, by the leaf of their product.
    std::map<LeafId, BufferId> left_of;
    /// Buffers of the region's variables that have one.
    std::map<VariableId, BufferId> buffer_of;
    /// Marks of a loop's chunks, where data decides which are visited, by the loop's source: a byte
    /// a chunk, as far as they go.
    std::map<std::uint32_t, BufferId> marks;
    /// By a loop's source: the least and the greatest of what data masks read of each of its
    /// chunks, which a block of several tiles finds out before the first.
    struct Kept {
        KeptEnds ends;
        std::optional<BufferId> buffer;  ///< none where there is nothing to keep
    };
    std::map<std::uint32_t, Kept> kept_ends;
    /// Where the agent that copies puts the tile that it has drawn, of a grid whose tiles are
    /// counted.
    std::optional<BufferId> next_tile;
    /// By a loop's source: where the agent that copies lists its chunks for the others, which so
    /// look for none themselves.
    std::map<std::uint32_t, BufferId> lists;
    /// Through which warps combine values, where a fold does.
    std::optional<BufferId> scratch;
    std::int64_t shared_bytes = 0;
    [[nodiscard]] const Op& operator[](OpId id) const { return ops[id.index()]; }
    Op& operator[](OpId id) { return ops[id.index()]; }
    [[nodiscard]] const Buffer& operator[](BufferId id) const { return buffers[id.index()]; }
    Buffer& operator[](BufferId id) { return buffers[id.index()]; }
    [[nodiscard]] const Ring& operator[](RingId id) const { return rings[id.index()]; }
    /// Whether an agent other than that which computes carries the operation out.
    [[nodiscard]] bool apart(OpId id) const {
        const std::size_t agent = ops[id.index()].agent.index();
        return agent < agents.size() && agents[agent].job == Agent::Job::Load;
    }
    bool operator==(const Program&) const = default;
};

/// Chunks that a list holds at once, and what it takes of shared memory: two barriers and a number
/// for each. A chunk is listed as 4 bytes, behind all of a tile one that says so.
inline constexpr std::int64_t kListed = 8;
inline constexpr std::int64_t kListBytes = kListed * (16 + 4);

/// What operations and buffers are called, by their ids: `publish S_left`, `K`; of several with one
/// name that loops work with, the second has `-2` behind it.
struct ProgramNames {
    std::vector<std::string> ops;
    std::vector<std::string> products;  ///< what a product computes; empty for others
    std::vector<std::string> buffers;
};
[[nodiscard]] ProgramNames names_of(const Program& program);
[[nodiscard]] std::vector<std::string> buffer_names_of(const Program& program);
/// What comes of the choices, in a few lines: memory, for each loop how near to its bound it is, by
/// the model's clocks, and which copies of a load agent do not come in bulk, and why.
[[nodiscard]] std::vector<std::string> summary(const Program& program,
                                               const std::vector<Axis>& axes);
/// For people: agents, buffers, and the body with its leads, waits and barriers.
[[nodiscard]] std::string print(const Program& program, const std::vector<Axis>& axes);

}  // namespace napkin::schedule
