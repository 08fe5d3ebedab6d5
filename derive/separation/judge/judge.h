// What finite arithmetic could spoil in an accumulator, checked against what was written: each
// obligation is met, or is said not to be, with an example. The judges share nothing but what they
// look at and the list that they write.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "derive/accumulator.h"
#include "derive/separation/place/plan.h"

namespace napkin::separation {

inline constexpr double kLargestExponent = 88;  ///< of float32: exp(89) is infinite

/// What judges look at.
struct Judged {
    Cascade& cascade;
    Plan& plan;
    NormalForm& normal;
    NormalForm& tail;  ///< in which folds stand for their values in states
    const std::map<ArrayId, ElementType>& stored;  ///< wires that are saved in types of their own
    Algebra& algebra = cascade.algebra();
    const Diagram& diagram = cascade.diagram();
    /// A value in the user's names.
    [[nodiscard]] std::string name(TermId term) const;
};

/// Obligations in the order in which they were found, none twice.
class Judgements {
public:
    /// `largest_term_of` is the state whose largest term keeps a sum from being 0, where that is
    /// what is said.
    void add(Obligation made, std::optional<std::uint32_t> largest_term_of = {});
    /// The largest term of a sum says nothing where that is a part of another, which vanishes.
    void withdraw_largest_term(std::uint32_t state);
    [[nodiscard]] const std::vector<Obligation>& all() const { return all_; }

private:
    std::vector<Obligation> all_;
    std::vector<std::optional<std::uint32_t>> largest_term_of_;  ///< of each
};

/// An obligation that is met, or one that is not.
[[nodiscard]] Obligation about(Hazard hazard, std::string text = "");
[[nodiscard]] Obligation unmet(Hazard hazard, std::string text, std::string example,
                               std::string safer = "");

/// Whether the gauge `name` is subtracted from the very values that it is the maximum of.
[[nodiscard]] Obligation same_operand(const std::string& name, bool same);
/// That a state, whose array is `name`, is divided by, or its logarithm is taken.
void judge_divisor(const Judged& of, std::uint32_t state, const std::string& name, Judgements& all);
/// Exponentials that a state sums or multiplies as the user wrote them.
void judge_exponents(const Judged& of, std::uint32_t state, Judgements& all);
/// Differences that are formed relative to a mean or a maximum, or are multiplied out; exponents
/// that are formed before maxima are subtracted.
void judge_differences(const Judged& of, Judgements& all);
/// Squares of what is divided by its largest value.
void judge_scales(const Judged& of, Judgements& all);
/// What a running sum sums, which is never repaired.
void judge_running_sums(const Judged& of, Judgements& all);
/// What is rounded to a type after the last chunk and then divided by.
void judge_rounded_divisors(const Judged& of, Judgements& all);
/// Whether a factor of a sum's terms cannot make them vanish.
[[nodiscard]] bool is_at_least_one(const Judged& of, TermId factor);

/// Exponentials that results have after the last chunk, and sums of them that are formed relative
/// to the largest.
class TailJudge {
public:
    /// `text` writes a value of the tail.
    TailJudge(const Judged& of, std::function<std::string(PolynomialId)> text)
        : of_(of), text_(std::move(text)) {}
    /// Notes which exponentials a result has.
    void note(PolynomialId form);
    void judge(Judgements& all);

private:
    const Judged& of_;
    std::function<std::string(PolynomialId)> text_;
    std::set<TermId> scaled_used_;      ///< gauges of sums that a result is made of
    std::set<PolynomialId> exponents_;  ///< in results, that nothing bounds

    void note(PolynomialId form, std::set<TermId>& seen);
    void note(TermId id, std::set<TermId>& seen);
    void judge_vanishing(PolynomialId sum, Judgements& all);
};

/// An array that a bound depends on, saved in a short type.
struct RoundedBound {
    ArrayId array;
    ElementType type;
    bool is_bound = true;  ///< it is what is subtracted
};
/// The short types of the bound `saved` itself, or of what the region reads and the bound was
/// computed of before it was rounded.
[[nodiscard]] std::optional<RoundedBound> rounded_bound(const Judged& of, PolynomialId exponent,
                                                        ArrayId saved);
void describe_rounded(const Diagram& diagram, Obligation& made, const RoundedBound& bound);

}  // namespace napkin::separation
