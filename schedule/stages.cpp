#include "schedule/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/contains.h"

namespace napkin::schedule {
namespace {

struct Leading {
    std::int64_t least = INT64_MAX;
    std::int64_t most = 0;
    /// Chunks that are in use at once.
    [[nodiscard]] std::int64_t used() const { return most - least + 1; }
};

bool touches(const std::vector<BufferId>& buffers, BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

/// Leads of the operations of a body that read a buffer; reads in loops inside it have none.
Leading readers_of(const Program& program, const Body& body, BufferId buffer) {
    Leading leading;
    const auto note = [&](std::int64_t lead) {
        leading.least = std::min(leading.least, lead);
        leading.most = std::max(leading.most, lead);
    };
    for (const Item& item : body) {
        if (const OpId* id = std::get_if<OpId>(&item.node)) {
            if (!touches(program[*id].reads, buffer)) continue;
            note(program[*id].lead);
            note(program[*id].lead - program[*id].lag);
        } else if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node)) {
            if (readers_of(program, loop->body, buffer).least != INT64_MAX) note(0);
        }
    }
    if (leading.least == INT64_MAX) leading.least = 0;
    return leading;
}

/// A loop's operations that write shared memory which no chunk goes on from, with what they write.
struct Filling {
    OpId op;
    BufferId buffer;
    Leading readers;
};
std::vector<Filling> fillings_of(const Program& program, const Body& body) {
    std::vector<Filling> found;
    // A chunk goes on from what is read before it is written in the order of the text.
    const auto goes_on = [&](const Op& writer, BufferId buffer) {
        return std::any_of(body.begin(), body.end(), [&](const Item& item) {
            const OpId* id = std::get_if<OpId>(&item.node);
            return id != nullptr && id->index() <= writer.id.index() &&
                   touches(program[*id].reads, buffer);
        });
    };
    for (const Item& item : body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        for (const BufferId written : program[*id].writes)
            if (program[written].place == Buffer::Place::Shared && !program[written].guarded &&
                !goes_on(program[*id], written))
                found.push_back({*id, written, readers_of(program, body, written)});
    }
    return found;
}

/// Where in a turn a buffer is first asked for, of the furthest chunk, and last given back.
struct Turn {
    std::size_t asked = 0;
    std::size_t given_back = 0;
};
Turn turn_of(const Program& program, const Body& body, const Filling& filling) {
    Turn turn{body.size(), 0};
    for (std::size_t at = 0; at < body.size(); ++at) {
        const OpId* id = std::get_if<OpId>(&body[at].node);
        const bool read =
            id != nullptr ? touches(program[*id].reads, filling.buffer)
                          : std::holds_alternative<ChunkLoop>(body[at].node) &&
                                readers_of(program, {body[at]}, filling.buffer).least != INT64_MAX;
        if (!read) continue;
        const std::int64_t lead = id != nullptr ? program[*id].lead : 0;
        if (lead == filling.readers.most) turn.asked = std::min(turn.asked, at);
        // A product is waited for somewhere behind it.
        const bool later = id != nullptr && program[*id].kind == Op::Kind::Multiply;
        turn.given_back = later ? body.size() : std::max(turn.given_back, at);
    }
    return turn;
}

/// Stages without which an agent that fills rings in order would never come to what is asked for of
/// another one while this one is in use: `X` of one stage, in use by chunk 3, where chunk 4 of
/// `scale`, which is filled behind `X` of chunk 4, is asked for first.
std::int64_t stages_beside(const Program& program, const Body& body,
                           const std::vector<Filling>& fillings, std::size_t ring) {
    const Filling& held = fillings[ring];
    const Turn own = turn_of(program, body, held);
    std::int64_t least = 1;
    for (std::size_t other = 0; other < fillings.size(); ++other) {
        const Filling& asked = fillings[other];
        if (other == ring || !program.apart(asked.op)) continue;
        const std::int64_t filled = asked.readers.most + (ring < other ? 1 : 0);
        const bool free = own.given_back < turn_of(program, body, asked).asked;
        least = std::max(least, filled - held.readers.least - (free ? 1 : 0));
    }
    return least;
}

class StageSetter {
public:
    StageSetter(Program& program, std::int64_t stages,
                const std::map<std::string, std::int64_t>& chosen,
                const std::vector<std::string>& names)
        : program_(program), stages_(stages), chosen_(chosen), names_(names) {}

