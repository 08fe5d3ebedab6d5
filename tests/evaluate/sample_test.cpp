// Which elements of a large result are compared, and what they cost the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "diagrams/check.h"
#include "diagrams/compare.h"
#include "diagrams/compare/demand.h"

namespace {

using namespace napkin;  // NOLINT(google-build-using-namespace): a test

Diagram load(const std::string& text) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "test.ncd", text);
    REQUIRE(checked.has_value());
    return checked->diagram;
}

AxisId axis(const Diagram& diagram, const std::string& name) {
    return find_axis(diagram, name).value();
}

ArrayId array(const Diagram& diagram, const std::string& name) {
    return find_array(diagram, name).value();
}

Sampling sampling(std::int64_t most, TileSizes tiles = {}) {
    Sampling sampling;
    sampling.most = most;
    sampling.tiles = std::move(tiles);
    return sampling;
}

constexpr const char* kAttention =
    "diagram attention {\n"
    "  axis q = 4096, x = 4096, d = 128\n"
    "  input Q[q, d], K[x, d], V[x, d] : bf16\n"
    "  S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
    "  P[q, x] = softmax[x](S[q, x])\n"
    "  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n"
    "  weave b = 4, h = 16\n"
    "}\n";

constexpr const char* kCausal =
    "diagram causal {\n"
    "  axis q = 1000, x = 1200, d = 64\n"
    "  input Q[q, d], K[x, d], V[x, d] : f32\n"
    "  S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
    "  P[q, x] = softmax[x](if x <= q + size(x) - size(q) then S[q, x] else -inf)\n"
    "  output O[q, d] = sum(x) P[q, x] * V[x, d]\n"
    "}\n";

}  // namespace

TEST_CASE("samples: sorted, within the array, with every tile edge; all of a small array") {
    const Diagram diagram = load(
        "diagram copy { axis q = 1000, d = 130\n input X[q, d] : f32\n output O[q, d] = X[q, d] }");
    const ArrayId output = array(diagram, "O");
    const TileSizes tiles{{axis(diagram, "q"), {128, 16}}, {axis(diagram, "d"), {64}}};
    const std::vector<std::int64_t> offsets =
        sample_offsets(diagram, output, sampling(2000, tiles));
    const std::set<std::int64_t> chosen(offsets.begin(), offsets.end());
    CHECK_EQ(chosen.size(), offsets.size());
    CHECK(std::is_sorted(offsets.begin(), offsets.end()));
    CHECK(offsets.size() > 1500);
    CHECK(offsets.size() <= 2000);
    CHECK(offsets.back() < 130000);
    for (const std::int64_t row : {0, 15, 16, 31, 32, 127, 128, 255, 256, 895, 896, 991, 992, 999})
        for (const std::int64_t column : {0, 129}) CHECK(chosen.count(row * 130 + column) == 1);
    for (const std::int64_t column : {0, 63, 64, 127, 128, 129}) CHECK(chosen.count(column) == 1);
    CHECK_EQ(offsets, sample_offsets(diagram, output, sampling(2000, tiles)));
    CHECK_EQ(sample_offsets(diagram, output, sampling(200000)).size(), 130000);
}

TEST_CASE("samples: a scalar has one") {
    const Diagram diagram =
        load("diagram total { axis q = 1000\n input X[q] : f32\n output loss = sum(q) X[q] }");
    CHECK_EQ(sample_offsets(diagram, array(diagram, "loss"), sampling(10)),
             std::vector<std::int64_t>{0});
}

TEST_CASE("samples: the budget holds, and attention at its real size has thousands of elements") {
    const Diagram diagram = load(kAttention);
    const ArrayId output = array(diagram, "O");
    Sampling most = sampling(4096, {{axis(diagram, "q"), {64}}, {axis(diagram, "x"), {32}}});
    most.budget = 1.5e8;
    const std::vector<std::int64_t> offsets = sample_offsets(diagram, output, most);
    CHECK(offsets.size() > 3000);
    DemandLedger ledger(diagram, output);
    std::set<std::int64_t> rows;
    for (const std::int64_t offset : offsets) {
        ledger.add(offset);
        rows.insert(offset / 128);
    }
    CHECK(ledger.spent() < 1.5e8 + 1e6);
    CHECK(rows.size() > 200);
    most.budget = 1e6;
    CHECK(sample_offsets(diagram, output, most).size() < 400);
}

TEST_CASE("samples: where even one element is over the budget, a few are taken") {
    const Diagram diagram = load(kAttention);
    Sampling poor = sampling(4096);
    poor.budget = 1;
    CHECK_EQ(sample_offsets(diagram, array(diagram, "O"), poor).size(), 1);
    poor.budget = 3e5;  // half a row
    CHECK_EQ(sample_offsets(diagram, array(diagram, "O"), poor).size(), 4);
}

