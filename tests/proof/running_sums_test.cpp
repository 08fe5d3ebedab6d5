// Sums that move with a mean are known to be sums; what only looks like one is not.
#include "derive/proof/running_sums.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "diagrams/overloaded.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

constexpr const char* kMoments = R"(diagram moments {
  axis q = 3, x = 24
  input X[q, x]
  mu[q] = (sum(x) X[q, x]) / size(x)
  output var[q] = (sum(x) (X[q, x] - mu[q]) ^ 2) / size(x)
  output third[q] = (sum(x) (X[q, x] - mu[q]) ^ 3) / size(x)
})";

ArrayId id_of(const RegionProgram& region, const std::string& name) {
    for (std::uint32_t i = 0; i < region.arrays.size(); ++i)
        if (region.arrays[i].name == name) return ArrayId{i};
    FAIL("no array " << name);
    return {};
}

/// Every statement that the region computes.
void each_statement(std::vector<TileStatement>& body,
                    const std::function<void(Statement&)>& visit) {
    for (TileStatement& statement : body)
        std::visit(overloaded{
                       [&](Parallel& node) { each_statement(node.body, visit); },
                       [&](Loop& node) { each_statement(node.body, visit); },
                       [&](Compute& node) { visit(node.statement); },
                       [](auto&) {},
                   },
                   statement.node);
}

/// The region with another seed for one of its sums.
RegionProgram with_seed(RegionProgram region, const std::string& name,
                        const std::function<Expression(Expression)>& change) {
    const ArrayId target = id_of(region, name);
    int changed = 0;
    each_statement(region.body, [&](Statement& statement) {
        Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || statement.targets.front() != target || fold->seed.empty()) return;
        const Expression before = fold->seed.front();
        fold->seed.front() = change(before);
        changed += fold->seed.front() != before ? 1 : 0;
    });
    REQUIRE_EQ(changed, 1);
    return region;
}

Expression with_factor(Expression seed, double from, double to) {
    return rewrite(std::move(seed), [&](Expression node) {
        Number* number = std::get_if<Number>(&node.node);
        if (number != nullptr && number->value == from) number->value = to;
        return node;
    });
}

TEST_CASE("running sums: states that move with their mean are sums of all so far") {
    const State state = derive(load(kMoments), "fuse all\nstream x by 4");
    const RegionProgram region = program_of(state).regions.front();
    const proof::RunningSums sums(region);
    for (const char* name : {"mu_count_new", "mu_sum", "var_sum", "third_sum"}) {
        INFO(name);
        CHECK(sums.is_sum(id_of(region, name)));
    }
    // The mean before times its number of elements is no sum of the elements.
    CHECK_FALSE(sums.is_sum(id_of(region, "X_centre_sum")));
    bool found = false;
    RegionProgram copy = region;
    each_statement(copy.body, [&](Statement& statement) {
        if (statement.targets.front() != id_of(region, "X_centre_new")) return;
        const Gauge* mean = sums.mean(statement);
        REQUIRE(mean != nullptr);
        found = true;
        CHECK(mean->state == id_of(region, "X_centre"));
        CHECK_FALSE(mean->weight.has_value());
    });
    CHECK(found);
}

TEST_CASE("running sums: an update that is not that of its terms is no sum") {
    const State state = derive(load(kMoments), "fuse all\nstream x by 4");
    const RegionProgram region = program_of(state).regions.front();
    const auto says = [&](const RegionProgram& changed, const char* name) {
        return proof::RunningSums(changed).is_sum(id_of(region, name));
    };
    const RegionProgram factor = with_seed(
        region, "var_sum", [](Expression seed) { return with_factor(std::move(seed), 2, 3); });
    CHECK_FALSE(says(factor, "var_sum"));
    CHECK(says(factor, "mu_sum"));
    CHECK_FALSE(says(factor, "third_sum"));  // which takes it in
    const RegionProgram dropped = with_seed(region, "mu_sum", [&](const Expression&) {
        return read_axes(id_of(region, "mu_sum"),
                         region.arrays[id_of(region, "mu_sum").index()].axes);
    });
    CHECK_FALSE(says(dropped, "mu_sum"));
    CHECK_FALSE(says(dropped, "var_sum"));
    const RegionProgram swapped = with_seed(region, "third_sum", [&](Expression seed) {
        return rewrite(std::move(seed), [&](Expression node) {
            Read* read = std::get_if<Read>(&node.node);
            if (read != nullptr && read->array == id_of(region, "var_sum"))
                read->array = id_of(region, "mu_sum");
            return node;
        });
    });
    CHECK_FALSE(says(swapped, "third_sum"));
}

}  // namespace
}  // namespace napkin::test
