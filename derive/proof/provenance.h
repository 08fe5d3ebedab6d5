// Which inputs reach which outputs.
//
// Values are ordinary numbers together with the set of real input elements they were computed from.
// What masks exclude adds nothing: -inf absorbs what is added to it, a literal zero what it is
// multiplied by (a result that happens to be zero does not). Whole inputs (labels, lengths,
// documents) decide masks and places and are in no set. The plain diagram and the tile program are
// computed so and compared, element by element: a mask that leaks shows as an input too many, a
// tile that is skipped wrongly as one too few.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "derive/interpret/domain.h"
#include "derive/proof/input_sets.h"
#include "derive/region_program.h"
#include "diagrams/evaluate/arithmetic.h"

namespace napkin::proof {

struct TracedValue {
    double real = 0;
    InputSet inputs;
    /// From an index, a whole input, sums and products of literals, or a maximum that is no input:
    /// where it is zero, by chance of the numbers, it masks nothing.
    bool computed = false;
};

class ProvenanceDomain {
public:
    using Value = TracedValue;
    static constexpr bool kTracksIndices = true;

    /// `gauges`: a maximum is what values are taken relative to, and no input of theirs.
    ProvenanceDomain(InputSets& sets, bool gauges) : sets_(sets), gauges_(gauges) {}

    [[nodiscard]] static TracedValue number(double value) { return {value, {}}; }
    [[nodiscard]] static TracedValue position(std::int64_t index) {
        return {static_cast<double>(index), {}, true};
    }
    [[nodiscard]] static TracedValue poison() { return {RealDomain::poison(), {}}; }
    template <class Branch>
    [[nodiscard]] TracedValue choose(const TracedValue& condition, const Branch& branch) {
        TracedValue taken = branch(condition.real != 0);
        taken.inputs = sets_.unite(taken.inputs, condition.inputs);
        return taken;
    }
    [[nodiscard]] static std::int64_t index(const TracedValue& value) {
        return static_cast<std::int64_t>(value.real);
    }
    [[nodiscard]] TracedValue apply(Function function, std::span<const TracedValue> arguments);
    [[nodiscard]] TracedValue read(TracedValue element, std::span<const TracedValue> index) {
        for (const TracedValue& each : index)
            element.inputs = sets_.unite(element.inputs, each.inputs);
        return element;
    }
    [[nodiscard]] static TracedValue round(ElementType type, const TracedValue& value) {
        return {round_to(type, value.real), value.inputs, value.computed};
    }
    [[nodiscard]] static TracedValue written(const Array& array, ElementType /*tile*/,
                                             const TracedValue& value) {
        return array.rounds ? round(array.type, value) : value;
    }
    [[nodiscard]] static TracedValue saved(ElementType, const TracedValue& value) { return value; }

    template <class Rule>
    void absorb(MonoidId monoid, std::span<const TracedValue> /*identity*/,
                std::vector<TracedValue>& state, std::span<const TracedValue> element,
                const Rule& rule) {
        if (monoid == kMax || monoid == kMin) return absorb_extreme(monoid, state[0], element[0]);
        std::vector<TracedValue> next;
        for (std::size_t i = 0; i < state.size(); ++i) next.push_back(rule(i));
        state = std::move(next);
    }
    static void finish(MonoidId /*monoid*/, std::vector<TracedValue>& /*state*/) {}
    [[nodiscard]] std::vector<std::pair<TracedValue, TracedValue>> select(
        const Candidates<TracedValue>& elements, std::int64_t ranks);

private:
    void absorb_extreme(MonoidId monoid, TracedValue& state, const TracedValue& element);

    InputSets& sets_;
    bool gauges_;
};

/// What the comparison found.
struct Provenance {
    std::int64_t elements = 0;  ///< of outputs
    std::int64_t leaks = 0;     ///< that depend on an input that the diagram's do not
    std::int64_t losses = 0;    ///< that lack an input that the diagram's depend on
    /// The first of either, in words: `O[3, 1] depends on K[5, 0]`.
    std::string first;
    [[nodiscard]] bool same() const { return leaks == 0 && losses == 0; }
};

/// Compares the outputs named in `outputs`; throws InternalError where the program reads what is
/// not there. With `gauges` a maximum is no input. Two things that algebra does are no differences:
///  * an input that the diagram writes and that does not matter is gone, or one is read that does
///    not matter: whether an output changes with it is tried out. Of an output in `proved`, which
///    is the diagram's whatever the inputs are, none is lost;
///  * with gauges, the program reads what the diagram takes a maximum of, where that is of equal
///    values. An element has to differ with maxima as inputs, too.
[[nodiscard]] Provenance compare_provenance(const Diagram& plain, const Diagram& derived,
                                            const TileProgram& program, std::uint64_t seed,
                                            const std::vector<std::string>& outputs, bool gauges,
                                            const std::set<std::string>& proved = {});

}  // namespace napkin::proof
