// Which values are provably non-negative: needed before a fractional power, a logarithm or a
// maximum may be taken apart.
#pragma once

#include <functional>
#include <optional>

#include "derive/separation/algebra/algebra.h"

namespace napkin::separation {

/// Sign and range tests over terms; `body_of` gives the summand behind a fold or a computed array,
/// where it is known.
class Signs {
public:
    using BodyOf = std::function<std::optional<TermId>(const Term&)>;
    Signs(const Algebra& algebra, BodyOf body_of)
        : algebra_(algebra), body_of_(std::move(body_of)) {}

    [[nodiscard]] bool nonnegative(TermId term) const;
    [[nodiscard]] bool nonnegative(PolynomialId polynomial) const;
    /// Without regard to the coefficient.
    [[nodiscard]] bool nonnegative(const Monomial& monomial) const;
    /// A number that the value never exceeds, by simple interval arithmetic.
    [[nodiscard]] std::optional<double> upper(PolynomialId polynomial) const;

private:
    const Algebra& algebra_;
    BodyOf body_of_;
    mutable int depth_ = 0;

    [[nodiscard]] bool nonnegative_call(const Term& term) const;
    [[nodiscard]] std::optional<double> magnitude(TermId term) const;
};

}  // namespace napkin::separation