    std::optional<Refusal> run(const Body& body) {
        for (const Item& item : body) {
            const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
            if (loop == nullptr) continue;
            if (std::optional<Refusal> refusal = run(loop->body)) return refusal;
            const std::vector<Filling> fillings = fillings_of(program_, loop->body);
            std::variant<std::int64_t, Refusal> ahead = copies_ahead(fillings);
            if (Refusal* refusal = std::get_if<Refusal>(&ahead)) return std::move(*refusal);
            for (std::size_t at = 0; at < fillings.size(); ++at) {
                const Filling& filling = fillings[at];
                Op& op = program_[filling.op];
                const auto& [least, most] = filling.readers;
                if (is_copied(filling)) op.lead = std::get<std::int64_t>(ahead);
                program_[filling.buffer].stages = op.lead - least + 1;
                if (!program_.apart(filling.op)) continue;
                const std::int64_t used = filling.readers.used();
                const std::int64_t fewest =
                    std::max(used, stages_beside(program_, loop->body, fillings, at));
                const std::optional<std::int64_t> own = chosen(filling);
                if (own && *own < fewest)
                    return refusal(filling, fmt::format("`{}` needs {} for what is in use at once",
                                                        name(filling), fewest));
                // One is filled while the others are in use.
                const std::int64_t free = stages_ > 1 ? std::max(stages_, used + 1) : stages_;
                program_[filling.buffer].stages =
                    own.value_or(follows(filling.buffer) ? fewest : std::max(free, fewest));
            }
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] bool is_copied(const Filling& filling) const {
        return program_[filling.op].completion == Completion::CopyGroup;
    }
    [[nodiscard]] const std::string& name(const Filling& filling) const {
        return names_[filling.buffer.index()];
    }
    [[nodiscard]] std::optional<std::int64_t> chosen(const Filling& filling) const {
        const bool copied = is_copied(filling) || program_.apart(filling.op);
        return copied ? choice_of(chosen_, name(filling)) : std::nullopt;
    }

    /// Whether a buffer of its ring has the stages that were chosen, and so many the ring has.
    [[nodiscard]] bool follows(BufferId buffer) const {
        return std::any_of(program_.rings.begin(), program_.rings.end(), [&](const Ring& ring) {
            return contains(ring.buffers, buffer) &&
                   std::any_of(ring.buffers.begin(), ring.buffers.end(), [&](BufferId each) {
                       return chosen_.contains(names_[each.index()]);
                   });
        });
    }

    /// All copies of a chunk are made at once: so early that each ring has its stages, and before
    /// whoever reads first.
    [[nodiscard]] std::variant<std::int64_t, Refusal> copies_ahead(
        const std::vector<Filling>& fillings) const {
        std::int64_t ahead = 0;
        const Filling* decides = nullptr;
        for (const Filling& filling : fillings) {
            if (!is_copied(filling)) continue;
            const auto& [least, most] = filling.readers;
            if (!decides)
                ahead = std::max({ahead, stages_ - 1 + least, stages_ > 1 ? most + 1 : most});
            const std::optional<std::int64_t> own = chosen(filling);
            if (!own) continue;
            if (decides && *own - 1 + least != ahead)
                return refusal(filling, fmt::format("the copies of a chunk are made together, and "
                                                    "with `stages.{}` it has {}",
                                                    name(*decides), ahead - least + 1));
            decides = &filling;
            ahead = *own - 1 + least;
        }
        if (decides)
            for (const Filling& filling : fillings)
                if (is_copied(filling) && filling.readers.most > ahead)
                    return refusal(*decides, fmt::format("`{}` is read {} chunk{} ahead, before it "
                                                         "would be copied",
                                                         name(filling), filling.readers.most,
                                                         filling.readers.most == 1 ? "" : "s"));
        return ahead;
    }

    [[nodiscard]] Refusal refusal(const Filling& filling, std::string reason) const {
        return {std::move(reason), "leave it out, and it follows",
                SettingName{"stages", chosen_.contains(name(filling)) ? name(filling) : ""}};
    }

    Program& program_;
    std::int64_t stages_;
    const std::map<std::string, std::int64_t>& chosen_;
    const std::vector<std::string>& names_;  ///< of buffers
};

/// Two barriers a stage; the buffers of a ring have as many. Refuses to have one asked for fewer.
std::optional<Refusal> size_rings(Program& program,
                                  const std::map<std::string, std::int64_t>& chosen,
                                  const std::vector<std::string>& names) {
    for (const Ring& ring : program.rings) {
        constexpr std::int64_t kBytes = 16;
        std::int64_t stages = 1;
        for (const BufferId buffer : ring.buffers)
            stages = std::max(stages, program[buffer].stages);
        for (const BufferId buffer : ring.buffers) {
            const std::string& name = names[buffer.index()];
            const auto own = chosen.find(name);
            if (own != chosen.end() && own->second < stages)
                return Refusal{
                    fmt::format("what is copied together with `{}` has {}", name, stages),
                    "leave it out, and it follows", SettingName{"stages", name}};
            program[buffer].stages = stages;
        }
        program[ring.barriers].bytes = kBytes * stages;
    }
    return std::nullopt;
}

bool copies_late(const Program& program, const Body& body) {
    return std::any_of(body.begin(), body.end(), [&](const Item& item) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) return false;
        const std::vector<Filling> fillings = fillings_of(program, loop->body);
        return copies_late(program, loop->body) ||
               std::any_of(fillings.begin(), fillings.end(), [&](const Filling& filling) {
                   return program.apart(filling.op) &&
                          program[filling.buffer].stages <= filling.readers.used();
               });
    });
}

void find_rings(const Program& program, const Body& body, std::vector<BufferId>& rings) {
    for (const Item& item : body) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        find_rings(program, loop->body, rings);
        for (const Filling& filling : fillings_of(program, loop->body))
            if (program[filling.op].completion == Completion::CopyGroup ||
                program.apart(filling.op))
                rings.push_back(filling.buffer);
    }
}

}  // namespace

bool copies_late(const Program& program) {
    return copies_late(program, program.body);
}

std::vector<BufferId> copied_rings(const Program& program) {
    std::vector<BufferId> rings;
    find_rings(program, program.body, rings);
    return rings;
}

std::optional<Refusal> set_stages(Program& program, std::int64_t stages,
                                  const std::map<std::string, std::int64_t>& chosen) {
    const std::vector<std::string> names = buffer_names_of(program);
    StageSetter setter(program, stages, chosen, names);
    if (std::optional<Refusal> refusal = setter.run(program.body)) return refusal;
    return size_rings(program, chosen, names);
}

}  // namespace napkin::schedule
