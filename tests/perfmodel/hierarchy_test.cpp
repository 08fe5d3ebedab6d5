// Levels of a machine together: the paper's multi-level cost, caches, clusters and narrower values.
#include "perfmodel/hierarchy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;
using test::machine_of;

struct Kind {
    const char* diagram;
    const char* derivation;
    double fixed;  ///< bytes that come whatever the memory
    double beta;
};
const Kind kAttention{
    "diagram attention {\n axis q = 65536, x = 65536, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
    "bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](S[q, x])\n"
    " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n",
    "fuse all\ngroup q by 128\nstream x by 1\n", 2. * 2 * 65536 * 64, 1};
const Kind kProduct{
    "diagram product {\n axis a = 65536, b = 4096, c = 65536\n input A[a, b], B[b, c] : f16\n"
    " output C[a, c] : f16 = sum(b) A[a, b] * B[b, c]\n}\n",
    "group a by 128\ngroup c by 128\nstream b by 1\n", 2. * 65536 * 65536, 0.5};

Hierarchy hierarchy(const Kind& kind, const std::string& machine) {
    const RegionCost cost = test::cost(derived(kind.diagram, kind.derivation)).regions.front();
    const auto found = hierarchy_of(cost, machine_of(machine));
    REQUIRE(std::holds_alternative<Hierarchy>(found));
    return std::get<Hierarchy>(found);
}

const LevelTransfers& into(const Hierarchy& all, Level level) {
    for (const LevelTransfers& each : all.levels)
        if (each.into == level) return each;
    FAIL("no such level");
    return all.levels.front();
}

TEST_CASE("every level costs what its memory asks for, and a cache has that of all blocks") {
    for (const Kind& kind : {kAttention, kProduct}) {
        INFO(kind.diagram);
        const Hierarchy all = hierarchy(
            kind, "H100,device.bandwidth=2TB/s,cache.bandwidth=8TB/s,block.capacity=128KiB");
        const LevelTransfers& block = into(all, Level::Block);
        const LevelTransfers& cache = into(all, Level::Cache);
        CHECK_EQ(block.held.value, 128. * 1024);
        CHECK_EQ(cache.held.value, 132. * 128 * 1024);
        CHECK_EQ(block.rate.value, 8e12);
        CHECK_EQ(cache.rate.value, 2e12);
        // sum of alpha M^-beta: with 132 times the memory 132^beta times less, but for what is
        // fixed.
        CHECK_EQ((block.transferred.value - kind.fixed) / (cache.transferred.value - kind.fixed),
                 doctest::Approx(std::pow(132, kind.beta)));
        double sum = 0;
        for (const LevelTransfers& level : all.levels)
            sum += level.transferred.value / level.rate.value;
        CHECK_EQ(all.cost.value, doctest::Approx(sum));
        CHECK_EQ(all.levels.size(), 3);
    }
}

TEST_CASE("clusters save what their blocks read from each other, at the difference of rates") {
    for (const Kind& kind : {kAttention, kProduct})
        for (const char* rates : {"cluster.bandwidth=4TB/s,cluster.of_four=2.5TB/s",
                                  "cluster.bandwidth=1TB/s,cluster.of_four=16TB/s"}) {
            INFO(kind.diagram, rates);
            const std::string machine =
                std::string("H800,device.bandwidth=2TB/s,cache.bandwidth=8TB/s,") + rates;
            const Hierarchy all = hierarchy(kind, machine);
            const Machine read = machine_of(machine);
            REQUIRE_EQ(all.clusters.size(), 2);
            const double varying = into(all, Level::Block).transferred.value - kind.fixed;
            for (const ClusterTransfers& cluster : all.clusters) {
                const double between =
                    varying * (1 - std::pow(static_cast<double>(cluster.blocks), -kind.beta));
                CHECK_EQ(cluster.between.value, doctest::Approx(between));
                const double rate =
                    *read.rate(cluster.blocks == 2 ? "cluster.bandwidth" : "cluster.of_four");
                CHECK_EQ(cluster.saved.at(Level::Device).value,
                         doctest::Approx(between * (1 / 2e12 - 1 / rate)));
                CHECK_EQ(cluster.saved.at(Level::Cache).value,
                         doctest::Approx(between * (1 / 8e12 - 1 / rate)));
            }
        }
    CHECK_EQ(hierarchy(kProduct, "H800,cluster.blocks=2").clusters.size(), 1);
    CHECK(hierarchy(kProduct, "A100").clusters.empty());
}

TEST_CASE("values half as wide move fewer bytes, by the power of each term") {
    const auto fewer = [](const Kind& kind) {
        std::vector<double> all;
        for (const HalvedTerm& term : hierarchy(kind, "H100").halved) all.push_back(term.fewer);
        return all;
    };
    CHECK_EQ(fewer(kAttention), std::vector<double>{4, 2});
    REQUIRE_EQ(fewer(kProduct).size(), 2);
    CHECK_EQ(fewer(kProduct).front(), doctest::Approx(std::sqrt(8.0)));
    CHECK_EQ(fewer(kProduct).back(), 2);
    CHECK_EQ(hierarchy(kAttention, "H100").halved.front().term, "4qx·d^2/M");
    // Where all queries fit there is no such term.
    CHECK(hierarchy(kAttention, "H100,block.capacity=1GiB").halved.empty());
}

TEST_CASE("levels of a derivation of no known kind are refused as its best is") {
    const RegionCost masked =
        test::cost(derived("diagram attention {\n axis q = 64, x = 64, d = 8\n input Q[q, d], K[x, "
                           "d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
                           " P[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
                           " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n",
                           "fuse all\ngroup q by 16\nstream x by 1\n"))
            .regions.front();
    const auto none = hierarchy_of(masked, machine_of("H100"));
    REQUIRE(std::holds_alternative<NotApplicable>(none));
    CHECK_EQ(std::get<NotApplicable>(none).reason,
             "its mask leaves chunks out, which no closed form counts");
}

}  // namespace
}  // namespace napkin