TEST_CASE("samples: both sides of where a mask ends at the edges of chunks") {
    const Diagram diagram = load(kCausal);
    const TileSizes tiles{{axis(diagram, "x"), {64}}};
    const std::set<std::int64_t> corners = corners_of(diagram, axis(diagram, "q"), tiles);
    // The last visible element of row q is q + 200.
    for (const std::int64_t edge : {std::int64_t{9} * 64, std::int64_t{18} * 64}) {
        INFO("edge ", edge);
        CHECK(corners.count(edge - 1 - 200) == 1);
        CHECK(corners.count(edge - 200) == 1);
    }
    CHECK(corners.count(0) == 1);
    CHECK(corners.count(999) == 1);
    CHECK(corners.size() < 20);
}

TEST_CASE("samples: a strided mask adds a few of its many changes") {
    const Diagram diagram = load(
        "diagram strided {\n"
        "  axis q = 4096, x = 4096\n"
        "  input S[q, x] : f32\n"
        "  output O[q] = sum(x) (if (q - x) % 7 == 0 then S[q, x] else 0)\n"
        "}\n");
    const std::set<std::int64_t> corners = corners_of(diagram, axis(diagram, "q"), {});
    CHECK(corners.size() > 2);
    CHECK(corners.size() < 20);
}

TEST_CASE("demand: what elements of one row share is counted once") {
    const Diagram diagram = load(kAttention);
    const ArrayId output = array(diagram, "O");
    DemandLedger ledger(diagram, output);
    ledger.add(0);
    const double first = ledger.spent();
    CHECK_EQ(first, ledger.of_one());
    CHECK(first > 4096.0 * 128);  // a row of scores
    CHECK(first < 4096.0 * 140);
    ledger.add(1);  // along d
    CHECK_EQ(ledger.spent() - first, ledger.of_moving(3));
    CHECK(ledger.of_moving(3) < 2 * 4096.0);
    const double before = ledger.spent();
    ledger.add(128);  // along q
    CHECK_EQ(ledger.spent() - before, ledger.of_moving(2));
    CHECK_EQ(ledger.of_moving(2), ledger.of_one());
    const double all = ledger.spent();
    ledger.add(128);
    CHECK_EQ(ledger.spent(), all);
}

TEST_CASE("demand: a maximum over the rows asks for every row") {
    const Diagram diagram = load(
        "diagram columns {\n"
        "  axis q = 50, x = 40, d = 30\n"
        "  input Q[q, d], K[x, d] : f32\n"
        "  S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        "  output P[q, x] = softmax[q](S[q, x])\n"
        "}\n");
    DemandLedger ledger(diagram, array(diagram, "P"));
    CHECK(ledger.of_one() >= 50.0 * 30);
    CHECK(ledger.of_one() < 50.0 * 40);
    CHECK(ledger.of_moving(0) < 10);  // another row of the same column
    CHECK(ledger.of_moving(1) >= 50.0 * 30);
}

TEST_CASE("given outputs: a loss is judged by the outputs that it reads") {
    const Diagram diagram = load(
        "diagram loss {\n"
        "  axis n = 30, v = 20, d = 10\n"
        "  input H[n, d], W[v, d] : f32\n"
        "  Z[n, v] = sum(d) H[n, d] * W[v, d]\n"
        "  output nll[n] : f32 = logsumexp[v](Z[n, v])\n"
        "  output loss : f32 = (sum(n) nll[n]) / size(n)\n"
        "}\n");
    const ArrayId nll = array(diagram, "nll");
    const ArrayId loss = array(diagram, "loss");
    Tensors outputs;
    outputs[nll] = make_tensor(diagram, nll);
    for (std::size_t at = 0; at < 30; ++at) outputs[nll].values[at] = static_cast<double>(at);
    outputs[loss] = make_tensor(diagram, loss);
    outputs[loss].values[0] = 14.5;
    const GivenOutputs given = give_outputs(diagram, loss, random_inputs(diagram, 1), outputs);
    CHECK_EQ(given.given, std::vector<ArrayId>{nll});
    CHECK(visits_of_one(given.diagram, loss) < 40);
    CHECK(visits_of_one(diagram, loss) >= 30.0 * 20 * 10);
    Reference reference(given.diagram, given.inputs, {});
    CHECK(compare(reference, loss, outputs[loss]).ok);
    outputs[loss].values[0] = 14.6;
    CHECK_FALSE(compare(reference, loss, outputs[loss]).ok);
}
