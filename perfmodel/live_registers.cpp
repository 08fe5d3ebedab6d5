#include "perfmodel/live_registers.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace napkin {
namespace {

using schedule::BufferId;
using schedule::Op;

/// Places in the order of the text; what is read is held at a place's beginning, what is written at
/// its end.
struct Lifetime {
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
};

class Lifetimes {
public:
    explicit Lifetimes(const schedule::Program& program) : program_(program) {}

    std::int64_t most_bytes() {
        visit(program_.body);
        std::map<std::int64_t, std::int64_t> changes;
        for (const auto& [buffer, life] : lives_) {
            if (passes_through(buffer)) continue;
            changes[life.begin] += program_[buffer].bytes;
            changes[life.end + 1] -= program_[buffer].bytes;
        }
        std::int64_t held = 0;
        std::int64_t most = 0;
        for (const auto& [place, change] : changes) most = std::max(most, held += change);
        return most;
    }

private:
    void visit(const schedule::Body& body) {
        for (const schedule::Item& item : body) {
            if (const schedule::OpId* op = std::get_if<schedule::OpId>(&item.node))
                use(program_[*op]);
            if (const auto* loop = std::get_if<schedule::ChunkLoop>(&item.node)) visit(*loop);
        }
    }

    void visit(const schedule::ChunkLoop& loop) {
        const std::map<BufferId, Lifetime> before = lives_;
        const std::int64_t begin = place_;
        for (auto& [buffer, life] : lives_) life = {};
        visit(loop.body);
        const std::int64_t end = place_;
        std::set<BufferId> ahead;
        for (const schedule::Item& item : loop.body)
            if (const schedule::OpId* op = std::get_if<schedule::OpId>(&item.node))
                if (program_[*op].lead > 0)
                    for (const BufferId buffer : program_[*op].writes) ahead.insert(buffer);
        for (auto& [buffer, life] : lives_) {
            const bool is_used = life.begin <= life.end;
            const auto known = before.find(buffer);
            const bool is_known = known != before.end() && known->second.begin <= known->second.end;
            if (is_used && is_known) kept_.insert(buffer);
            if (is_used && (is_known || ahead.contains(buffer) || life.begin % 2 == 0))
                life = {begin, end};
            if (is_known) {
                life.begin = std::min(life.begin, known->second.begin);
                life.end = std::max(life.end, known->second.end);
            }
        }
    }

    void use(const Op& op) {
        for (const BufferId buffer : op.reads) {
            touch(buffer, place_);
            ++readers_[buffer];
        }
        for (const BufferId buffer : op.writes) {
            touch(buffer, place_ + 1);
            if (op.kind == Op::Kind::Copy) loaded_.insert(buffer);
        }
        place_ += 2;
    }
    void touch(BufferId buffer, std::int64_t place) {
        if (program_[buffer].place != schedule::Buffer::Place::Registers) return;
        Lifetime& life = lives_[buffer];
        life.begin = std::min(life.begin, place);
        life.end = std::max(life.end, place);
    }
    [[nodiscard]] bool passes_through(BufferId buffer) const {
        const auto readers = readers_.find(buffer);
        return loaded_.contains(buffer) && !kept_.contains(buffer) && readers != readers_.end() &&
               readers->second == 1;
    }

    const schedule::Program& program_;
    std::int64_t place_ = 0;
    std::map<BufferId, Lifetime> lives_;
    std::map<BufferId, int> readers_;
    std::set<BufferId> loaded_;
    std::set<BufferId> kept_;  // by a loop that did not make them
};

}  // namespace

std::int64_t live_registers(const schedule::Program& program) {
    return Lifetimes(program).most_bytes();
}

}  // namespace napkin
