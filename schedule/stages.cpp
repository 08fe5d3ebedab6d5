#include "schedule/stages.h"

#include <algorithm>

namespace napkin::schedule {
namespace {

struct Leading {
    std::int64_t least = INT64_MAX;
    std::int64_t most = 0;
};

bool touches(const std::vector<BufferId>& buffers, BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

/// Leads of the operations of a body that read a buffer; reads in loops inside it have none.
Leading readers_of(const Program& program, const Body& body, BufferId buffer) {
    Leading leading;
    const auto note = [&](std::int64_t lead) {
        leading.least = std::min(leading.least, lead);
        leading.most = std::max(leading.most, lead);
    };
    for (const Item& item : body) {
        if (const OpId* id = std::get_if<OpId>(&item.node)) {
            if (touches(program[*id].reads, buffer)) note(program[*id].lead);
        } else if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
            if (readers_of(program, loop->body, buffer).least != INT64_MAX) note(0);
        }
    }
    if (leading.least == INT64_MAX) leading.least = 0;
    return leading;
}

/// A loop's operations that write shared memory which no chunk goes on from, with what they write.
struct Filling {
    OpId op;
    BufferId buffer;
    Leading readers;
};
std::vector<Filling> fillings_of(const Program& program, const Body& body) {
    std::vector<Filling> found;
    for (const Item& item : body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        for (const BufferId written : program[*id].writes)
            if (program[written].place == Buffer::Place::Shared && !program[written].guarded &&
                !touches(program[*id].reads, written))
                found.push_back({*id, written, readers_of(program, body, written)});
    }
    return found;
}

void set_stages(Program& program, Body& body, std::int64_t stages) {
    for (Item& item : body) {
        ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        set_stages(program, loop->body, stages);
        const std::vector<Filling> fillings = fillings_of(program, loop->body);
        // All copies of a chunk are made at once: so early that each ring has as many stages, and
        // before whoever reads first.
        std::int64_t ahead = 0;
        for (const Filling& filling : fillings) {
            if (program[filling.op].completion != Completion::CopyGroup) continue;
            const auto& [least, most] = filling.readers;
            ahead = std::max({ahead, stages - 1 + least, stages > 1 ? most + 1 : most});
        }
        for (const Filling& filling : fillings) {
            Op& op = program[filling.op];
            if (op.completion == Completion::CopyGroup) op.lead = ahead;
            program[filling.buffer].stages = op.lead - filling.readers.least + 1;
        }
    }
}

}  // namespace

void set_stages(Program& program, std::int64_t stages) {
    set_stages(program, program.body, stages);
}

}  // namespace napkin::schedule
