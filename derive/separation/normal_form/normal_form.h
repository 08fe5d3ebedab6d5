// The normal form of a value: a sum of products whose factors depend on the streamed axis or on
// folds over it, never on both. Where a term has no such form, the smallest one that stands in the
// way is reported.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "derive/separation/algebra/algebra.h"
#include "derive/separation/algebra/facts.h"

namespace napkin::separation {

/// Why a value has no accumulator.
enum class Why {
    Function,   // a function of a product
    Exponent,   // an exponent that multiplies streamed and folded
    Condition,  // a branch decided by a streamed and a folded value
    Power,      // a power of a sum
    Sign,       // a root or logarithm of a product whose factors' signs are unknown
    Growth,     // too many products
    Capture,    // one axis in two roles
    Inner,      // a fold over another axis that is not a sum
    Gather,     // an element of another chunk
    Output,     // an output that depends on the streamed axis and on folds over it
    Rounding,   // rounding of a product
    Maximum,    // a maximum of several products
    Monoid,     // a monoid that does not distribute over products
    Scan,       // a running fold over values that depend on a final one
    Quotient,   // a running fold over quotients by a running product
    List,       // a list of the largest elements that is too long to be a state
    Ranks,      // a list of the largest elements that grows with the streamed axis
    Apart,      // a fold over some of the axes that are streamed together
    Select,     // a selection along the streamed axis by a value that does not separate
};

/// The smallest term without a rule, in its streamed and its folded part where it has such parts.
struct Obstacle {
    Why why = Why::Function;
    TermId term = {};
    std::optional<TermId> streamed = {};
    std::optional<TermId> folded = {};
};

using Form = std::optional<PolynomialId>;

/// A sum of more products than this is refused.
inline constexpr std::size_t kMostMonomials = 64;
/// What has more forms, under conditions of its branches, is refused.
inline constexpr std::size_t kMostForms = 20000;

class NormalForm {
public:
    NormalForm(Algebra& algebra, const TermFacts& facts) : algebra_(algebra), facts_(facts) {}

    /// An element that leaves the conditions under which it is read becomes `apart(element)`.
    void read_apart(std::function<TermId(TermId)> apart) { apart_ = std::move(apart); }
    /// In a tail, a fold stands for its value in terms of states.
    void resolve_folds(std::function<Form(TermId)> value) { fold_value_ = std::move(value); }
    /// Where a sum of a streamed and a folded part is multiplied out, the streamed part `a` (beside
    /// the folded part `b`) is replaced by `relative_to_gauges(a, b, guards)`, an equal sum that
    /// does not cancel. Only elements for which the guards hold matter. A sum that is not
    /// multiplied out is replaced where `a` has a running maximum.
    using RelativeTo = std::function<PolynomialId(
        PolynomialId a, PolynomialId b, const std::vector<TermId>& guards, bool multiplied)>;
    void keep_relative(RelativeTo to) { relative_to_ = std::move(to); }
    /// A sum of a streamed and a folded part that is not multiplied out.
    [[nodiscard]] PolynomialId relative_to_maximum(PolynomialId sum) {
        return relative_to_gauge(sum, false);
    }
    /// In a tail, sums with a factor of this kind are multiplied out, so that it can cancel: within
    /// the given differences and where it then does, or everywhere.
    void multiply_out(std::function<bool(TermId)> gauge, std::set<TermId> within) {
        is_gauge_ = std::move(gauge);
        within_ = std::move(within);
    }
    void multiply_out(std::function<bool(TermId)> gauge) {
        is_gauge_ = std::move(gauge);
        opened_ = 1;
    }

    /// Whether sums over other axes of what is relative to a mean are factors as they stand; else
    /// they are put off.
    void keep_inner_sums(bool keep) {
        keeps_inner_ = keep;
        forms_.clear();
    }

    [[nodiscard]] Form of(TermId term);
    /// The polynomial with every factor brought to normal form again (folds resolved).
    [[nodiscard]] Form of(PolynomialId polynomial);
    [[nodiscard]] const Obstacle& obstacle() const { return *obstacle_; }
    /// After the value found another way.
    void forget_obstacle() { obstacle_.reset(); }

