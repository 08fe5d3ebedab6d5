#include "schedule/take_turns.h"

#include <algorithm>
#include <vector>

#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

/// The hardware has 16 named barriers, of which three have other uses.
constexpr std::int64_t kMostGroups = 13;

/// From the first product of a turn to behind the last one before any is waited for.
struct Span {
    std::size_t first = 0;
    std::size_t end = 0;
    int products = 0;
};

std::optional<Span> products_of_turn(const Program& program, const Body& body) {
    // Where all warps meet in a turn, one group's would hold up the other's.
    const bool apart = std::none_of(body.begin(), body.end(), [](const Item& item) {
        return std::holds_alternative<Sync>(item.node) ||
               std::holds_alternative<ChunkLoop>(item.node);
    });
    if (!apart) return std::nullopt;
    std::optional<Span> span;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (span && std::holds_alternative<Finish>(body[i].node)) break;
        const OpId* id = std::get_if<OpId>(&body[i].node);
        if (id == nullptr || program[*id].kind != Op::Kind::Multiply) continue;
        if (program[*id].completion != Completion::Finish) return std::nullopt;
        if (!span) span = Span{i, i, 0};
        span->end = i + 1;
        ++span->products;
    }
    return span;
}

/// Measured on an H200, heads of 64 and 128: 3 to 4 % where blocks take one tile after another and
/// visit all chunks, nothing where each has a tile, and up to 2 % lost under a causal mask.
bool pays(const Program& program, const RegionProgram& region, const ChunkLoop& loop,
          const Span& span) {
    return program.persistent && span.products > 1 &&
           loops_of(region)[loop.source]->visible.empty();
}

}  // namespace

std::optional<Refusal> take_turns(Program& program, const RegionProgram& region,
                                  const RegionSchedule& wanted) {
    if (!wanted.turns.value_or(true)) return std::nullopt;
    const SettingName name{"turns", ""};
    const std::int64_t groups = program.agents.front().warps / kWarpsOfGroup;
    if (groups < 2 || groups > kMostGroups) {
        if (!wanted.turns) return std::nullopt;
        return Refusal{"a block has one warp group that multiplies",
                       "choose `warps` of 8 or more, or larger groups of rows", name};
    }
    bool found = false;
    for (Item& item : program.body) {
        ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node);
        if (loop == nullptr) continue;
        const std::optional<Span> span = products_of_turn(program, loop->body);
        if (!span || (!wanted.turns && !pays(program, region, *loop, *span))) continue;
        const auto at = [&](std::size_t i) {
            return loop->body.begin() + static_cast<std::ptrdiff_t>(i);
        };
        loop->body.insert(at(span->end), {PassTurn{}});
        loop->body.insert(at(span->first), {TakeTurn{}});
        found = true;
    }
    if (found || !wanted.turns) return std::nullopt;
    return Refusal{"no loop has products beside which warp groups do other work without meeting",
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
