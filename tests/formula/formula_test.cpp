// Exact formulas: what the constructors simplify, what they evaluate to, how they print.
#include "diagrams/formula.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <set>

#include "tests/formula/named_symbols.h"

namespace napkin {
namespace {

const test::NamedSymbols kSymbols({"q", "x", "i", "n"});
const Symbol kIndex = kSymbols("i");
const Formula kQ = kSymbols("q");
const Formula kG = kSymbols("g_q");
const Formula kX = kSymbols("x");
const Formula kI = kIndex;

std::string text(const Formula& formula) {
    return print(formula, kSymbols.names);
}

TEST_CASE("fractions are in lowest terms and refuse to overflow") {
    CHECK_EQ(rational(6, -4), Rational{-3, 2});
    CHECK_EQ(rational(1, 2) + rational(1, 3), Rational{5, 6});
    CHECK_EQ(rational(1, 2) - rational(1, 2), Rational{0, 1});
    CHECK_EQ(rational(2, 3) / rational(-4, 9), Rational{-3, 2});
    CHECK(rational(-1, 2) < rational(-1, 3));
    CHECK(rational(7, 5) < rational(3, 2));
    CHECK_FALSE(rational(3, 2) < rational(3, 2));
    const std::int64_t large = std::numeric_limits<std::int64_t>::max();
    CHECK(rational(large, large - 1) < rational(large - 1, large - 2));
    CHECK_THROWS_AS(static_cast<void>(rational(large) + rational(1)), InternalError);
    CHECK_THROWS_AS(static_cast<void>(rational(large) * rational(2)), InternalError);
    CHECK_THROWS_AS(static_cast<void>(rational(1, 0)), InternalError);
    CHECK_EQ(rational(large) * rational(2, large), Rational{2, 1});
}

TEST_CASE("constructors simplify") {
    struct Case {
        Formula built;
        const char* text;
    };
    const Case cases[] = {
        {kQ + Formula(0), "q"},
        {kQ + kQ, "2*q"},
        {kQ - kQ, "0"},
        {Formula(1) + kQ - Formula(3), "q - 2"},
        {kQ * Formula(0), "0"},
        {kX * kQ * Formula(2), "2*q*x"},
        {Formula(2) * (kQ + Formula(1)), "2*q + 2"},
        {(kQ + Formula(1)) * kX, "(q + 1)*x"},
        {divide(kQ * kX, kG), "q*x/g_q"},
        {divide(1, kG), "1/g_q"},
        {ceil_divide(kQ, kG) * kX, "ceil(q/g_q)*x"},
        {ceil_divide(kQ + Formula(1), kG), "ceil((q + 1)/g_q)"},
        {ceil_divide(7, 2), "4"},
        {floor_divide(-7, 2), "-4"},
        {floor_divide(kQ, 1), "q"},
        {modulo(kQ, kG), "q - g_q*floor(q/g_q)"},
        {modulo(-7, 4), "1"},
        {min_of(kG, kQ - kI * kG), "min(g_q, q - g_q*i)"},
        {min_of(min_of(3, kQ), 2), "min(2, q)"},
        {max_of(0, kQ), "q"},
        {max_of(0, kQ - kX), "max(0, q - x)"},
        {at_most(kI, kQ), "max(0, min(1, 1 + floor(q - i)))"},
        {at_most(kQ, kQ + Formula(1)), "1"},
        {sum_over(kIndex, 0, 3, kI), "sum(i, 0, 3, i)"},
        {sum_over(kIndex, 0, ceil_divide(kQ, kG) - Formula(1), kX), "ceil(q/g_q)*x"},
        {sum_over(kIndex, 2, 2, kI * kX), "2*x"},
        {sum_over(kIndex, 3, 2, kI), "0"},
        {kQ - (kX + kI), "q - x - i"},
        {Formula(0) - kQ, "-q"},
    };
    for (const Case& c : cases) CHECK_EQ(text(c.built), c.text);
}

TEST_CASE("evaluation is exact") {
    const SymbolValues sizes = {{kQ.symbol, 10}, {kG.symbol, 4}, {kX.symbol, 3}};
    CHECK_EQ(evaluate_integer(ceil_divide(kQ, kG), sizes), 3);
    CHECK_EQ(evaluate(divide(kQ, kG), sizes), Rational{5, 2});
    const Formula last = ceil_divide(kQ, kG) - Formula(1);
    const Formula tile = min_of(kG, kQ - kI * kG);
    CHECK_EQ(evaluate_integer(sum_over(kIndex, 0, last, tile), sizes), 10);
    CHECK_EQ(evaluate_integer(sum_over(kIndex, 1, 0, kI), sizes), 0);
    CHECK_EQ(evaluate_integer(modulo(kQ, kG), sizes), 2);
    CHECK_EQ(evaluate_integer(at_most(kQ, kX) + at_most(kX, kQ), sizes), 1);
    CHECK_FALSE(evaluate(divide(kQ, kX - Formula(3)), sizes).has_value());
    const Formula huge = Formula(kSymbols("n")) * kSymbols("n");
    CHECK_FALSE(evaluate(huge, {{kSymbols("n"), std::int64_t{1} << 40}}).has_value());
    CHECK_THROWS_AS(static_cast<void>(evaluate(kI, sizes)), InternalError);
    CHECK_THROWS_AS(static_cast<void>(evaluate_integer(divide(kQ, kG), sizes)), InternalError);
}

TEST_CASE("an index bound by a sum hides the outer one and is renamed away from capture") {
    const Formula sum = sum_over(kIndex, 0, 2, kI * kX);
    CHECK_EQ(symbols_of(sum), std::vector<Symbol>{kX.symbol});
    CHECK_EQ(evaluate_integer(sum + kI, {{kIndex, 100}, {kX.symbol, 2}}), 106);
    const Formula captured = substitute(sum, kX.symbol, kI);
    CHECK_EQ(evaluate_integer(captured, {{kIndex, 5}}), 15);
    CHECK_EQ(evaluate_integer(substitute(sum, kIndex, 7), {{kX.symbol, 2}}), 6);
}

/// A random formula over q, g_q and x whose value is defined for positive sizes.
Formula random_formula(std::mt19937& rng, int depth) {
    const auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    if (depth == 0) {
        const Formula leaves[] = {kQ, kG, kX, Formula(pick(7) - 3)};
        return leaves[pick(4)];
    }
    const Formula a = random_formula(rng, depth - 1);
    const Formula b = random_formula(rng, depth - 1);
    switch (pick(9)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return min_of(a, b);
    case 4: return max_of(a, b);
    case 5: return ceil_divide(a, kG);
    case 6: return floor_divide(a, kX);
    case 7: return at_most(a, b);
    default: return sum_over(kIndex, 0, min_of(a, 4), b + kI * kX);
    }
}

TEST_CASE("simplification and substitution keep the value") {
    std::mt19937 rng(7);
    int informative = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Formula a = random_formula(rng, 3);
        const Formula b = random_formula(rng, 2);
        const SymbolValues sizes = {
            {kQ.symbol, 1 + trial % 11}, {kG.symbol, 1 + trial % 4}, {kX.symbol, 1 + trial % 5}};
        INFO("a = ", text(a), ", b = ", text(b));
        const auto value_a = evaluate(a, sizes);
        const auto value_b = evaluate(b, sizes);
        REQUIRE(value_a.has_value());
        REQUIRE(value_b.has_value());
        CHECK_EQ(evaluate(a + b, sizes), *value_a + *value_b);
        CHECK_EQ(evaluate(a - b, sizes), *value_a - *value_b);
        CHECK_EQ(evaluate(a * b, sizes), *value_a * *value_b);
        CHECK_EQ(evaluate(min_of(a, b), sizes), *value_b < *value_a ? *value_b : *value_a);
        Formula closed = a;
        for (const auto& [symbol, size] : sizes) closed = substitute(closed, symbol, size);
        CHECK_EQ(evaluate(closed, {}), value_a);
        if (!symbols_of(a).empty()) ++informative;
    }
    CHECK_GT(informative, 200);
}

TEST_CASE("no two symbols have one name, whatever axes are called") {
    const test::NamedSymbols named(
        {"q", "g_q", "s_q", "i_q", "M", "g_g_q", "g_q'", "block", "q_block", "_"});
    std::set<std::string> names;
    for (Symbol symbol : named.all) {
        CHECK_MESSAGE(names.insert(named.names(symbol)).second, named.names(symbol));
        if (symbol.kind != SymbolKind::Group) continue;
        for (const SymbolKind index : {SymbolKind::GroupIndex, SymbolKind::ChunkIndex}) {
            symbol.kind = index;
            for (symbol.number = 0; symbol.number < 2; ++symbol.number)
                CHECK_MESSAGE(names.insert(named.names(symbol)).second, named.names(symbol));
        }
    }
    CHECK_EQ(named.names(named.all[1]), "g_q@block");
    CHECK_EQ(named.names(named.all[3]), "s_q@block");
    CHECK_EQ(named.names(named.all.back()), "M@block");
}

}  // namespace
}  // namespace napkin
