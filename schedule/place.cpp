#include "schedule/place.h"

#include <algorithm>
#include <optional>

#include "diagrams/rounding.h"

namespace napkin::schedule {
namespace {

/// Statements of the region, from the first to the last that touch a buffer.
struct Lifetime {
    std::size_t first = 0;
    std::size_t last = 0;
    [[nodiscard]] bool meets(const Lifetime& other) const {
        return first <= other.last && other.first <= last;
    }
};

void collect(const Program& program, const Item& item, std::size_t at,
             std::vector<std::optional<Lifetime>>& lifetimes) {
    if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
        for (const Item& inner : loop->body) collect(program, inner, at, lifetimes);
    const OpId* id = std::get_if<OpId>(&item.node);
    if (id == nullptr) return;
    const auto touch = [&](BufferId buffer) {
        std::optional<Lifetime>& lifetime = lifetimes[buffer.index()];
        if (!lifetime) lifetime = Lifetime{at, at};
        lifetime->last = at;
    };
    for (const BufferId buffer : program[*id].reads) touch(buffer);
    for (const BufferId buffer : program[*id].writes) touch(buffer);
}

}  // namespace

void place(Program& program) {
    std::vector<std::optional<Lifetime>> lifetimes(program.buffers.size());
    for (std::size_t i = 0; i < program.body.size(); ++i)
        collect(program, program.body[i], i, lifetimes);
    // An agent of its own may fill rings long before they are read, for the next tile too.
    for (const Ring& ring : program.rings)
        for (const BufferId buffer : ring.buffers)
            if (std::optional<Lifetime>& lifetime = lifetimes[buffer.index()]) {
                lifetime->first = 0;
                if (program.persistent) lifetime->last = program.body.size();
            }
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].guarded) lifetimes[b] = Lifetime{0, program.body.size()};
    program.shared_bytes = 0;
    std::vector<std::size_t> placed;
    const auto end_of = [&](std::size_t b) {
        const Buffer& buffer = program.buffers[b];
        return buffer.offset + padded(buffer.bytes * buffer.stages, kSharedAlignment);
    };
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        Buffer& buffer = program.buffers[b];
        if (buffer.place != Buffer::Place::Shared || !lifetimes[b]) continue;
        buffer.offset = 0;
        // The lowest place that no buffer in use meanwhile takes, going up from one to the next.
        for (bool moved = true; moved;) {
            moved = false;
            for (const std::size_t other : placed) {
                if (!lifetimes[b]->meets(*lifetimes[other]) ||
                    end_of(b) <= program.buffers[other].offset || end_of(other) <= buffer.offset)
                    continue;
                buffer.offset = padded(end_of(other), buffer.alignment);
                moved = true;
            }
        }
        placed.push_back(b);
        program.shared_bytes = std::max(program.shared_bytes, end_of(b));
    }
}

}  // namespace napkin::schedule
