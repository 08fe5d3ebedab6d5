// Barriers between phases: one before every phase that touches memory which an earlier phase, since
// the last barrier, touched in a conflicting way. Tiles conflict when their places overlap. A
// loop's first phases follow its last ones.
#include "codegen/accesses.h"
#include "codegen/kernel_program.h"

namespace napkin::kernel {
namespace {

void add(TileAccesses& all, const TileAccesses& more) {
    all.reads.insert(all.reads.end(), more.reads.begin(), more.reads.end());
    all.writes.insert(all.writes.end(), more.writes.begin(), more.writes.end());
}

class Inserter {
public:
    explicit Inserter(const Program& program) : tiles_(program.tiles) {}

    /// Returns the body with barriers and changes `open` to what is not yet followed by one.
    Body run(const Body& body, TileAccesses& open) const {
        Body result;
        for (const Statement& statement : body) {
            if (const Phase* phase = std::get_if<Phase>(&statement.node)) {
                const TileAccesses accesses = accesses_of(*phase, tiles_);
                if (conflict(open, accesses)) {
                    result.push_back({Barrier{}});
                    open = {};
                }
                add(open, accesses);
                result.push_back(statement);
            } else if (const For* loop = std::get_if<For>(&statement.node)) {
                For copy = *loop;
                // What one iteration leaves open, the next one finds; a skipped one leaves what it
                // found.
                const TileAccesses before = open;
                TileAccesses end = open;
                static_cast<void>(run(loop->body, end));
                add(open, end);
                copy.body = run(loop->body, open);
                add(open, before);
                add(open, end);
                result.push_back({std::move(copy)});
            } else if (const If* branch = std::get_if<If>(&statement.node)) {
                If copy = *branch;
                TileAccesses otherwise = open;
                copy.then = run(branch->then, open);
                copy.otherwise = run(branch->otherwise, otherwise);
                add(open, otherwise);
                result.push_back({std::move(copy)});
            } else {
                result.push_back(statement);
            }
        }
        return result;
    }

private:
    [[nodiscard]] bool overlap(TileId a, TileId b) const {
        const Tile& first = tiles_[a.index()];
        const Tile& second = tiles_[b.index()];
        const std::int64_t first_end = first.offset + first.elements * element_bytes(first.type);
        const std::int64_t second_end =
            second.offset + second.elements * element_bytes(second.type);
        return first.offset < second_end && second.offset < first_end;
    }
    [[nodiscard]] bool overlap(const std::vector<TileId>& a, const std::vector<TileId>& b) const {
        for (const TileId first : a)
            for (const TileId second : b)
                if (overlap(first, second)) return true;
        return false;
    }
    [[nodiscard]] bool conflict(const TileAccesses& before, const TileAccesses& now) const {
        return overlap(before.writes, now.reads) || overlap(before.writes, now.writes) ||
               overlap(before.reads, now.writes);
    }
    const std::vector<Tile>& tiles_;
};

}  // namespace

TileAccesses accesses_of(const Phase& phase, const std::vector<Tile>& tiles) {
    const Accesses names = accesses_of(phase.body);
    TileAccesses found;
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
        if (names.reads.contains(tiles[i].name)) found.reads.push_back(TileId{i});
        if (names.writes.contains(tiles[i].name)) found.writes.push_back(TileId{i});
    }
    return found;
}

void insert_barriers(Program& program) {
    TileAccesses open;
    program.body = Inserter(program).run(program.body, open);
}

}  // namespace napkin::kernel
