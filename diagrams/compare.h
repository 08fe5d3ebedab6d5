// Comparison of a computed result with the reference, within a tolerance that is derived, element
// by element, from the diagram, the types and the lengths of its reductions.
//
// The tolerance is a running error analysis. Beside every array A of the diagram stands an array
// with a bound of the error that a computation in `Precision::arithmetic` (unit roundoff u) makes
// in each element, computed from the values of that very run:
//   u + v, u - v       e_u + e_v + u |result|
//   u * v              |u| e_v + |v| e_u + e_u e_v + u |result|
//   u / v              (e_u + |result| e_v) / |v| + 4 u |result|; all of |result| where |v| is
//                      above 2^126, whose reciprocal a device may take for 0
//   exp(x)             result * (e_x + u |x| + 4 u) + min(result, 2^-126), since a device may take
//                      numbers below that for 0; the other functions likewise by their slope, with
//                      what an argument beyond f32 makes of them
//   sum over n terms   sum of e_i + sqrt(n) u (|result| + sqrt(sum of v_i^2)), the size of rounding
//                      errors of independent sign in partial sums of that size, whatever the order
//   such a sum on the tensor core (Precision::truncates)
//                      n / 16 u (|result| + sqrt(sum of v_i^2)) more: it cuts off what does not fit
//                      after every step of 16, always towards zero
//   such a sum whose operands are numbers of 8 bits there (Precision::narrow)
//                      2^-13 (24 |result| + 6 sqrt(sum of v_i^2)) more: in sums of 128 it cuts 13
//                      bits after the largest of 33 addends off each of them, towards zero, and
//                      off their sum: of numbers of one sign half of that in three of four steps
//   max, min           the largest e_i
//   rounding to a type the distance between the roundings of value - kSafety e, value and value +
//                      kSafety e, over kSafety
//   a sum of products whose operands the kernel rounds to a type t (Precision::operands)
//                      1.5 u_t sqrt(sum of v_i^2) more: with kSafety ten standard deviations where
//                      one operand is rounded, seven where both are; and 4 h_t sqrt(sum of w_i^2),
//                      h_t half of the smallest number of t and w_i what the factors of v_i are
//                      multiplied by
//   a sum of products whose operands are f32 and multiplied in parts of tf32 (there too)
//                      likewise with 2^-20 for u_t, and nothing is cut off
//   stored in a type t e + u_t |value| + h_t, where the kernel saves an array that the diagram
//                      leaves unrounded (Precision::stored) in another type than the arithmetic's
//   a sum whose roundings may have one sign (Precision::alike)
//                      n u / kSafety sum of |v_i| in place of what stands above, with rounded
//                      operands 2 u_t / kSafety sum of |v_i| more: no computation errs by more
//   a comparison, a selected index
//                      infinite where the operands err and lie within kSafety times their errors:
//                      such elements are undecided and counted, not judged
//   of integers        all of it is exact, the literals in them too; where one of more than 1/u
//                      becomes a real number, to be compared with one too, u |integer|
// An element passes when |got - reference| <= kSafety * bound + 2^-126; a NaN or an infinity only
// where the reference has the same. One that would pass were all roundings of one sign, as of
// inputs that are all alike, is counted and leaves the output undecided. What passes is not judged,
// but counted, where it says nothing: where both are NaN; where both are infinite and no element is
// finite; where the result is infinite and the reference more than f32 holds; where the tolerance
// is no less than the element and than the root mean square of the output's elements (undecided
// too), but where all are exactly 0; where the reference is another one, or not finite, because an
// exponential in it is infinite or 0 in double precision, and the result is finite. Other orders of
// summation, repaired accumulators and approximate device functions are within the factor kSafety.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "diagrams/compare/corners.h"
#include "diagrams/evaluate.h"
#include "diagrams/evaluate_whole.h"
#include "diagrams/relabelling.h"

