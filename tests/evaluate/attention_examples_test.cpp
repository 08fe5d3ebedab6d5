// The attention examples at small sizes, against attention by plain loops.
#include <functional>
#include <vector>

#include "examples.h"

#include "diagrams/infinity.h"

using napkin::kInfinity;
using napkin::Sizes;
using napkin::Tensor;
using napkin::test::Run;
using napkin::test::run_example;
using napkin::test::View;

namespace {

/// A row of softmax(scores) times values, and its log-sum-exp; nothing visible gives zeros.
struct Row {
    std::vector<double> output;
    double log_sum = -kInfinity;
};

Row attend(const std::vector<double>& scores, const std::function<double(int, int)>& value,
           int width) {
    Row row;
    row.output.assign(static_cast<std::size_t>(width), 0.0);
    double top = -kInfinity;
    for (const double score : scores) top = std::max(top, score);
    if (top == -kInfinity) return row;
    double total = 0;
    for (std::size_t x = 0; x < scores.size(); ++x) {
        const double weight = std::exp(scores[x] - top);
        total += weight;
        for (int column = 0; column < width; ++column)
            row.output[static_cast<std::size_t>(column)] +=
                weight * value(static_cast<int>(x), column);
    }
    for (double& element : row.output) element /= total;
    row.log_sum = top + std::log(total);
    return row;
}

double dot(int size, const std::function<double(int)>& left,
           const std::function<double(int)>& right) {
    double sum = 0;
    for (int at = 0; at < size; ++at) sum += left(at) * right(at);
    return sum;
}

/// The score of one query and key of one head (before any mask), given the plain one; -inf hides
/// it.
using Rule = std::function<double(double score, int b, int h, int q, int x)>;

/// Checks O[b, h, q, d] of an example whose Q, K and V are [b, h, position, d].
void check_attention(const Run& run, const Rule& rule) {
    const View query = run.in("Q");
    const View key = run.in("K");
    const View value = run.in("V");
    const int queries = static_cast<int>(query.extent(2));
    const int keys = static_cast<int>(key.extent(2));
    const int depth = static_cast<int>(query.extent(3));
    for (int b = 0; b < query.extent(0); ++b)
        for (int h = 0; h < query.extent(1); ++h)
            for (int q = 0; q < queries; ++q) {
                std::vector<double> scores;
                for (int x = 0; x < keys; ++x) {
                    const double score = dot(
                                             depth, [&](int d) { return query(b, h, q, d); },
                                             [&](int d) { return key(b, h, x, d); }) /
                                         std::sqrt(depth);
                    scores.push_back(rule(score, b, h, q, x));
                }
                const Row row = attend(
                    scores, [&](int x, int d) { return value(b, h, x, d); }, depth);
                for (int d = 0; d < depth; ++d)
                    run.check("O", row.output[static_cast<std::size_t>(d)], b, h, q, d);
            }
}

}  // namespace

TEST_CASE("example attention") {
    const Run run = run_example("attention", {{"b", 2}, {"h", 2}, {"q", 7}, {"x", 10}, {"d", 8}});
    check_attention(run, [](double score, int, int, int, int) { return score; });
}

TEST_CASE("example attention_alibi") {
    const Run run = run_example("attention_alibi", {{"b", 2}, {"h", 3}, {"q", 9}, {"d", 4}});
    const View slope = run.in("slope");
    CHECK_EQ(run.inputs.at(run.id("slope")).extents, std::vector<std::int64_t>{3});
    check_attention(run, [&](double score, int, int h, int q, int x) {
        return x <= q ? score - slope(h) * (q - x) : -kInfinity;
    });
}

TEST_CASE("example attention_window") {
    for (const std::int64_t window : {1, 4, 11, 50}) {
        const Run run = run_example("attention_window",
                                    {{"b", 1}, {"h", 2}, {"q", 11}, {"d", 4}, {"w", window}});
        check_attention(run, [&](double score, int, int, int q, int x) {
            return x <= q && x > q - window ? score : -kInfinity;
        });
    }
}

