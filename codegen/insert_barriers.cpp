// Barriers between phases: one before every phase that touches memory which an earlier phase, since
// the last barrier, touched in a conflicting way. Tiles conflict when their places overlap. A
// loop's first phases follow its last ones.
#include "codegen/kernel_program.h"

namespace napkin::kernel {
namespace {

struct Accesses {
    std::vector<TileId> reads;
    std::vector<TileId> writes;

    void add(const Accesses& other) {
        reads.insert(reads.end(), other.reads.begin(), other.reads.end());
        writes.insert(writes.end(), other.writes.begin(), other.writes.end());
    }
};

class Inserter {
public:
    explicit Inserter(const Program& program) : tiles_(program.tiles) {}

    /// Returns the body with barriers and changes `open` to what is not yet followed by one.
    Body run(const Body& body, Accesses& open) const {
        Body result;
        for (const Statement& statement : body) {
            if (const Phase* phase = std::get_if<Phase>(&statement.node)) {
                if (conflict(open, {phase->reads, phase->writes})) {
                    result.push_back({Barrier{}});
                    open = {};
                }
                open.add({phase->reads, phase->writes});
                result.push_back(statement);
            } else if (const For* loop = std::get_if<For>(&statement.node)) {
                For copy = *loop;
                // What one iteration leaves open, the next one finds; a skipped one leaves what it
                // found.
                const Accesses before = open;
                Accesses end = open;
                static_cast<void>(run(loop->body, end));
                open.add(end);
                copy.body = run(loop->body, open);
                open.add(before);
                open.add(end);
                result.push_back({std::move(copy)});
            } else if (const If* branch = std::get_if<If>(&statement.node)) {
                If copy = *branch;
                Accesses otherwise = open;
                copy.then = run(branch->then, open);
                copy.otherwise = run(branch->otherwise, otherwise);
                open.add(otherwise);
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
    [[nodiscard]] bool conflict(const Accesses& before, const Accesses& now) const {
        return overlap(before.writes, now.reads) || overlap(before.writes, now.writes) ||
               overlap(before.reads, now.writes);
    }
    const std::vector<Tile>& tiles_;
};

}  // namespace

void insert_barriers(Program& program) {
    Accesses open;
    program.body = Inserter(program).run(program.body, open);
}

}  // namespace napkin::kernel
