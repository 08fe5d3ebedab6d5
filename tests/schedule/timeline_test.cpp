// A loop in time: what stands one after the other in the text, and what goes on beside it.
#include "schedule/timeline.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace napkin::schedule {
namespace {

constexpr double kProduct = 100;
constexpr double kExponentials = 70;

/// A product of 100 clocks and exponentials of 70 in one loop.
Program with_loop(std::int64_t warps) {
    Program program;
    program.region = "O";
    program.agents = {{Agent::Job::Compute, warps}};
    program.buffers = {{"S", Buffer::Place::Registers, 64}, {"P", Buffer::Place::Registers, 64}};
    Op product;
    product.kind = Op::Kind::Multiply;
    product.text = "S";
    product.writes = {BufferId{0}};
    product.cost.of(Unit::Tensor) = kProduct;
    Op weights;
    weights.id = OpId{1};
    weights.text = "P";
    weights.reads = {BufferId{0}};
    weights.writes = {BufferId{1}};
    weights.cost.of(Unit::Exponential) = kExponentials;
    program.ops = {product, weights};
    ChunkLoop loop;
    loop.body = {{OpId{0}}, {OpId{1}}};
    program.body = {{loop}};
    return program;
}

Body& body_of(Program& program) {
    return std::get<ChunkLoop>(program.body.front().node).body;
}

const Bar& bar_of(const Timeline& timeline, const std::string& what, std::int64_t chunk) {
    const auto found = std::find_if(
        timeline.bars.begin(), timeline.bars.end(),
        [&](const Bar& bar) { return bar.agent == 0 && bar.what == what && bar.chunk == chunk; });
    REQUIRE(found != timeline.bars.end());
    return *found;
}

TEST_CASE("warps that multiply themselves do one thing after the other") {
    const std::vector<Timeline> all = timelines_of(with_loop(4), 3);
    REQUIRE_EQ(all.size(), 1);
    const Timeline& timeline = all.front();
    CHECK_EQ(timeline.agents, std::vector<std::string>{"all warps"});
    CHECK_EQ(timeline.bars.size(), 6);
    const Bar& product = bar_of(timeline, "S", 1);
    const Bar& weights = bar_of(timeline, "P", 1);
    CHECK_EQ(product.unit, Unit::Tensor);
    CHECK_EQ(product.end - product.begin, doctest::Approx(kProduct));
    CHECK_EQ(weights.unit, Unit::Exponential);
    CHECK_EQ(weights.begin, doctest::Approx(product.end));
    CHECK_GT(timeline.interval, kProduct + kExponentials - 1);
}

TEST_CASE("a product that is waited for later hides what stands between") {
    Program program = with_loop(4);
    program.rings.push_back({});
    program.ops[0].completion = Completion::Finish;
    program.ops[1].reads = {};
    body_of(program) = {{OpId{0}}, {OpId{1}}, {Finish{OpId{0}, 0, 0, 0}}};
    const std::vector<Timeline> all = timelines_of(program, 3);
    REQUIRE_EQ(all.size(), 1);
    CHECK_EQ(all.front().agents, std::vector<std::string>{"warp group 1"});
    const Bar& product = bar_of(all.front(), "S", 1);
    const Bar& weights = bar_of(all.front(), "P", 1);
    CHECK_LT(weights.begin, product.end);
    CHECK_EQ(all.front().interval, doctest::Approx(kProduct).epsilon(0.01));
}

TEST_CASE("groups share the tensor core, and a loop without chunks of its own has no timeline") {
    Program program = with_loop(8);
    program.rings.push_back({});
    program.ops[0].completion = Completion::Finish;
    body_of(program) = {{OpId{0}}, {Finish{OpId{0}, 0, 0, 0}}, {OpId{1}}};
    const Timeline both = timelines_of(program, 3).front();
    CHECK_EQ(both.agents, std::vector<std::string>{"warp group 1", "warp group 2"});
    CHECK_GE(both.interval, 2 * kProduct - 1);
    program.body = {};
    CHECK(timelines_of(program, 3).empty());
}

}  // namespace
}  // namespace napkin::schedule