namespace napkin {

inline constexpr double kSafety = 4;

/// How the computation that is judged rounds.
struct Precision {
    ElementType arithmetic = ElementType::F32;   ///< of every operation and accumulator
    std::map<ArrayId, ElementType> stored = {};  ///< arrays rounded where they are kept
    /// Boxes in which factors of contractions are rounded before they are multiplied; f32 for those
    /// that are taken into parts of tf32.
    std::map<BoxId, ElementType> operands = {};
    /// Whether sums run on the tensor core, which truncates.
    bool truncates = false;
    /// Boxes whose sums of products run there in 8 bits.
    std::set<BoxId> narrow = {};
    /// Of what is stored, arrays that nothing reads before their own values are rounded.
    std::set<ArrayId> handed_over = {};
    /// Whether all roundings of a sum may have one sign, and not any of their own.
    bool alike = false;
};
/// What a kernel with this relabelling does: f32 arithmetic, saved and retyped arrays in their
/// storage types.
[[nodiscard]] Precision precision_of(const Diagram& diagram, const Relabelling& relabelling);

/// The diagram in which arrays that kernels hand over rounded are rounded, and how the rest does:
/// what a kernel computes is far nearer to it than to the diagram without these roundings, of which
/// little is known where what follows cancels (a norm, then a product of norms).
struct RoundedDiagram {
    Diagram diagram;
    Precision precision;
};
[[nodiscard]] RoundedDiagram round_handed_over(const Diagram& diagram, const Precision& precision);

/// The diagram with an array of error bounds beside every array that can be inexact: the error
/// analysis is a diagram too, and the reference evaluator computes it on demand.
struct ErrorDiagram {
    Diagram diagram;                    ///< the original arrays keep their ids
    std::map<ArrayId, ArrayId> bounds;  ///< absent: the array is exact
};
[[nodiscard]] ErrorDiagram error_diagram(const Diagram& diagram, const Precision& precision);

/// Reference values with their tolerances, on demand.
class Reference {
public:
    /// The diagram is copied; `inputs` must outlive the reference.
    Reference(const Diagram& diagram, const Tensors& inputs, const Precision& precision);
    /// Where rules rewrote the diagram and `executed` ran: the values are the diagram's own, the
    /// tolerances those of `executed` with what double precision may do to rounded arrays of both.
    /// `precision` is about `executed`.
    Reference(const Diagram& diagram, const Tensors& inputs, const Diagram& executed,
              const Precision& precision);

    /// What it would take to know these arrays and their tolerances whole; nullopt where the
    /// options' limit of values does not allow it.
    [[nodiscard]] std::optional<WholeWork> whole_work(const std::vector<ArrayId>& arrays,
                                                      const WholeOptions& options = {}) const;
    /// Computes them at once, for `elements`; as `whole_work` allowed.
    void compute_whole(const std::vector<ArrayId>& arrays);

    struct Elements {
        std::vector<double> values;
        std::vector<double> tolerances;
    };
    /// Throws ContractError as Evaluator does.
    [[nodiscard]] Elements elements(ArrayId array, std::span<const std::int64_t> offsets);
    /// Whether an element with this value were another, finite one, were no exponential of a number
    /// infinite or 0: `log(sum(x) exp(S))` of large scores, and weights that are all 0 divided by
    /// their sum, of which double precision cannot tell the value.
    [[nodiscard]] bool beyond_double(ArrayId array, std::int64_t offset, double value,
                                     double tolerance);
    /// What `elements` says where all roundings may have one sign.
    [[nodiscard]] Elements elements_alike(ArrayId array, std::span<const std::int64_t> offsets);
    [[nodiscard]] const Diagram& diagram() const { return errors_->diagram; }

private:
    [[nodiscard]] std::vector<double> values_of(ArrayId array,
                                                std::span<const std::int64_t> offsets);
    [[nodiscard]] std::vector<ArrayId> with_bounds(const std::vector<ArrayId>& arrays) const;
    [[nodiscard]] std::vector<ArrayId> executed_twins(const std::vector<ArrayId>& arrays) const;
    void make_held();
    void make_alike();

