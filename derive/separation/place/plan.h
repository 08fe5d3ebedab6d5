// What is kept while chunks arrive, and what is multiplied in at the end.
//
// A fold over u(x) * w(r) keeps the fold over u and multiplies by w in the tail; only exponentials
// whose exponent may be large are kept relative to a gauge, whose change repairs the state. The
// value of every fold is then a polynomial in states.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "derive/separation/read/cascade.h"
#include "derive/separation/stabilise/invariance.h"

namespace napkin::separation {

/// A wire that is stored in a type of its own: its streamed part is a factor of a state's products.
struct StoredPart {
    ArrayId wire = {};
    ElementType type = ElementType::F32;
    Monomial part = {};
    bool operator==(const StoredPart&) const = default;
};

/// What one state accumulates.
struct StateVariable {
    MonoidId monoid = {};
    std::vector<AxisId> over = {};
    std::vector<AxisId> axes = {};
    PolynomialId form = {};   ///< the value folded, its exponent not yet relative to the gauge
    PolynomialId gauge = {};  ///< what the exponent is relative to; zero where none is needed
    std::optional<std::uint32_t> verbatim = {};  ///< fold whose own expression is folded as it is
    std::uint32_t component = 0;                 ///< of an element of several components
    std::optional<std::uint32_t> first = {};  ///< the state of component 0, where there are several
    /// What factors of `form` are relative to and moves, maxima and means, and the states with
    /// lower powers of those factors, which a move brings in.
    std::vector<std::pair<TermId, int>> shifts = {};  ///< with the factor's power
    struct Lower {
        std::uint32_t state = 0;
        double ways = 1;         ///< a product of binomial coefficients
        std::vector<int> steps;  ///< for each gauge, the power of its move
    };
    std::vector<Lower> lower = {};
    std::optional<StoredPart> stored = {};  ///< the factor of `form` that is stored in a type
    bool picks = false;
    bool unless_zero = false;  ///< what it found counts where a factor of all elements is not zero
    bool carried = false;      ///< what is read at the selected index, `form` at every index
    bool is_gauge = false;     ///< others are relative to it, so it is updated before them
    bool weighs = false;       ///< it is the weight of a mean, which is updated before others too
    std::uint32_t serves = 0;  ///< the fold it was made for
};

/// A value that others are kept relative to: the mean of `value`, of elements for which the guards
/// hold. By a weight, it is the mean of all chunks so far and moves; else it is that of the first
/// chunk that has such an element.
struct MeanGauge {
    TermId value;
    std::vector<AxisId> axes;
    std::vector<AxisId> over;
    std::vector<TermId> guards;
    std::set<std::uint32_t> near = {};  ///< folds that are subtracted from `value`
    std::optional<Monomial> weight = {};
    PolynomialId gauge = {};  ///< of the weight
};

/// A fold whose body is a sum of products of streamed and folded values.
struct MultipliedOut {
    std::uint32_t fold = 0;
    PolynomialId form = {};  ///< the products as they are without a common reference
    TermId value = {};       ///< the streamed value that something is subtracted from
    bool relative = true;    ///< it is kept relative to a mean or a maximum
};

/// A fold of products with differences whose terms are multiplied out with nothing taken off, where
/// what is left matters: it has several such factors, or is divided by.
struct SmallFactor {
    std::uint32_t fold = 0;
    TermId difference = {};  ///< one of them
    bool several = true;
};

/// How one monomial of a fold body is placed.
struct Placement {
    Monomial streamed = {};     ///< u, with its exponent
    PolynomialId gauge = {};    ///< zero: no repair
    PolynomialId outside = {};  ///< w, with what the gauge and the folds leave to the tail
};

/// A fold has no value in states; the plan or the tail's normal form has the obstacle.
struct Unresolved {};

/// `gauge_state` throws Unresolved.
class Plan {
public:
    /// `relative` is the normal form that keeps differences from cancelling.
    Plan(Cascade& cascade, NormalForm& normal, NormalForm& relative);

    /// Brings every fold body to normal form; the first that has none is the obstacle.
    [[nodiscard]] std::optional<Obstacle> prepare();
    /// Wires that depend on both the streamed axis and folds over it, and the types they are stored
    /// in.
    void store(const std::map<ArrayId, ElementType>& types);
    /// A wire of `store` that is final only after the last chunk and that a fold is formed of.
    [[nodiscard]] std::optional<ArrayId> stored_too_late() const;
    /// A wire of `store` that is a factor of no state's products.
    [[nodiscard]] std::optional<ArrayId> not_stored() const;
    /// The final value of a fold in terms of states and of other folds, at its own axes; makes the
    /// states it needs.
    [[nodiscard]] Form value(std::uint32_t fold);
    /// That of an element of a fold, at its indices.
    [[nodiscard]] Form value_at(const Term& element);
    /// Lets means move by what all sums relative to them have in common.
    void weigh_means();
    /// The state that sums the weight of a mean.
    [[nodiscard]] std::uint32_t weight_state(std::uint32_t mean);
    /// The state whose fold is the gauge itself.
    [[nodiscard]] std::uint32_t gauge_state(std::uint32_t fold);

