#include "schedule/rotate_loops.h"

#include <algorithm>
#include <optional>

#include "schedule/rotate.h"

namespace napkin::schedule {
namespace {

/// Operations that follow each other in the text and in time: element work of one chunk.
using Chain = std::vector<OpId>;

/// Clocks until the first operands of a product are there.
constexpr double kFetch = 60;
/// Clocks that warps lose where they meet.
constexpr double kBarrier = 60;

std::vector<Chain> chains_of(const Program& program, const std::vector<OpId>& ops) {
    std::vector<Chain> chains;
    for (const OpId op : ops) {
        const bool follows = !chains.empty() && program[op].kind == Op::Kind::Elements &&
                             program[chains.back().back()].kind == Op::Kind::Elements;
        if (follows)
            chains.back().push_back(op);
        else
            chains.push_back({op});
    }
    return chains;
}

void add_all(std::vector<BufferId>& buffers, const std::vector<BufferId>& more) {
    for (const BufferId buffer : more)
        if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end())
            buffers.push_back(buffer);
}

/// Whether a step may run for a later chunk than its turn's: what it reads and writes is in shared
/// memory, or a state that nothing else in the loop touches.
bool may_lead(const Program& program, const Chain& chain, const std::vector<Chain>& others) {
    if (program[chain.front()].kind == Op::Kind::Fetch) return true;
    const auto touched_by_others = [&](BufferId buffer) {
        return std::any_of(others.begin(), others.end(), [&](const Chain& other) {
            return other != chain && std::any_of(other.begin(), other.end(), [&](OpId id) {
                       const auto in = [&](const std::vector<BufferId>& list) {
                           return std::find(list.begin(), list.end(), buffer) != list.end();
                       };
                       return in(program[id].reads) || in(program[id].writes);
                   });
        });
    };
    return std::all_of(chain.begin(), chain.end(), [&](OpId id) {
        const Op& op = program[id];
        const bool alone = op.kind == Op::Kind::Publish || op.kind == Op::Kind::Elements;
        const auto own = [&](BufferId buffer) {
            return program[buffer].place == Buffer::Place::Shared || !touched_by_others(buffer);
        };
        return alone && std::all_of(op.reads.begin(), op.reads.end(), own) &&
               std::all_of(op.writes.begin(), op.writes.end(), own);
    });
}

RotationStep step_of(const Program& program, const Chain& chain, const std::vector<Chain>& others,
                     bool leads) {
    RotationStep step;
    for (const OpId id : chain) {
        const Op& op = program[id];
        for (const BufferId read : op.reads)
            // What the chain itself wrote before is no dependence of it.
            if (std::find(step.writes.begin(), step.writes.end(), read) == step.writes.end())
                add_all(step.reads, {read});
        add_all(step.writes, op.writes);
        for (const Unit unit : kUnits) step.cost.of(unit) += op.cost.of(unit);
        // A warp issues its products itself, in order; what it reads comes while it does.
        step.asynchronous = op.kind == Op::Kind::Fetch;
        const bool reads_first = op.kind == Op::Kind::Multiply && op.portion == Op::Portion::Whole;
        if (reads_first) step.start = kFetch;
    }
    step.most_lead = leads && may_lead(program, chain, others) ? 1 : 0;
    return step;
}

std::vector<RotationBuffer> buffers_of(const Program& program) {
    std::vector<RotationBuffer> buffers;
    for (const Buffer& buffer : program.buffers)
        buffers.push_back(buffer.place == Buffer::Place::Shared
                              ? RotationBuffer{0, 2, true, buffer.bytes}
                              : RotationBuffer{buffer.bytes / 4, 1, false, 0});
    return buffers;
}

/// A product as three steps: its first operands come to registers, all but the last step along
/// its depth, and that.
class Splitter {
public:
    explicit Splitter(Program& program) : program_(program) {}

    std::vector<Chain> split(OpId id) {
        Op& whole = program_[id];
        const std::string name = whole.text;
        const std::vector<BufferId> operands = shared(whole.reads);
        const std::vector<BufferId> others = registers(whole.reads);
        const Cost cost = whole.cost;
        const BufferId first = add_buffer(name + "_first");
        const BufferId last = add_buffer(name + "_last");
        Op fetch = whole;
        fetch.kind = Op::Kind::Fetch;
        fetch.text = "first operands of " + name;
        fetch.reads = operands;
        fetch.writes = {first};
        fetch.completion = Completion::Immediate;
        fetch.cost = {};
        fetch.cost.of(Unit::Shared) = kFetch;
        Op tail = program_[id];
        tail.portion = Op::Portion::Tail;
        tail.reads = others;
        tail.reads.push_back(last);
        tail.cost.of(Unit::Tensor) = cost.of(Unit::Tensor) / kSteps;
        Op& head = program_[id];
        head.portion = Op::Portion::Head;
        head.reads.push_back(first);
        head.writes.push_back(last);
        head.cost.of(Unit::Tensor) = cost.of(Unit::Tensor) * (1 - 1 / kSteps);
        return {{add_op(std::move(fetch))}, {id}, {add_op(std::move(tail))}};
    }

private:
    static constexpr double kSteps = 4;  // along the depth of a usual chunk
    static constexpr std::int64_t kOperandBytes = 64;

