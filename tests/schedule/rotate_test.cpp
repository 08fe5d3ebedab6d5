// Rotations of known bodies, found from costs, and of random bodies, compared with trying
// everything.
#include "schedule/rotate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace napkin::schedule {
namespace {

Cost cost_of(double tensor, double exponential = 0, double issue = 0) {
    Cost cost;
    cost.of(Unit::Tensor) = tensor;
    cost.of(Unit::Exponential) = exponential;
    cost.of(Unit::Issue) = issue;
    return cost;
}

BufferId buffer(std::uint32_t index) {
    return {index};
}

struct Named {
    std::string name;
    RotationStep step;
};

/// `M' S C' R' V'`, a dash for every chunk that an operation is behind the one that leads most.
std::string text_of(const std::vector<Named>& body, const Rotation& rotation) {
    const std::int64_t most = *std::max_element(rotation.leads.begin(), rotation.leads.end());
    std::string text;
    for (const std::size_t step : rotation.order)
        text += (text.empty() ? "" : " ") + body[step].name +
                std::string(static_cast<std::size_t>(most - rotation.leads[step]), '\'');
    return text;
}

std::vector<RotationStep> steps_of(const std::vector<Named>& body) {
    std::vector<RotationStep> steps;
    for (const Named& named : body) steps.push_back(named.step);
    return steps;
}

// Operations of two or three groups of four warps on one processor of a Hopper: 4096 operations of
// the tensor core a clock, 16 exponentials, 128 lanes.
enum : std::uint32_t { kScores, kWeights, kResult, kState };

std::vector<Named> attention(std::int64_t head, std::int64_t chunk, bool stale) {
    const double elements = 64.0 * static_cast<double>(chunk);
    const double product = 2 * elements * static_cast<double>(head) / 4096;
    std::vector<Named> body;
    body.push_back({"S", {cost_of(product), true, {}, {buffer(kScores)}}});
    body.push_back({"M",
                    {cost_of(0, elements / 16, elements * (stale ? 3 : 4) / 128),
                     false,
                     {buffer(kScores), buffer(kState)},
                     {buffer(kScores), buffer(kState)}}});
    body.push_back(
        {"C", {cost_of(0, 0, elements * 0.5 / 128), false, {buffer(kScores)}, {buffer(kWeights)}}});
    if (!stale)
        body.push_back({"R",
                        {cost_of(0, 0, 64.0 * static_cast<double>(head) / 128),
                         false,
                         {buffer(kState), buffer(kResult)},
                         {buffer(kResult)}}});
    body.push_back(
        {"V", {cost_of(product), true, {buffer(kWeights), buffer(kResult)}, {buffer(kResult)}}});
    return body;
}

std::vector<RotationBuffer> attention_buffers(std::int64_t head, std::int64_t chunk,
                                              std::int64_t score_slots = 1) {
    return {{chunk / 2, score_slots}, {chunk / 4, 1}, {head / 2, 1}, {4, 1}};
}

RotationLimits groups(int agents, bool turns = false, std::int64_t registers = 224) {
    RotationLimits limits;
    limits.sharing.agents = agents;
    limits.sharing.turns = turns;
    limits.registers = registers;
    return limits;
}

TEST_CASE("the scores of a chunk are issued before the product of the one before") {
    const std::vector<Named> body = attention(128, 128, false);
    const Rotation found = rotate(steps_of(body), attention_buffers(128, 128), groups(2));
    CHECK_EQ(text_of(body, found), "M' C' S R' V'");
    CHECK_EQ(found.interval, doctest::Approx(2048).epsilon(0.01));
    CHECK_EQ(found.binds, Unit::Tensor);
    CHECK(found.complete);
}

TEST_CASE("an order that is asked for") {
    std::vector<Named> body = attention(128, 128, false);
    std::vector<RotationStep> steps = steps_of(body);
    const auto place = [&](const std::string& name, std::int64_t at) {
        for (std::size_t i = 0; i < body.size(); ++i)
            if (body[i].name == name) steps[i].place = at;
    };
    place("S", 0);
    place("M", 1);
    place("V", 7);
    const Rotation found = rotate(steps, attention_buffers(128, 128), groups(2));
    const std::string text = text_of(body, found);
    CHECK_LT(text.find('S'), text.find('M'));
    CHECK_LT(text.find('M'), text.find('V'));
    // What a chunk needs of itself cannot be turned round where nothing leads.
    for (RotationStep& step : steps) step.most_lead = 0;
    place("M", 0);
    place("S", 1);
    CHECK(rotate(steps, attention_buffers(128, 128), groups(2)).order.empty());
}

TEST_CASE("registers decide whether two fragments of scores may be") {
    const std::vector<Named> body = attention(64, 128, false);
    const std::vector<RotationBuffer> buffers = attention_buffers(64, 128, 2);
    const Rotation two = rotate(steps_of(body), buffers, groups(2));
    const Rotation one = rotate(steps_of(body), buffers, groups(2, false, 140));
    CHECK_EQ(text_of(body, two), "S M' C' R' V'");
    CHECK_GT(two.registers, 140);
    CHECK_LE(one.registers, 140);
    CHECK_GT(one.interval, 1.04 * two.interval);
}

TEST_CASE("two fragments under a norm before a product") {
    const double elements = 64 * 64;
    const auto body = [&](std::int64_t slots) {
        const std::vector<Named> named = {
            {"N", {cost_of(0, 0, elements * 8 / 128), false, {}, {buffer(0)}}},
            {"X", {cost_of(2 * elements * 256 / 4096), true, {buffer(0), buffer(1)}, {buffer(1)}}}};
        return rotate(steps_of(named), {{16, slots}, {128, 1}}, groups(2));
    };
    CHECK_EQ(body(1).interval, doctest::Approx(1338).epsilon(0.01));
    CHECK_EQ(body(2).interval, doctest::Approx(1024).epsilon(0.01));
    CHECK_EQ(body(2).bound, doctest::Approx(1024));
}

TEST_CASE("a product keeps one group on its way") {
    const std::vector<RotationStep> steps = {{cost_of(512), true, {buffer(0)}, {buffer(0)}}};
    const Rotation found = rotate(steps, {{128, 1}}, groups(2));
    CHECK_EQ(found.interval, doctest::Approx(1024).epsilon(0.001));
    CHECK_EQ(found.bound, doctest::Approx(1024));
}

TEST_CASE("turns are taken where they gain") {
    const std::vector<Named> body = attention(128, 128, false);
    std::vector<RotationStep> steps = steps_of(body);
    for (RotationStep& step : steps) step.most_lead = 0;
    const RotationLimits plain = groups(2);
    RotationLimits turns = plain;
    turns.sharing.turns = true;
    const std::vector<RotationBuffer> buffers = attention_buffers(128, 128);
    CHECK_EQ(rotate(steps, buffers, plain).interval, doctest::Approx(2794).epsilon(0.03));
    const Rotation found = rotate(steps, buffers, turns);
    CHECK_EQ(found.interval, doctest::Approx(2048).epsilon(0.01));
    CHECK(found.turns);
}

TEST_CASE(
    "past its deadline a rotation is the first that is found, and is not taken for the best") {
    const std::vector<Named> body = attention(128, 96, false);
    RotationLimits limits = groups(2);
    limits.deadline = Deadline([] { return true; });
    const Rotation hurried = rotate(steps_of(body), attention_buffers(128, 96), limits);
    CHECK_EQ(hurried.order.size(), body.size());
    CHECK_FALSE(hurried.complete);
    const Rotation best = rotate(steps_of(body), attention_buffers(128, 96), groups(2));
    CHECK(best.complete);
    CHECK_LT(best.interval, hurried.interval);
}

// ---- Everything tried --------------------------------------------------------------------------

/// What a rotated loop does to its buffers, compared with what the plain loop does.
class Plain {
public:
    Plain(const std::vector<RotationStep>& steps, const std::vector<RotationBuffer>& buffers)
        : steps_(steps), buffers_(buffers) {
        std::vector<std::size_t> order(steps.size());
        std::iota(order.begin(), order.end(), 0);
        carried_.assign(buffers.size(), false);
        std::vector<bool> touched(buffers.size(), false);
        for (const RotationStep& step : steps) {
            for (const BufferId id : step.reads)
                if (!touched[id.index()]) carried_[id.index()] = true;
            for (const BufferId id : step.reads) touched[id.index()] = true;
            for (const BufferId id : step.writes) touched[id.index()] = true;
        }
        wanted_ = run(order, std::vector<std::int64_t>(steps.size(), 0));
    }
    [[nodiscard]] bool same(const std::vector<std::size_t>& order,
                            const std::vector<std::int64_t>& leads) const {
        return run(order, leads) == wanted_;
    }

private:
    static constexpr std::int64_t kChunks = 6;
    using Act = std::pair<std::size_t, std::int64_t>;  // a step and its chunk
    /// Who wrote every slot of every buffer, in order, and after how many writes each read came.
    struct History {
        std::map<std::pair<std::size_t, std::int64_t>, std::vector<Act>> writes;
        std::map<std::pair<Act, std::size_t>, std::size_t> reads;
        bool operator==(const History&) const = default;
    };

