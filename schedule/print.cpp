#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "schedule/program.h"

namespace napkin::schedule {
namespace {

std::string lead_text(std::int64_t lead) {
    if (lead == 0) return {};
    return fmt::format("{} chunk{} ahead", lead, lead == 1 ? "" : "s");
}

/// `multiply S`.
std::string what(const Op& op) {
    using Kind = Op::Kind;
    switch (op.kind) {
    case Kind::Copy:
    case Kind::Hold:
    case Kind::Store: return op.text;
    case Kind::Fetch: return "fetch the " + op.text;
    case Kind::Pack: return "round the left operand of " + op.text;
    case Kind::Prepare: return "bring up to date " + op.text;
    case Kind::Accumulate: return "accumulate " + op.text;
    case Kind::Elements: return "compute " + op.text;
    case Kind::Part: return "share the parts of " + op.text;
    case Kind::Combine: return "combine " + op.text;
    case Kind::Publish: return op.text.starts_with("stage ") ? op.text : "publish " + op.text;
    case Kind::Multiply: break;
    }
    const char* part = op.portion == Op::Portion::Head   ? ", all but its last step"
                       : op.portion == Op::Portion::Tail ? ", its last step"
                                                         : "";
    return "multiply " + op.text + part;
}

std::string loop_text(const ChunkLoop& loop, const std::vector<Axis>& axes) {
    std::string text = fmt::format("chunks of {} of {}", loop.size, axes[loop.axis.index()].name);
    if (loop.interval > 0)
        text += fmt::format(": {:.0f} clocks each, {:.2f} of the bound of {}", loop.interval,
                            loop.bound / loop.interval,
                            loop.binds ? schedule::name_of(*loop.binds) : "a recurrence");
    return text;
}

void summarise(const Body& body, const std::vector<Axis>& axes, std::vector<std::string>& lines) {
    for (const Item& item : body) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        lines.push_back(loop_text(*loop, axes));
        summarise(loop->body, axes, lines);
    }
}

/// `X`, `Y`, and the second `X` as `X-2`.
class Numbering {
public:
    std::string operator()(const std::string& name) {
        const int count = ++counts_[name];
        return count == 1 ? name : fmt::format("{}-{}", name, count);
    }

private:
    std::map<std::string, int> counts_;
};

void find_inside(const Body& body, bool inside, std::vector<bool>& found) {
    for (const Item& item : body) {
        if (const OpId* op = std::get_if<OpId>(&item.node)) found[op->index()] = inside;
        if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
            find_inside(loop->body, true, found);
    }
}

class Printer {
public:
    Printer(const Program& program, const std::vector<Axis>& axes)
        : program_(program), axes_(axes), names_(names_of(program)) {}

    std::string run() {
        placed_ = program_.shared_bytes > 0 ||
                  std::none_of(program_.buffers.begin(), program_.buffers.end(), is_shared);
        line(placed_ ? fmt::format("region {}: {} bytes of shared memory", program_.region,
                                   program_.shared_bytes)
                     : fmt::format("region {}", program_.region));
        if (program_.persistent) line("blocks take one tile after another");
        for (const Agent& agent : program_.agents)
            line(fmt::format("agent {}: {} warps", name_of(agent.job), agent.warps));
        for (std::size_t b = 0; b < program_.buffers.size(); ++b)
            print(program_.buffers[b], names_.buffers[b]);
        print(program_.body, 0);
        return std::move(text_);
    }

private:
    static bool is_shared(const Buffer& buffer) { return buffer.place == Buffer::Place::Shared; }

    static const char* name_of(Agent::Job job) {
        switch (job) {
        case Agent::Job::Everything: return "everything";
        case Agent::Job::Load: return "load";
        case Agent::Job::Compute: return "compute";
        case Agent::Job::Store: return "store";
        }
        return "";
    }

    static std::string text_of(const Sync& sync) {
        if (!sync.pending) return "barrier";
        return fmt::format("wait until {} group{} of copies {} left{}", *sync.pending,
                           *sync.pending == 1 ? "" : "s", *sync.pending == 1 ? "is" : "are",
                           sync.barrier ? ", barrier" : "");
    }

    void line(const std::string& text) {
        text_ += std::string(static_cast<std::size_t>(4 * depth_), ' ') + text + "\n";
    }

