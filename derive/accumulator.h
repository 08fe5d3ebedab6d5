// Accumulators: how a region's reductions over a streamed axis are kept up while chunks of that
// axis arrive.
//
// The region is a cascade of folds, each of which may use earlier ones. Separation
// (derive/separation/) rewrites every fold body into sums of products u(x) * w(r), x streamed, r
// folded; what may overflow is kept relative to a gauge and repaired when the gauge changes, the
// rest is multiplied in the tail. The result is ordinary statements over the same axes, so that the
// interpreter and the code generators need no special case: run `initial` once, `body` for every
// chunk with the axes restricted to the chunk, `tail` after the last.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/relabelling.h"

namespace napkin {

/// Why something cannot be done: a refusal, not an error. One sentence in the user's names; `help`
/// says the ways out.
struct NotApplicable {
    std::string reason;
    std::string help;
    bool operator==(const NotApplicable&) const = default;
};

/// The index in a list of the largest elements at a place that no element has taken: beyond every
/// other, and its value is -inf.
inline constexpr std::int64_t kNoIndex = 2147483647;

/// What finite arithmetic can spoil.
enum class Hazard {
    Overflow,      ///< an exponential of a large number
    Underflow,     ///< a divisor, or the argument of a logarithm, that vanishes
    Cancellation,  ///< a difference of numbers that are almost equal
    Tail,          ///< overflow after the last chunk
    Scale,         ///< a product whose scale is only divided by after the last chunk
    Operand,       ///< a gauge subtracted from another value than it is the maximum of
};
[[nodiscard]] std::string_view name_of(Hazard hazard);

/// A hazard of what is computed and what keeps it away, or an input that shows it.
struct Obligation {
    Hazard hazard = Hazard::Overflow;
    bool met = true;
    std::string text;     ///< one sentence in the user's names
    std::string example;  ///< what the form would do as it is written; empty where it is safe
    std::string safer;    ///< how else to write it; empty where nothing needs to be done
    bool operator==(const Obligation&) const = default;
};

/// What is said of one state variable besides the statements that make it.
struct AccumulatorState {
    ArrayId state;
    std::string repair;  ///< as a formula in the user's names, `exp(m_old - m_new)`; empty where
                         ///< none is needed
    std::string why;     ///< one sentence: which fold it serves, what makes the repair necessary
    bool operator==(const AccumulatorState&) const = default;
};

/// A selection along the streamed axis: what is kept of it, and what a chunk brings.
struct AccumulatorSelection {
    ArrayId best;        ///< the values so far
    ArrayId at;          ///< their indices, kNoIndex where there is none yet
    ArrayId chunk_best;  ///< the targets of the body's own selection
    ArrayId chunk_at;
    /// What is read at the selected index and travels with it: the state, and that of the chunk.
    std::vector<std::pair<ArrayId, ArrayId>> payloads;
    bool operator==(const AccumulatorSelection&) const = default;
};

/// (initial state, body, tail) of one region and the axes it streams.
struct Accumulator {
    std::vector<AxisId> axes;  ///< outermost first; a chunk is a part of each
    /// States and helper values. Their ids follow the diagram's own: ArrayId{diagram.arrays.size()
    /// + i}.
    std::vector<Array> arrays;
    /// Each state's value before the first chunk.
    std::vector<Statement> initial;
    /// For every chunk, in order. A statement whose target is a state updates it in place: reads of
    /// a state before its update see the old value, after it the new one.
    std::vector<Statement> body;
    /// After the last chunk: defines every array of the region that does not carry the axis and is
    /// used beyond the body.
    std::vector<Statement> tail;
    std::vector<AccumulatorState> states;
    std::vector<AccumulatorSelection> selections;
    /// What finite arithmetic could spoil, and why it does not or when it does.
    std::vector<Obligation> obligations;
    /// What else was assumed and checked, as sentences.
    std::vector<std::string> conditions;
    bool operator==(const Accumulator&) const = default;
};

/// Derives the accumulator of `region` for streaming `axes`, or says why there is none. Statements
/// of the region that neither carry one of them nor depend on folds over them are left out: they
/// are computed before the loop. Axes that are streamed together are folded together.
///
/// `stored` holds wires kept in a narrower type than they are computed in (`retype`). A wire that
/// depends on a fold is never formed while chunks arrive; what is stored in its type is its
/// streamed part, `exp(S - m)` of a softmax, where that is a factor of a product which is folded.
[[nodiscard]] std::variant<Accumulator, NotApplicable> derive_accumulator(
    const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
    const std::map<ArrayId, ElementType>& stored = {});

/// The obligation as a sentence: `no overflow: ...`, `overflow possible: ...`.
[[nodiscard]] std::string print(const Obligation& obligation);
/// The accumulator in formulas, one line each: initial state, body, repair, tail.
[[nodiscard]] std::string explain(const Diagram& diagram, const Accumulator& accumulator);

}  // namespace napkin
