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

/// Whether an item writes where a product's operands lie, which nothing else reads any more.
bool takes_memory(const Program& program, const Item& item, const Op& product) {
    const OpId* id = std::get_if<OpId>(&item.node);
    if (id == nullptr) return false;
    const Op& op = program[*id];
    return std::any_of(op.writes.begin(), op.writes.end(), [&](BufferId written) {
        const Buffer& to = program[written];
        return std::any_of(product.reads.begin(), product.reads.end(), [&](BufferId read) {
            const Buffer& from = program[read];
            return written != read && to.place == Buffer::Place::Shared &&
                   from.place == Buffer::Place::Shared &&
                   to.offset < from.offset + from.bytes * from.stages &&
                   from.offset < to.offset + to.bytes * to.stages;
        });
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

/// A product that goes on, and the item before which it must be through.
struct Wait {
    std::size_t product = 0;
    std::size_t before = 0;
};

std::vector<Wait> waits_in(const Program& program, const Body& body) {
    std::vector<Wait> waits;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (!goes_on(program, body[i])) continue;
        const Op& product = program[std::get<OpId>(body[i].node)];
        std::size_t at = i + 1;
        while (at < body.size() && !needs(program, body[at], product) &&
               !takes_memory(program, body[at], product))
            ++at;
        waits.push_back({i, at});
    }
    return waits;
}

const Op& product_at(const Program& program, const Body& body, std::size_t i) {
    return program[std::get<OpId>(body[i].node)];
}

/// Whether a product is through when another is waited for. The assembler takes a wait that lets
/// more go on than the one before at its word, and puts products one after another.
bool is_through(const Program& program, const Body& body, const std::vector<Wait>& waits,
                std::size_t product, const Wait& when) {
    const auto lead = [&](std::size_t i) { return product_at(program, body, i).lead; };
    return std::any_of(waits.begin(), waits.end(), [&](const Wait& wait) {
        // Turns that have the one or the other have this wait too.
        const bool there =
            lead(wait.product) == lead(product) || lead(wait.product) == lead(when.product);
        return there && wait.before < when.before && wait.product >= product &&
               wait.before > product;
    });
}

void add_finishes_to(const Program& program, Body& body) {
    for (Item& item : body)
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
            add_finishes_to(program, loop->body);
    const std::vector<Wait> waits = waits_in(program, body);
    std::vector<std::vector<Item>> before(body.size() + 1);
    for (const Wait& wait : waits) {
        const Op& op = product_at(program, body, wait.product);
        Finish finish{std::get<OpId>(body[wait.product].node), op.lead - op.lag, 0, 0};
        // Those of the next chunk are on their way too.
        if (op.lag > 0) finish.pending_apart = static_cast<std::int64_t>(waits.size());
        for (const Wait& other : waits) {
            const bool on_its_way = wait.product < other.product && other.product < wait.before &&
                                    !is_through(program, body, waits, other.product, wait);
            if (!on_its_way) continue;
            const bool together = product_at(program, body, other.product).lead == op.lead;
            ++(together ? finish.pending : finish.pending_apart);
        }
        before[wait.before].push_back({finish});
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
    add_finishes_to(program, body);
    program.body = std::move(body);
}

}  // namespace napkin::schedule
