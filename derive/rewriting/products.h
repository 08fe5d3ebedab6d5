// An expression read as a product of powers.
#pragma once

#include <vector>

#include "diagrams/diagram.h"

namespace napkin::rules {

struct Factor {
    Expression base;
    double power = 1;
    bool operator==(const Factor&) const = default;
};

/// coefficient * base^power * ...; equal bases are one factor.
struct Product {
    double coefficient = 1;
    std::vector<Factor> factors;
};

/// Multiplications, divisions, signs, numbers and whole constant powers taken apart; what is none
/// of these is a factor.
[[nodiscard]] Product product_of(const Expression& expression);
/// The product with what has a negative power below a line.
[[nodiscard]] Expression expression_of(const Product& product);
/// Multiplies in one more power. That of a number goes into the coefficient where a literal means
/// the result, else it is a factor.
void multiply(Product& product, const Expression& base, double power);
void multiply(Product& product, double base, double power);
[[nodiscard]] Product operator*(Product a, const Product& b);
/// Whether both are the same factors in whatever order.
[[nodiscard]] bool same_factors(const Product& a, const Product& b);

}  // namespace napkin::rules
