#include "diagrams/factor.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/formula/named_symbols.h"

namespace napkin {
namespace {

const test::NamedSymbols kAxes({"b", "x", "y", "k", "c", "r", "s"});

Polynomial sum_of(const std::string& text) {
    const Result<Polynomial> parsed = parse_polynomial(text, kAxes.names, kAxes.all);
    REQUIRE_MESSAGE(parsed.has_value(), text);
    return *parsed;
}

TEST_CASE("sums print as products where they are some") {
    std::vector<Symbol> order;
    for (const char* name : {"b", "y", "x", "k", "c", "g_y", "g_x", "g_c", "r", "s"})
        order.push_back(kAxes(name));
    struct Case {
        const char* sum;
        const char* product;
    };
    for (const Case& c : {
             Case{"b k (g_y + r - 1)(g_x + s - 1)/g_c", "bk(g_y + r - 1)(g_x + s - 1)/g_c"},
             Case{"(y - x)(c - k)", "(x - y)(k - c)"},
             Case{"2x y/3 + 4x/3", "2x(2 + y)/3"},
             Case{"b(1 - y - r)", "-b(y + r - 1)"},
             Case{"(b + x)(b + y)", "b^2 + by + bx + yx"},
             Case{"(b + x)(y + k)(c + r + 1)", "(b + x)(y + k)(1 + c + r)"},
             Case{"b(4y + 2r - 4)(x + s/2 - 1)", "b(2x + s - 2)(2y + r - 2)"},
             Case{"b + x", "b + x"},
             Case{"3b x", "3bx"},
             Case{"12b x", "12bx"},
             Case{"3136k", "3136·k"},
             Case{"b - b", "0"},
         }) {
        CAPTURE(c.sum);
        const std::string text = print_factored(sum_of(c.sum), kAxes.names, order);
        CHECK_EQ(text, std::string(c.product));
        CHECK_EQ(sum_of(text), sum_of(c.sum));
    }
}

TEST_CASE("the product of the factors is the sum") {
    std::mt19937 random(20240611);
    const std::vector<std::string> names = {"b", "x", "y", "k", "g_x", "s_k"};
    std::size_t products = 0;
    for (int trial = 0; trial < 500; ++trial) {
        Polynomial sum = constant_polynomial(rational(1));
        for (unsigned f = 0; f < 1 + random() % 3; ++f) {
            Polynomial factor;
            for (unsigned t = 0; t < 1 + random() % 3; ++t) {
                const std::int64_t number = static_cast<std::int64_t>(random() % 9) - 4;
                factor = factor + constant_polynomial(rational(number)) *
                                      symbol_polynomial(kAxes(names[random() % names.size()]));
            }
            sum = sum * factor;
        }
        Polynomial product = constant_polynomial(rational(1));
        const std::vector<Polynomial> factors = factors_of(sum);
        for (const Polynomial& factor : factors) product = product * factor;
        INFO(print(sum, kAxes.names));
        CHECK_EQ(product, sum);
        products += factors.size() > 2 ? 1 : 0;
    }
    CHECK_GT(products, 20);
}

TEST_CASE("a sum of known parts shows those that are products") {
    const Polynomial halo = sum_of("b(x + r - 1)(y + s - 1)");
    const Polynomial rest = sum_of("2b c k");
    CHECK_EQ(print_in_parts(halo + rest, {halo, sum_of("b c k"), sum_of("b c k")}, kAxes.names),
             "2bck + b(r + x - 1)(s + y - 1)");
    CHECK_EQ(print_in_parts(halo + halo + rest, {halo, halo}, kAxes.names),
             "2bck + 2b(r + x - 1)(s + y - 1)");
    // One whose terms were added to others is no longer there, unless that saves many.
    CHECK_EQ(print_in_parts(halo + sum_of("b x y"), {halo}, kAxes.names),
             "bxy + b(r + x - 1)(s + y - 1)");
    const Polynomial small = sum_of("b(x + y)");
    CHECK_EQ(print_in_parts(small + sum_of("b x"), {small}, kAxes.names), "2bx + by");
    CHECK_EQ(print_in_parts(rest, {}, kAxes.names), "2bck");
}

}  // namespace
}  // namespace napkin
