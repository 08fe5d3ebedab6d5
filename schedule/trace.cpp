#include "schedule/trace.h"

#include <algorithm>

namespace napkin::schedule {
namespace {

class Tracer {
public:
    Tracer(const Program& program, Trips trips) : program_(program), trips_(trips) {}

    std::vector<Event> run() {
        number(program_.body);
        const std::int64_t tiles = program_.persistent ? 2 : 1;
        for (std::int64_t tile = 0; tile < tiles; ++tile) visit(program_.body, tile, 0, tiles);
        return std::move(events_);
    }

private:
    /// One turn of a body; turns before `whole` make copies only.
    void visit(const Body& body, std::int64_t turn, std::int64_t whole, std::int64_t chunks) {
        Site site{number_of(body), 0};
        bool copies = false;  // whether the last item was a copy
        for (const Item& item : body) {
            const bool sync = std::holds_alternative<Sync>(item.node);
            const bool inner = std::holds_alternative<ChunkLoop>(item.node);
            if (sync && turn < whole) continue;
            sites_.push_back(site);
            turns_.push_back(turn);
            if (!sync) ++site.item;
            // Copies that follow each other, and what ends their group, stay together.
            const bool joins =
                copies && (is_copy(item) || std::holds_alternative<Commit>(item.node));
            if (!sync && !joins && turn >= whole) add(nullptr, 0);
            copies = is_copy(item);
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node); inner && turn >= 0) {
                const Leads leads = leads_of(program_, loop->body);
                const std::int64_t trips = sites_.size() > 1 ? trips_.inner : trips_.chunks;
                for (std::int64_t t = -std::max(leads.copies, leads.others); t < trips; ++t)
                    visit(loop->body, t, -leads.others, trips);
            } else if (const std::optional<std::int64_t> lead = lead_of(item)) {
                const std::int64_t chunk = turn + *lead;
                if (chunk >= 0 && chunk < chunks) add(&item, chunk);
            } else if (!inner) {
                add(&item, 0);
            }
            sites_.pop_back();
            turns_.pop_back();
        }
    }

    /// Of the chunk that it works on, or waits for.
    [[nodiscard]] std::optional<std::int64_t> lead_of(const Item& item) const {
        if (const OpId* op = std::get_if<OpId>(&item.node)) return program_[*op].lead;
        if (const Finish* finish = std::get_if<Finish>(&item.node)) return finish->lead;
        return std::nullopt;
    }

    [[nodiscard]] bool is_copy(const Item& item) const {
        const OpId* op = std::get_if<OpId>(&item.node);
        return op != nullptr && program_[*op].completion == Completion::CopyGroup;
    }

    void add(const Item* item, std::int64_t chunk) {
        events_.push_back({item, sites_, turns_, chunk});
    }

    void number(const Body& body) {
        bodies_.push_back(&body);
        for (const Item& item : body)
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) number(loop->body);
    }
    [[nodiscard]] std::size_t number_of(const Body& body) const {
        const auto known = std::find(bodies_.begin(), bodies_.end(), &body);
        return static_cast<std::size_t>(known - bodies_.begin());
    }

    const Program& program_;
    Trips trips_;
    std::vector<const Body*> bodies_;  // in the order of the text
    std::vector<Site> sites_;
    std::vector<std::int64_t> turns_;
    std::vector<Event> events_;
};

}  // namespace

Leads leads_of(const Program& program, const Body& body) {
    Leads leads;
    for (const Item& item : body)
        if (const OpId* op = std::get_if<OpId>(&item.node)) {
            const bool copy = program[*op].completion == Completion::CopyGroup;
            std::int64_t& lead = copy ? leads.copies : leads.others;
            lead = std::max(lead, program[*op].lead);
        }
    return leads;
}

std::vector<std::size_t> owners_of(const Program& program) {
    std::vector<std::size_t> owners(program.buffers.size(), 0);
    std::size_t bodies = 0;
    const auto visit = [&](const auto& self, const Body& body) -> void {
        const std::size_t number = bodies++;
        for (const Item& item : body) {
            if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) self(self, loop->body);
            const OpId* op = std::get_if<OpId>(&item.node);
            if (op == nullptr) continue;
            for (const BufferId written : program[*op].writes) owners[written.index()] = number;
        }
    };
    visit(visit, program.body);
    return owners;
}

std::int64_t chunk_of(const Event& event, std::size_t owner) {
    for (std::size_t d = 0; d + 1 < event.sites.size(); ++d)
        if (event.sites[d].body == owner) return event.turns[d];
    return event.chunk;
}

std::vector<Event> trace(const Program& program, Trips trips) {
    return Tracer(program, trips).run();
}

}  // namespace napkin::schedule
