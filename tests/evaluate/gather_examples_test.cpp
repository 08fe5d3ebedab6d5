// Lookups, labels, selections and scans, against plain loops.
#include <algorithm>
#include <numeric>

#include "examples.h"

using napkin::Tensor;
using napkin::test::Run;
using napkin::test::run_example;
using napkin::test::View;

TEST_CASE("example embedding") {
    const Run run = run_example("embedding", {{"n", 12}, {"v", 9}, {"d", 5}});
    for (int n = 0; n < 12; ++n)
        for (int d = 0; d < 5; ++d)
            run.check("Y", run.in("E")(run.in("token")(n), d) + run.in("position")(n, d), n, d);
}

TEST_CASE("example cross_entropy: every row and the mean") {
    const Run run = run_example("cross_entropy", {{"n", 7}, {"d", 6}, {"v", 11}}, 2.0);
    const View hidden = run.in("H");
    const View weights = run.in("W");
    double total = 0;
    for (int n = 0; n < 7; ++n) {
        double sum = 0;
        double target = 0;
        for (int v = 0; v < 11; ++v) {
            double logit = 0;
            for (int d = 0; d < 6; ++d) logit += hidden(n, d) * weights(v, d);
            sum += std::exp(logit);
            if (v == static_cast<int>(run.in("label")(n))) target = logit;
        }
        run.check("nll", std::log(sum) - target, n);
        total += std::log(sum) - target;
    }
    run.check("loss", napkin::round_to(napkin::ElementType::F32, total / 7));
    CHECK(std::abs(run.outputs.at(run.id("loss")).values[0] - total / 7) < 1e-5);
}

TEST_CASE("example topk_routing") {
    const Run run = run_example("topk_routing", {{"n", 10}, {"d", 4}, {"e", 8}, {"k", 3}});
    for (int n = 0; n < 10; ++n) {
        std::vector<double> gates(8, 0.0);
        for (int e = 0; e < 8; ++e)
            for (int d = 0; d < 4; ++d)
                gates[static_cast<std::size_t>(e)] += run.in("X")(n, d) * run.in("W")(e, d);
        std::vector<int> order(8);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return gates[static_cast<std::size_t>(a)] > gates[static_cast<std::size_t>(b)];
        });
        double total = 0;
        for (int k = 0; k < 3; ++k)
            total += std::exp(gates[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])]);
        for (int k = 0; k < 3; ++k) {
            const int expert = order[static_cast<std::size_t>(k)];
            const double gate = gates[static_cast<std::size_t>(expert)];
            run.check("expert", expert, n, k);
            run.check("gate", gate, n, k);
            run.check("weight", std::exp(gate) / total, n, k);
        }
    }
}

TEST_CASE("example prefix_sum") {
    const Run run = run_example("prefix_sum", {{"n", 3}, {"t", 40}});
    for (int n = 0; n < 3; ++n) {
        double sum = 0;
        for (int t = 0; t < 40; ++t) {
            sum += run.in("X")(n, t);
            run.check("C", sum, n, t);
        }
    }
}

TEST_CASE("example gated_scan") {
    const Run run = run_example("gated_scan", {{"b", 2}, {"t", 30}, {"c", 4}});
    for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 4; ++c) {
            double state = 0;
            for (int t = 0; t < 30; ++t) {
                const double gate = 1 / (1 + std::exp(-run.in("gate")(b, t, c)));
                state = gate * state + run.in("X")(b, t, c);
                run.check("Y", state, b, t, c);
            }
        }
}
