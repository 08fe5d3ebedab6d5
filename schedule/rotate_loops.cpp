#include "schedule/rotate_loops.h"

#include <algorithm>
#include <optional>

#include "schedule/arrange_groups.h"
#include "schedule/finishes.h"
#include "schedule/rotate.h"

namespace napkin::schedule {
namespace {

/// Operations that follow each other in the text and in time: element work of one chunk.
using Chain = std::vector<OpId>;

bool is_of_elements(const Op& op) {
    return op.kind == Op::Kind::Elements || op.kind == Op::Kind::Part ||
           op.kind == Op::Kind::Accumulate;
}

std::vector<Chain> chains_of(const Program& program, const std::vector<OpId>& ops) {
    std::vector<Chain> chains;
    for (const OpId op : ops) {
        const bool follows = !chains.empty() && is_of_elements(program[op]) &&
                             is_of_elements(program[chains.back().back()]);
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
    // What warp groups keep in registers stands before the loop.
    if (!program.rings.empty()) return true;
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
        const bool alone = op.kind == Op::Kind::Publish || is_of_elements(op);
        const auto own = [&](BufferId buffer) {
            return program[buffer].place == Buffer::Place::Shared || !touched_by_others(buffer);
        };
        return alone && std::all_of(op.reads.begin(), op.reads.end(), own) &&
               std::all_of(op.writes.begin(), op.writes.end(), own);
    });
}

RotationStep step_of(const Program& program, const Chain& chain) {
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
        step.asynchronous = op.kind == Op::Kind::Fetch || op.completion == Completion::Finish;
        const bool reads_first = op.kind == Op::Kind::Multiply &&
                                 op.portion == Op::Portion::Whole && program.rings.empty();
        if (reads_first) step.start = kFetch;
        step.alone = op.kind == Op::Kind::Prepare || op.kind == Op::Kind::Pack;
        step.in_place =
            !program.rings.empty() && is_of_elements(op) && !program[chain.front()].again;
    }
    return step;
}

/// Whether all that warp groups do to a chunk is to add products from shared memory to what they
/// have: then one chunk's may start before the one before is through.
bool only_adds(const Program& program, const std::vector<Chain>& chains) {
    return !program.rings.empty() &&
           std::all_of(chains.begin(), chains.end(), [&](const Chain& chain) {
               const Op& op = program[chain.front()];
               return op.kind == Op::Kind::Multiply && op.completion == Completion::Finish &&
                      std::all_of(op.reads.begin(), op.reads.end(), [&](BufferId buffer) {
                          return program[buffer].place == Buffer::Place::Shared ||
                                 op.writes == std::vector{buffer};
                      });
           });
}

/// Whether warp groups meet in every turn, since all compute what all read: then they go through it
/// together.
bool together(const Program& program, const std::vector<Chain>& chains) {
    return !program.rings.empty() &&
           std::any_of(chains.begin(), chains.end(), [&](const Chain& chain) {
               return std::any_of(chain.begin(), chain.end(), [&](OpId op) {
                   return program[op].kind == Op::Kind::Publish ||
                          program[op].kind == Op::Kind::Part;
               });
           });
}

bool has(const std::vector<BufferId>& buffers, BufferId id) {
    return std::find(buffers.begin(), buffers.end(), id) != buffers.end();
}

std::vector<RotationBuffer> buffers_of(const Program& program, const std::vector<Chain>& chains) {
    std::vector<RotationBuffer> buffers;
    const bool meet = program.rings.empty() || together(program, chains);
    for (const Buffer& buffer : program.buffers)
        buffers.push_back(buffer.place == Buffer::Place::Shared
                              ? RotationBuffer{0, 2, meet, buffer.bytes}
                              : RotationBuffer{buffer.bytes / 4, 1, false, 0});
    if (program.rings.empty()) return buffers;
    // What begins and ends inside a chain takes the place of what the chain reads.
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const BufferId id{static_cast<std::uint32_t>(b)};
        const auto touches = [&](const Chain& chain) {
            return std::any_of(chain.begin(), chain.end(), [&](OpId op) {
                return has(program[op].reads, id) || has(program[op].writes, id);
            });
        };
        const bool carried = std::any_of(chains.begin(), chains.end(), [&](const Chain& chain) {
            const auto first =
                std::find_if(chain.begin(), chain.end(), [&](OpId op) { return touches({op}); });
            return first != chain.end() && has(program[*first].reads, id);
        });
        if (!carried && std::count_if(chains.begin(), chains.end(), touches) <= 1)
            buffers[b].registers = 0;
    }
    return buffers;
}