TEST_CASE("example attention_documents, with empty sequences") {
    Run run = run_example("attention_documents", {{"b", 3}, {"h", 2}, {"q", 12}, {"d", 4}});
    Tensor& length = run.input("length");
    length.values = {12, 5, 0};
    run.evaluate();
    const View document = run.in("document");
    const View lengths = run.in("length");
    check_attention(run, [&](double score, int b, int, int q, int x) {
        const bool visible = x <= q && x < lengths(b) && document(b, q) == document(b, x);
        return visible ? score : -kInfinity;
    });
    CHECK_EQ(run.out("O")(2, 0, 3, 1), 0);
    CHECK_NE(run.out("O")(0, 0, 3, 1), 0);
}

TEST_CASE("example attention_softcap: outputs and log-sum-exp") {
    const Run run =
        run_example("attention_softcap", {{"b", 1}, {"h", 2}, {"q", 5}, {"x", 9}, {"d", 4}}, 8.0);
    const auto capped = [](double score, int, int, int, int) { return 50 * std::tanh(score / 50); };
    check_attention(run, capped);
    const View query = run.in("Q");
    const View key = run.in("K");
    for (int h = 0; h < 2; ++h)
        for (int q = 0; q < 5; ++q) {
            double sum = 0;
            for (int x = 0; x < 9; ++x)
                sum += std::exp(50 * std::tanh(dot(
                                                   4, [&](int d) { return query(0, h, q, d); },
                                                   [&](int d) { return key(0, h, x, d); }) /
                                               2 / 50));
            run.check("L", std::log(sum), 0, h, q);
        }
}

TEST_CASE("example attention_gqa: shared keys, ragged causal mask, values of another size") {
    // More queries than keys, so that the first rows see nothing.
    for (const std::int64_t keys : {4, 9}) {
        const Run run =
            run_example("attention_gqa",
                        {{"b", 2}, {"h", 2}, {"g", 3}, {"q", 6}, {"x", keys}, {"d", 4}, {"e", 3}});
        const View query = run.in("Q");
        const View key = run.in("K");
        const View value = run.in("V");
        REQUIRE_EQ(run.inputs.at(run.id("Q")).extents, std::vector<std::int64_t>{2, 2, 3, 6, 4});
        REQUIRE_EQ(run.inputs.at(run.id("K")).extents, std::vector<std::int64_t>{2, 2, keys, 4});
        for (int b = 0; b < 2; ++b)
            for (int h = 0; h < 2; ++h)
                for (int g = 0; g < 3; ++g)
                    for (int q = 0; q < 6; ++q) {
                        std::vector<double> scores;
                        for (int x = 0; x < keys && x <= q + keys - 6; ++x)
                            scores.push_back(dot(
                                                 4, [&](int d) { return query(b, h, g, q, d); },
                                                 [&](int d) { return key(b, h, x, d); }) /
                                             2);
                        const Row row = attend(
                            scores, [&](int x, int e) { return value(b, h, x, e); }, 3);
                        for (int e = 0; e < 3; ++e)
                            run.check("O", row.output[static_cast<std::size_t>(e)], b, h, g, q, e);
                    }
        if (keys == 4) CHECK_EQ(run.out("O")(1, 1, 2, 0, 1), 0);
    }
}

TEST_CASE("example attention_neighbourhood: windows shift inwards at the border") {
    const Run run = run_example("attention_neighbourhood",
                                {{"b", 1}, {"h", 2}, {"i", 6}, {"j", 5}, {"d", 4}, {"w", 3}});
    const View query = run.in("Q");
    const View key = run.in("K");
    const View value = run.in("V");
    const auto start = [](int center, int size) {
        return std::min(std::max(center - 1, 0), size - 3);
    };
    for (int h = 0; h < 2; ++h)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 5; ++j) {
                std::vector<double> scores;
                std::vector<std::pair<int, int>> places;
                for (int u = start(i, 6); u < start(i, 6) + 3; ++u)
                    for (int v = start(j, 5); v < start(j, 5) + 3; ++v) {
                        places.emplace_back(u, v);
                        scores.push_back(dot(
                                             4, [&](int d) { return query(0, h, i, j, d); },
                                             [&](int d) { return key(0, h, u, v, d); }) /
                                         2);
                    }
                const Row row = attend(
                    scores,
                    [&](int x, int d) {
                        const auto [u, v] = places[static_cast<std::size_t>(x)];
                        return value(0, h, u, v, d);
                    },
                    4);
                for (int d = 0; d < 4; ++d)
                    run.check("O", row.output[static_cast<std::size_t>(d)], 0, h, i, j, d);
            }
}
