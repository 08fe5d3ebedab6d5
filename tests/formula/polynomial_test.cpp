// Ideal forms: the paper's notation both ways, and how exact formulas become ideal.
#include <doctest/doctest.h>

#include "diagrams/formula.h"
#include "tests/formula/named_symbols.h"

namespace napkin {
namespace {

const test::NamedSymbols kNamed({"q", "x", "d", "h", "g", "a", "b", "c", "w", "y", "p", "r", "i",
                                 "len", "head"});

Result<Polynomial> parse(const std::string& text) {
    return parse_polynomial(text, kNamed.names, kNamed.all);
}

TEST_CASE("polynomials print in the paper's manner") {
    struct Case {
        const char* text;
        const char* paper;
        const char* arithmetic;
    };
    std::vector<Symbol> order;
    for (const char* name : {"h", "g", "x", "q", "d", "a", "b", "c"}) order.push_back(kNamed(name));
    const Case cases[] = {
        {"2*q*d + 2*x*q*d/g_q", "2qd + 2xqd/g_q", "2*q*d + 2*x*q*d/g_q"},
        {"abc(1/g_a + 1/g_c) + ac", "ac + abc/g_a + abc/g_c", "a*c + a*b*c/g_a + a*b*c/g_c"},
        {"2hgqd + 2hgxqd/(g_q g_g)", "2hgqd + 2hgxqd/(g_g·g_q)",
         "2*h*g*q*d + 2*h*g*x*q*d/(g_g*g_q)"},
        {"2qd + 4xqd^2/M", "2qd + 4xq·d^2/M", "2*q*d + 4*x*q*d^2/M"},
        {"2abc/M^(1/2) + ac", "ac + 2abc/M^(1/2)", "a*c + 2*a*b*c/M^(1/2)"},
        {"2g_q d + 2s_x d", "2d·g_q + 2d·s_x", "2*d*g_q + 2*d*s_x"},
        {"len*head - 3*len/2", "head·len - 3len/2", "head*len - 3*len/2"},
        {"q*q/q - q", "0", "0"},
        {"1/g_q + 3", "3 + 1/g_q", "3 + 1/g_q"},
        {"d*x/g_q@warps", "xd/g_q@warps", "x*d/g_q@warps"},
    };
    for (const Case& c : cases) {
        const Result<Polynomial> polynomial = parse(c.text);
        REQUIRE_MESSAGE(polynomial.has_value(), c.text);
        CHECK_EQ(print(*polynomial, kNamed.names, order), c.paper);
        CHECK_EQ(print_arithmetic(*polynomial, kNamed.names, order), c.arithmetic);
        for (const char* printed : {c.paper, c.arithmetic}) {
            const Result<Polynomial> again = parse(printed);
            REQUIRE_MESSAGE(again.has_value(), printed);
            CHECK_EQ(*again, *polynomial);
        }
    }
}

TEST_CASE("texts that are no polynomial are refused with the place") {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"2z", "expected a number or a known symbol at character 2 of `2z`"},
        {"q/(x+d)", "only a single term can be divided by at character 8 of `q/(x+d)`"},
        {"(q+x", "expected `)` at character 5 of `(q+x`"},
        {"q)", "expected an operator at character 2 of `q)`"},
        {"", "expected a number or a known symbol at character 1 of ``"},
        {"q^", "expected an exponent at character 3 of `q^`"},
    };
    for (const Case& c : cases) {
        const Result<Polynomial> polynomial = parse(c.text);
        REQUIRE_FALSE_MESSAGE(polynomial.has_value(), c.text);
        CHECK_EQ(polynomial.error().list.front().message, c.message);
    }
}

Polynomial read_polynomial(const std::string& text) {
    const Result<Polynomial> polynomial = parse(text);
    REQUIRE_MESSAGE(polynomial.has_value(), text);
    return *polynomial;
}

TEST_CASE("exact formulas become ideal") {
    const Formula q = kNamed("q");
    const Formula x = kNamed("x");
    const Formula d = kNamed("d");
    const Formula g = kNamed("g_q");
    const Symbol index = kNamed("i");
    const Formula i = index;
    const Formula groups = ceil_divide(q, g);
    const Formula tile = min_of(g, q - i * g);
    struct Case {
        Formula exact;
        const char* ideal;
    };
    const Case cases[] = {
        {Formula(2) * q * d + Formula(2) * groups * x * d, "2qd + 2xqd/g_q"},
        {sum_over(index, 0, groups - Formula(1), tile * d), "qd"},
        {sum_over(index, 0, groups - Formula(1), i * g + g), "q^2/(2g_q) + q/2"},
        {sum_over(index, 1, 3, i * i * i), "36"},
        {max_of(0, groups) * x, "xq/g_q"},
        {min_of(g, q), "g_q"},
        {modulo(q, g), "0"},
    };
    for (const Case& c : cases) {
        const std::optional<Polynomial> ideal = idealise(c.exact);
        REQUIRE_MESSAGE(ideal.has_value(), print(c.exact, kNamed.names));
        CHECK_EQ(*ideal, read_polynomial(c.ideal));
    }
    CHECK_FALSE(idealise(at_most(i, q)).has_value());
    CHECK_FALSE(idealise(min_of(q, x)).has_value());
    CHECK_FALSE(idealise(divide(q, x + d)).has_value());
}

TEST_CASE("polynomials evaluate and take numbers") {
    const Polynomial cost = read_polynomial("2qd + 2xqd/g_q");
    CHECK_EQ(
        evaluate(
            cost,
            {{kNamed("q"), 4096}, {kNamed("x"), 4096}, {kNamed("d"), 128}, {kNamed("g_q"), 128}}),
        doctest::Approx(2. * 4096 * 128 + 2. * 4096 * 4096 * 128 / 128));
    CHECK_EQ(substitute(cost, kNamed("g_q"), 2), read_polynomial("2qd + xqd"));
    CHECK_FALSE(substitute(read_polynomial("M^(1/2)"), kNamed("M"), 4).has_value());
    CHECK_FALSE(substitute(cost, kNamed("g_q"), 0).has_value());
}

TEST_CASE("equal sizes are proved equal") {
    const Formula p = kNamed("p");
    const Formula r = kNamed("r");
    CHECK(provably_equal(p + r - Formula(1), r - Formula(1) + p));
    CHECK(provably_equal(divide(p * r, r), p));
    CHECK(provably_equal((p + r) * (p - r), p * p - r * r));
    CHECK(provably_equal(ceil_divide(p + r, Formula(2)), ceil_divide(r + p, Formula(2))));
    CHECK_FALSE(provably_equal(ceil_divide(p, Formula(2)), floor_divide(p, Formula(2))));
    CHECK_FALSE(provably_equal(p, r));
}

}  // namespace
}  // namespace napkin