/// The limits of a program whose warps all run through a turn together, or of its warp groups.
RotationLimits limits_of(const Program& program, const std::vector<Chain>& chains) {
    RotationLimits limits;
    if (program.rings.empty()) {
        // Barriers keep the warps of a block together, so each goes through a turn as if it were
        // alone.
        limits.sharing.agents = 1;
        limits.sharing.latency = 1;
        limits.barrier = kBarrier;
        return limits;
    }
    const std::int64_t groups = program.agents.front().warps / kWarpsOfGroup;
    limits.sharing.agents = static_cast<int>(groups);
    limits.registers = registers_of_group(program) - kRegistersBesideBuffers;
    if (together(program, chains)) {
        limits.sharing.agents = 1;
        limits.barrier = kBarrier;
    }
    return limits;
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
        const bool copy = program[*id].completion == Completion::CopyGroup || program.apart(*id);
        (copy ? parts.copies : parts.others).push_back(*id);
    }
    return parts;
}

/// A loop's operations as they are rotated, with what is wanted of their leads.
class LoopRotation {
public:
    LoopRotation(Program program, ChunkLoop loop, const RegionSchedule& wanted, bool leads,
                 const Deadline& deadline)
        : program_(std::move(program)),
          loop_(std::move(loop)),
          wanted_(wanted),
          leads_(leads),
          deadline_(deadline) {}

    /// Puts the body in the order that is found, with these products split.
    std::optional<Refusal> run(const Parts& parts, const std::vector<OpId>& fetched) {
        for (const Chain& chain : chains_of(program_, parts.others)) {
            const bool split =
                std::find(fetched.begin(), fetched.end(), chain.front()) != fetched.end();
            if (!split)
                chains_.push_back(chain);
            else
                for (Chain& part : Splitter(program_).split(chain.front()))
                    chains_.push_back(std::move(part));
        }
        for (const Chain& chain : chains_) steps_.push_back(step_of(program_, chain));
        if (together(program_, chains_))
            for (RotationStep& step : steps_)
                for (double& clocks : step.cost.clocks)
                    clocks *= static_cast<double>(program_.agents.front().warps) / kWarpsOfGroup;
        if (std::optional<Refusal> refusal = limit_leads()) return refusal;
        RotationLimits limits = limits_of(program_, chains_);
        limits.deadline = deadline_;
        Rotation found = rotate(steps_, buffers_of(program_, chains_), limits);
        if (found.order.size() != steps_.size()) return no_order();
        const bool free = std::none_of(steps_.begin(), steps_.end(),
                                       [](const RotationStep& step) { return step.place; });
        if (!program_.rings.empty() && free) cut(found);
        // The order of these very leads: the same whether they were found or given.
        for (std::size_t i = 0; i < steps_.size(); ++i)
            steps_[i].least_lead = steps_[i].most_lead = found.leads[i];
        found = rotate(steps_, buffers_of(program_, chains_), limits);
        if (!program_.rings.empty() && free) cut(found);
        take(parts, found);
        return std::nullopt;
    }

