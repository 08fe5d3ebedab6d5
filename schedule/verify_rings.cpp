// Runs both agents of a program against each other: each goes on until it has to wait for the
// other. Contents of a ring are counted as they are filled; a list of chunks is one whose contents
// are the chunks of a loop and its end, which the others take a turn before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// What an agent does to a ring, or an operation that uses shared memory.
struct Act {
    enum class Kind { Fill, Await, Release, Use };
    Kind kind = Kind::Use;
    std::size_t ring = 0;
    std::int64_t content = 0;
    const Op* op = nullptr;
    BufferId buffer;
};

class Match {
public:
    /// `trips`: of the loops, tile by tile.
    Match(const Program& program, std::vector<std::int64_t> trips, std::set<std::string>& faults)
        : program_(program), trips_of_tiles_(std::move(trips)), faults_(faults) {
        for (std::size_t r = 0; r < program.rings.size(); ++r)
            for (const BufferId buffer : program.rings[r].buffers) ring_of_[buffer] = r;
        for (const auto& [loop, buffer] : program.lists)
            list_of_.emplace(loop, program.rings.size() + list_of_.size());
        filled_.assign(program.rings.size() + list_of_.size(), 0);
        awaited_ = released_ = total_ = filled_;
    }

    void run() {
        for (const bool apart : {true, false}) {
            base_.clear();
            listed_.clear();
            const auto tiles = static_cast<std::int64_t>(trips_of_tiles_.size());
            for (std::int64_t tile = 0; tile < tiles; ++tile) {
                trips_ = trips_of_tiles_[static_cast<std::size_t>(tile)];
                turns_[&program_.body] = tile;
                visit(program_.body, tile, tiles, apart);
            }
        }
        for (const Act& act : load_)
            if (act.kind == Act::Kind::Fill) total_[act.ring] = act.content + 1;
        while (true) {
            const std::size_t before = load_at_ + compute_at_;
            while (load_at_ < load_.size() && fill(load_[load_at_])) ++load_at_;
            while (compute_at_ < compute_.size() && use(compute_[compute_at_])) ++compute_at_;
            if (load_at_ + compute_at_ == before) break;
        }
        if (load_at_ < load_.size() || compute_at_ < compute_.size())
            faults_.insert(
                fmt::format("agents wait for each other for ever (loops of {} chunks)", trips_));
    }

private:
    [[nodiscard]] std::int64_t stages_of(std::size_t ring) const {
        if (ring >= program_.rings.size()) return kListed;
        return program_[program_.rings[ring].buffers.front()].stages;
    }

    void fault(const Op& op, const std::string& what) {
        faults_.insert(fmt::format("`{}` {} (loops of {} chunks)", op.text, what, trips_));
    }

