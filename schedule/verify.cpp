#include "schedule/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace napkin::schedule {
namespace {

/// Shared memory as one run leaves it.
class Machine {
public:
    /// `inner`: of loops inside others.
    Machine(const Program& program, std::int64_t trips, std::int64_t inner,
            std::set<std::string>& faults)
        : program_(program), trips_(trips), inner_(inner), faults_(faults) {}

    void run() {
        find_writers(program_.body);
        const std::int64_t tiles = program_.persistent ? 3 : 1;
        for (std::int64_t tile = 0; tile < tiles; ++tile)
            run_turn(program_.body, tile, tiles, false);
        for (const Touch& touch : touches_)
            if (touch.copy && !touch.over) fault(*touch.op, "is on its way when the block ends");
    }

private:
    static constexpr std::int64_t kNever = INT64_MAX;

    /// An access to bytes of shared memory.
    struct Touch {
        const Op* op = nullptr;
        BufferId buffer;
        std::int64_t begin = 0;
        std::int64_t end = 0;
        bool write = false;
        bool copy = false;
        std::int64_t chunk = 0;
        std::size_t loop = 0;        // which loop's, counted by entries
        std::int64_t group = 0;      // of copies
        bool over = false;           // a copy that its own thread has waited for
        std::int64_t seen = kNever;  // the epoch from which on all threads see it
    };

    void find_writers(const Body& body) {
        for (const Item& item : body) {
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
                find_writers(loop->body);
            if (const OpId* id = std::get_if<OpId>(&item.node))
                for (const BufferId written : program_[*id].writes) writers_[written] = &body;
        }
    }

    void fault(const Op& op, const std::string& what) {
        faults_.insert(fmt::format("`{}` {} (loops of {} chunks)", op.text, what, trips_));
    }

    /// `ahead`: only copies are made, before what else leads the loop begins.
    void run_turn(const Body& body, std::int64_t turn, std::int64_t chunks, bool ahead) {
        turns_[&body] = turn;
        for (const Item& item : body) {
            if (const OpId* id = std::get_if<OpId>(&item.node)) {
                const Op& op = program_[*id];
                const std::int64_t chunk = turn + op.lead;
                body_ = &body;
                if (chunk >= 0 && chunk < chunks && !program_.apart(*id)) run_op(op, chunk);
            } else if (std::holds_alternative<Commit>(item.node)) {
                ++groups_;
            } else if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
                if (turn >= 0) run_loop(*loop);
            } else if (const Sync* sync = std::get_if<Sync>(&item.node); sync && !ahead) {
                run_sync(*sync);
            }
        }
    }

    void run_loop(const ChunkLoop& loop) {
        const std::size_t outer = loop_;
        loop_ = ++loops_;
        std::int64_t copies = 0;
        std::int64_t others = 0;
        for (const Item& item : loop.body)
            if (const OpId* id = std::get_if<OpId>(&item.node)) {
                const bool copy = program_[*id].completion == Completion::CopyGroup;
                (copy ? copies : others) = std::max(copy ? copies : others, program_[*id].lead);
            }
        const std::int64_t trips = outer != 0 ? inner_ : trips_;
        for (std::int64_t turn = -std::max(copies, others); turn < trips; ++turn)
            run_turn(loop.body, turn, trips, turn < -others);
        loop_ = outer;
    }

    void run_sync(const Sync& sync) {
        if (sync.barrier) ++epoch_;
        for (Touch& touch : touches_) {
            if (touch.seen != kNever) continue;
            const bool over =
                !touch.copy || (sync.pending && touch.group <= groups_ - *sync.pending - 1);
            if (touch.copy && over) touch.over = true;
            if (over && sync.barrier) touch.seen = epoch_;
        }
    }

    /// Whether another agent fills it, which verify_rings follows.
    [[nodiscard]] bool in_ring(BufferId buffer) const {
        return std::any_of(program_.rings.begin(), program_.rings.end(), [&](const Ring& ring) {
            return std::find(ring.buffers.begin(), ring.buffers.end(), buffer) !=
                   ring.buffers.end();
        });
    }

