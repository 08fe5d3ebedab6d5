// What is known of a value: one table, which everyone who asks is held to. Rules and masks ask of
// expressions of the diagram, separation of terms; the answers are the same text, and hold of every
// value that the expression has on random data.
#include <cmath>

#include "derive/separation/read/cascade.h"
#include "diagrams/facts.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

struct Row {
    const char* value;
    const char* facts;
};

/// `[0, inf], 0 of data, 0 of nothing, -inf`.
std::string text_of(const Facts& facts) {
    const auto bound = [](double value) {
        std::string text = std::to_string(value);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        return text;
    };
    std::string text = "[" + bound(facts.low) + ", " + bound(facts.high) + "]";
    if (facts.zero) text += ", 0 of data";
    if (facts.vanishes) text += ", 0 of nothing";
    if (facts.minus_infinity) text += ", -inf";
    if (facts.plus_infinity) text += ", inf";
    return text;
}

// clang-format off
constexpr Row kTable[] = {
    // literals, sizes, indices, data
    {"2.5",                                       "[2.5, 2.5]"},
    {"0",                                         "[0, 0], 0 of nothing"},
    {"-inf",                                      "[-inf, -inf], -inf"},
    {"size(x)",                                   "[1, inf]"},
    {"x",                                         "[0, inf], 0 of data"},
    {"A[x]",                                      "[-inf, inf], 0 of data"},
    {"L[x]",                                      "[0, inf], 0 of data"},
    {"if F[x] then 1 else 2",                     "[1, 2]"},
    // signs and bounds
    {"exp(A[x])",                                 "[0, inf]"},
    {"1 + exp(A[x])",                             "[1, inf]"},
    {"log(1 + exp(A[x]))",                        "[0, inf], 0 of data"},
    {"exp(-A[x] ^ 2)",                            "[0, 1]"},
    {"A[x] * A[x]",                               "[0, inf], 0 of data"},
    {"A[x] ^ 3",                                  "[-inf, inf], 0 of data"},
    {"A[x] ^ -2",                                 "[0, inf]"},
    {"-abs(A[x])",                                "[-inf, 0], 0 of data"},
    {"rsqrt(A[x] ^ 2 + 4)",                       "[0, 0.5]"},
    {"3 * tanh(A[x] / 3)",                        "[-3, 3], 0 of data"},
    {"max(A[x], 0)",                              "[0, inf], 0 of data, 0 of nothing"},
    {"max(min(A[x], 5), 1)",                      "[1, 5]"},
    {"min(exp(A[x]), exp(B[x]))",                 "[0, inf]"},
    {"sin(A[x]) - cos(A[x])",                     "[-2, 2], 0 of data"},
    {"exp(A[x]) / (exp(A[x]) + exp(B[x]))",       "[0, inf]"},
    {"floor(exp(A[x]))",                          "[0, inf], 0 of data"},
    {"1 / size(x)",                               "[0, 1]"},
    // what masks make
    {"if x > 2 then A[x] else -inf",              "[-inf, inf], 0 of data, -inf"},
    {"exp(if x > 2 then A[x] else -inf)",         "[0, inf], 0 of nothing"},
    {"exp(if x > 2 then A[x] else inf)",          "[0, inf], inf"},
    {"exp(-(if x > 2 then A[x] else inf))",       "[0, inf], 0 of nothing"},
    {"exp(0.5 * (if x > 2 then A[x] else -inf))", "[0, inf], 0 of nothing"},
    {"if x > 2 then exp(A[x]) else 0",            "[0, inf], 0 of nothing"},
    {"1 / exp(if x > 2 then A[x] else -inf)",     "[0, inf], inf"},
    {"tanh(if x > 2 then A[x] else -inf)",        "[-1, 1], 0 of data"},
    {"max(if x > 2 then A[x] else -inf, B[x])",   "[-inf, inf], 0 of data"},
    {"1 + (if x > 2 then exp(A[x]) else 0)",      "[1, inf]"},
    // folds
    {"sum(y) W[x, y] ^ 2",                        "[0, inf], 0 of data"},
    {"sum(y) exp(W[x, y])",                       "[0, inf]"},
    {"sum(y) if y > x then exp(W[x, y]) else 0",  "[0, inf], 0 of nothing"},
    {"log(sum(y) if y > x then exp(W[x, y]) else 0)", "[-inf, inf], 0 of data, -inf"},
    {"1 / sum(y) if y > x then exp(W[x, y]) else 0",  "[0, inf], inf"},
    {"max(y) if y > x then W[x, y] else -inf",    "[-inf, inf], 0 of data, -inf"},
    {"min(y) tanh(W[x, y])",                      "[-1, 1], 0 of data"},
    {"sum(y) tanh(W[x, y])",                      "[-inf, inf], 0 of data"},
    {"prod(y) exp(-W[x, y] ^ 2)",                 "[0, 1]"},
    {"excess(y) abs(W[x, y])",                    "[-inf, inf], 0 of data"},
    {"P[x]",                                      "[0, inf], 0 of nothing"},
    {"P[x] / T",                                  "[0, inf], 0 of nothing"},
    {"R[x]",                                      "[0, 1], 0 of data"},
};
// clang-format on

