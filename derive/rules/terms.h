// Expressions as sums of terms: products and squares of sums multiplied out, where that is finite.
//
//   (a + b) * c   ==>   a * c + b * c
//   (a - b) ^ 2   ==>   a ^ 2 - 2 * a * b + b ^ 2
//
// Terms of the same factors are one. Other powers stay: a cube of a difference loses more digits
// than anything gains that is known.
#pragma once

#include <optional>
#include <vector>

#include "derive/rules/rule_support.h"

namespace napkin::rules {

/// A term of a sum, with its sign.
struct Term {
    double sign = 1;
    Expression value = {};
    std::optional<Expression> product = {};  ///< of sums, that it is a term of
};

[[nodiscard]] Expression total(const std::vector<Term>& terms);
/// The first product of sums that was multiplied out into some of the terms.
[[nodiscard]] const Expression* product_of_sums(const std::vector<Term>& terms);

class Expansion {
public:
    explicit Expansion(const Diagram& diagram) : diagram_(diagram) {}

    /// The sum that an expression is when products are multiplied out.
    [[nodiscard]] std::vector<Term> terms_of(const Expression& expression);
    /// The product over the terms of the first factor that a map defines as a sum.
    [[nodiscard]] std::vector<Term> with_map_opened(const Term& whole);
    [[nodiscard]] bool is_finite(const Expression& value);
    /// Whether a quotient of a fold by it is a fold of quotients.
    [[nodiscard]] bool is_never_zero(const Expression& divisor);

    /// The first value that stays, and why.
    [[nodiscard]] const std::optional<NotApplicable>& kept() const { return kept_; }

private:
    const Diagram& diagram_;
    std::optional<NotApplicable> kept_;

    void keep(const Expression& value, const std::string& why);
    [[nodiscard]] std::vector<Term> opened(const Expression& expression);
    [[nodiscard]] std::vector<Term> products_of(const Expression& product, const Expression& left,
                                                const Expression& right);
    [[nodiscard]] std::vector<Term> multiplied(const Expression& whole,
                                               const std::vector<Term>& left,
                                               const std::vector<Term>& right);
};

/// Why terms of integers, summed over these axes, may not be exact at sizes and for inputs at which
/// what they are terms of is; nullopt where they are exact, or real.
[[nodiscard]] std::optional<NotApplicable> why_inexact(const Diagram& diagram,
                                                       const std::vector<Term>& terms,
                                                       const std::vector<AxisId>& over);

}  // namespace napkin::rules
