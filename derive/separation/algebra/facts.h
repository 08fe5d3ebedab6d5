// What is known of terms, by the rules of diagrams/facts.h: needed before a fractional power, a
// logarithm or a maximum may be taken apart, and before an exponential is formed.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "derive/separation/algebra/algebra.h"
#include "diagrams/facts.h"

namespace napkin::separation {

/// `given` tells of arrays, folds and states.
class TermFacts {
public:
    using Given = std::function<Facts(const Term&)>;
    TermFacts(const Algebra& algebra, Given given) : algebra_(algebra), given_(std::move(given)) {}

    [[nodiscard]] Facts of(TermId term) const;
    [[nodiscard]] Facts of(PolynomialId polynomial) const;
    [[nodiscard]] Facts of(const Monomial& product) const;
    /// Of a term, a polynomial or a product.
    template <class Value>
    [[nodiscard]] bool nonnegative(const Value& value) const {
        return of(value).nonnegative();
    }
    /// A number that the value never exceeds.
    [[nodiscard]] std::optional<double> upper(PolynomialId polynomial) const;

private:
    const Algebra& algebra_;
    Given given_;
    mutable std::map<TermId, Facts> seen_;  ///< while one question is answered
    mutable std::map<PolynomialId, Facts> seen_sums_;
    mutable int depth_ = 0;

    [[nodiscard]] Facts computed(const Term& term) const;
    template <class Id, class Compute>
    [[nodiscard]] Facts remembered(Id id, std::map<Id, Facts>& seen, const Compute& compute) const;
};

}  // namespace napkin::separation
