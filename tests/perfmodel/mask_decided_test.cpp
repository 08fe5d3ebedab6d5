// What a mask report says kernels see of masks of two axes, against what their loops ask.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "diagrams/index/mask.h"
#include "perfmodel/mask_report.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {

namespace {

/// A condition over queries (i, j) and keys (u, v), of library masks and residues.
class RandomMask {
public:
    explicit RandomMask(std::uint64_t seed) : engine_(seed) {}
    std::string condition(int depth) {
        const std::size_t kind = depth == 0 ? 0 : pick(5);
        if (kind == 3) return "not (" + condition(depth - 1) + ")";
        if (kind == 0) return atom();
        return "(" + condition(depth - 1) + (kind == 4 ? " or " : " and ") + condition(depth - 1) +
               ")";
    }

private:
    std::size_t pick(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(engine_);
    }
    std::string number(std::size_t low, std::size_t high) {
        return std::to_string(low + pick(high - low + 1));
    }
    std::string atom() {
        const bool first = pick(2) == 0;
        const std::string q = first ? "i" : "j";
        const std::string x = first ? "u" : "v";
        switch (pick(7)) {
        case 0: return "neighbourhood[" + q + ", " + x + "](3, 1, " + number(1, 2) + ")";
        case 1: return "causal_neighbourhood[" + q + ", " + x + "](2, 1, " + number(1, 3) + ")";
        case 2: return q + " // " + number(2, 4) + " == " + x + " // " + number(2, 4);
        case 3: return x + " <= " + q;
        case 4: return "(" + q + " - " + x + ") % " + number(2, 3) + " == " + number(0, 1);
        case 5: return x + " < " + number(1, 3);
        default: return "(i // 2 + j // 2 + " + x + ") % " + number(2, 3) + " == 0";
        }
    }

    std::mt19937_64 engine_;
};

/// What the loops of a kernel ask of its tiles.
std::vector<Expression> asked_by(const std::vector<TileStatement>& body) {
    std::vector<Expression> asked;
    for (const TileStatement& statement : body) {
        const Parallel* group = std::get_if<Parallel>(&statement.node);
        const Loop* loop = std::get_if<Loop>(&statement.node);
        if (group == nullptr && loop == nullptr) continue;
        if (loop != nullptr) asked.insert(asked.end(), loop->visible.begin(), loop->visible.end());
        for (Expression& inner : asked_by(loop != nullptr ? loop->body : group->body))
            asked.push_back(std::move(inner));
    }
    return asked;
}

/// Tiles that a kernel visits.
std::int64_t tiles_met(const MaskReport& report, const RegionProgram& region,
                       const index::Mask& mask) {
    Ranges box;
    std::int64_t met = 0;
    const auto visit = [&](const auto& self, std::size_t at) -> void {
        if (at == report.tilings.size()) {
            met += mask.meets(box) ? 1 : 0;
            return;
        }
        const auto [axis, size] = report.tilings[at];
        const std::int64_t extent = region.axes[axis.index()].extent;
        for (std::int64_t low = 0; low < extent; low += size) {
            box[axis] = {low, std::min(low + size, extent) - 1};
            self(self, at + 1);
        }
    };
    visit(visit, 0);
    return met;
}

}  // namespace

TEST_CASE("where kernels visit more than is counted of masks of two axes, the report says so") {
    int decided = 0;
    int open = 0;
    const auto check = [&](const std::string& mask, const std::string& derivation) {
        CAPTURE(mask);
        const State state = test::derived(
            "diagram masked {\n  axis i = 6, j = 7, u = i, v = j\n  input V[u, v] : f32\n"
            "  output O[i, j] : f32 = sum(u, v) if " +
                mask + " then V[u, v] else 0\n}\n",
            derivation);
        const RegionProgram region = test::expanded(state).regions.front();
        const index::Mask asked(region.axes, asked_by(region.body));
        static_cast<void>(asked.where_met());  // before anything is counted, as kernels are made
        const Result<std::vector<MaskReport>> reports = mask_reports(state);
        REQUIRE(reports.has_value());
        for (const MaskReport& report : *reports) {
            const std::int64_t met = tiles_met(report, region, asked);
            CHECK_GE(met, report.total().visited);
            if (report.decided) CHECK_EQ(met, report.total().visited);
            ++(report.decided ? decided : open);
        }
    };
    check(
        "not (causal_neighbourhood[i, u](2, 1, 3) and v % 2 == 2 * j % 2 and v <= j or "
        "i // 3 == u // 3 and neighbourhood[j, v](3, 2, 2))",
        "group i by 1\ngroup j by 5\nstream u by 1\nstream v by 1\n");
    CHECK_EQ(open, 0);
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        check(RandomMask(seed).condition(2),
              "group i by 2\ngroup j by 3\nstream u by 1\nstream v by 2\n");
    MESSAGE(decided, " decided, ", open, " not");
    CHECK(open * 4 < decided);
}

}  // namespace napkin
