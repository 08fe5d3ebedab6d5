// Literals computed with by what their decimals mean.
#include <optional>

#include <doctest/doctest.h>

#include "diagrams/literal.h"

namespace napkin {
namespace {

TEST_CASE("a sum or product of literals is the literal that means it") {
    CHECK(product_of_literals(0.1, 0.1) == 0.01);
    CHECK(product_of_literals(0.1, 3) == 0.3);
    CHECK(product_of_literals(-0.7, 1.1) == -0.77);
    CHECK(product_of_literals(1.0 / 3, 3) == 1.0);
    CHECK(product_of_literals(1e-30, 1) == 1e-30);
    CHECK(product_of_literals(0.08838834764831845, -1) == -0.08838834764831845);
    CHECK(sum_of_literals(0.1, 0.2) == 0.3);
    CHECK(sum_of_literals(0.1, -0.1) == 0.0);
    CHECK(sum_of_literals(1.0 / 3, 1.0 / 6) == 0.5);
    CHECK(sum_of_literals(4503599627370497, 4503599627370495) == 9007199254740992);
}

TEST_CASE("a power of a literal, and the root of a square") {
    CHECK(power_of_literal(0.1, 2) == 0.01);
    CHECK(power_of_literal(3, -1) == 1.0 / 3);
    CHECK(power_of_literal(-2, 3) == -8);
    CHECK(power_of_literal(64, 0.5) == 8);
    CHECK(power_of_literal(64, -0.5) == 0.125);
    CHECK(power_of_literal(0.01, 1.5) == 0.001);
    CHECK(power_of_literal(7, 0) == 1);
}

TEST_CASE("the simplest fraction near a number") {
    const LiteralFraction tenth = simplest_fraction_near(-0.1 * (1 + 1e-13), 1e-11);
    CHECK(tenth.numerator == -1);
    CHECK(tenth.denominator == 10);
    CHECK(simplest_fraction_near(3 - 1e-12, 1e-11).numerator == 3);
    CHECK(simplest_fraction_near(0, 1e-11).numerator == 0);
}

TEST_CASE("where no literal means the result, there is none") {
    CHECK(product_of_literals(0.08838834764831845, 1.4426950408889634) == std::nullopt);
    CHECK(product_of_literals(1e300, 1e300) == std::nullopt);
    CHECK(sum_of_literals(1, 1e-30) == std::nullopt);
    CHECK(power_of_literal(2, 0.5) == std::nullopt);
    CHECK(power_of_literal(-4, 0.5) == std::nullopt);
    CHECK(power_of_literal(8, 1.0 / 3) == std::nullopt);
    CHECK(power_of_literal(0, -1) == std::nullopt);
}

}  // namespace
}  // namespace napkin