    [[nodiscard]] const std::vector<StateVariable>& states() const { return states_; }
    [[nodiscard]] const std::vector<MeanGauge>& means() const { return means_; }
    [[nodiscard]] const std::deque<FoldOver>& folds() const { return folds_; }
    [[nodiscard]] PolynomialId form(std::uint32_t fold) const { return forms_[fold]; }
    /// Exponents, by fold, that are formed before maxima of some of their terms are subtracted.
    [[nodiscard]] const std::set<std::pair<std::uint32_t, PolynomialId>>& formed_apart() const {
        return formed_apart_;
    }
    [[nodiscard]] const std::optional<Obstacle>& obstacle() const { return obstacle_; }
    /// Differences whose sums are formed relative to a mean.
    [[nodiscard]] const std::vector<Invariance>& invariances() const { return invariances_; }
    [[nodiscard]] const std::vector<SmallFactor>& small_factors() const { return small_factors_; }
    [[nodiscard]] const std::vector<MultipliedOut>& multiplied_out() const {
        return multiplied_out_;
    }
    /// Whether others are relative to the value: it is multiplied out in tails.
    [[nodiscard]] bool is_gauge(TermId term) const;
    /// Whether one state is never above another: an extreme or a selection of the same values, or
    /// of smaller ones.
    [[nodiscard]] bool is_at_most(TermId small, TermId large);
    /// Whether the exponent is proved to be at most zero.
    [[nodiscard]] bool never_positive(PolynomialId exponent) { return prove(exponent).has_value(); }
    /// Whether a state is a sum of exponentials of which the largest is exp(0).
    [[nodiscard]] bool is_at_least_one(TermId state) const;

private:
    Cascade& cascade_;
    NormalForm& normal_;
    NormalForm& relative_form_;
    Algebra& algebra_;
    std::vector<MeanGauge> means_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> relative_;  ///< folds, and their means
    std::vector<Invariance> invariances_;
    std::vector<MultipliedOut> multiplied_out_;
    std::vector<SmallFactor> small_factors_;
    std::set<std::pair<std::uint32_t, PolynomialId>> formed_apart_;
    std::set<std::uint32_t> gauge_folds_;  ///< maxima that values are relative to
    std::deque<FoldOver>& folds_;  ///< the cascade's, and behind them what stabilising makes
    std::vector<PolynomialId> forms_;
    std::vector<StateVariable> states_;
    std::map<std::uint32_t, Form> values_;
    std::map<std::uint32_t, TermId> inside_out_;  ///< folds that are functions of other folds
    std::set<PolynomialId> attained_;             ///< exponents whose sums are divided by
    std::set<PolynomialId> alone_;                ///< of those, with nothing added to the sum
    std::vector<ArrayId> wires_;                  ///< stored in a type of their own
    std::vector<ArrayId> late_;                   ///< of those, known after the last chunk
    std::vector<StoredPart> stored_;              ///< every streamed part of every such wire
    std::map<TermId, std::vector<TermId>> bare_differences_;
    std::optional<Obstacle> obstacle_;

    [[nodiscard]] std::vector<TermId> bare_differences(TermId id);
    void note_multiplied_out(std::uint32_t fold, PolynomialId form, bool relative);
    /// A maximum of a part of what is summed.
    struct OwnGauge {
        std::uint32_t fold = 0;
        TermId value = {};         ///< of which it is the maximum
        PolynomialId others = {};  ///< what is added to that value
        TermId written = {};       ///< how it stands in what is subtracted
        double times = 1;
    };
    /// A sum less a mean, and that.
    struct RelativeSum {
        std::uint32_t mean = 0;
        PolynomialId rest = {};
        PolynomialId gauge = {};
    };
    [[nodiscard]] std::optional<OwnGauge> maximum_of(PolynomialId streamed, PolynomialId folded);
    [[nodiscard]] PolynomialId without_masks(PolynomialId bound);
    [[nodiscard]] RelativeSum relative_to_mean(PolynomialId sum, MeanGauge like);
    PolynomialId relative_to_gauges(PolynomialId streamed, PolynomialId folded,
                                    const std::vector<TermId>& guards, bool multiplied);
    void share_means();
    [[nodiscard]] std::uint32_t mean_for(MeanGauge wanted);
    [[nodiscard]] TermId mean_term(std::uint32_t mean);
    [[nodiscard]] std::optional<OwnGauge> own_gauge(const Monomial& mono, TermId value,
                                                    std::uint32_t fold);
    [[nodiscard]] std::optional<TermId> relative_in(TermId factor, Kind gauge) const;
    void take_gauges();
    [[nodiscard]] PolynomialId relative_to_gauge(const Monomial& mono, std::uint32_t fold);
    [[nodiscard]] PolynomialId without_sums_of_means(PolynomialId form);
    [[nodiscard]] std::optional<TermId> moving_gauge(TermId factor, double power) const;
    void add_lower(StateVariable& wanted);
    /// What sums have in common, and what its exponential is relative to.
    struct MeanWeight {
        Monomial factors;
        PolynomialId gauge = {};
    };
    static void keep_common(MeanWeight& weight, const MeanWeight& other);
    [[nodiscard]] std::optional<MeanWeight> weight_of(std::uint32_t mean);
    [[nodiscard]] std::optional<Monomial> weight_in(const Monomial& streamed, TermId mean) const;
    [[nodiscard]] Monomial positive(const Monomial& weight);

