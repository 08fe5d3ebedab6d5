#include "schedule/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "schedule/simulate.h"

namespace napkin::schedule {
namespace {

constexpr std::int64_t kWarm = 10;  // turns until the loop is under way

bool is_innermost(const ChunkLoop& loop) {
    return std::none_of(loop.body.begin(), loop.body.end(), [](const Item& item) {
        return std::holds_alternative<ChunkLoop>(item.node);
    });
}

class LoopTimeline {
public:
    LoopTimeline(const Program& program, const ChunkLoop& loop) : program_(program), loop_(loop) {
        const std::int64_t groups = program.agents.front().warps / kWarpsOfGroup;
        const bool publishes = std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& i) {
            const OpId* op = std::get_if<OpId>(&i.node);
            return op != nullptr && program[*op].kind == Op::Kind::Publish;
        });
        const bool is_grouped = !program.rings.empty();
        together_ = !is_grouped || publishes;
        if (is_grouped && publishes) factor_ = static_cast<double>(groups);
        sharing_.agents = together_ ? 1 : static_cast<int>(groups);
        sharing_.latency = is_grouped ? Sharing().latency : 1;
        for (const Item& item : loop.body) add(item);
        for (std::size_t at = 0; at < steps_.size(); ++at) wait_for_reads(at);
    }

    std::optional<Timeline> run(std::int64_t chunks) {
        std::vector<Activity> noted;
        const std::optional<double> interval = simulate(steps_, sharing_, &noted);
        if (!interval || noted.empty()) return std::nullopt;
        Timeline timeline{program_.region, loop_.axis, loop_.size, {}, {}, *interval, loop_.binds};
        for (int agent = 0; agent < sharing_.agents; ++agent)
            timeline.agents.push_back(together_ ? "all warps"
                                                : fmt::format("warp group {}", agent + 1));
        const auto names = names_of(program_).ops;
        for (const Activity& each : noted) {
            const std::optional<OpId> op = ops_[each.step];
            if (!op || each.end <= each.begin) continue;
            add(timeline,
                {each.agent, program_[*op].cost.busiest(), names[op->index()], program_[*op].text,
                 each.chunk, each.begin, each.end},
                chunks);
        }
        begin_at_zero(timeline);
        return timeline;
    }

private:
    void add(const Item& item) {
        if (const OpId* id = std::get_if<OpId>(&item.node)) {
            const Op& op = program_[*id];
            if (op.completion == Completion::CopyGroup || program_.apart(*id)) return;
            if (program_.rings.empty() && op.kind == Op::Kind::Multiply &&
                op.portion == Op::Portion::Whole)
                add(delay(Unit::Shared, kFetch, op.lead), {});
            Step step{op.cost,
                      op.kind == Op::Kind::Fetch || op.completion == Completion::Finish,
                      op.lead,
                      {}};
            for (double& clocks : step.cost.clocks) clocks *= factor_;
            step_of_[*id] = steps_.size();
            add(std::move(step), *id);
        } else if (const Finish* finish = std::get_if<Finish>(&item.node)) {
            finishes_.emplace_back(steps_.size(), finish->op);
            add(delay(Unit::Issue, 0, finish->lead), {});
        } else if (const Sync* sync = std::get_if<Sync>(&item.node);
                   sync && sync->barrier && !sync->pending) {
            add(delay(Unit::Issue, kBarrier, 0), {});
        }
        // A product may stand behind what waits for it in the turn before.
        for (const auto& [at, op] : finishes_)
            if (const auto found = step_of_.find(op); found != step_of_.end())
                steps_[at].waits = {{found->second, 0}};
    }
    /// Readers wait for what is fetched for them.
    void wait_for_reads(std::size_t at) {
        if (!ops_[at]) return;
        const std::vector<BufferId>& reads = program_[*ops_[at]].reads;
        for (std::size_t other = 0; other < steps_.size(); ++other) {
            if (!ops_[other] || program_[*ops_[other]].kind != Op::Kind::Fetch) continue;
            const std::vector<BufferId>& fetched = program_[*ops_[other]].writes;
            if (std::find_first_of(reads.begin(), reads.end(), fetched.begin(), fetched.end()) !=
                reads.end())
                steps_[at].waits.push_back({other, 0});
        }
    }
    void add(Step step, std::optional<OpId> op) {
        steps_.push_back(std::move(step));
        ops_.push_back(op);
    }
    static Step delay(Unit unit, double clocks, std::int64_t lead) {
        Step step;
        step.cost.of(unit) = clocks;
        step.lead = lead;
        return step;
    }

    /// Chunks of which a bar is shown.
    static void add(Timeline& timeline, Bar bar, std::int64_t chunks) {
        bar.chunk -= kWarm;
        if (bar.chunk >= 0 && bar.chunk < chunks) timeline.bars.push_back(std::move(bar));
    }

    static void begin_at_zero(Timeline& timeline) {
        std::stable_sort(timeline.bars.begin(), timeline.bars.end(),
                         [](const Bar& a, const Bar& b) { return a.begin < b.begin; });
        const double from = timeline.bars.empty() ? 0 : timeline.bars.front().begin;
        for (Bar& bar : timeline.bars) {
            bar.begin -= from;
            bar.end -= from;
        }
    }

    const Program& program_;
    const ChunkLoop& loop_;
    bool together_ = true;
    double factor_ = 1;
    Sharing sharing_;
    std::vector<Step> steps_;
    std::vector<std::optional<OpId>> ops_;  // of steps; none of those that only wait
    std::map<OpId, std::size_t> step_of_;
    std::vector<std::pair<std::size_t, OpId>> finishes_;
};

void collect(const Program& program, const Body& body, std::int64_t chunks,
             std::vector<Timeline>& found) {
    for (const Item& item : body) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        if (!is_innermost(*loop)) {
            collect(program, loop->body, chunks, found);
            continue;
        }
        if (std::optional<Timeline> timeline = LoopTimeline(program, *loop).run(chunks))
            found.push_back(std::move(*timeline));
    }
}

}  // namespace

std::vector<Timeline> timelines_of(const Program& program, std::int64_t chunks) {
    std::vector<Timeline> found;
    collect(program, program.body, chunks, found);
    return found;
}

}  // namespace napkin::schedule
