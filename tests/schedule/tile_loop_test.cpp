// Blocks that take one tile after another: what is filled once a tile, and what goes wrong where
// the tokens of it are missing or in the wrong place.
#include "schedule/tile_loop.h"

#include <doctest/doctest.h>

#include "schedule/form_agents.h"
#include "schedule/place.h"
#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// Rows Q that come once a tile, and chunks K that are multiplied with them; what is computed goes
/// through a staging buffer.
Program program(bool persistent) {
    Program made;
    made.persistent = persistent;
    made.agents = {{Agent::Job::Compute, 8}, {Agent::Job::Load, 4}};
    const auto buffer = [&](const char* name, std::int64_t bytes, bool guarded = false) {
        made.buffers.push_back({name, Buffer::Place::Shared, bytes, 1, 0, guarded});
        return BufferId{static_cast<std::uint32_t>(made.buffers.size() - 1)};
    };
    const BufferId rows = buffer("Q", 4096);
    const BufferId chunk = buffer("K", 4096);
    const BufferId staging = buffer("staging", 4096);
    made.rings = {{{rows}, buffer("Q_ring", 16, true)}, {{chunk}, buffer("K_ring", 32, true)}};
    const auto op = [&](const char* text, AgentId agent, std::vector<BufferId> reads,
                        std::vector<BufferId> writes) {
        Op added;
        added.id = {static_cast<std::uint32_t>(made.ops.size())};
        added.agent = agent;
        added.text = text;
        added.reads = std::move(reads);
        added.writes = std::move(writes);
        if (agent == AgentId{1}) added.completion = Completion::Filled;
        made.ops.push_back(added);
        return Item{added.id};
    };
    made.body = {op("load Q", {1}, {}, {rows})};
    ChunkLoop loop;
    loop.body = {op("load K", {1}, {}, {chunk}), op("S", {0}, {rows, chunk}, {})};
    made.body.push_back({loop});
    made.body.push_back(op("save", {0}, {}, {staging}));
    made[chunk].stages = 2;
    set_tile_stages(made, 2, {});
    place(made);
    add_tokens(made);
    return made;
}

/// Where a body's first item of a kind is.
template <class Node>
std::size_t find(const Body& body) {
    std::size_t at = 0;
    while (!std::holds_alternative<Node>(body[at].node)) ++at;
    return at;
}

std::string faults(const Program& made) {
    std::string text;
    for (const std::string& fault : verify_rings(made)) text += fault + "\n";
    return text;
}

}  // namespace

TEST_CASE("what is filled once a tile has stages, and is released, where blocks take several") {
    const Program once = program(false);
    CHECK(tile_rings(once).empty());
    CHECK_EQ(once.buffers.front().stages, 1);
    CHECK_EQ(faults(once), "");
    // The results lie where the chunks were: nothing is filled any more.
    CHECK_EQ(once.shared_bytes, 3 * 4096 + 2 * 128);

    Program several = program(true);
    CHECK_EQ(tile_rings(several), several.rings.front().buffers);
    CHECK_EQ(several.buffers.front().stages, 2);
    CHECK_EQ(faults(several), "");
    CHECK_EQ(several.shared_bytes, 5 * 4096 + 2 * 128);
    set_tile_stages(several, 2, {{"Q", 3}});
    CHECK_EQ(several.buffers.front().stages, 3);
}

TEST_CASE("planted faults between tiles are found") {
    const Program right = program(true);
    const auto wrong = [&](const auto& plant) {
        Program made = right;
        plant(made);
        return faults(made);
    };
    const auto erase = [](Body& body, std::size_t at) {
        const Item item = body[at];
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
        return item;
    };
    INFO("rows that are never released");
    CHECK_NE(wrong([&](Program& made) {
                 erase(made.body, find<Release>(made.body));
             }).find("agents wait for each other for ever"),
             std::string::npos);
    INFO("chunks that are never released");
    CHECK_NE(wrong([&](Program& made) {
                 Body& body = std::get<ChunkLoop>(made.body[find<ChunkLoop>(made.body)].node).body;
                 erase(body, find<Release>(body));
             }).find("agents wait for each other for ever"),
             std::string::npos);
    INFO("rows that are released before the chunks are multiplied with them");
    CHECK_NE(wrong([&](Program& made) {
                 const Item release = erase(made.body, find<Release>(made.body));
                 made.body.insert(
                     made.body.begin() + static_cast<std::ptrdiff_t>(find<ChunkLoop>(made.body)),
                     release);
             }).find("`S` reads `Q` after it was released"),
             std::string::npos);
    INFO("rows that nobody waits for");
    CHECK_NE(wrong([&](Program& made) {
                 erase(made.body, find<Await>(made.body));
             }).find("`S` reads `Q` before it is filled"),
             std::string::npos);
    INFO("results where the next tile's chunks come");
    CHECK_NE(wrong([&](Program& made) {
                 made.buffers[2].offset = made.buffers[1].offset;
             }).find("`save` uses memory that `K` is yet to fill"),
             std::string::npos);
    INFO("tokens of a block that takes one tile");
    Program once = program(false);
    once.persistent = true;
    CHECK_NE(faults(once), "");
}

}  // namespace napkin::schedule