    struct Proof {
        PolynomialId consumed = {};  ///< terms of folds that keep the exponent at or below zero
        bool close = false;          ///< folds alone keep it there: they move with it
        bool attained = false;       ///< the exponent reaches zero
    };
    /// What a term is at least.
    struct LowerBound {
        PolynomialId of = {};
        bool attained = false;  ///< by one of its values along the axes that are folded
    };
    [[nodiscard]] std::optional<PolynomialId> bound_of(std::uint32_t fold) const;
    /// That the exponent is at most zero; whether it is zero somewhere along the axes `over`.
    [[nodiscard]] std::optional<Proof> prove(PolynomialId exponent,
                                             const std::vector<AxisId>& over = {});
    [[nodiscard]] std::optional<Proof> prove(PolynomialId exponent, PolynomialId original,
                                             const std::vector<AxisId>& over, int depth);
    [[nodiscard]] PolynomialId without_masks_of(PolynomialId bound, PolynomialId exponent);
    [[nodiscard]] std::optional<std::size_t> large_factor(const Monomial& product) const;
    [[nodiscard]] std::vector<LowerBound> lower_bounds(TermId term,
                                                       const std::vector<AxisId>& over);
    [[nodiscard]] bool runs(TermId term) const;
    [[nodiscard]] PolynomialId constant_exponent(PolynomialId streamed, PolynomialId rest);
    [[nodiscard]] bool meets_gauge(std::uint32_t fold);
    [[nodiscard]] Placement place(const Monomial& monomial, const std::vector<AxisId>& over,
                                  std::uint32_t fold);
    [[nodiscard]] PolynomialId gauge_for(PolynomialId exponent, const std::vector<AxisId>& over,
                                         std::uint32_t fold);
    [[nodiscard]] std::set<AxisId> folded_axes(const Monomial& monomial) const;
    [[nodiscard]] bool is_tame(PolynomialId exponent, const std::vector<AxisId>& over) const;
    [[nodiscard]] std::optional<StoredPart> stored_factor(const Monomial& streamed,
                                                          std::uint32_t fold) const;
    PolynomialId request(StateVariable wanted);
    [[nodiscard]] Form compute(std::uint32_t fold);
    [[nodiscard]] Form sum(std::uint32_t fold);
    [[nodiscard]] Form extreme(std::uint32_t fold);
    [[nodiscard]] Form scaled_extreme(std::uint32_t fold, const Monomial& mono, double coefficient);
    [[nodiscard]] bool cancels(PolynomialId extreme, PolynomialId exponent);
    [[nodiscard]] bool is_one_extreme(PolynomialId form);
    [[nodiscard]] std::optional<TermId> inside_out(TermId body, std::uint32_t fold);
    [[nodiscard]] std::optional<TermId> magnitude_of_square(const Term& power);
    [[nodiscard]] TermId extreme_term(TermId body, MonoidId monoid, std::uint32_t fold);
    [[nodiscard]] Form resolved(TermId term);
    [[nodiscard]] Form other(std::uint32_t fold);
    [[nodiscard]] Form pick(std::uint32_t fold);
    PolynomialId where_told_apart(PolynomialId index, PolynomialId factor, PolynomialId rest,
                                  std::uint32_t fold);
    [[nodiscard]] Form carried(std::uint32_t fold);
    [[nodiscard]] bool needs_gauge(std::uint32_t fold);
    [[nodiscard]] bool has_constants(std::uint32_t fold);
    [[nodiscard]] PolynomialId verbatim(std::uint32_t fold);
    [[nodiscard]] Form term_of_sum(std::uint32_t fold, const Monomial& mono, double coefficient);
    [[nodiscard]] bool holds_own_maxima(PolynomialId exponent, PolynomialId subtracted);
    [[nodiscard]] bool is_bare_difference(TermId term);
    [[nodiscard]] bool is_gauge_of_part(PolynomialId folded) const;
    [[nodiscard]] bool sums_twice(PolynomialId form) const;
    Form refuse(Why why, std::uint32_t fold);
};

}  // namespace napkin::separation
