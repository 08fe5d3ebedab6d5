// A hazard is a pair of accesses to the same bytes of shared memory, one of them a write, of which
// one comes after the other when the program runs; a barrier must stand between them. A copy's
// bytes are written at any time until it is waited for, so of a hazard that begins with a copy the
// wait comes too, at the last barrier in between.
//
// That is stabbing intervals with points, where a point that is chosen stands in every turn of its
// loop. Hazards inside a body choose first, each as late as it can, so that others may share it;
// those that reach into a loop are met before the loop. Each point is dropped that the others of
// its body make superfluous.
#include "schedule/synchronise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "diagrams/result.h"
#include "schedule/trace.h"

namespace napkin::schedule {
namespace {

using Sites = std::set<Site>;
using Groups = std::map<Site, std::int64_t>;  // that may be on their way there

bool has_inner_loop(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Item& item) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        return loop != nullptr &&
               std::any_of(loop->body.begin(), loop->body.end(), [](const Item& inner) {
                   return std::holds_alternative<ChunkLoop>(inner.node);
               });
    });
}

/// Loops of none, one, two and enough chunks that every slot of every buffer comes around; loops
/// inside others of each number of chunks up to that, since a ring begins anew with its loop.
std::vector<Trips> trip_counts(const Program& program) {
    std::int64_t most = 2;
    for (const Buffer& buffer : program.buffers) most = std::max(most, buffer.stages);
    for (const Op& op : program.ops) most = std::max(most, op.lead);
    most += 2;
    std::vector<Trips> trips = {{0, 0}, {1, 1}, {2, 2}, {most, most}};
    if (has_inner_loop(program.body))
        for (std::int64_t inner = 0; inner < most; ++inner) trips.push_back({most, inner});
    return trips;
}

struct Access {
    std::size_t event = 0;
    BufferId buffer;
    std::int64_t begin = 0;  // bytes
    std::int64_t end = 0;
    bool write = false;
    bool copy = false;
    bool guarded = false;
    [[nodiscard]] bool hazardous_with(const Access& later) const {
        return event < later.event && (write || later.write) &&
               !(guarded && buffer == later.buffer) && begin < later.end && later.begin < end;
    }
};

std::vector<Access> accesses_of(const Program& program, const std::vector<Event>& events) {
    std::vector<Access> accesses;
    const std::vector<std::size_t> owners = owners_of(program);
    for (std::size_t e = 0; e < events.size(); ++e) {
        if (events[e].item == nullptr) continue;
        const OpId* id = std::get_if<OpId>(&events[e].item->node);
        // A product that goes on reads its operands until it is through.
        const Finish* finish = std::get_if<Finish>(&events[e].item->node);
        if (id == nullptr && finish == nullptr) continue;
        const Op& op = program[finish != nullptr ? finish->op : *id];
        // What another agent writes, tokens make visible.
        if (program.apart(op.id)) continue;
        const auto add = [&](BufferId buffer, bool write) {
            const Buffer& info = program[buffer];
            if (info.place != Buffer::Place::Shared) return;
            const std::int64_t chunk = chunk_of(events[e], owners[buffer.index()]);
            const std::int64_t begin = info.offset + chunk % info.stages * info.bytes;
            const bool copy = write && op.completion == Completion::CopyGroup;
            accesses.push_back({e, buffer, begin, begin + info.bytes, write, copy, info.guarded});
        };
        for (const BufferId buffer : op.reads) add(buffer, false);
        if (finish != nullptr) continue;
        for (const BufferId buffer : op.writes) add(buffer, true);
    }
    return accesses;
}

/// A barrier must stand between two events.
struct Hazard {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;  ///< of the innermost body that both stand in, in whichever of its turns
};

