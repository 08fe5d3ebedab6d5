#include "schedule/form_agents.h"

#include <algorithm>
#include <optional>

#include "diagrams/index/mask.h"
#include "schedule/fit_copies.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

constexpr AgentId kCompute{0};
constexpr AgentId kLoad{1};
constexpr std::int64_t kLoadWarps = 4;

bool contains(const std::vector<BufferId>& buffers, BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

bool reads(const Program& program, const Item& item, BufferId buffer) {
    if (const OpId* id = std::get_if<OpId>(&item.node)) return contains(program[*id].reads, buffer);
    const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
    return loop != nullptr &&
           std::any_of(loop->body.begin(), loop->body.end(),
                       [&](const Item& inner) { return reads(program, inner, buffer); });
}

std::int64_t lead_of(const Program& program, const Item& item) {
    const OpId* id = std::get_if<OpId>(&item.node);
    return id == nullptr ? 0 : program[*id].lead;
}

/// Items of a body that read a buffer.
std::vector<std::size_t> items_reading(const Program& program, const Body& body, BufferId buffer) {
    std::vector<std::size_t> readers;
    for (std::size_t i = 0; i < body.size(); ++i)
        if (reads(program, body[i], buffer)) readers.push_back(i);
    return readers;
}

class AgentFormer {
public:
    AgentFormer(Program program, const RegionProgram& region, const Plan& plan,
                const Limits& limits)
        : program_(std::move(program)),
          region_(region),
          plan_(plan),
          limits_(limits),
          leaves_(leaves_of(region)),
          loops_(loops_of(region)) {}

    Program run() {
        program_.agents = {{Agent::Job::Compute, plan_.warps_down * plan_.warps_across},
                           {Agent::Job::Load, kLoadWarps}};
        visit(program_.body);
        return std::move(program_);
    }

private:
    void visit(const Body& body) {
        std::vector<std::pair<Ring, std::vector<std::size_t>>> rings;
        for (const Item& item : body) {
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
                visit(loop->body);
                if (is_listed(*loops_[loop->source]) && copies(loop->body)) add_list(*loop);
            }
            const OpId* id = std::get_if<OpId>(&item.node);
            if (id == nullptr || program_[*id].completion != Completion::CopyGroup) continue;
            Op& op = program_[*id];
            op.agent = kLoad;
            op.completion = Completion::Filled;
            fit(op);
            const bool bulk = op.box.has_value();
            const std::vector<std::size_t> readers =
                items_reading(program_, body, op.writes.front());
            const auto known = std::find_if(rings.begin(), rings.end(), [&](const auto& ring) {
                return ring.first.bulk == bulk && ring.second == readers;
            });
            if (known == rings.end())
                rings.push_back({{op.writes, {}, bulk}, readers});
            else
                known->first.buffers.push_back(op.writes.front());
        }
        for (auto& [ring, readers] : rings) {
            std::string name = program_[ring.buffers.front()].name + "_ring";
            program_.buffers.push_back({std::move(name), Buffer::Place::Shared, 0, 1, 0, true});
            ring.barriers = {static_cast<std::uint32_t>(program_.buffers.size() - 1)};
            program_.rings.push_back(std::move(ring));
        }
    }

    /// Whether the agent that copies finds out which chunks a loop visits: where no closed form
    /// says so, and where data decides. Of its only tile the block marks those while it is
    /// together.
    [[nodiscard]] bool is_listed(const Loop& loop) const {
        if (!loop.data_masks.empty()) return program_.persistent;
        if (!varies_along(loop)) return false;
        const index::Mask mask(region_.axes, loop.visible);
        return !mask.where_met().empty() && !mask.chunks_met(loop.axis, loop.size, true);
    }
    [[nodiscard]] bool copies(const Body& body) const {
        return std::any_of(body.begin(), body.end(), [&](const Item& item) {
            const OpId* id = std::get_if<OpId>(&item.node);
            return id != nullptr && program_.apart(*id);
        });
    }
    void add_list(const ChunkLoop& loop) {
        const std::string name = region_.axes[loop.axis.index()].name + "_list";
        program_.lists[loop.source] = BufferId{static_cast<std::uint32_t>(program_.buffers.size())};
        program_.buffers.push_back({name, Buffer::Place::Shared, kListBytes, 1, 0, true});
    }

    void fit(Op& op) const {
        const Load& load = std::get<Load>(leaves_[op.leaf.index()]->node);
        std::variant<Box, std::string> found = box_of(region_, plan_, limits_, load);
        if (Box* box = std::get_if<Box>(&found))
            op.box = std::move(*box);
        else
            op.unboxed = std::get<std::string>(std::move(found));
    }

    Program program_;
    const RegionProgram& region_;
    const Plan& plan_;
    const Limits& limits_;
    std::vector<const TileStatement*> leaves_;
    std::vector<const Loop*> loops_;
};

