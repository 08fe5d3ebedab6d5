#include "schedule/take_turns.h"

#include <algorithm>
#include <vector>

namespace napkin::schedule {
namespace {

/// From the first product of a turn to behind the last one before any is waited for.
struct Span {
    std::size_t first = 0;
    std::size_t end = 0;
};

std::optional<Span> products_of_turn(const Program& program, const Body& body) {
    // Where all warps meet in a turn, one group's would hold up the others'.
    const bool meets = std::any_of(body.begin(), body.end(), [](const Item& item) {
        return std::holds_alternative<Sync>(item.node) ||
               std::holds_alternative<ChunkLoop>(item.node);
    });
    if (meets) return std::nullopt;
    std::optional<Span> span;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (span && std::holds_alternative<Finish>(body[i].node)) break;
        const OpId* id = std::get_if<OpId>(&body[i].node);
        if (id == nullptr || program[*id].kind != Op::Kind::Multiply) continue;
        if (program[*id].completion != Completion::Finish) return std::nullopt;
        if (!span) span = Span{i, i};
        span->end = i + 1;
    }
    return span;
}

}  // namespace

std::optional<Refusal> take_turns(Program& program) {
    const SettingName name{"turns", ""};
    if (program.agents.front().warps <= kWarpsOfGroup)
        return Refusal{"a block has one warp group that multiplies",
                       "choose `warps` of 8 or more, or larger groups of rows", name};
    bool found = false;
    for (Item& item : program.body) {
        ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        const std::optional<Span> span = products_of_turn(program, loop->body);
        if (!span) continue;
        const auto at = [&](std::size_t i) {
            return loop->body.begin() + static_cast<std::ptrdiff_t>(i);
        };
        loop->body.insert(at(span->end), {PassTurn{}});
        loop->body.insert(at(span->first), {TakeTurn{}});
        found = true;
    }
    if (found) return std::nullopt;
    return Refusal{
        "no loop has products that go on beside a warp group's other work, or all warps "
        "meet in its turns",
        "leave it out", name};
}

bool takes_turns(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Item& item) {
        const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        return std::holds_alternative<TakeTurn>(item.node) ||
               (loop != nullptr && takes_turns(loop->body));
    });
}

}  // namespace napkin::schedule
