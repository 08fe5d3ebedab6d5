// Waits and barriers of programs small enough to check by hand, and of random ones; nothing of them
// can be taken away.
#include "schedule/synchronise.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <random>

#include "schedule/place.h"
#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// Builds a program a line at a time.
struct Builder {
    Program program;

    BufferId shared(const std::string& name, std::int64_t stages = 1, std::int64_t bytes = 1024) {
        program.buffers.push_back({name, Buffer::Place::Shared, bytes, stages, 0, false});
        return {static_cast<std::uint32_t>(program.buffers.size() - 1)};
    }
    OpId op(const std::string& text, std::vector<BufferId> reads, std::vector<BufferId> writes,
            std::int64_t lead = 0, bool copy = false) {
        Op op;
        op.id = {static_cast<std::uint32_t>(program.ops.size())};
        op.text = text;
        op.reads = std::move(reads);
        op.writes = std::move(writes);
        op.lead = lead;
        if (copy) op.kind = Op::Kind::Copy;
        if (copy) op.completion = Completion::CopyGroup;
        program.ops.push_back(op);
        return op.id;
    }
    OpId copy(BufferId to, std::int64_t lead = 0) {
        return op("load " + program[to].name, {}, {to}, lead, true);
    }
    static ChunkLoop loop(std::vector<OpId> ops) {
        ChunkLoop made;
        for (const OpId op : ops) made.body.push_back({op});
        return made;
    }
    std::string text() {
        place(program);
        synchronise(program);
        std::vector<Axis> axes(1);
        axes[0].name = "x";
        return print(program, axes);
    }
};

std::string body_of(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        if (!line.starts_with("region") && !line.starts_with("buffer")) result += line + "\n";
        at = end + 1;
    }
    return result;
}

TEST_CASE("a ring of three stages: one wait and one barrier a chunk") {
    Builder build;
    const BufferId left = build.shared("A", 3);
    const BufferId right = build.shared("B", 3);
    build.program.body.push_back({Builder::loop(
        {build.copy(left, 2), build.copy(right, 2), build.op("multiply", {left, right}, {})})});
    CHECK_EQ(body_of(build.text()), R"(chunks of 1 of x
    wait until 1 group of copies is left, barrier
    load A, 2 chunks ahead
    load B, 2 chunks ahead
    commit copies
    compute multiply
)");
    CHECK(verify(build.program).empty());
}

TEST_CASE("what a loop reads from before it is waited for with its own copies") {
    Builder build;
    const BufferId q = build.shared("Q");
    const BufferId k = build.shared("K", 2);
    build.program.body.push_back({build.copy(q)});
    build.program.body.push_back({Builder::loop({build.copy(k, 1), build.op("S", {q, k}, {})})});
    CHECK_EQ(body_of(build.text()), R"(load Q
commit copies
chunks of 1 of x
    wait until 0 groups of copies are left, barrier
    load K, 1 chunk ahead
    commit copies
    compute S
wait until 1 group of copies is left
)");
    // The last line is for loops without chunks.
    CHECK(verify(build.program).empty());
}

TEST_CASE("an operand that is computed a chunk ahead") {
    Builder build;
    const BufferId raw = build.shared("raw", 2);
    const BufferId panel = build.shared("panel", 2);
    build.program.body.push_back(
        {Builder::loop({build.copy(raw, 2), build.op("convert", {raw}, {panel}, 1),
                        build.op("multiply", {panel}, {})})});
    CHECK_EQ(body_of(build.text()), R"(chunks of 1 of x
    wait until 0 groups of copies are left, barrier
    load raw, 2 chunks ahead
    commit copies
    compute convert, 1 chunk ahead
    compute multiply
)");
    CHECK(verify(build.program).empty());
}

TEST_CASE("memory that is used again is waited for") {
    Builder build;
    const BufferId q = build.shared("Q");
    const BufferId result = build.shared("result");
    build.program.body.push_back({build.copy(q)});
    build.program.body.push_back({build.op("norm", {q}, {})});
    build.program.body.push_back({build.op("stage", {}, {result})});
    build.program.body.push_back({build.op("save", {result}, {})});
    CHECK_EQ(body_of(build.text()), R"(load Q
commit copies
wait until 0 groups of copies are left, barrier
compute norm
barrier
compute stage
barrier
compute save
)");
    CHECK_EQ(build.program[result].offset, 0);
    CHECK(verify(build.program).empty());
}

