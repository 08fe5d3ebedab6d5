// Shared memory for tiles: a tile is held from the first phase that touches it to the last; a loop
// that contains some of these phases and not all counts whole. Tiles that are never held at once
// share memory, first fit, larger tiles first. A tile that a phase writes in place of one that ends
// there takes its memory over.
#include <algorithm>
#include <numeric>

#include "codegen/kernel_program.h"
#include "diagrams/overloaded.h"

namespace napkin::kernel {
namespace {

constexpr std::int64_t kAlignment = 16;

struct Held {
    int first = -1;
    int last = -1;
};
struct InPlace {
    TileId written;
    TileId read;
    int at = 0;
};

class Lives {
public:
    explicit Lives(const Program& program) : spans(program.tiles.size()), tiles_(program.tiles) {
        visit(program.body);
        for (const auto& [begin, end] : loops_) widen(begin, end);
    }

    std::vector<Held> spans;
    std::vector<InPlace> in_place;

private:
    void touch(TileId tile) {
        Held& span = spans[tile.index()];
        if (span.first < 0) span.first = time_;
        span.last = time_;
    }
    void visit(const Body& body) {
        for (const Statement& statement : body) {
            if (const For* loop = std::get_if<For>(&statement.node)) {
                const int begin = time_;
                visit(loop->body);
                // Inner loops come first, so that what they widen is seen by outer ones.
                loops_.emplace_back(begin, time_ - 1);
            }
            if (const If* branch = std::get_if<If>(&statement.node)) {
                visit(branch->then);
                visit(branch->otherwise);
            }
            if (const Phase* phase = std::get_if<Phase>(&statement.node)) {
                const TileAccesses accesses = accesses_of(*phase, tiles_);
                for (const TileId tile : accesses.reads) touch(tile);
                for (const TileId tile : accesses.writes) touch(tile);
                for (const auto& [written, read] : phase->in_place)
                    in_place.push_back({written, read, time_});
                ++time_;
            }
        }
    }
    /// A span that crosses an end of the loop covers the whole loop.
    void widen(int begin, int end) {
        for (Held& span : spans) {
            if (span.first < 0) continue;
            const bool enters = span.first < begin && span.last >= begin && span.last < end;
            const bool leaves = span.first > begin && span.first <= end && span.last > end;
            if (enters) span.last = end;
            if (leaves) span.first = begin;
        }
    }
    const std::vector<Tile>& tiles_;
    std::vector<std::pair<int, int>> loops_;
    int time_ = 0;
};

/// Tiles that share one place: the first owns it.
std::vector<std::size_t> merge_in_place(const Program& program, Lives& lives) {
    std::vector<std::size_t> owner(program.tiles.size());
    std::iota(owner.begin(), owner.end(), std::size_t{0});
    for (const InPlace& pair : lives.in_place) {
        const std::size_t written = pair.written.index();
        const std::size_t read = owner[pair.read.index()];
        if (owner[written] != written || read == written) continue;
        Held& held = lives.spans[read];
        const Held fresh = lives.spans[written];
        if (held.last != pair.at || fresh.first != pair.at) continue;
        owner[written] = read;
        held.last = fresh.last;
    }
    return owner;
}

}  // namespace

void place_tiles(Program& program) {
    Lives lives(program);
    const std::vector<std::size_t> owner = merge_in_place(program, lives);
    const auto bytes = [&](std::size_t tile) {
        const Tile& t = program.tiles[tile];
        const std::int64_t size = t.elements * element_bytes(t.type);
        return (size + kAlignment - 1) / kAlignment * kAlignment;
    };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < owner.size(); ++i)
        if (owner[i] == i && lives.spans[i].first >= 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bytes(a) > bytes(b); });

    std::vector<std::size_t> placed;
    program.shared_bytes = 0;
    for (const std::size_t tile : order) {
        std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // places held at the same time
        for (const std::size_t other : placed) {
            const Held& a = lives.spans[tile];
            const Held& b = lives.spans[other];
            if (a.first <= b.last && b.first <= a.last)
                taken.emplace_back(program.tiles[other].offset,
                                   program.tiles[other].offset + bytes(other));
        }
        std::sort(taken.begin(), taken.end());
        std::int64_t offset = 0;
        for (const auto& [begin, end] : taken) {
            if (offset + bytes(tile) <= begin) break;
            offset = std::max(offset, end);
        }
        program.tiles[tile].offset = offset;
        program.shared_bytes = std::max(program.shared_bytes, offset + bytes(tile));
        placed.push_back(tile);
    }
    for (std::size_t i = 0; i < owner.size(); ++i)
        program.tiles[i].offset = program.tiles[owner[i]].offset;
}

}  // namespace napkin::kernel
