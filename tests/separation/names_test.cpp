// Nothing depends on names: softmax written by hand, everything renamed, gives the same accumulator
// as the library's. Regressions that a prototype got wrong stand beside it.
#include <algorithm>

#include "tests/separation/cases.h"

namespace napkin::test {
namespace {

/// Statements with the accumulator's arrays, so that two diagrams with the same ids compare equal.
struct Shape {
    std::vector<Statement> initial;
    std::vector<Statement> body;
    std::vector<Statement> tail;
    bool operator==(const Shape&) const = default;
};

Shape shape_of(const std::string& text, const std::string& axis) {
    const Loaded loaded = load(text, axis);
    const auto result = derive(loaded);
    REQUIRE(std::holds_alternative<Accumulator>(result));
    const Accumulator& accumulator = std::get<Accumulator>(result);
    Shape shape{accumulator.initial, accumulator.body, accumulator.tail};
    for (auto* statements : {&shape.initial, &shape.body, &shape.tail})
        for (Statement& statement : *statements) statement.box = BoxId{};
    return shape;
}

double worst(const std::string& text, const std::string& axis, int runs = 20) {
    const Loaded loaded = load(text, axis);
    const auto result = derive(loaded);
    REQUIRE(std::holds_alternative<Accumulator>(result));
    return compare(loaded, std::get<Accumulator>(result), 3, 1, runs).worst;
}

}  // namespace

TEST_CASE("separation: softmax by hand and renamed is the library's softmax") {
    const Shape library = shape_of(R"(diagram attention {
  axis q = 4, x = 9, d = 3
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})",
                                   "x");
    const Shape by_hand = shape_of(R"(diagram other {
  axis i = 4, w = 9, k = 3
  input A[i, k], B[w, k], C[w, k]
  T[i, w] = sum(k) A[i, k] * B[w, k]
  R[i, w] = exp(T[i, w] - max(w) T[i, w]) / sum(w) exp(T[i, w] - max(w) T[i, w])
  output Z[i, k] = sum(w) R[i, w] * C[w, k]
})",
                                   "w");
    CHECK(library == by_hand);
}

TEST_CASE("separation: equal atoms under an absolute value keep both powers") {
    CHECK(worst(R"(diagram a {
  axis q = 3, x = 9
  input S[q, x]
  n[q] = sum(x) S[q, x] ^ 2
  output O[q] = sum(x) sqrt(S[q, x] ^ 2 * n[q]) * abs(S[q, x] * n[q])
})",
                "x") < 1e-12);
}

TEST_CASE("separation: two exponents of one fold have a gauge each") {
    CHECK(worst(R"(diagram a {
  axis q = 3, x = 9
  input S[q, x], T[q, x]
  l[q] = sum(x) (exp(S[q, x]) + exp(T[q, x]))
  output O[q] = sum(x) (exp(S[q, x]) * T[q, x] + exp(T[q, x]) * S[q, x]) / l[q]
})",
                "x") < 1e-12);
}

TEST_CASE("separation: a maximum whose streamed part cancels is the rest") {
    CHECK(worst(R"(diagram a {
  axis q = 3, x = 9
  input S[q, x]
  n[q] = sum(x) S[q, x]
  P[q, x] = softmax[x](S[q, x])
  output O[q] = max(x) (P[q, x] - P[q, x] + n[q] ^ 2)
})",
                "x") < 1e-12);
}

TEST_CASE("separation: differences of large numbers do not cancel") {
    CHECK(worst(R"(diagram a {
  axis q = 3, x = 40, e = 2
  input X[q, x], W[x, e]
  Y[q, x] = X[q, x] + 1000000
  output V[q] = variance[x](Y[q, x])
  output T[q] = sum(x) (Y[q, x] - mean[x](Y[q, x])) ^ 3
  output N[q, e] = sum(x) (Y[q, x] - mean[x](Y[q, x])) * rsqrt(variance[x](Y[q, x])) * W[x, e]
})",
                "x") < 1e-8);
}

TEST_CASE("separation: no exponent rises above zero, whatever the scores") {
    const Loaded loaded = load(R"(diagram attention {
  axis q = 4, x = 23, d = 3
  input Q[q, d], K[x, d], V[x, d], slope
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x] + slope * (x - q))
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})",
                               "x");
    const auto result = derive(loaded);
    REQUIRE(std::holds_alternative<Accumulator>(result));
    const Agreement agreement = compare(loaded, std::get<Accumulator>(result), 11, 100, 20);
    CHECK(agreement.largest_exponent <= 0);
    CHECK(agreement.worst < 1e-11);
}

TEST_CASE("separation: a region that does not use the axis, and statements left to the caller") {
    const Loaded loaded = load(R"(diagram a {
  axis q = 3, x = 9, d = 2
  input A[q, d], B[q, d], X[x, d]
  C[q, d] = A[q, d] * B[q, d]
  output O[q] = sum(x, d) C[q, d] * X[x, d]
})",
                               "x");
    const auto result = derive(loaded);
    REQUIRE(std::holds_alternative<Accumulator>(result));
    const Accumulator& accumulator = std::get<Accumulator>(result);
    for (const auto* statements : {&accumulator.initial, &accumulator.body, &accumulator.tail})
        for (const Statement& statement : *statements)
            CHECK(statement.targets.front() != find_array(loaded.diagram, "C"));
    Region first{.statements = {StatementId{0}}, .groups = {}, .streams = {}};
    const auto none = derive_accumulator(loaded.diagram, first, {loaded.axis});
    CHECK(std::holds_alternative<NotApplicable>(none));
}

}  // namespace napkin::test
