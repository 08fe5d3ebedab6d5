#include "schedule/finishes.h"

#include <algorithm>

namespace napkin::schedule {
namespace {

bool shares(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
    return std::any_of(a.begin(), a.end(), [&](BufferId buffer) {
        return std::find(b.begin(), b.end(), buffer) != b.end();
    });
}

/// Whether what is published meanwhile is for another chunk, which has a place of its own.
bool in_another_slot(const Program& program, const Op& op, const Op& product) {
    return op.kind == Op::Kind::Publish && op.lead != product.lead &&
           std::all_of(op.writes.begin(), op.writes.end(), [&](BufferId buffer) {
               return program[buffer].place == Buffer::Place::Shared && !program[buffer].guarded;
           });
}

bool goes_on(const Program& program, const Item& item) {
    const OpId* op = std::get_if<OpId>(&item.node);
    return op != nullptr && program[*op].completion == Completion::Finish;
}

/// Whether an item must not begin before a product is through.
bool needs(const Program& program, const Item& item, const Op& product) {
    const OpId* id = std::get_if<OpId>(&item.node);
    if (id == nullptr) return true;
    const Op& op = program[*id];
    if (program.apart(*id)) return false;
    // Their registers are those of a product that follows, with which the assembler would mix them
    // up.
    if (op.kind == Op::Kind::Prepare || op.kind == Op::Kind::Pack) return true;
    // Products in one accumulator go through the tensor core in their order.
    const bool adds = op.completion == Completion::Finish && op.writes == product.writes;
    if (adds) return shares(op.writes, product.reads) && !shares(product.writes, product.reads);
    return shares(op.reads, product.writes) || shares(op.writes, product.writes) ||
           (shares(op.writes, product.reads) && !in_another_slot(program, op, product));
}

}  // namespace

std::int64_t crossing(const Program& program, const Body& body) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (!goes_on(program, body[i])) continue;
        const Op& product = program[std::get<OpId>(body[i].node)];
        const auto later = body.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::none_of(later, body.end(),
                         [&](const Item& item) { return needs(program, item, product); }))
            ++count;
    }
    return count;
}

namespace {

void add_finishes(const Program& program, Body& body) {
    std::vector<std::vector<Item>> before(body.size() + 1);
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&body[i].node))
            add_finishes(program, loop->body);
        if (!goes_on(program, body[i])) continue;
        const OpId id = std::get<OpId>(body[i].node);
        std::size_t at = i + 1;
        const std::int64_t lag = program[id].lag;
        Finish finish{id, program[id].lead - lag, 0, 0};
        // Those of the next chunk are on their way too.
        if (lag > 0)
            finish.pending_apart = std::count_if(
                body.begin(), body.end(), [&](const Item& item) { return goes_on(program, item); });
        for (; at < body.size() && !needs(program, body[at], program[id]); ++at) {
            if (!goes_on(program, body[at])) continue;
            const bool together = program[std::get<OpId>(body[at].node)].lead == program[id].lead;
            ++(together ? finish.pending : finish.pending_apart);
        }
        before[at].push_back({finish});
    }
    Body result;
    for (std::size_t i = 0; i <= body.size(); ++i) {
        for (Item& item : before[i]) result.push_back(std::move(item));
        if (i < body.size()) result.push_back(std::move(body[i]));
    }
    body = std::move(result);
}

}  // namespace

void add_finishes(Program& program) {
    Body body = std::move(program.body);
    add_finishes(program, body);
    program.body = std::move(body);
}

}  // namespace napkin::schedule