    [[nodiscard]] const ChunkLoop& loop() const { return loop_; }
    void move_to(Program& program, ChunkLoop& loop) {
        program = std::move(program_);
        loop = std::move(loop_);
    }

private:
    std::optional<Refusal> limit_leads() {
        const std::vector<std::string> names = names_of(program_).ops;
        for (std::size_t i = 0; i < chains_.size(); ++i) {
            const std::int64_t most = may_lead(program_, chains_[i], chains_) ? 1 : 0;
            std::optional<std::int64_t> lead;
            for (const OpId op : chains_[i]) {
                program_[op].most_lead = most;
                const auto own = wanted_.leads.find(names[op.index()]);
                if (own == wanted_.leads.end()) continue;
                if (own->second > most || (lead && *lead != own->second))
                    return refusal(own->first,
                                   lead ? "what it follows is not as far ahead" : why_not(op));
                lead = own->second;
            }
            const auto all = wanted_.leads.find("");
            if (!lead && all != wanted_.leads.end()) lead = std::min(all->second, most);
            for (const OpId op : chains_[i])
                if (const auto own = wanted_.order.find(names[op.index()]);
                    own != wanted_.order.end() && !steps_[i].place)
                    steps_[i].place = own->second;
            steps_[i].least_lead = lead.value_or(leads_ && ends_turn(chains_[i]) ? most : 0);
            steps_[i].most_lead = lead.value_or(leads_ ? most : 0);
            bounds_.emplace_back(steps_[i].least_lead, steps_[i].most_lead);
        }
        return std::nullopt;
    }

    /// Whether it stands behind the wait for a turn's last product. Where a turn begins, the
    /// assembler makes one of registers that are moved for a product and what they are moved from;
    /// and what is rare would have products wait for each other (attention with heads of 128 on an
    /// H200, 8192 queries: 1442 us, 1529 with it between them).
    [[nodiscard]] bool ends_turn(const Chain& chain) const {
        const Op& op = program_[chain.front()];
        return (op.kind == Op::Kind::Pack && op.held) || (op.rare && !op.again);
    }

    [[nodiscard]] std::string why_not(OpId op) const {
        if (program_[op].most_lead > 0) return "it may be one chunk ahead at most";
        return "what it reads and writes is in registers, which hold one chunk";
    }

    static Refusal refusal(const std::string& op, std::string reason) {
        return {std::move(reason), "leave it out, and the planner chooses",
                SettingName{"leads", op}};
    }

    /// Where leads contradict each other, or places what operations need of each other.
    [[nodiscard]] Refusal no_order() const {
        const std::vector<std::string> names = names_of(program_).ops;
        for (std::size_t i = 0; i < chains_.size(); ++i)
            if (steps_[i].place)
                return {"no order of its loop has these places with these leads",
                        "leave it out, and the planner chooses",
                        SettingName{"order", names[chains_[i].front().index()]}};
        std::string leader;
        for (std::size_t i = 0; i < chains_.size(); ++i)
            if (steps_[i].least_lead > 0 && leader.empty())
                leader = names[chains_[i].front().index()];
        return refusal(wanted_.leads.contains(leader) ? leader : "",
                       "no order of its loop lets it lead the others so");
    }

    /// Begins the turn elsewhere in the same cyclic order, where the fewest products of warp groups
    /// are on their way: what stood at its beginning then stands at the end of the one before.
    void cut(Rotation& found) const {
        const auto body_of = [&](const Rotation& made) {
            Body body;
            for (const std::size_t chain : made.order)
                for (const OpId op : chains_[chain]) body.push_back({op});
            return body;
        };
        Rotation turned = found;
        std::int64_t fewest = crossing(program_, body_of(found));
        for (std::size_t steps = 1; steps < chains_.size(); ++steps) {
            std::rotate(turned.order.begin(), turned.order.begin() + 1, turned.order.end());
            ++turned.leads[turned.order.back()];
            Rotation made = turned;
            const std::int64_t least = *std::min_element(made.leads.begin(), made.leads.end());
            for (std::int64_t& lead : made.leads) lead -= least;
            bool allowed = true;
            for (std::size_t i = 0; i < made.leads.size(); ++i)
                allowed = allowed && bounds_[i].first <= made.leads[i] &&
                          made.leads[i] <= bounds_[i].second;
            const std::int64_t count = crossing(program_, body_of(made));
            if (!allowed || count >= fewest) continue;
            fewest = count;
            found = made;
        }
    }

