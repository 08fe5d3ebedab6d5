// What the model says of kernels beside a derivation: it moves with what limits them.
#include "search/predict.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

const char* const kHeads =
    "diagram heads {\n axis q = 4096, x = 4096, d = 128\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n"
    " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 64\n}\n";

Setup setup_of(const std::string& machine, const std::string& target = "") {
    SourceMap sources;
    const Result<Machine> loaded = load_machine(sources, machine);
    REQUIRE_MESSAGE(loaded.has_value(), machine);
    return {*loaded, target, {}};
}

Prediction predicted(const std::string& steps, const Setup& setup, const Sizes& sizes = {}) {
    auto found = predict(test::derived(kHeads, steps, sizes), setup);
    REQUIRE(std::holds_alternative<Prediction>(found));
    return std::get<Prediction>(std::move(found));
}

std::vector<Alternative> beside(const std::string& steps, const Setup& setup) {
    SourceMap sources;
    const Result<std::vector<Command>> commands =
        parse_derivation(sources, sources.add("test.drv", steps));
    REQUIRE(commands.has_value());
    return neighbours_of(test::derived(kHeads).diagram, *commands, setup);
}

TEST_CASE("a little more shared memory lets a chunk in") {
    const std::string steps = "fuse all\ngroup q by 128\nstream x by 128\n";
    const Setup small = setup_of("H200,block.capacity=90KiB", "sm_90a");
    CHECK_FALSE(predicted(steps, small).fits());
    CHECK(predicted(steps, with_shared_memory(small, 8192)).fits());
    CHECK_EQ(predicted(steps, small).why_not().substr(0, 13), "does not fit:");
}

TEST_CASE("a few more registers are what a spilling thread lacks") {
    const std::string steps = "fuse all\ngroup q by 192\nstream x by 128\n";
    const Setup setup = setup_of("H200", "sm_90a");
    const Sizes heads{{"d", 64}};
    CHECK_EQ(predicted(steps, setup, heads).why_not(), "spills: a thread lacks 4 registers");
    CHECK_FALSE(with_registers(predicted(steps, setup, heads), setup, 3).fits());
    CHECK(with_registers(predicted(steps, setup, heads), setup, 4).fits());
}

TEST_CASE("neighbours change one size each, and say what refuses them") {
    const std::vector<Alternative> all =
        beside("fuse all\ngroup q by 4096\nstream x by 64\n", setup_of("H200"));
    const auto named = [&](const std::string& change) {
        return std::any_of(all.begin(), all.end(),
                           [&](const Alternative& each) { return each.change == change; });
    };
    CHECK(named("stream x by 32"));
    CHECK(named("stream x by 80"));
    CHECK_FALSE(named("group q by 8192"));
    for (const Alternative& each : all) {
        INFO(each.change);
        CHECK_EQ(each.commands.size(), 3);
        CHECK_EQ(each.refusal.empty(), each.prediction.has_value());
    }
}

TEST_CASE("a kernel bound by device memory is slower where that is") {
    const std::string steps = "fuse all\ngroup q by 128\nstream x by 64\n";
    const double fast = predicted(steps, setup_of("H200")).time.middle().value;
    const Prediction slow = predicted(steps, setup_of("H200,device.bandwidth=0.1TB/s"));
    CHECK_EQ(slow.time.busiest, "device memory");
    CHECK_GT(slow.time.middle().value, 2 * fast);
}

TEST_CASE("what may not be fused or streamed further says why") {
    const State state = test::derived(kHeads, "fuse all\ngroup q by 128\nstream x by 64\n");
    const std::vector<Alternative> further = further_moves(state, setup_of("H200"));
    REQUIRE_FALSE(further.empty());
    CHECK_EQ(further.front().change.substr(0, 11), "stream d by");
    CHECK_NE(further.front().refusal.find("`d` is used in unrelated ways"), std::string::npos);
}

}  // namespace
}  // namespace napkin
