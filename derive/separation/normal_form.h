// The normal form of a value: a sum of products whose factors depend on the streamed axis or on
// folds over it, never on both. Where a term has no such form, the smallest one that stands in the
// way is reported.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "derive/separation/algebra.h"
#include "derive/separation/signs.h"

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
    List,       // a list of the largest elements that is too long to be a state
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

class NormalForm {
public:
    NormalForm(Algebra& algebra, const Signs& signs) : algebra_(algebra), signs_(signs) {}

    /// In a tail, a fold stands for its value in terms of states.
    void resolve_folds(std::function<Form(TermId)> value) { fold_value_ = std::move(value); }
    /// Where a sum of a streamed and a folded part is multiplied out, the streamed part `a` (beside
    /// the folded part `b`) is replaced by `centre(a, b)`, an equal sum that does not cancel.
    using Centre = std::function<PolynomialId(PolynomialId a, PolynomialId b)>;
    void centre_sums(Centre centre) { centre_ = std::move(centre); }

    [[nodiscard]] Form of(TermId term);
    /// The polynomial with every factor brought to normal form again (folds resolved).
    [[nodiscard]] Form of(PolynomialId polynomial);
    [[nodiscard]] const Obstacle& obstacle() const { return *obstacle_; }
    /// After the value found another way.
    void forget_obstacle() { obstacle_.reset(); }

    [[nodiscard]] PolynomialId product(PolynomialId a, PolynomialId b);
    [[nodiscard]] Form power(PolynomialId base, double exponent, TermId term);
    [[nodiscard]] Form exponential(PolynomialId exponent, TermId term);
    /// Monomials of one class gathered into a factor each, a common factor taken out.
    [[nodiscard]] PolynomialId collect(PolynomialId polynomial);

private:
    Algebra& algebra_;
    const Signs& signs_;
    std::function<Form(TermId)> fold_value_;
    Centre centre_;
    std::map<TermId, Form> forms_;
    std::optional<Obstacle> obstacle_;

    Form refuse(Why why, TermId term, std::optional<PolynomialId> culprit = std::nullopt);
    Form compute(TermId term);
    Form call(TermId id, const Term& term);
    Form of_parts(TermId id, const Term& term);
    Form logarithm(PolynomialId argument, TermId term);
    Form absolute(PolynomialId argument, TermId term);
    Form maximum(PolynomialId a, PolynomialId b, TermId term);
    Form positive_part(PolynomialId a, TermId term);
    Form select(TermId id, const Term& term);
    Form inner(TermId id, const Term& term);
    Form fractional_power(PolynomialId base, double exponent, TermId term);
    PolynomialId expandable(PolynomialId polynomial);
    PolynomialId centred(PolynomialId polynomial);
    PolynomialId guarded(PolynomialId polynomial, TermId condition);
    PolynomialId gather_class(PolynomialId polynomial, bool folded);
    [[nodiscard]] bool pure(PolynomialId id) const { return !algebra_.class_of(id).mixed(); }
    [[nodiscard]] bool in_tail() const { return fold_value_ != nullptr; }
    TermId negation(TermId condition);
    TermId lifted(TermId term);
};

}  // namespace napkin::separation
