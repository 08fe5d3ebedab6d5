// Products that go on beside other work: what is waited for where, and what must not be changed
// until then.
#include <doctest/doctest.h>

#include <algorithm>

#include "schedule/finishes.h"
#include "schedule/place.h"
#include "schedule/stages.h"
#include "schedule/synchronise.h"
#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// A loop that publishes an operand a chunk ahead and multiplies it.
struct Published {
    Program program;
    BufferId panel{0};
    OpId publish{0};
    OpId multiply{1};

    Published() {
        program.agents = {{Agent::Job::Compute, 8}};
        program.buffers = {{"panel", Buffer::Place::Shared, 1024},
                           {"sum", Buffer::Place::Registers, 256}};
        const BufferId sum{1};
        Op made;
        made.kind = Op::Kind::Publish;
        made.text = "panel";
        made.writes = {panel};
        made.lead = 1;
        program.ops.push_back(made);
        Op product;
        product.id = multiply;
        product.kind = Op::Kind::Multiply;
        product.text = "sum";
        product.reads = {panel, sum};
        product.writes = {sum};
        product.completion = Completion::Finish;
        program.ops.push_back(product);
        ChunkLoop loop;
        loop.body = {{multiply}, {publish}};
        program.body = {{loop}};
    }
    void finish() {
        REQUIRE(!set_stages(program, 1, {}));
        place(program);
        add_finishes(program);
        synchronise(program);
    }
    [[nodiscard]] Body& body() { return std::get<ChunkLoop>(program.body.front().node).body; }
    template <class Node>
    [[nodiscard]] Body::iterator find() {
        return std::find_if(body().begin(), body().end(), [](const Item& item) {
            return std::holds_alternative<Node>(item.node);
        });
    }
};

}  // namespace

TEST_CASE("what is published for the next chunk stands beside the product of this one") {
    Published right;
    right.finish();
    CHECK_EQ(right.program[right.panel].stages, 2);
    CHECK(verify(right.program).empty());
    CHECK(verify_products(right.program).empty());
    // The product is waited for behind what is published meanwhile.
    const auto published = std::find(right.body().begin(), right.body().end(), Item{right.publish});
    CHECK_LT(published, right.find<Finish>());

    SUBCASE("in one place it overwrites what the product reads") {
        right.program[right.panel].stages = 1;
        CHECK_FALSE(verify_products(right.program).empty());
    }
    SUBCASE("without a barrier another group's product may still read") {
        right.body().erase(right.find<Sync>());
        CHECK_FALSE(verify_products(right.program).empty());
    }
    SUBCASE("without a wait the product is on its way when its operand is overwritten") {
        right.body().erase(right.find<Finish>());
        CHECK_FALSE(verify_products(right.program).empty());
    }
}

TEST_CASE("what takes the memory of a product's operands waits for the product") {
    Program program;
    program.agents = {{Agent::Job::Compute, 8}};
    program.buffers = {{"A", Buffer::Place::Shared, 1024},
                       {"B", Buffer::Place::Shared, 1024},
                       {"C", Buffer::Place::Registers, 256},
                       {"D", Buffer::Place::Registers, 256}};
    for (const std::uint32_t at : {0U, 1U}) {
        Op publish;
        publish.id = OpId{2 * at};
        publish.kind = Op::Kind::Publish;
        publish.text = "publish";
        publish.writes = {BufferId{at}};
        Op product;
        product.id = OpId{2 * at + 1};
        product.kind = Op::Kind::Multiply;
        product.text = "multiply";
        product.reads = {BufferId{at}, BufferId{2 + at}};
        product.writes = {BufferId{2 + at}};
        product.completion = Completion::Finish;
        program.ops.push_back(publish);
        program.ops.push_back(product);
        program.body.push_back({publish.id});
        program.body.push_back({product.id});
    }
    place(program);
    REQUIRE_EQ(program[BufferId{0}].offset, program[BufferId{1}].offset);
    Program right = program;
    add_finishes(right);
    synchronise(right);
    CHECK(verify(right).empty());
    CHECK(verify_products(right).empty());
    const auto first = std::find(right.body.begin(), right.body.end(), Item{OpId{1}});
    const auto taken = std::find(right.body.begin(), right.body.end(), Item{OpId{2}});
    const auto is_finish = [](const Item& item) {
        return std::holds_alternative<Finish>(item.node);
    };
    CHECK_EQ(std::count_if(first, taken, is_finish), 1);

    INFO("a wait that comes later is found");
    Program wrong = program;
    wrong[BufferId{1}].offset = 1024;
    add_finishes(wrong);
    synchronise(wrong);
    CHECK(verify_products(wrong).empty());
    wrong[BufferId{1}].offset = 0;
    CHECK_FALSE(verify_products(wrong).empty());
}

TEST_CASE("a ring holds what is asked for of another one before it is given back") {
    Program program;
    program.agents = {{Agent::Job::Compute, 4}, {Agent::Job::Load, 4}};
    program.buffers = {{"X", Buffer::Place::Shared, 1024},
                       {"scale", Buffer::Place::Shared, 1024},
                       {"sum", Buffer::Place::Registers, 256},
                       {"scaled", Buffer::Place::Registers, 256}};
    for (const std::uint32_t at : {0U, 1U}) {
        Op load;
        load.id = OpId{at};
        load.kind = Op::Kind::Copy;
        load.agent = AgentId{1};
        load.writes = {BufferId{at}};
        load.completion = Completion::Filled;
        program.ops.push_back(load);
    }
    Op product;
    product.id = OpId{2};
    product.kind = Op::Kind::Multiply;
    product.reads = {BufferId{0}, BufferId{2}};
    product.writes = {BufferId{2}};
    Op ahead;
    ahead.id = OpId{3};
    ahead.reads = {BufferId{1}};
    ahead.writes = {BufferId{3}};
    ahead.lead = 1;
    program.ops.push_back(product);
    program.ops.push_back(ahead);
    ChunkLoop loop;
    loop.body = {{OpId{0}}, {OpId{1}}, {OpId{2}}, {OpId{3}}};
    program.body = {{loop}};
    REQUIRE(!set_stages(program, 1, {}));
    // X of the next chunk is filled before `scale` of it, while the product reads that of this one.
    CHECK_EQ(program[BufferId{0}].stages, 2);
    CHECK_EQ(program[BufferId{1}].stages, 1);
}