class Run {
public:
    Run(const Program& program, const Trips& trips) : events_(trace(program, trips)) {
        for (const Op& op : program.ops) is_copy_.push_back(op.completion == Completion::CopyGroup);
        std::int64_t commits = 0;
        for (const Event& event : events_) {
            commits_.push_back(commits);
            if (event.item != nullptr && std::holds_alternative<Commit>(event.item->node))
                ++commits;
        }
        commits_.push_back(commits);
        const std::vector<Access> accesses = accesses_of(program, events_);
        for (std::size_t later = 0; later < accesses.size(); ++later) {
            // Whatever stands behind the last access stands behind the others.
            std::optional<std::size_t> last;
            for (std::size_t first = 0; first < later; ++first) {
                if (!accesses[first].hazardous_with(accesses[later])) continue;
                last = accesses[first].event;
                if (accesses[first].copy) copies_.push_back({*last, accesses[later].event, 0});
            }
            if (last) hazards_.push_back(hazard_between(*last, accesses[later].event));
        }
    }

    [[nodiscard]] std::size_t most_depth() const {
        std::size_t most = 0;
        for (const Hazard& hazard : hazards_) most = std::max(most, hazard.depth);
        return most;
    }
    /// Adds what hazards of a depth need.
    void choose(std::size_t depth, Sites& chosen) const {
        for (const Hazard& hazard : hazards_)
            if (hazard.depth == depth && !met(hazard, chosen)) chosen.insert(latest_site(hazard));
    }
    /// Whether hazards of a depth or more are met.
    [[nodiscard]] bool all_met(std::size_t depth, const Sites& chosen) const {
        return std::all_of(hazards_.begin(), hazards_.end(), [&](const Hazard& hazard) {
            return hazard.depth < depth || met(hazard, chosen);
        });
    }
    /// Lowers the groups of copies that may be on their way at each site to what is right, if each
    /// copy is waited for at the last site before what needs it.
    void count_groups(const Sites& chosen, Groups& pending) const {
        for (const Hazard& copy : copies_) {
            std::size_t at = copy.end;
            while (!is_chosen(events_[at], chosen)) --at;
            const std::int64_t later = groups_between(copy.begin, at);
            const auto [known, added] = pending.emplace(events_[at].sites.back(), later);
            known->second = std::min(known->second, later);
        }
    }
    /// The groups after the last of the copies that may be on their way when the program ends;
    /// nothing where none may.
    [[nodiscard]] std::optional<std::int64_t> groups_after_last(const Groups& pending) const {
        std::optional<std::int64_t> groups;
        for (std::size_t begin = 0; begin < events_.size(); ++begin) {
            const OpId* op = events_[begin].item == nullptr
                                 ? nullptr
                                 : std::get_if<OpId>(&events_[begin].item->node);
            const bool copies = op != nullptr && is_copy_[op->index()];
            if (copies && !waited_for({begin, events_.size(), 0}, pending))
                groups = groups_between(begin, events_.size());
        }
        return groups;
    }
    [[nodiscard]] bool all_waited_for(const Groups& pending) const {
        return std::all_of(copies_.begin(), copies_.end(),
                           [&](const Hazard& copy) { return waited_for(copy, pending); });
    }

private:
    static bool is_chosen(const Event& event, const Sites& chosen) {
        return event.item == nullptr && chosen.contains(event.sites.back());
    }
    /// Groups of copies that end between two events, without that of the first.
    [[nodiscard]] std::int64_t groups_between(std::size_t begin, std::size_t end) const {
        return commits_[end] - commits_[begin] - 1;
    }
    [[nodiscard]] bool waited_for(const Hazard& copy, const Groups& pending) const {
        for (std::size_t e = copy.begin; e < copy.end; ++e) {
            if (events_[e].item != nullptr) continue;
            const auto site = pending.find(events_[e].sites.back());
            if (site != pending.end() && site->second <= groups_between(copy.begin, e)) return true;
        }
        return false;
    }
    [[nodiscard]] bool met(const Hazard& hazard, const Sites& chosen) const {
        for (std::size_t e = hazard.begin; e < hazard.end; ++e)
            if (is_chosen(events_[e], chosen)) return true;
        return false;
    }
    [[nodiscard]] Hazard hazard_between(std::size_t begin, std::size_t end) const {
        const Event& a = events_[begin];
        const Event& b = events_[end];
        std::size_t depth = 1;
        while (depth < a.sites.size() && depth < b.sites.size() &&
               a.sites[depth - 1] == b.sites[depth - 1] && a.turns[depth - 1] == b.turns[depth - 1])
            ++depth;
        return {begin, end, depth};
    }
    [[nodiscard]] Site latest_site(const Hazard& hazard) const {
        for (std::size_t e = hazard.end; e > hazard.begin; --e)
            if (events_[e].item == nullptr && events_[e].sites.size() <= hazard.depth)
                return events_[e].sites.back();
        throw InternalError("there is no place between two accesses");
    }