    [[nodiscard]] std::vector<BufferId> shared(const std::vector<BufferId>& buffers) const {
        std::vector<BufferId> found;
        for (const BufferId buffer : buffers)
            if (program_[buffer].place == Buffer::Place::Shared) found.push_back(buffer);
        return found;
    }
    [[nodiscard]] std::vector<BufferId> registers(const std::vector<BufferId>& buffers) const {
        std::vector<BufferId> found;
        for (const BufferId buffer : buffers)
            if (program_[buffer].place == Buffer::Place::Registers) found.push_back(buffer);
        return found;
    }
    BufferId add_buffer(std::string name) {
        program_.buffers.push_back(
            {std::move(name), Buffer::Place::Registers, kOperandBytes, 1, 0, false});
        return {static_cast<std::uint32_t>(program_.buffers.size() - 1)};
    }
    OpId add_op(Op op) {
        op.id = {static_cast<std::uint32_t>(program_.ops.size())};
        program_.ops.push_back(std::move(op));
        return program_.ops.back().id;
    }

    Program& program_;
};

/// The operations of a loop without others inside: its copies, and what else it does.
struct Parts {
    std::vector<OpId> copies;
    std::vector<OpId> others;
};
std::optional<Parts> parts_of(const Program& program, const ChunkLoop& loop) {
    Parts parts;
    for (const Item& item : loop.body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) return std::nullopt;
        const bool copy = program[*id].completion == Completion::CopyGroup;
        (copy ? parts.copies : parts.others).push_back(*id);
    }
    return parts;
}

/// The program with one loop's body in the order that is found.
struct Rotated {
    Program program;
    ChunkLoop loop;
    std::int64_t registers = 0;
};

Rotated rotated(Program program, ChunkLoop loop, const Parts& parts, bool leads, bool fetches) {
    std::vector<Chain> chains;
    for (const Chain& chain : chains_of(program, parts.others)) {
        const bool split = fetches && program[chain.front()].fetchable;
        if (split)
            for (Chain& part : Splitter(program).split(chain.front()))
                chains.push_back(std::move(part));
        else
            chains.push_back(chain);
    }
    std::vector<RotationStep> steps;
    for (const Chain& chain : chains) steps.push_back(step_of(program, chain, chains, leads));
    // Barriers keep the warps of a block together, so each goes through a turn as if it were alone.
    RotationLimits limits;
    limits.sharing.agents = 1;
    limits.sharing.latency = 1;
    limits.barrier = kBarrier;
    const Rotation found = rotate(steps, buffers_of(program), limits);
    loop.body.clear();
    for (const OpId copy : parts.copies) loop.body.push_back({copy});
    for (const std::size_t chain : found.order)
        for (const OpId op : chains[chain]) {
            program[op].lead = found.leads[chain];
            loop.body.push_back({op});
        }
    loop.interval = found.interval;
    loop.bound = found.bound;
    loop.binds = found.binds;
    return {std::move(program), std::move(loop), found.registers};
}

/// Products are split where that is faster.
void rotate_loop(Program& program, ChunkLoop& loop, bool leads) {
    const std::optional<Parts> parts = parts_of(program, loop);
    if (!parts) return;
    Rotated whole = rotated(program, loop, *parts, leads, false);
    const bool splits = leads && std::any_of(parts->others.begin(), parts->others.end(),
                                             [&](OpId op) { return program[op].fetchable; });
    if (splits) {
        Rotated split = rotated(program, loop, *parts, leads, true);
        constexpr double kFaster = 0.99;
        if (split.loop.interval < kFaster * whole.loop.interval &&
            split.registers <= RotationLimits{}.registers)
            whole = std::move(split);
    }
    program = std::move(whole.program);
    loop = std::move(whole.loop);
}

void rotate_body(Program& program, Body& body, bool leads) {
    for (Item& item : body)
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
            rotate_body(program, loop->body, leads);
            rotate_loop(program, *loop, leads);
        }
}

}  // namespace

Program rotate_loops(Program program, bool leads) {
    Body body = std::move(program.body);
    rotate_body(program, body, leads);
    program.body = std::move(body);
    return program;
}

}  // namespace napkin::schedule