    void print(const Buffer& buffer, const std::string& name) {
        if (!is_shared(buffer))
            return line(
                fmt::format("buffer {}: {} bytes of every thread's registers", name, buffer.bytes));
        line(fmt::format("buffer {}: {} bytes{}{}", name, buffer.bytes,
                         buffer.stages > 1 ? fmt::format(", {} stages", buffer.stages) : "",
                         placed_ ? fmt::format(" at {}", buffer.offset) : ""));
    }

    void print(const Body& body, int depth) {
        const int outer = depth_;
        depth_ = depth;
        for (const Item& item : body) {
            if (const OpId* id = std::get_if<OpId>(&item.node))
                print(program_[*id]);
            else if (const Sync* sync = std::get_if<Sync>(&item.node))
                line(text_of(*sync));
            else if (std::holds_alternative<Commit>(item.node))
                line("commit copies");
            else if (const Finish* finish = std::get_if<Finish>(&item.node))
                print(*finish);
            else if (std::holds_alternative<TakeTurn>(item.node))
                line("wait for this warp group's turn");
            else if (std::holds_alternative<PassTurn>(item.node))
                line("pass the turn on");
            else if (const Await* await = std::get_if<Await>(&item.node))
                line("wait for " + text_of(await->ring, await->lead));
            else if (const Release* release = std::get_if<Release>(&item.node))
                line("release " + text_of(release->ring, release->lead));
            else
                print(std::get<ChunkLoop>(item.node));
        }
        depth_ = outer;
    }

    void print(const Finish& finish) {
        const std::int64_t behind = finish.pending + finish.pending_apart;
        std::string text = "wait for the product " + program_[finish.op].text;
        if (behind > 0)
            text += fmt::format(", {} behind it on {} way", behind, behind == 1 ? "its" : "their");
        line(text);
    }

    /// `K_tile and V_tile, 1 chunk ahead`.
    [[nodiscard]] std::string text_of(RingId ring, std::int64_t lead) const {
        std::string text;
        for (const BufferId buffer : program_[ring].buffers)
            text += (text.empty() ? "" : " and ") + program_[buffer].name;
        return text + (lead > 0 ? ", " + lead_text(lead) : "");
    }

    void print(const Op& op) {
        std::string text = names_.ops[op.id.index()];
        if (op.lead > 0) text += ", " + lead_text(op.lead);
        if (program_.apart(op.id))
            text += op.box ? ", by the load agent in bulk"
                           : ", by the load agent's threads: " + op.unboxed;
        line(text);
    }

    void print(const ChunkLoop& loop) {
        line(loop_text(loop, axes_));
        print(loop.body, depth_ + 1);
    }

    const Program& program_;
    const std::vector<Axis>& axes_;
    const ProgramNames names_;
    std::string text_;
    int depth_ = 0;
    bool placed_ = false;
};

}  // namespace

const char* name_of(Unit unit) {
    switch (unit) {
    case Unit::Tensor: return "the tensor core";
    case Unit::Exponential: return "the exponential units";
    case Unit::Issue: return "issue slots";
    case Unit::Shared: return "shared memory";
    case Unit::Copy: return "copies";
    }
    return "";
}

std::vector<std::string> buffer_names_of(const Program& program) {
    std::vector<std::string> names;
    Numbering buffers;
    for (const Buffer& buffer : program.buffers) names.push_back(buffers(buffer.name));
    return names;
}

ProgramNames names_of(const Program& program) {
    ProgramNames names;
    names.buffers = buffer_names_of(program);
    // What stands nowhere yet is a part of what stands in a loop.
    std::vector<bool> inside(program.ops.size(), true);
    find_inside(program.body, false, inside);
    Numbering ops;
    Numbering products;
    for (const Op& op : program.ops) {
        const bool product = op.kind == Op::Kind::Multiply && op.portion != Op::Portion::Tail;
        names.ops.push_back(inside[op.id.index()] ? ops(what(op)) : what(op));
        names.products.push_back(product ? products(op.text) : "");
    }
    return names;
}

std::vector<std::string> summary(const Program& program, const std::vector<Axis>& axes) {
    std::vector<std::string> lines = {
        fmt::format("{} bytes of shared memory", program.shared_bytes)};
    summarise(program.body, axes, lines);
    const ProgramNames names = names_of(program);
    for (const Op& op : program.ops)
        if (program.apart(op.id) && !op.box)
            lines.push_back(names.ops[op.id.index()] + " by threads: " + op.unboxed);
    return lines;
}

std::string print(const Program& program, const std::vector<Axis>& axes) {
    return Printer(program, axes).run();
}

}  // namespace napkin::schedule
