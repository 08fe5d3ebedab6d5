// Terms and polynomials of the separation algebra, hash-consed: equal values have equal ids.
//
// A term is what one element of an array is, with named intermediates substituted: it mentions
// inputs, axes and folds only. A polynomial maps monomials to coefficients; a monomial is a product
// of terms with constant powers, one exponential whose exponent is itself a polynomial, guards
// (conditions under which it counts, else it is 0) and sums over other axes that were put off.
// Every value knows its class: whether it varies along a streamed axis, and whether it depends on
// a fold over it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/literal.h"

namespace napkin::separation {

using TermId = Id<struct TermTag>;
using PolynomialId = Id<struct PolynomialTag>;

enum class Kind {
    Number,    // `number`; `ref` is 1 for an integer literal
    Axis,      // `ref` is the axis
    Size,      // `ref` is the axis
    Read,      // an element of array `ref` at `parts`
    Fold,      // the final value of fold `ref` over the streamed axis, at `parts`
    State,     // the state `ref` of the accumulator, at `parts`
    Late,      // an element of array `ref` that is computed after the last chunk
    Apply,     // `function` of `parts`
    Convert,   // rounding of parts[0] to element type `ref`
    Mask,      // 0 where parts[0] holds, -inf elsewhere
    Inner,     // a fold of parts[0] by monoid `ref` over other axes, `bound`
    Sum,       // the polynomial `ref` as one term
    Mean,      // the gauge `ref` at `parts`, a mean, known from the first chunk on
    Relative,  // parts[0] - parts[1], a gauge; varies as parts[0] does
};

struct Term {
    Kind kind = Kind::Number;
    Function function = Function::Add;
    double number = 0;
    std::uint32_t ref = 0;
    std::vector<TermId> parts = {};
    std::vector<AxisId> bound = {};
    auto operator<=>(const Term&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A product; `powers` is sorted and has no zero powers.
struct Monomial {
    std::vector<std::pair<TermId, double>> powers = {};
    PolynomialId exponent =
        {};  ///< of the single exponential; the zero polynomial where there is none
    std::vector<TermId> guards = {};
    std::vector<AxisId> deferred = {};  ///< sums that are put off, see NormalForm::inner
    auto operator<=>(const Monomial&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A sum, sorted by monomial, no zero coefficients. A coefficient is what its literal means, and
/// never a rounded result: what would be one stays apart, as a factor of the monomial.
struct Polynomial {
    std::vector<std::pair<Monomial, double>> terms;
    auto operator<=>(const Polynomial&) const = default;  // NOLINT(modernize-use-nullptr)
};

inline constexpr PolynomialId kZero{0};

/// What a value depends on.
struct Class {
    bool streamed = false;     ///< varies along a streamed axis
    bool folded = false;       ///< depends on a fold over it
    bool exponential = false;  ///< an exponential occurs in it
    bool infinite = false;     ///< a literal -inf or a mask occurs in it
    double length = 1;         ///< parts, each counted as often as it would be written
    std::set<AxisId> axes;
    [[nodiscard]] bool mixed() const { return streamed && folded; }
};

/// The arena of terms and polynomials of one derivation.
class Algebra {
public:
    explicit Algebra(std::vector<AxisId> streamed);
    /// Which terms are 0 where nothing is visible, as sums of products with these exponentials:
    /// such a one over itself is 0 there, and not 1.
    using Vanishing = std::function<std::optional<std::set<TermId>>(const Term&)>;
    void know_vanishing(Vanishing vanishes) { vanishes_ = std::move(vanishes); }

    TermId make(Term term);
    /// A number that the user did not write, as napkin::number.
    TermId number(double value) { return number(value, is_whole(value)); }
    TermId number(double value, bool is_integer);
    TermId axis(AxisId axis);
    TermId apply(Function function, std::vector<TermId> parts);
    /// A reference (Read, Fold, State, Late) at the given axes.
    TermId reference(Kind kind, std::uint32_t ref, const std::vector<AxisId>& axes);
    /// The polynomial as one term; a bare atom stays itself.
    TermId term_of(PolynomialId polynomial);
    [[nodiscard]] const Term& operator[](TermId id) const { return terms_[id.index()]; }
    [[nodiscard]] const Class& class_of(TermId id) const { return classes_[id.index()]; }
    [[nodiscard]] bool is_number(TermId id, double value) const;

    PolynomialId make(Polynomial polynomial);
    PolynomialId constant(double value);
    PolynomialId atom(TermId term, double power = 1);
    PolynomialId monomial(Monomial monomial, double coefficient = 1);
    /// monomial * coefficient * base^power, where the last stays a factor of its own if no literal
    /// means that number.
    PolynomialId scaled(Monomial monomial, double coefficient, double base, double power = 1);
    PolynomialId add(PolynomialId a, PolynomialId b);
    /// 0 where the condition holds and -inf elsewhere: a mask for each of what it is all of.
    PolynomialId masked(TermId condition);
    PolynomialId scale(PolynomialId a, double factor);
    PolynomialId subtract(PolynomialId a, PolynomialId b) { return add(a, scale(b, -1)); }
    /// a + b as a value: where a mask makes one infinite, so it does the sum, whatever the other
    /// is.
    PolynomialId plus(PolynomialId a, PolynomialId b);
    /// Every pair of monomials; the caller decides whether multiplying out is wanted.
    PolynomialId multiply(PolynomialId a, PolynomialId b);
    Monomial multiply(const Monomial& a, const Monomial& b);
    [[nodiscard]] const Polynomial& operator[](PolynomialId id) const {
        return polynomials_[id.index()];
    }
    [[nodiscard]] const Class& class_of(PolynomialId id) const { return poly_classes_[id.index()]; }
    [[nodiscard]] Class class_of(const Monomial& monomial) const;
    /// Whether it is 0 or -inf, as a mask says.
    [[nodiscard]] bool is_mask(const Monomial& mono) const;
    /// Whether it counts only where a sum of exponentials is 0, that is, where nothing is visible.
    [[nodiscard]] bool is_hidden(const Monomial& product) const;
    /// The value of a polynomial without atoms.
    [[nodiscard]] const double* as_constant(PolynomialId id) const;

    /// What axes are replaced by.
    using Replacements = std::map<AxisId, TermId>;
    /// With axes replaced, everywhere; nothing where an inner fold would capture a replacement.
    [[nodiscard]] std::optional<TermId> replaced(TermId term, const Replacements& replacements);
    [[nodiscard]] std::optional<PolynomialId> replaced(PolynomialId polynomial,
                                                       const Replacements& replacements);

private:
    struct Substitution {
        const Replacements& replace;
        std::map<TermId, TermId> done{};
        bool captured = false;
    };
    TermId substitute(TermId term, Substitution& substitution);
    PolynomialId substitute(PolynomialId polynomial, Substitution& substitution);
    std::vector<AxisId> streamed_;
    Vanishing vanishes_;
    std::deque<Term> terms_;
    std::deque<Class> classes_;
    std::map<Term, TermId> term_ids_;
    std::deque<Polynomial> polynomials_;
    std::deque<Class> poly_classes_;
    std::map<Polynomial, PolynomialId> polynomial_ids_;

    [[nodiscard]] Class classify(const Term& term) const;
    void add(std::map<Monomial, double>& sum, const Monomial& mono, double coefficient);
    [[nodiscard]] std::optional<TermId> guard_beyond(const Monomial& product,
                                                     const Monomial& other) const;
    bool cancel_visible(std::map<Monomial, double>& sum, const Monomial& mono, double coefficient);
    [[nodiscard]] bool vanishes_with(const Monomial& product, TermId sum) const;
    [[nodiscard]] std::optional<TermId> compared_with_zero(TermId guard, Function comparison) const;
    [[nodiscard]] bool is_nothing(const Monomial& product);
    void drop_beside_logarithms(Polynomial& sum);
    Monomial substitute(const Monomial& monomial, Substitution& substitution);
};

/// Factors of a monomial by class: what varies along the streamed axis, and what does not.
struct Split {
    Monomial streamed;  ///< u: streamed factors, exponent terms without folds
    Monomial rest;      ///< w: factors of folds and constants, exponent terms of folds
};
/// The streamed factor that the constant one is divided by, or divides, where both are the same
/// value at different places: P[t] / P[u] may be tame where neither is.
[[nodiscard]] std::optional<std::size_t> counterpart_of(const Algebra& algebra,
                                                        const Monomial& product,
                                                        std::size_t factor);
/// Splits a monomial whose factors and exponent terms are each of one class. Constant factors that
/// carry one of `inside`, or have a streamed counterpart, stay with the streamed ones.
[[nodiscard]] Split split(Algebra& algebra, const Monomial& monomial,
                          const std::vector<AxisId>& inside);

/// Conditions that are known beforehand and without which a product is 0: its guards, and the masks
/// of its exponential.
[[nodiscard]] std::vector<TermId> conditions_of(const Algebra& algebra, const Monomial& monomial);

/// `whole` without the factors of `part`; nothing where those are not among its factors.
[[nodiscard]] std::optional<Monomial> quotient_of(const Monomial& whole, const Monomial& part);

}  // namespace napkin::separation