    /// One turn of a body; `base_` counts the contents that its earlier runs filled.
    void visit(const Body& body, std::int64_t turn, std::int64_t chunks, bool apart) {
        const auto there = [&](std::int64_t chunk) { return chunk >= 0 && chunk < chunks; };
        std::vector<Act>& acts = apart ? load_ : compute_;
        for (const Item& item : body) {
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
                if (turn >= 0) visit_loop(*loop, apart);
            } else if (const OpId* id = std::get_if<OpId>(&item.node)) {
                const Op& op = program_[*id];
                if (program_.apart(*id) != apart || !there(turn + op.lead)) continue;
                const Act::Kind kind = apart ? Act::Kind::Fill : Act::Kind::Use;
                for (const auto* list : {&op.writes, &op.reads})
                    for (const BufferId buffer : *list)
                        if (program_[buffer].place == Buffer::Place::Shared)
                            acts.push_back(act(kind, buffer, &op, op.lead, turn, body));
            } else if (const Await* await = std::get_if<Await>(&item.node); await && !apart) {
                if (there(turn + await->lead))
                    acts.push_back(act(Act::Kind::Await, first_of(await->ring), nullptr,
                                       await->lead, turn, body));
            } else if (const Release* release = std::get_if<Release>(&item.node);
                       release && !apart) {
                if (there(turn + release->lead))
                    acts.push_back(act(Act::Kind::Release, first_of(release->ring), nullptr,
                                       release->lead, turn, body));
            }
        }
    }
    [[nodiscard]] BufferId first_of(RingId ring) const { return program_[ring].buffers.front(); }

    void visit_loop(const ChunkLoop& loop, bool apart) {
        std::int64_t most = 0;
        for (const Item& item : loop.body)
            if (const OpId* id = std::get_if<OpId>(&item.node))
                if (!program_.apart(*id)) most = std::max(most, program_[*id].lead);
        // A chunk is listed before it is filled, and taken a turn before anything is done to it.
        if (!apart) list_chunk(loop, apart);
        for (std::int64_t turn = apart ? 0 : -most; turn < trips_; ++turn) {
            if (apart) list_chunk(loop, apart);
            turns_[&loop.body] = turn;
            visit(loop.body, turn, trips_, apart);
            if (!apart && turn + most < trips_) list_chunk(loop, apart);
        }
        if (apart) list_chunk(loop, apart);
        base_[&loop.body] += trips_;
    }

    /// One agent lists the next chunk of a loop, or its end; the others take it.
    void list_chunk(const ChunkLoop& loop, bool apart) {
        const auto list = list_of_.find(loop.source);
        if (list == list_of_.end()) return;
        const std::int64_t content = listed_[loop.source]++;
        if (apart) return load_.push_back({Act::Kind::Fill, list->second, content, nullptr, {}});
        for (const Act::Kind kind : {Act::Kind::Await, Act::Kind::Release})
            compute_.push_back({kind, list->second, content, nullptr, {}});
    }

    /// The content of a ring is that of the body which fills it.
    [[nodiscard]] Act act(Act::Kind kind, BufferId buffer, const Op* op, std::int64_t lead,
                          std::int64_t turn, const Body& body) {
        Act made{kind, 0, 0, op, buffer};
        const auto ring = ring_of_.find(buffer);
        if (ring == ring_of_.end()) return made;
        made.ring = ring->second;
        const Body* filler = filler_of(program_.body, buffer);
        const auto base = base_.find(filler);
        const std::int64_t before = base == base_.end() ? 0 : base->second;
        const auto own = turns_.find(filler);
        made.content = before + (filler == &body ? turn + lead : own->second);
        return made;
    }
    [[nodiscard]] const Body* filler_of(const Body& body, BufferId buffer) const {
        for (const Item& item : body) {
            if (const OpId* id = std::get_if<OpId>(&item.node);
                id != nullptr && program_.apart(*id)) {
                const std::vector<BufferId>& writes = program_[*id].writes;
                if (std::find(writes.begin(), writes.end(), buffer) != writes.end()) return &body;
            }
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
                if (const Body* found = filler_of(loop->body, buffer)) return found;
        }
        return nullptr;
    }

    /// False where the agent has to wait.
    bool fill(const Act& act) {
        if (act.content - stages_of(act.ring) >= released_[act.ring]) return false;
        filled_[act.ring] = act.content + 1;
        return true;
    }
    bool use(const Act& act) {
        switch (act.kind) {
        case Act::Kind::Await:
            if (filled_[act.ring] <= act.content) return false;
            awaited_[act.ring] = act.content + 1;
            return true;
        case Act::Kind::Release: released_[act.ring] = act.content + 1; return true;
        default: break;
        }
        const Buffer& buffer = program_[act.buffer];
        if (const auto ring = ring_of_.find(act.buffer); ring != ring_of_.end()) {
            if (act.content >= awaited_[ring->second])
                fault(*act.op, fmt::format("reads `{}` before it is filled", buffer.name));
            if (act.content < released_[ring->second])
                fault(*act.op, fmt::format("reads `{}` after it was released", buffer.name));
            return true;
        }
        for (const auto& [other, ring] : ring_of_) {
            const Buffer& info = program_[other];
            const bool apart = info.offset + info.stages * info.bytes <= buffer.offset ||
                               buffer.offset + buffer.stages * buffer.bytes <= info.offset;
            if (!apart && awaited_[ring] < total_[ring])
                fault(*act.op, fmt::format("uses memory that `{}` is yet to fill", info.name));
        }
        return true;
    }

    const Program& program_;
    std::vector<std::int64_t> trips_of_tiles_;
    std::int64_t trips_ = 0;
    std::set<std::string>& faults_;
    std::map<BufferId, std::size_t> ring_of_;
    std::map<std::uint32_t, std::size_t> list_of_;  // by loop: behind the rings
    std::map<std::uint32_t, std::int64_t> listed_;
    std::map<const Body*, std::int64_t> base_;
    std::map<const Body*, std::int64_t> turns_;
    std::vector<Act> load_;
    std::vector<Act> compute_;
    std::size_t load_at_ = 0;
    std::size_t compute_at_ = 0;
    std::vector<std::int64_t> filled_;
    std::vector<std::int64_t> awaited_;
    std::vector<std::int64_t> released_;
    std::vector<std::int64_t> total_;
};

}  // namespace

std::vector<std::string> verify_rings(const Program& program) {
    std::set<std::string> faults;
    if (program.rings.empty()) return {};
    std::int64_t most = 3;
    for (const Buffer& buffer : program.buffers) most = std::max(most, buffer.stages + 2);
    const std::array trips = {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, most};
    for (std::size_t first = 0; first < trips.size(); ++first) {
        // Where a block takes several tiles, loops of each number of chunks follow each other.
        std::vector<std::int64_t> of_tiles = {trips[first]};
        while (program.persistent && std::ssize(of_tiles) < most + std::ssize(trips))
            of_tiles.push_back(trips[(first + of_tiles.size()) % trips.size()]);
        Match(program, std::move(of_tiles), faults).run();
    }
    return {faults.begin(), faults.end()};
}

}  // namespace napkin::schedule