Diagram diagram_of(const std::string& value) {
    return load(
        "monoid excess(a; b) = a + b - 1 identity 1\n"
        "diagram facts {\n"
        "  axis x = 5, y = 7\n"
        "  input A[x], B[x], W[x, y] : f32\n"
        "  input L[x] : i32\n"
        "  input F[x] : bool\n"
        "  G[x] = W[x, L[x]]\n"
        "  P[x] = exp(if x > 2 then A[x] else -inf)\n"
        "  T = sum(x) P[x]\n"
        "  R[x] : bf16 = tanh(abs(A[x]))\n"
        "  output O[x] = " +
        value + "\n}\n");
}

const Expression& value_of(const Diagram& diagram) {
    const StatementId source = producer(diagram, find_array(diagram, "O").value()).value();
    return std::get<Map>(diagram[source].body).value;
}

/// The same of the term that the value is for separation along these axes.
std::string facts_of_term(const Diagram& diagram, const std::vector<AxisId>& axes) {
    Region region;
    for (std::uint32_t i = 0; i + 1 < diagram.statements.size(); ++i)
        region.statements.push_back(StatementId{i});
    separation::Cascade cascade(diagram, region, axes);
    return text_of(cascade.facts().of(cascade.lower(value_of(diagram))));
}

void check_value(const Facts& facts, double value) {
    CAPTURE(value);
    const double rounding = std::isinf(value) ? 0 : 1e-9 * std::abs(value);
    CHECK(value >= facts.low - rounding);
    CHECK(value <= facts.high + rounding);
    CHECK((value != 0 || facts.zero || facts.vanishes));
    CHECK((value != -kInfinity || facts.minus_infinity));
    CHECK((value != kInfinity || facts.plus_infinity));
}

}  // namespace

TEST_CASE("facts: expressions and terms have the facts of the table, and values keep to them") {
    for (const Row& row : kTable) {
        INFO(std::string(row.value));
        // A fold that is the whole value is one of an expression: its own statement.
        const Diagram diagram = diagram_of("(" + std::string(row.value) + ") * 1");
        const Facts facts = DiagramFacts(diagram).of(value_of(diagram));
        CHECK_EQ(text_of(facts), row.facts);
        CHECK_EQ(facts_of_term(diagram, {find_axis(diagram, "x").value()}), row.facts);
        CHECK_EQ(facts_of_term(diagram, {find_axis(diagram, "y").value()}), row.facts);
        for (std::uint64_t seed = 1; seed < 6; ++seed) {
            const Tensors results = *evaluate_outputs(diagram, random_inputs(diagram, seed, 3.0));
            for (const double value : results.at(find_array(diagram, "O").value()).values)
                check_value(facts, value);
        }
    }
}

}  // namespace napkin::test