/// Every Sync of a body and of the loops in it.
void each_sync(Body& body, const std::function<void(Body&, std::size_t)>& visit) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (ChunkLoop* loop = std::get_if<ChunkLoop>(&body[i].node)) each_sync(loop->body, visit);
        if (std::holds_alternative<Sync>(body[i].node)) visit(body, i);
    }
}

std::size_t syncs_of(Program& program) {
    std::size_t count = 0;
    each_sync(program.body, [&](Body&, std::size_t) { ++count; });
    return count;
}

/// The program without its n-th Sync, or with the wait of that one weakened.
Program without(Program program, std::size_t n, bool only_weaken) {
    std::size_t at = 0;
    bool done = false;
    each_sync(program.body, [&](Body& body, std::size_t i) {
        if (done || at++ != n) return;
        done = true;
        if (only_weaken)
            ++*std::get<Sync>(body[i].node).pending;
        else
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
    });
    return program;
}

Program random_program(std::mt19937& random) {
    const auto pick = [&](int most) {
        return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    Builder build;
    const BufferId fixed = build.shared("fixed");
    build.program.body.push_back({build.copy(fixed)});
    const int loops = 1 + pick(2);
    for (int l = 0; l < loops; ++l) {
        std::vector<OpId> ops;
        std::vector<BufferId> rings;
        std::vector<OpId> copies;
        const std::int64_t ahead = pick(2);
        for (int r = 1 + pick(2); r > 0; --r) {
            const std::int64_t stages = 1 + pick(3);
            rings.push_back(build.shared(fmt::format("ring{}{}", l, r), stages));
            ops.push_back(build.copy(rings.back(), stages - 1 + ahead));
        }
        const BufferId panel = build.shared(fmt::format("panel{}", l), 1 + ahead);
        ops.push_back(build.op("convert", rings, {panel}, ahead));
        // A ring of the loop around, which the inner one reads.
        const bool nested = pick(3) == 0;
        std::vector<BufferId> reads = {panel};
        std::vector<OpId> around;
        if (nested && pick(2) == 0) {
            const std::int64_t stages = 1 + pick(3);
            const BufferId outer = build.shared(fmt::format("outer{}", l), stages);
            around.push_back(build.copy(outer, stages - 1));
            reads.push_back(outer);
        }
        if (pick(2) == 0) reads.push_back(fixed);
        ops.push_back(build.op("multiply", reads, {}));
        if (pick(3) == 0) {
            const BufferId scratch = build.shared(fmt::format("scratch{}", l));
            ops.push_back(build.op("publish", {}, {scratch}));
            ops.push_back(build.op("fold", {scratch}, {}));
        }
        ChunkLoop loop = Builder::loop(ops);
        if (nested) {
            ChunkLoop outer = Builder::loop(around);
            outer.body.push_back({std::move(loop)});
            build.program.body.push_back({std::move(outer)});
        } else {
            build.program.body.push_back({std::move(loop)});
        }
    }
    const BufferId staging = build.shared("staging");
    build.program.body.push_back({build.op("stage", {}, {staging})});
    build.program.body.push_back({build.op("save", {staging}, {})});
    place(build.program);
    synchronise(build.program);
    return build.program;
}

TEST_CASE("random programs are right, and nothing of their synchronisation can be missing") {
    std::mt19937 random(18);
    for (int trial = 0; trial < 60; ++trial) {
        CAPTURE(trial);
        Program program = random_program(random);
        const std::vector<std::string> faults = verify(program);
        const std::string first = faults.empty() ? "" : faults.front();
        CHECK_EQ(first, "");
        for (std::size_t n = 0; n < syncs_of(program); ++n) {
            CAPTURE(n);
            CHECK_FALSE(verify(without(program, n, false)).empty());
            bool counts = false;
            std::size_t at = 0;
            each_sync(program.body, [&](Body& body, std::size_t i) {
                if (at++ == n) counts = std::get<Sync>(body[i].node).pending.has_value();
            });
            if (counts) CHECK_FALSE(verify(without(program, n, true)).empty());
        }
    }
}

}  // namespace
}  // namespace napkin::schedule