/// What uses a product's operands uses them until it is through.
struct End {
    std::size_t at = 0;
    std::int64_t lead = 0;
};
End end_of(const Program& program, const Body& body, std::size_t reader) {
    const OpId* id = std::get_if<OpId>(&body[reader].node);
    for (std::size_t i = reader + 1; id != nullptr && i < body.size(); ++i)
        if (const Finish* finish = std::get_if<Finish>(&body[i].node);
            finish != nullptr && finish->op == *id)
            return {i, finish->lead};
    return {reader, lead_of(program, body[reader])};
}

/// Where a ring that a body's copies fill is first and last needed there.
struct UseOfRing {
    std::size_t first = 0;
    std::int64_t first_lead = 0;
    std::size_t last = 0;
    std::int64_t last_lead = 0;
};

std::optional<UseOfRing> use_of(const Program& program, const Body& body, BufferId buffer) {
    std::optional<UseOfRing> use;
    for (const std::size_t i : items_reading(program, body, buffer)) {
        const std::int64_t lead = lead_of(program, body[i]);
        const End end = end_of(program, body, i);
        if (!use) use = UseOfRing{i, lead, end.at, end.lead};
        if (lead > use->first_lead) use->first = i, use->first_lead = lead;
        // A product is through later than what reads its operand behind it.
        const bool later = end.lead == use->last_lead && end.at > use->last;
        if (end.lead < use->last_lead || later) use->last = end.at, use->last_lead = end.lead;
    }
    return use;
}

void add_tokens_to(const Program& program, Body& body, bool repeats) {
    std::vector<std::vector<Item>> before(body.size());
    std::vector<std::vector<Item>> after(body.size());
    for (std::size_t r = 0; r < program.rings.size(); ++r) {
        const Ring& ring = program.rings[r];
        const bool filled_here = std::any_of(body.begin(), body.end(), [&](const Item& item) {
            const OpId* id = std::get_if<OpId>(&item.node);
            return id != nullptr && program.apart(*id) &&
                   contains(program[*id].writes, ring.buffers.front());
        });
        const std::optional<UseOfRing> use = use_of(program, body, ring.buffers.front());
        if (!filled_here || !use) continue;
        const RingId id{static_cast<std::uint32_t>(r)};
        before[use->first].push_back({Await{id, use->first_lead}});
        // What is filled once is never filled again.
        if (repeats) after[use->last].push_back({Release{id, use->last_lead}});
    }
    Body result;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&body[i].node))
            add_tokens_to(program, loop->body, true);
        for (Item& item : before[i]) result.push_back(std::move(item));
        result.push_back(std::move(body[i]));
        for (Item& item : after[i]) result.push_back(std::move(item));
    }
    body = std::move(result);
}

}  // namespace

Program form_agents(Program program, const RegionProgram& region, const Plan& plan,
                    const Limits& limits) {
    return AgentFormer(std::move(program), region, plan, limits).run();
}

void add_tokens(Program& program) {
    Body body = std::move(program.body);
    add_tokens_to(program, body, program.persistent);
    program.body = std::move(body);
}

}  // namespace napkin::schedule
