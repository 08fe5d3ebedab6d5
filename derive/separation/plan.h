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

#include "derive/separation/cascade.h"

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
    std::optional<StoredPart> stored = {};    ///< the factor of `form` that is stored in a type
    bool picks = false;
    bool carried = false;      ///< what is read at the selected index, `form` at every index
    bool is_gauge = false;     ///< its new value is needed before other states are updated
    std::uint32_t serves = 0;  ///< the fold it was made for
};

/// A value that others are kept relative to: the mean of `value` over the first chunk.
struct AnchorVariable {
    TermId value;
    std::vector<AxisId> axes;
    std::vector<AxisId> over;
};

/// How one monomial of a fold body is placed.
struct Placement {
    Monomial streamed = {};     ///< u, with its exponent
    PolynomialId gauge = {};    ///< zero: no repair
    PolynomialId outside = {};  ///< w, with what the gauge and the folds leave to the tail
};

class Plan {
public:
    /// `centred` is the normal form that keeps differences from cancelling.
    Plan(Cascade& cascade, NormalForm& normal, NormalForm& centred);

    /// Brings every fold body to normal form; the first that has none is the obstacle.
    [[nodiscard]] std::optional<Obstacle> prepare();
    /// Wires that depend on both the streamed axis and folds over it, and the types they are stored
    /// in.
    void store(const std::map<ArrayId, ElementType>& types);
    /// A wire of `store` that is a factor of no state's products.
    [[nodiscard]] std::optional<ArrayId> not_stored() const;
    /// The final value of a fold in terms of states and of other folds, at its own axes; makes the
    /// states it needs.
    [[nodiscard]] Form value(std::uint32_t fold);
    /// The state whose fold is the gauge itself.
    [[nodiscard]] std::uint32_t gauge_state(std::uint32_t fold);

    [[nodiscard]] const std::vector<StateVariable>& states() const { return states_; }
    [[nodiscard]] const std::vector<AnchorVariable>& anchors() const { return anchors_; }
    [[nodiscard]] const std::deque<FoldOver>& folds() const { return folds_; }
    [[nodiscard]] PolynomialId form(std::uint32_t fold) const { return forms_[fold]; }
    [[nodiscard]] const std::optional<Obstacle>& obstacle() const { return obstacle_; }
    /// Folds that a running gauge mentions.
    [[nodiscard]] std::set<std::uint32_t> folds_in(PolynomialId polynomial) const;

private:
    Cascade& cascade_;
    NormalForm& normal_;
    NormalForm& centred_;
    Algebra& algebra_;
    std::vector<AnchorVariable> anchors_;
    std::set<std::uint32_t> relative_;  ///< folds that an anchored difference subtracts
    std::deque<FoldOver> folds_;  ///< the cascade's, then those made by stabilising (stable places)
    std::vector<PolynomialId> forms_;
    std::vector<StateVariable> states_;
    std::map<std::uint32_t, Form> values_;
    std::map<std::uint32_t, TermId> inside_out_;  ///< folds that are functions of other folds
    std::set<PolynomialId> attained_;             ///< exponents whose sums are divided by
    std::vector<ArrayId> wires_;                  ///< stored in a type of their own
    std::vector<StoredPart> stored_;              ///< every streamed part of every such wire
    std::optional<Obstacle> obstacle_;

    PolynomialId centre(PolynomialId streamed, PolynomialId folded);
    void recentre();
    [[nodiscard]] PolynomialId recentred(PolynomialId form, std::uint32_t anchor);

    struct Proof {
        PolynomialId consumed = {};  ///< terms of folds that keep the exponent at or below zero
        bool attained = false;       ///< the exponent reaches zero
    };
    [[nodiscard]] std::optional<PolynomialId> bound_of(std::uint32_t fold) const;
    [[nodiscard]] std::optional<Proof> prove(PolynomialId exponent);
    [[nodiscard]] std::optional<Proof> prove(PolynomialId exponent, PolynomialId original,
                                             int depth);
    [[nodiscard]] std::vector<PolynomialId> lower_bounds(TermId term);
    [[nodiscard]] bool runs(TermId term) const;
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
    [[nodiscard]] bool is_one_extreme(PolynomialId form);
    [[nodiscard]] std::optional<TermId> inside_out(TermId body, std::uint32_t fold);
    [[nodiscard]] TermId extreme_term(TermId body, MonoidId monoid, std::uint32_t fold);
    [[nodiscard]] Form resolved(TermId term);
    [[nodiscard]] Form other(std::uint32_t fold);
    [[nodiscard]] Form pick(std::uint32_t fold);
    PolynomialId where_positive(PolynomialId index, PolynomialId factor, std::uint32_t fold);
    [[nodiscard]] Form carried(std::uint32_t fold);
    [[nodiscard]] bool needs_gauge(std::uint32_t fold);
    [[nodiscard]] bool has_constants(std::uint32_t fold);
    [[nodiscard]] PolynomialId verbatim(std::uint32_t fold);
    [[nodiscard]] Form term_of_sum(std::uint32_t fold, const Monomial& mono, double coefficient);
    Form refuse(Why why, std::uint32_t fold);
};

}  // namespace napkin::separation