    [[nodiscard]] History run(const std::vector<std::size_t>& order,
                              const std::vector<std::int64_t>& leads) const {
        History history;
        const std::int64_t most = *std::max_element(leads.begin(), leads.end());
        for (std::int64_t turn = -most; turn < kChunks; ++turn)
            for (const std::size_t s : order) {
                const Act act{s, turn + leads[s]};
                if (act.second < 0 || act.second >= kChunks) continue;
                const auto slot = [&](BufferId id) {
                    const std::int64_t slots =
                        carried_[id.index()] ? 1 : buffers_[id.index()].slots;
                    return std::pair(id.index(), act.second % slots);
                };
                for (const BufferId id : steps_[s].reads)
                    history.reads[{act, id.index()}] = history.writes[slot(id)].size();
                for (const BufferId id : steps_[s].writes) history.writes[slot(id)].push_back(act);
            }
        return history;
    }

    const std::vector<RotationStep>& steps_;
    const std::vector<RotationBuffer>& buffers_;
    std::vector<bool> carried_;
    History wanted_;
};

TEST_CASE("random bodies: what is found computes the same, and nothing that does is faster") {
    std::mt19937 random(20261123);
    const auto pick = [&](int most) {
        return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    int rotated = 0;
    for (int body = 0; body < 120; ++body) {
        const std::size_t count = 2 + static_cast<std::size_t>(pick(4));
        std::vector<RotationBuffer> buffers(4);
        for (RotationBuffer& each : buffers) each = {10, 1 + pick(2)};
        std::vector<RotationStep> steps;
        for (std::size_t s = 0; s < count; ++s) {
            RotationStep step;
            step.asynchronous = pick(2) == 0;
            step.cost = step.asynchronous ? cost_of(100 * (1 + pick(5)))
                                          : cost_of(0, 100 * pick(4), 100 * (1 + pick(3)));
            std::set<std::uint32_t> reads;
            std::set<std::uint32_t> writes;
            if (s > 0) reads.insert(static_cast<std::uint32_t>(pick(4)));
            writes.insert(static_cast<std::uint32_t>(pick(4)));
            for (const std::uint32_t id : reads) step.reads.push_back(buffer(id));
            for (const std::uint32_t id : writes) step.writes.push_back(buffer(id));
            steps.push_back(std::move(step));
        }
        CAPTURE(body);
        RotationLimits limits = groups(1 + pick(2));
        limits.registers = 1000;
        const Rotation found = rotate(steps, buffers, limits);
        REQUIRE(found.complete);
        const Plain plain(steps, buffers);
        CHECK(plain.same(found.order, found.leads));
        CHECK_GE(found.interval, found.bound * 0.99);
        rotated += found.leads != std::vector<std::int64_t>(count, 0) ? 1 : 0;
        // Every order and all leads, legal where the results say so; each is timed as a body that
        // stands in that order already.
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        do {
            for (unsigned bits = 0; bits < 1U << count; ++bits) {
                std::vector<std::int64_t> leads(count);
                for (std::size_t s = 0; s < count; ++s) leads[s] = bits >> s & 1U;
                if (*std::min_element(leads.begin(), leads.end()) != 0) continue;
                if (!plain.same(order, leads)) continue;
                const std::optional<double> interval =
                    interval_of(steps, buffers, order, leads, limits);
                if (interval) CHECK_GE(*interval, found.interval * 0.999);
            }
        } while (std::next_permutation(order.begin(), order.end()));
    }
    CHECK_GE(rotated, 10);
}

}  // namespace
}  // namespace napkin::schedule
