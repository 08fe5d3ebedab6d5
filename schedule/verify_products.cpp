// Runs the agent that computes and keeps the products that it has started, in their order: what a
// Finish waits for is through, what stays may not be touched, nor what other warps' products may
// still read, until all have met.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

class Flight {
public:
    Flight(const Program& program, std::int64_t trips, std::set<std::string>& faults)
        : program_(program), trips_(trips), faults_(faults) {}

    void run() {
        visit(program_.body, 0, 1);
        for (const Product& product : started_) fault(*product.op, "is on its way at the end");
    }

private:
    struct Product {
        const Op* op = nullptr;
        std::int64_t chunk = 0;
        /// It has read its operands, since a later one did, which was waited for at once.
        bool over = false;
    };

    void fault(const Op& op, const std::string& what) {
        faults_.insert(fmt::format("`{}` {} (loops of {} chunks)", op.text, what, trips_));
    }

    void visit(const Body& body, std::int64_t turn, std::int64_t chunks) {
        const auto there = [&](std::int64_t lead) {
            return turn + lead >= 0 && turn + lead < chunks;
        };
        // Whether what leads by something else than this runs in the turn too.
        const auto others_there = [&](std::int64_t lead) { return there(lead > 0 ? 0 : 1); };
        for (const Item& item : body) {
            if (const OpId* id = std::get_if<OpId>(&item.node)) {
                if (!program_.apart(*id) && there(program_[*id].lead))
                    run_op(program_[*id], turn + program_[*id].lead);
            } else if (const Finish* finish = std::get_if<Finish>(&item.node)) {
                const std::int64_t lead = finish->lead;
                if (!there(lead)) continue;
                const std::int64_t left =
                    finish->pending + (others_there(lead) ? finish->pending_apart : 0);
                for (; static_cast<std::int64_t>(started_.size()) > left; started_.pop_front())
                    through_.push_back(started_.front());
            } else if (const Sync* sync = std::get_if<Sync>(&item.node)) {
                if (sync->barrier) through_.clear();
            } else if (const Release* release = std::get_if<Release>(&item.node)) {
                if (!there(release->lead)) continue;
                for (const Product& product : started_)
                    if (!product.over &&
                        shares(product.op->reads, program_[release->ring].buffers) &&
                        product.chunk == turn + release->lead)
                        fault(*product.op, "is on its way when its operands are released");
            } else if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
                if (turn >= 0) visit_loop(*loop);
            }
        }
    }

    void visit_loop(const ChunkLoop& loop) {
        std::int64_t most = 0;
        for (const Item& item : loop.body)
            if (const OpId* id = std::get_if<OpId>(&item.node))
                if (!program_.apart(*id)) most = std::max(most, program_[*id].lead);
        for (std::int64_t turn = -most; turn < trips_; ++turn) visit(loop.body, turn, trips_);
    }

    static bool shares(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
        return std::any_of(a.begin(), a.end(), [&](BufferId buffer) {
            return std::find(b.begin(), b.end(), buffer) != b.end();
        });
    }

    /// Of buffers in registers: what is in shared memory, rings and barriers guard.
    [[nodiscard]] std::vector<BufferId> registers(const std::vector<BufferId>& buffers) const {
        std::vector<BufferId> found;
        for (const BufferId buffer : buffers)
            if (program_[buffer].place == Buffer::Place::Registers) found.push_back(buffer);
        return found;
    }

    void run_op(const Op& op, std::int64_t chunk) {
        const bool starts = op.completion == Completion::Finish;
        for (const std::deque<Product>* list : {&started_, &through_})
            for (const Product& product : *list)
                if (overwrites(op, chunk, product))
                    fault(op,
                          fmt::format("overwrites what the product `{}` reads", product.op->text));
        for (const Product& started : started_) {
            const Op& product = *started.op;
            const bool reads = shares(op.reads, product.writes);
            const bool writes =
                shares(op.writes, product.writes) || shares(op.writes, registers(product.reads));
            // Products in one accumulator go through in their order.
            if ((reads || writes) && !(starts && op.writes == product.writes))
                fault(op, fmt::format("touches what the product `{}` is at", product.text));
        }
        if (starts) started_.push_back({&op, chunk});
        if (op.kind == Op::Kind::Multiply && !starts)
            for (Product& product : started_) product.over = true;
    }
    /// Whether an operation writes to where a product's operands are in shared memory.
    [[nodiscard]] bool overwrites(const Op& op, std::int64_t chunk, const Product& product) const {
        return std::any_of(op.writes.begin(), op.writes.end(), [&](BufferId buffer) {
            const Buffer& info = program_[buffer];
            if (info.place != Buffer::Place::Shared) return false;
            const auto is_there = [&](BufferId read) {
                const Buffer& operand = program_[read];
                if (operand.place != Buffer::Place::Shared) return false;
                if (read == buffer) return (chunk - product.chunk) % info.stages == 0;
                return info.offset < end_of(operand) && operand.offset < end_of(info);
            };
            return std::any_of(product.op->reads.begin(), product.op->reads.end(), is_there);
        });
    }
    static std::int64_t end_of(const Buffer& buffer) {
        return buffer.offset + buffer.bytes * buffer.stages;
    }

    const Program& program_;
    std::int64_t trips_;
    std::set<std::string>& faults_;
    std::deque<Product> started_;
    std::deque<Product> through_;  // by this warp group, of which others may not know
};

}  // namespace

std::vector<std::string> verify_products(const Program& program) {
    std::set<std::string> faults;
    for (const std::int64_t trips : {0, 1, 2, 5}) Flight(program, trips, faults).run();
    return {faults.begin(), faults.end()};
}

}  // namespace napkin::schedule