    void take(const Parts& parts, const Rotation& found) {
        loop_.body.clear();
        for (const OpId copy : parts.copies) loop_.body.push_back({copy});
        for (const std::size_t chain : found.order)
            for (const OpId op : chains_[chain]) {
                program_[op].lead = found.leads[chain];
                loop_.body.push_back({op});
            }
        if (leads_ && only_adds(program_, chains_))
            for (const Chain& chain : chains_) {
                Op& product = program_[chain.front()];
                product.lead = product.lag = 1;
            }
        loop_.interval = found.interval;
        loop_.bound = found.bound;
        loop_.binds = found.binds;
        loop_.registers = found.registers;
    }

    Program program_;
    ChunkLoop loop_;
    const RegionSchedule& wanted_;
    bool leads_ = true;
    const Deadline& deadline_;
    std::vector<Chain> chains_;
    std::vector<RotationStep> steps_;
    /// By how many chunks each may lead, at least and at most.
    std::vector<std::pair<std::int64_t, std::int64_t>> bounds_;
};

class Rotator {
public:
    Rotator(Program program, const RegionSchedule& wanted, bool leads, const Deadline& deadline)
        : program_(std::move(program)), wanted_(wanted), leads_(leads), deadline_(deadline) {}

    std::variant<Program, Refusal> run() {
        Body body = program_.body;
        if (std::optional<Refusal> refusal = rotate_body(body)) return *std::move(refusal);
        program_.body = std::move(body);
        return std::move(program_);
    }

private:
    std::optional<Refusal> rotate_body(Body& body) {
        for (Item& item : body)
            if (ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
                if (std::optional<Refusal> refusal = rotate_body(loop->body)) return refusal;
                if (std::optional<Refusal> refusal = rotate_loop(*loop)) return refusal;
            }
        return std::nullopt;
    }

    /// Products fetch where it is wanted; where nothing is said, if the loop is faster by it.
    std::optional<Refusal> rotate_loop(ChunkLoop& loop) {
        const std::optional<Parts> parts = parts_of(program_, loop);
        if (!parts) return std::nullopt;
        std::vector<OpId> wanted;
        std::vector<OpId> most;
        const std::vector<std::string> products = names_of(program_).products;
        for (const OpId op : parts->others) {
            const std::string& name = products[op.index()];
            const auto own = wanted_.fetched.find(name);
            const bool asked = !name.empty() && own != wanted_.fetched.end() && own->second;
            if (asked && !program_[op].fetchable)
                return Refusal{"it does not add to what it has from operands in shared memory", "",
                               SettingName{"fetched", name}};
            if (!program_[op].fetchable) continue;
            std::optional<bool> choice = choice_of(wanted_.fetched, name);
            if (!choice && wanted_.leads.contains("fetch the first operands of " + name))
                choice = true;
            if (choice.value_or(false)) wanted.push_back(op);
            if (choice.value_or(leads_)) most.push_back(op);
        }
        LoopRotation plain(program_, loop, wanted_, leads_, deadline_);
        if (std::optional<Refusal> refusal = plain.run(*parts, wanted)) return refusal;
        if (most.size() > wanted.size()) {
            LoopRotation fetching(program_, loop, wanted_, leads_, deadline_);
            constexpr double kFaster = 0.99;
            if (!fetching.run(*parts, most) &&
                fetching.loop().interval < kFaster * plain.loop().interval &&
                fetching.loop().registers <= RotationLimits{}.registers) {
                fetching.move_to(program_, loop);
                return std::nullopt;
            }
        }
        plain.move_to(program_, loop);
        return std::nullopt;
    }

    Program program_;
    const RegionSchedule& wanted_;
    bool leads_ = true;
    const Deadline& deadline_;
};

}  // namespace

std::variant<Program, Refusal> rotate_loops(Program program, const RegionSchedule& wanted,
                                            bool leads, const Deadline& deadline) {
    return Rotator(std::move(program), wanted, leads, deadline).run();
}

}  // namespace napkin::schedule