    [[nodiscard]] PolynomialId product(PolynomialId a, PolynomialId b);
    [[nodiscard]] Form power(PolynomialId base, double exponent, TermId term);
    [[nodiscard]] Form exponential(PolynomialId exponent, TermId term);
    /// What is known of values of a tail.
    struct Known {
        std::function<bool(TermId small, TermId large)> at_most;
        std::function<bool(TermId)> at_least_one;
        std::function<std::optional<TermId>(TermId)> unrounded;  ///< of a value that was rounded
    };
    void know(Known known) { known_ = std::move(known); }
    /// Sums of exponentials of a tail that are formed relative to the largest exponent, by that
    /// exponent.
    [[nodiscard]] const std::map<TermId, PolynomialId>& scaled_sums() const { return scaled_; }
    /// Whether the exponential of a value of a tail cannot overflow.
    [[nodiscard]] bool is_bounded(PolynomialId exponent);
    /// Monomials of one class gathered into a factor each, a common factor taken out.
    [[nodiscard]] PolynomialId collect(PolynomialId polynomial);
    /// No form, and the first reason for that is the obstacle.
    Form refuse(Why why, TermId term, std::optional<PolynomialId> culprit = std::nullopt);

private:
    Algebra& algebra_;
    const TermFacts& facts_;
    std::function<TermId(TermId)> apart_;
    std::vector<TermId> read_apart_;  ///< elements that have a condition of their own by now
    std::function<Form(TermId)> fold_value_;
    RelativeTo relative_to_;
    std::function<bool(TermId)> is_gauge_;
    std::set<TermId> within_;
    bool keeps_inner_ = false;
    int in_exponent_ = 0;
    int opened_ = 0;  ///< differences that are being multiplied out
    Known known_;
    std::map<TermId, PolynomialId> scaled_;
    std::vector<TermId> guards_;  ///< conditions of the branches that are being brought to form
    /// A form, or why there is none.
    struct Found {
        Form form;
        std::optional<Obstacle> obstacle = {};
    };
    /// Multiplied out or not, under guards.
    std::map<std::tuple<TermId, bool, bool, std::vector<TermId>>, Found> forms_;
    std::map<std::tuple<TermId, TermId, bool>, TermId>
        assumed_;  ///< terms where conditions are known
    std::map<std::pair<TermId, bool>, TermId> lifted_;
    std::optional<Obstacle> obstacle_;

    void name_side(PolynomialId part);
    Form compute(TermId term);
    Form sum_of_tail(PolynomialId sum);
    Form call(TermId id, const Term& term);
    Form of_parts(TermId id, const Term& term);
    Form product_under_masks(const Term& term);
    Form logarithm(PolynomialId argument, TermId term);
    Form absolute(PolynomialId argument, TermId term);
    Form maximum(PolynomialId a, PolynomialId b, TermId term);
    Form positive_part(PolynomialId a, TermId term);
    Form select(TermId id, const Term& term);
    Form one_exponential(TermId condition, PolynomialId then, PolynomialId otherwise);
    Form branch(TermId value, TermId guard);
    TermId assuming(TermId term, TermId condition, bool holds);
    Form of_readable(TermId branch);
    TermId readable(TermId value, std::size_t within);
    std::optional<TermId> under_condition(const Term& product);
    Form inner(TermId id, const Term& term);
    Form fractional_power(PolynomialId base, double exponent, TermId term);
    Form of_exponent(TermId term);
    [[nodiscard]] std::optional<std::vector<TermId>> where_positive(TermId condition);
    [[nodiscard]] PolynomialId shared_terms(PolynomialId a, PolynomialId b);
    [[nodiscard]] std::vector<TermId> shared_conditions(PolynomialId sum) const;
    [[nodiscard]] bool keeps_relative() const { return relative_to_ && in_exponent_ == 0; }
    [[nodiscard]] PolynomialId hidden_part(PolynomialId polynomial);
    [[nodiscard]] bool is_relative(const Monomial& product) const;
    [[nodiscard]] bool sums_exponentials(PolynomialId polynomial) const;
    PolynomialId expandable(PolynomialId polynomial);
    PolynomialId relative_to_gauge(PolynomialId polynomial, bool multiplied = true);
    PolynomialId guarded(PolynomialId polynomial, TermId condition);
    [[nodiscard]] bool infinite_beside_masks(PolynomialId exponent);
    PolynomialId gather_class(PolynomialId polynomial, bool folded);
    [[nodiscard]] bool pure(PolynomialId id) const { return !algebra_.class_of(id).mixed(); }
    [[nodiscard]] bool has_gauge(PolynomialId polynomial) const;
    [[nodiscard]] bool mentions_gauge(PolynomialId polynomial) const;
    [[nodiscard]] bool has_exponentials(PolynomialId polynomial) const;
    [[nodiscard]] bool never_large(PolynomialId exponent, int depth);
    PolynomialId relative_to_largest(PolynomialId sum);
    [[nodiscard]] bool in_tail() const { return fold_value_ != nullptr; }
    TermId negation(TermId condition);
    TermId lifted(TermId term, bool inside);
};

}  // namespace napkin::separation
