#include <fmt/format.h>

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
    case Kind::Store: return op.text;
    case Kind::Fetch: return "fetch the " + op.text;
    case Kind::Elements: return "compute " + op.text;
    case Kind::Publish: return op.text.starts_with("stage ") ? op.text : "publish " + op.text;
    case Kind::Multiply: break;
    }
    const char* part = op.portion == Op::Portion::Head   ? ", all but its last step"
                       : op.portion == Op::Portion::Tail ? ", its last step"
                                                         : "";
    return "multiply " + op.text + part;
}

std::string text_of(const ChunkLoop& loop, const std::vector<Axis>& axes) {
    std::string text = fmt::format("chunks of {} of {}", loop.size, axes[loop.axis.index()].name);
    if (loop.interval > 0)
        text += fmt::format(": {:.0f} clocks each, {:.2f} of the bound of {}", loop.interval,
                            loop.bound / loop.interval,
                            loop.binds ? schedule::name_of(*loop.binds) : "a recurrence");
    return text;
}

void summarise(const Program& program, const Body& body, const std::vector<Axis>& axes,
               std::vector<std::string>& lines) {
    for (const Item& item : body) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        std::string text = "  " + text_of(*loop, axes);
        for (const Item& inner : loop->body)
            if (const OpId* op = std::get_if<OpId>(&inner.node); op != nullptr)
                if (const Op& found = program[*op]; found.lead > 0)
                    text += fmt::format("; {} {} ahead", what(found), found.lead);
        lines.push_back(std::move(text));
        summarise(program, loop->body, axes, lines);
    }
}

class Printer {
public:
    Printer(const Program& program, const std::vector<Axis>& axes)
        : program_(program), axes_(axes) {}

    std::string run() {
        line(fmt::format("region {}: {} bytes of shared memory", program_.region,
                         program_.shared_bytes));
        for (const Agent& agent : program_.agents)
            line(fmt::format("agent {}: {} warps", name_of(agent.job), agent.warps));
        for (const Buffer& buffer : program_.buffers) print(buffer);
        print(program_.body, 0);
        return std::move(text_);
    }

private:
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

    void print(const Buffer& buffer) {
        if (buffer.place == Buffer::Place::Registers)
            return line(fmt::format("buffer {}: {} bytes of every thread's registers", buffer.name,
                                    buffer.bytes));
        line(fmt::format("buffer {}: {} bytes{} at {}", buffer.name, buffer.bytes,
                         buffer.stages > 1 ? fmt::format(", {} stages", buffer.stages) : "",
                         buffer.offset));
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
            else
                print(std::get<ChunkLoop>(item.node));
        }
        depth_ = outer;
    }

    void print(const Op& op) {
        const std::string ahead = lead_text(op.lead);
        line(what(op) + (ahead.empty() ? "" : ", " + ahead));
    }

    void print(const ChunkLoop& loop) {
        std::string text =
            fmt::format("chunks of {} of {}", loop.size, axes_[loop.axis.index()].name);
        if (loop.interval > 0)
            text += fmt::format(": {:.0f} clocks each, {:.2f} of the bound of {}", loop.interval,
                                loop.bound / loop.interval,
                                loop.binds ? schedule::name_of(*loop.binds) : "a recurrence");
        line(text);
        print(loop.body, depth_ + 1);
    }

    const Program& program_;
    const std::vector<Axis>& axes_;
    std::string text_;
    int depth_ = 0;
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

std::vector<std::string> summary(const Program& program, const std::vector<Axis>& axes) {
    std::int64_t warps = 0;
    for (const Agent& agent : program.agents) warps += agent.warps;
    std::vector<std::string> lines = {fmt::format("Schedule: {} warp{}, {} bytes of shared memory",
                                                  warps, warps == 1 ? "" : "s",
                                                  program.shared_bytes)};
    summarise(program, program.body, axes, lines);
    return lines;
}

std::string print(const Program& program, const std::vector<Axis>& axes) {
    return Printer(program, axes).run();
}

}  // namespace napkin::schedule