TEST_CASE("one chunk is copied while the others are in use") {
    Program program;
    program.agents = {{Agent::Job::Compute, 4}, {Agent::Job::Load, 4}};
    program.buffers = {{"K", Buffer::Place::Shared, 1024}, {"sum", Buffer::Place::Registers, 256}};
    Op load;
    load.kind = Op::Kind::Copy;
    load.agent = AgentId{1};
    load.writes = {BufferId{0}};
    load.completion = Completion::Filled;
    Op product;
    product.id = OpId{1};
    product.kind = Op::Kind::Multiply;
    product.reads = {BufferId{0}, BufferId{1}};
    product.writes = {BufferId{1}};
    Op next = product;
    next.id = OpId{2};
    program.ops = {load, product, next};
    ChunkLoop loop;
    loop.body = {{OpId{0}}, {OpId{1}}, {OpId{2}}};
    program.body = {{loop}};
    const auto stages_for = [&](std::int64_t lead, std::int64_t stages) {
        Program made = program;
        made[OpId{1}].lead = lead;
        REQUIRE(!set_stages(made, stages, {}));
        CHECK_EQ(copies_late(made), stages == 1);
        return made[BufferId{0}].stages;
    };
    CHECK_EQ(stages_for(0, 1), 1);
    CHECK_EQ(stages_for(0, 2), 2);
    CHECK_EQ(stages_for(1, 1), 2);
    CHECK_EQ(stages_for(1, 2), 3);
    CHECK_EQ(stages_for(1, 4), 4);
}

TEST_CASE("a product that is waited for a chunk later") {
    Program program;
    program.agents = {{Agent::Job::Compute, 4}};
    program.buffers = {{"K", Buffer::Place::Shared, 1024, 2},
                       {"sum", Buffer::Place::Registers, 256},
                       {"K_ring", Buffer::Place::Shared, 32, 1, 2048, true}};
    const BufferId sum{1};
    Op product;
    product.kind = Op::Kind::Multiply;
    product.text = "sum";
    product.reads = {BufferId{0}, sum};
    product.writes = {sum};
    product.completion = Completion::Finish;
    product.lead = product.lag = 1;
    program.ops = {product};
    program.rings = {{{BufferId{0}}, BufferId{2}}};
    ChunkLoop loop;
    loop.body = {{OpId{0}}};
    program.body = {{loop}};
    add_finishes(program);
    Body& body = std::get<ChunkLoop>(program.body.front().node).body;
    CHECK_EQ(std::get<Finish>(body.back().node), Finish{OpId{0}, 0, 0, 1});
    body.push_back({Release{RingId{0}, 0}});
    CHECK(verify_products(program).empty());
    std::get<Release>(body.back().node).lead = 1;
    CHECK_FALSE(verify_products(program).empty());
    std::get<Release>(body.back().node).lead = 0;
    ++std::get<Finish>(body[1].node).pending;
    CHECK_FALSE(verify_products(program).empty());
}

TEST_CASE("no wait lets more products go on than one before it") {
    // dP of the next chunk is waited for behind dK of this one, which was started between them.
    Program program;
    program.agents = {{Agent::Job::Compute, 4}};
    for (const char* name : {"S", "dK", "dP", "dV", "P", "dS"})
        program.buffers.push_back({name, Buffer::Place::Registers, 64});
    const auto add = [&](Op::Kind kind, std::uint32_t writes, std::int64_t lead,
                         std::vector<BufferId> reads) {
        Op op;
        op.id = {static_cast<std::uint32_t>(program.ops.size())};
        op.kind = kind;
        op.text = program.buffers[writes].name;
        op.reads = std::move(reads);
        op.writes = {BufferId{writes}};
        op.lead = lead;
        if (kind == Op::Kind::Multiply) op.completion = Completion::Finish;
        program.ops.push_back(op);
        return op.id;
    };
    using Kind = Op::Kind;
    const OpId s = add(Kind::Multiply, 0, 1, {});
    const OpId dk = add(Kind::Multiply, 1, 0, {BufferId{1}});
    const OpId dp = add(Kind::Multiply, 2, 1, {});
    const OpId dv = add(Kind::Multiply, 3, 0, {BufferId{3}});
    const OpId p = add(Kind::Elements, 4, 1, {BufferId{0}});
    const OpId ds = add(Kind::Elements, 5, 1, {BufferId{2}});
    ChunkLoop loop;
    loop.body = {{s}, {dk}, {dp}, {dv}, {p}, {ds}};
    program.body = {{loop}};
    add_finishes(program);
    std::vector<Finish> found;
    for (const Item& item : std::get<ChunkLoop>(program.body.front().node).body)
        if (const Finish* finish = std::get_if<Finish>(&item.node)) found.push_back(*finish);
    CHECK_EQ(found, std::vector<Finish>{{s, 1, 1, 2}, {dp, 1, 0, 1}, {dk, 0, 1, 0}, {dv, 0, 0, 0}});
}

}  // namespace napkin::schedule
