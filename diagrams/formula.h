// Symbolic sizes and costs over symbols (diagrams/symbol.h): sizes of axes, groups and chunks.
//
// Each cost has two forms. A Polynomial is the paper's *ideal* form, where sizes divide: a sum of
// monomials with rational coefficients and exponents, such as 2qd + 2xqd/g_q. A Formula is the
// *exact* form, with ceil, floor, min, max and sums over an index, which evaluates to the counted
// number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/result.h"
#include "diagrams/symbol.h"

namespace napkin {

class SymbolNames;

/// A fraction in lowest terms, denominator positive; arithmetic throws InternalError on overflow.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    bool operator==(const Rational&) const = default;
};
[[nodiscard]] Rational rational(std::int64_t numerator, std::int64_t denominator = 1);
[[nodiscard]] Rational operator+(Rational a, Rational b);
[[nodiscard]] Rational operator-(Rational a, Rational b);
[[nodiscard]] Rational operator*(Rational a, Rational b);
[[nodiscard]] Rational operator/(Rational a, Rational b);
[[nodiscard]] bool operator<(Rational a, Rational b);
[[nodiscard]] double to_double(Rational value);

/// A value for every symbol of a formula.
using SymbolValues = std::map<Symbol, std::int64_t>;

enum class FormulaOp {
    Constant,  // `constant`
    Symbol,    // `symbol`
    Add,       // any number of args
    Multiply,  // any number of args
    Divide,    // args[0] / args[1], exact rational quotient
    FloorDivide,
    CeilDivide,
    Modulo,  // args[0] - args[1] * floor(args[0] / args[1])
    Min,
    Max,
    LessEqual,  // 1 where args[0] <= args[1], else 0: the indicator that counts visited tiles
    Sum,  // sum of args[2] for `symbol` from args[0] to args[1] inclusive; empty when args[1] <
          // args[0]
};

/// An exact expression in symbols, a value with structural equality. Symbols stand for sizes and
/// indices, integers that are never negative; simplification relies on it.
struct Formula {
    FormulaOp op = FormulaOp::Constant;
    Rational constant;
    napkin::Symbol symbol;
    std::vector<Formula> args;

    Formula() = default;
    Formula(std::int64_t value) : constant{value, 1} {}  // NOLINT(google-explicit-constructor)
    Formula(napkin::Symbol given)                        // NOLINT(google-explicit-constructor)
        : op(FormulaOp::Symbol), symbol(given) {}
    bool operator==(const Formula&) const = default;
};

// Constructors fold constants and drop neutral elements, so that printed formulas stay short.
[[nodiscard]] Formula operator+(const Formula& a, const Formula& b);
[[nodiscard]] Formula operator-(const Formula& a, const Formula& b);
[[nodiscard]] Formula operator*(const Formula& a, const Formula& b);
[[nodiscard]] Formula divide(const Formula& a, const Formula& b);
[[nodiscard]] Formula floor_divide(const Formula& a, const Formula& b);
[[nodiscard]] Formula ceil_divide(const Formula& a, const Formula& b);
[[nodiscard]] Formula modulo(const Formula& a, const Formula& b);
[[nodiscard]] Formula min_of(const Formula& a, const Formula& b);
[[nodiscard]] Formula max_of(const Formula& a, const Formula& b);
[[nodiscard]] Formula at_most(const Formula& a, const Formula& b);  ///< LessEqual
[[nodiscard]] Formula sum_over(Symbol index, const Formula& low, const Formula& high,
                               const Formula& term);

/// Exact value; throws InternalError on an unknown symbol, nullopt on overflow of 64 bits or
/// division by zero.
[[nodiscard]] std::optional<Rational> evaluate(const Formula& formula, const SymbolValues& values);
/// The value as an integer; throws InternalError when it is not one or overflows.
[[nodiscard]] std::int64_t evaluate_integer(const Formula& formula, const SymbolValues& values);
/// The formula with a symbol replaced.
[[nodiscard]] Formula substitute(const Formula& formula, Symbol symbol, const Formula& value);
/// Every symbol that is free in it, sorted.
[[nodiscard]] std::vector<Symbol> symbols_of(const Formula& formula);
/// Arithmetic text with `+ - * /`, ceil, floor, min, max and sum(i, lo, hi, e) (hi included):
/// `ceil(q/g_q)*d*x`.
[[nodiscard]] std::string print(const Formula& formula, const SymbolNames& names);

/// Powers of symbols in one term, sorted by symbol, no zero exponents.
using Monomial = std::map<Symbol, Rational>;

/// A sum of monomials, no zero coefficients; equal polynomials compare equal.
struct Polynomial {
    std::map<Monomial, Rational> terms;
    bool operator==(const Polynomial&) const = default;
};
[[nodiscard]] Polynomial constant_polynomial(Rational value);
[[nodiscard]] Polynomial symbol_polynomial(Symbol symbol, Rational exponent = rational(1));
[[nodiscard]] Polynomial operator+(const Polynomial& a, const Polynomial& b);
[[nodiscard]] Polynomial operator-(const Polynomial& a, const Polynomial& b);
[[nodiscard]] Polynomial operator*(const Polynomial& a, const Polynomial& b);
/// The polynomial to a rational power; only a single monomial has one (nullopt otherwise).
[[nodiscard]] std::optional<Polynomial> power(const Polynomial& base, Rational exponent);
[[nodiscard]] double evaluate(const Polynomial& polynomial, const SymbolValues& values);
/// The paper's manner: `2qd + 2xqd/g_q`; names of several letters are set apart by a centred dot.
/// Terms are ordered by degree, then by first use in `order` (axes as declared).
[[nodiscard]] std::string print(const Polynomial& polynomial, const SymbolNames& names,
                                const std::vector<Symbol>& order = {});
/// Arithmetic text, `2*q*d + 2*x*q*d/g_q`, that any calculator evaluates; same order of terms.
[[nodiscard]] std::string print_arithmetic(const Polynomial& polynomial, const SymbolNames& names,
                                           const std::vector<Symbol>& order = {});
/// A term as it is printed: powers of names, those below the line with their exponents negated.
struct WrittenTerm {
    Rational coefficient;
    std::vector<std::pair<std::string, Rational>> above;
    std::vector<std::pair<std::string, Rational>> below;
};
/// In the order in which they are printed.
[[nodiscard]] std::vector<WrittenTerm> terms_of(const Polynomial& polynomial,
                                                const SymbolNames& names,
                                                const std::vector<Symbol>& order = {});
/// Reads what `print` writes of these symbols and ordinary `2*q*d + x*q/g_q`, for tests and
/// expectations.
[[nodiscard]] Result<Polynomial> parse_polynomial(const std::string& text, const SymbolNames& names,
                                                  const std::vector<Symbol>& symbols);

/// The ideal form of an exact one: ceilings and floors are taken as exact quotients, min(g, q -
/// i*g) as g, sums over an index as count times term; nullopt where that is no polynomial.
[[nodiscard]] std::optional<Polynomial> idealise(const Formula& formula);
/// The polynomial with a symbol replaced by a number; nullopt where that is not exact (a fractional
/// power, a division by zero).
[[nodiscard]] std::optional<Polynomial> substitute(const Polynomial& polynomial, Symbol symbol,
                                                   std::int64_t value);
/// Whether two sizes are equal for every value of their symbols, as far as polynomial normal form
/// can tell.
[[nodiscard]] bool provably_equal(const Formula& a, const Formula& b);

}  // namespace napkin