    /// Whether a chunk goes on from what the one before left: who reads it comes first in the text,
    /// or writes it too.
    [[nodiscard]] bool is_state(BufferId buffer) const {
        const auto in = [&](const std::vector<BufferId>& list) {
            return std::find(list.begin(), list.end(), buffer) != list.end();
        };
        for (const Op& reader : program_.ops)
            for (const Op& writer : program_.ops)
                if (in(reader.reads) && in(writer.writes) && reader.leaf <= writer.leaf &&
                    (reader.id == writer.id || reader.leaf < writer.leaf))
                    return true;
        return false;
    }

    void run_op(const Op& op, std::int64_t chunk) {
        for (const BufferId buffer : op.reads) touch(op, buffer, false, chunk);
        for (const BufferId buffer : op.writes) touch(op, buffer, true, chunk);
    }

    void touch(const Op& op, BufferId id, bool write, std::int64_t chunk) {
        const Buffer& buffer = program_[id];
        if (buffer.place != Buffer::Place::Shared) return;
        // From inside another loop, a ring is read in the chunk that its own loop has come to.
        const auto writer = writers_.find(id);
        if (writer != writers_.end() && writer->second != body_ && turns_.contains(writer->second))
            chunk = turns_.at(writer->second);
        Touch now{&op, id, 0, 0, write, false, chunk, loop_, groups_, false, kNever};
        now.begin = buffer.offset + chunk % buffer.stages * buffer.bytes;
        now.end = now.begin + buffer.bytes;
        now.copy = write && op.completion == Completion::CopyGroup;
        if (buffer.offset + buffer.stages * buffer.bytes > program_.shared_bytes)
            fault(op, fmt::format("touches `{}` past the end of shared memory", buffer.name));
        const Touch* last_write = nullptr;
        for (const Touch& earlier : touches_) {
            if (earlier.op == &op && earlier.chunk == chunk && earlier.loop == loop_) continue;
            if (earlier.end <= now.begin || now.end <= earlier.begin) continue;
            if (earlier.write) last_write = &earlier;
            if (buffer.guarded && earlier.buffer == id) continue;
            if (!(earlier.write || write) || earlier.seen <= epoch_) continue;
            fault(op,
                  fmt::format("{} `{}` before `{}` is through with {}", write ? "writes" : "reads",
                              buffer.name, earlier.op->text, program_[earlier.buffer].name));
        }
        if (!write && last_write != nullptr && last_write->loop == loop_ &&
            (last_write->chunk != chunk || last_write->buffer != id) && !is_state(id))
            fault(op, fmt::format("reads chunk {} of `{}` where it wants chunk {}",
                                  last_write->chunk, program_[last_write->buffer].name, chunk));
        if (!write && last_write == nullptr && trips_ > 0 && inner_ > 0 && !in_ring(id))
            fault(op, fmt::format("reads `{}`, which nothing has written", buffer.name));
        // What was overwritten and is seen by all can do no more harm.
        if (write)
            std::erase_if(touches_, [&](const Touch& earlier) {
                return earlier.seen <= epoch_ && now.begin <= earlier.begin &&
                       earlier.end <= now.end && earlier.op != &op;
            });
        touches_.push_back(now);
    }

    const Program& program_;
    std::int64_t trips_;
    std::int64_t inner_;
    std::set<std::string>& faults_;
    std::vector<Touch> touches_;
    std::int64_t epoch_ = 0;
    std::int64_t groups_ = 0;  // committed
    std::size_t loops_ = 0;
    std::size_t loop_ = 0;
    const Body* body_ = nullptr;  // of the operation that runs
    std::map<BufferId, const Body*> writers_;
    std::map<const Body*, std::int64_t> turns_;
};

}  // namespace

namespace {

/// Whether a loop stands in another.
bool nests(const Body& body) {
    for (const Item& item : body)
        if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
            for (const Item& inner : loop->body)
                if (std::holds_alternative<ChunkLoop>(inner.node)) return true;
    return false;
}

}  // namespace

std::vector<std::string> verify(const Program& program) {
    std::set<std::string> faults;
    std::int64_t most = 3;
    for (const Buffer& buffer : program.buffers) most = std::max(most, buffer.stages + 2);
    for (const Op& op : program.ops) most = std::max(most, op.lead + 2);
    for (const std::int64_t trips : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, most})
        Machine(program, trips, trips, faults).run();
    for (std::int64_t inner = 0; nests(program.body) && inner < most; ++inner)
        Machine(program, most, inner, faults).run();
    return {faults.begin(), faults.end()};
}

}  // namespace napkin::schedule
