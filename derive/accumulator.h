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
    bool by_law = true;  ///< a side condition does not hold
    bool operator==(const NotApplicable&) const = default;
};
/// The refusal of what no law was asked about: names that nothing has, what is there already or is
/// in the way, words and sizes of no such command.
[[nodiscard]] inline NotApplicable out_of_place(std::string reason, std::string help) {
    return {std::move(reason), std::move(help), false};
}

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

/// When a gauge takes in what a chunk brings. Every choice is exact in real arithmetic: they trade
/// repairs for range.
enum class GaugePolicy {
    Running,  ///< with every chunk
    Held,     ///< with the first chunk that has an element, and never again
};

/// A value that states are kept relative to, so that they stay in range and do not cancel.
struct Gauge {
    enum class Of { Maximum, Mean };
    Of of = Of::Maximum;
    GaugePolicy policy = GaugePolicy::Running;
    ArrayId state = {};     ///< its value so far
    ArrayId next = {};      ///< that with the chunk taken in; `state` itself where it is held
    Expression value = {};  ///< what it is the maximum or the mean of, along the axes `over`
    std::vector<AxisId> over = {};
    /// Of a mean: the state that sums what its elements weigh, and that weight; each counts alike
    /// where it is held, or where there is no weight.
    std::optional<ArrayId> total = {};
    std::optional<Expression> weight = {};
    bool may_lack = false;  ///< a chunk may have no element of it
    bool operator==(const Gauge&) const = default;
};

/// How a state follows when its gauges change from g to g':
///
///     s' = exp(G - G') * (s + sum_j ways_j * prod_i (g_i - g_i')^steps_ji * s_j)
///
/// where it sums products of exp(E - G), G made of gauges, and of powers of differences to g_i.
struct GaugeAction {
    struct Shift {
        ArrayId gauge = {};
        int power = 1;  ///< of the difference to it
        bool operator==(const Shift&) const = default;
    };
    struct Lower {
        ArrayId state = {};           ///< of lower powers of the differences
        double ways = 1;              ///< a product of binomial coefficients
        std::vector<int> steps = {};  ///< for each shift, how much lower
        bool operator==(const Lower&) const = default;
    };
    std::optional<ArrayId> scale = {};  ///< the array of the body that is exp(G - G')
    std::vector<Shift> shifts = {};
    std::vector<Lower> lower = {};  ///< none where all gauges of the shifts are held
    bool operator==(const GaugeAction&) const = default;
};

/// What is kept from chunk to chunk.
struct AccumulatorState {
    enum class Keeps {
        Fold,     ///< a fold, or a part of one
        Element,  ///< an element at an index that is known or was selected
        List,     ///< the largest elements, sorted
        Prefix,   ///< the last prefix of a scan
        Gauge,    ///< a mean that others are relative to
    };
    ArrayId state = {};
    Keeps keeps = Keeps::Fold;
    std::optional<ArrayId> serves = {};  ///< the array whose fold it is
    MonoidId monoid = {};                ///< by which it takes in elements
    GaugeAction action = {};
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
    /// What a chunk folds over further axes, which come in chunks of their own (one or none): for
    /// every chunk it is run before `body`. Its arrays, obligations and conditions are kept here.
    std::vector<Accumulator> inside;
    /// For every chunk, in order. A statement whose target is a state updates it in place: reads of
    /// a state before its update see the old value, after it the new one.
    std::vector<Statement> body;
    /// After the last chunk: defines every array of the region that does not carry the axis and is
    /// used beyond the body.
    std::vector<Statement> tail;
    std::vector<AccumulatorState> states;
    std::vector<Gauge> gauges;
    std::vector<AccumulatorSelection> selections;
    /// What finite arithmetic could spoil, and why it does not or when it does.
    std::vector<Obligation> obligations;
    /// What else was assumed and checked, as sentences.
    std::vector<std::string> conditions;
    bool operator==(const Accumulator&) const = default;
};

/// The gauge with this state; null where the state is none.
[[nodiscard]] const Gauge* gauge_of(const Accumulator& accumulator, ArrayId state);

/// Its states and gauges as other arrays, where a region keeps them so; what was derived, its
/// statements, stays as it is.
void rename_states(Accumulator& accumulator, const std::map<ArrayId, ArrayId>& arrays);

/// The obligation as a sentence: `no overflow: ...`, `overflow possible: ...`.
[[nodiscard]] std::string print(const Obligation& obligation);

}  // namespace napkin