    Diagram source_;
    Precision precision_;
    std::unique_ptr<ErrorDiagram> errors_;
    std::unique_ptr<Evaluator> evaluator_;
    Tensors whole_;  ///< arrays and bounds that are known already
    const Tensors* inputs_;
    /// The diagram with exponentials that double precision holds, once asked for.
    std::unique_ptr<Diagram> held_diagram_;
    std::unique_ptr<Evaluator> held_;
    Tensors held_whole_;
    std::unique_ptr<Tensors> executed_inputs_;
    std::unique_ptr<Reference> executed_;
    std::unique_ptr<Reference> alike_;  ///< with roundings of one sign, once asked for
};

/// Arrays of one diagram as those of another that rules made of it, or that it was made of: what
/// the caller gives and gets keeps its name and, element by element, its order in memory. Others
/// are left out.
[[nodiscard]] Tensors tensors_in(const Diagram& to, const Diagram& from, const Tensors& tensors);

/// What a comparison says of an output.
enum class Verdict : std::uint8_t {
    Wrong,      ///< some element is
    Unchecked,  ///< nothing was compared
    Undecided,  ///< nothing is wrong, but less than `kLeastJudged` of it was judged, or roundings
                ///< of one sign explain all that failed
    Right,
};
[[nodiscard]] const char* name_of(Verdict verdict);

/// How one output compares with the reference.
struct Comparison {
    std::string name;
    bool ok = false;
    bool sampled = false;
    std::int64_t compared = 0;
    std::int64_t failed = 0;
    std::vector<std::string> given;  ///< outputs taken as computed instead of from the inputs
    double too_dear = 0;             ///< visits of one element, where it was not compared for them
    bool left_out = false;           ///< not compared, as was asked
    std::int64_t undecided = 0;      ///< right for any value of such a size: not judged
    std::int64_t alike = 0;          ///< of those that failed, what roundings of one sign explain
    std::int64_t beyond = 0;         ///< exponentials are beyond the reference: not judged
    std::int64_t undefined = 0;      ///< NaN in both: not judged
    std::int64_t infinite = 0;       ///< infinite in both, where no element is finite: not judged
    std::int64_t nans = 0;           ///< NaN in the result alone
    std::int64_t poisoned = 0;       ///< still holds the value it was filled with: never written
    double max_abs_error = 0;
    double max_rel_error = 0;  ///< of elements whose reference is not zero
    double rel_frobenius = 0;  ///< |got - reference| / |reference| over all compared elements
    double tolerance = 0;      ///< the largest finite one
    double size = 0;           ///< root mean square of the finite values of the reference
    double worst_ratio = 0;    ///< the largest error in units of its element's tolerance
    /// The first element with the worst ratio.
    std::vector<std::int64_t> worst_index;
    double worst_got = 0;
    double worst_expected = 0;
    double scale = 1;      ///< of the random inputs that it is about
    bool rounded = false;  ///< compared with the diagram whose arrays are handed over rounded
    [[nodiscard]] bool unchecked() const { return left_out || too_dear > 0; }
    /// Elements that could have come out wrong.
    [[nodiscard]] std::int64_t judged() const {
        return compared - undecided - alike - beyond - undefined - infinite;
    }
    /// Whether roundings of one sign explain all that failed.
    [[nodiscard]] bool explained() const {
        return alike > 0 && failed == alike && nans == 0 && poisoned == 0;
    }
    [[nodiscard]] Verdict verdict() const;
};
/// The share of an output's compared elements that has to be judged before it is right.
inline constexpr double kLeastJudged = 0.5;
[[nodiscard]] bool is_enough(std::int64_t judged, std::int64_t compared);
/// How many of these elements a right result can be judged by.
[[nodiscard]] std::int64_t judgeable(const Reference::Elements& elements);
/// Scales of random inputs, tried in this order while less than `kLeastJudged` of an output is
/// judged: the errors of exponents and of sums that cancel grow with them faster than the output.
inline constexpr std::array kInputScales = {1.0, 1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 64};
/// Compares the elements at `offsets` (row-major; empty: all) of an array. `poison` is a value that
/// no correct result holds.
[[nodiscard]] Comparison compare(Reference& reference, ArrayId array, const Tensor& got,
                                 std::span<const std::int64_t> offsets = {},
                                 std::optional<double> poison = std::nullopt);
/// One line: `O: 2048 of 33554432 elements, max error 1.2e-06 at [0, 17, 3] (tolerance 4.0e-06)`.
[[nodiscard]] std::string describe(const Comparison& comparison);

/// How much of a large result is compared.
struct Sampling {
    TileSizes tiles;
    double budget = 2e8;       ///< indices that the reference may visit
    std::int64_t most = 4096;  ///< elements
    std::uint64_t seed = 1;
};
/// Row-major offsets of elements worth checking: the corners of every axis, and random ones, as
/// many as the budget allows (one at least); all of them when there are no more. Sorted, without
/// duplicates; the same for the same seed on every machine.
[[nodiscard]] std::vector<std::int64_t> sample_offsets(const Diagram& diagram, ArrayId array,
                                                       const Sampling& sampling);
/// A diagram in which the other outputs that an array reads are inputs, with their computed values:
/// what remains to be checked of an array once they are.
struct GivenOutputs {
    Diagram diagram;
    Tensors inputs;
    std::vector<ArrayId> given;
};
[[nodiscard]] GivenOutputs give_outputs(const Diagram& diagram, ArrayId array,
                                        const Tensors& inputs, const Tensors& outputs);
/// Indices that the reference visits for one element of an array, at the most.
[[nodiscard]] double visits_of_one(const Diagram& diagram, ArrayId array);

}  // namespace napkin