    std::vector<Event> events_;
    std::vector<bool> is_copy_;          // by operation
    std::vector<std::int64_t> commits_;  // before each event, and after the last
    std::vector<Hazard> hazards_;
    std::vector<Hazard> copies_;
};

void drop_syncs(const Program& program, Body& body) {
    std::erase_if(body, [](const Item& item) {
        return std::holds_alternative<Sync>(item.node) || std::holds_alternative<Commit>(item.node);
    });
    const auto is_copy = [&](const Item& item) {
        const OpId* op = std::get_if<OpId>(&item.node);
        return op != nullptr && program[*op].completion == Completion::CopyGroup;
    };
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&body[i].node))
            drop_syncs(program, loop->body);
        const bool ends = is_copy(body[i]) && (i + 1 == body.size() || !is_copy(body[i + 1]));
        if (ends) body.insert(body.begin() + static_cast<std::ptrdiff_t>(++i), Item{Commit{}});
    }
}

class Inserter {
public:
    Inserter(const Sites& sites, Groups pending) : sites_(sites), pending_(std::move(pending)) {}

    void insert(Body& body) {
        Site site{bodies_++, 0};
        Body result;
        for (Item& item : body) {
            if (sites_.contains(site)) {
                const auto groups = pending_.find(site);
                Sync sync;
                if (groups != pending_.end()) sync.pending = groups->second;
                result.push_back({sync});
            }
            if (ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) insert(loop->body);
            result.push_back(std::move(item));
            ++site.item;
        }
        body = std::move(result);
    }

private:
    const Sites& sites_;
    Groups pending_;
    std::size_t bodies_ = 0;
};

/// Inner bodies choose first, since what stands in every turn of a loop costs most; what they chose
/// serves those around them too.
Sites sites_of(const std::vector<Run>& runs) {
    std::size_t depth = 0;
    for (const Run& run : runs) depth = std::max(depth, run.most_depth());
    Sites chosen;
    for (; depth > 0; --depth) {
        Sites added = chosen;
        for (const Run& run : runs) run.choose(depth, added);
        const Sites all = added;
        for (const Site& site : all) {
            if (chosen.contains(site)) continue;
            added.erase(site);
            if (!std::all_of(runs.begin(), runs.end(),
                             [&](const Run& run) { return run.all_met(depth, added); }))
                added.insert(site);
        }
        chosen = added;
    }
    return chosen;
}

/// The most groups that may be on their way at each site; a site where all may is not in it.
Groups groups_at(const Sites& chosen, const std::vector<Run>& runs) {
    Groups pending;
    for (const Run& run : runs) run.count_groups(chosen, pending);
    const auto waited_for = [&] {
        return std::all_of(runs.begin(), runs.end(),
                           [&](const Run& run) { return run.all_waited_for(pending); });
    };
    const Groups strict = pending;
    for (const auto& [site, groups] : strict) {
        pending.erase(site);
        if (waited_for()) continue;
        pending[site] = groups;
        while (waited_for()) ++pending[site];
        --pending[site];
    }
    return pending;
}

}  // namespace

void synchronise(Program& program) {
    drop_syncs(program, program.body);
    std::vector<Run> runs;
    for (const Trips& trips : trip_counts(program)) runs.emplace_back(program, trips);
    const Sites chosen = sites_of(runs);
    const Groups pending = groups_at(chosen, runs);
    std::optional<std::int64_t> left;
    for (const Run& run : runs)
        if (const std::optional<std::int64_t> groups = run.groups_after_last(pending))
            left = std::min(left.value_or(*groups), *groups);
    Inserter(chosen, pending).insert(program.body);
    if (left) program.body.push_back({Sync{*left, false}});
}

}  // namespace napkin::schedule
