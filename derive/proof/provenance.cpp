#include "derive/proof/provenance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derive/interpret/tile_machine.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/limits.h"
#include "derive/proof/renamed_grids.h"
#include "diagrams/infinity.h"

namespace napkin::proof {

namespace {

// What rounding makes of equal values.
constexpr double kSame = 1e-9;

/// A zero of a mask's.
bool masks(const TracedValue& value) {
    return value.real == 0 && value.inputs == InputSet{} && !value.computed;
}

}  // namespace

TracedValue ProvenanceDomain::apply(Function function, std::span<const TracedValue> arguments) {
    std::array<double, 3> reals{};
    TracedValue result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        reals[i] = arguments[i].real;
        result.inputs = sets_.unite(result.inputs, arguments[i].inputs);
        result.computed = result.computed || arguments[i].computed;
    }
    result.real = apply_function(function, {reals.data(), arguments.size()});
    const auto absorbs = [&](std::size_t i) {
        const TracedValue& value = arguments[i];
        switch (function) {
        case Function::Add:
        case Function::Subtract: return std::isinf(value.real);
        case Function::Multiply: return masks(value);
        case Function::Divide: return i == 0 && masks(value);
        default: return false;
        }
    };
    const auto identity = [&](std::size_t i) {
        return (function == Function::Max && arguments[i].real == -kInfinity) ||
               (function == Function::Min && arguments[i].real == kInfinity);
    };
    for (std::size_t i = 0; i < arguments.size() && arguments.size() == 2; ++i)
        if ((absorbs(i) && !absorbs(1 - i)) || (identity(1 - i) && !identity(i)))
            result.inputs = arguments[i].inputs;
    const bool multiplies = function == Function::Multiply;
    const bool adds = function == Function::Add || function == Function::Subtract;
    if (multiplies || adds || function == Function::Divide) {
        const bool left = masks(arguments[0]);
        const bool right = masks(arguments[1]);
        // Infinite by a maximum of what is visible, and by no mask.
        const auto by_maximum = [&](std::size_t i) {
            return std::isfinite(arguments[i].real) || arguments[i].computed;
        };
        result.computed = std::isfinite(result.real)
                              ? !(adds ? left && right : left || (multiplies && right))
                              : adds && by_maximum(0) && by_maximum(1);
    }
    return result;
}

void ProvenanceDomain::absorb_extreme(MonoidId monoid, TracedValue& state,
                                      const TracedValue& element) {
    const std::array<TracedValue, 2> both{state, element};
    state = apply(monoid == kMax ? Function::Max : Function::Min, both);
    if (gauges_) state = {state.real, {}, true};
}

std::vector<std::pair<TracedValue, TracedValue>> ProvenanceDomain::select(
    const Candidates<TracedValue>& elements, std::int64_t ranks) {
    InputSet all;
    Candidates<double> reals;
    for (const auto& [value, at] : elements) {
        if (value.real != -kInfinity) all = sets_.unite(all, value.inputs);
        reals.emplace_back(value.real, at);
    }
    std::vector<std::pair<TracedValue, TracedValue>> best;
    for (const auto& [value, at] : RealDomain::select(std::move(reals), ranks))
        best.push_back({{value, all}, {at, all}});
    return best;
}

namespace {

/// The real numbers in double, noticing where rounding swallows most of a summand: what is compared
/// after that shows nothing of real arithmetic.
class WatchedReals : public RealDomain {
public:
    [[nodiscard]] double apply(Function function, std::span<const double> arguments) {
        if (function == Function::Add || function == Function::Subtract) {
            const double left = std::abs(arguments[0]);
            const double right = std::abs(arguments[1]);
            const double least = std::min(left, right);
            swallowed_ |= least != 0 && std::isfinite(left + right) &&
                          least < kSwallowed * std::max(left, right);
        }
        return RealDomain::apply(function, arguments);
    }
    template <class Rule>
    void absorb(MonoidId monoid, std::span<const double> identity, std::vector<double>& state,
                std::span<const double> element, const Rule& rule) {
        if (monoid != kSum) return RealDomain::absorb(monoid, identity, state, element, rule);
        const double both[] = {state[0], element[0]};
        state[0] = apply(Function::Add, both);
    }
    [[nodiscard]] bool swallowed() const { return swallowed_; }

private:
    static constexpr double kSwallowed = 1e-13;  // leaves ten bits of it
    bool swallowed_ = false;
};

/// Inputs with a set each, and what their elements are called.
class NamedInputs {
public:
    explicit NamedInputs(const Diagram& diagram, std::uint64_t seed) : diagram_(diagram) {
        tensors_ = random_inputs(diagram, seed);
        for (const auto& [id, tensor] : tensors_) {
            first_[count_] = id;
            if (is_floating(diagram[id].type)) count_ += tensor.values.size();
        }
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] Grids<TracedValue> grids(InputSets& sets) const {
        Grids<TracedValue> grids;
        std::size_t next = 0;
        for (const auto& [id, tensor] : tensors_) {
            Grid<TracedValue>& grid = grids[id];
            grid.extents = tensor.extents;
            const bool traced = is_floating(diagram_[id].type);
            for (const double value : tensor.values)
                grid.values.push_back({value, traced ? sets.single(next++) : InputSet{}, true});
        }
        return grids;
    }
    [[nodiscard]] Grids<double> values() const {
        Grids<double> grids;
        for (const auto& [id, tensor] : tensors_) grids[id] = {tensor.extents, tensor.values};
        return grids;
    }
    [[nodiscard]] double& element(Grids<double>& grids, std::size_t input) const {
        const auto at = std::prev(first_.upper_bound(input));
        return grids.at(at->second).values[input - at->first];
    }
    [[nodiscard]] std::string name(std::size_t input) const {
        const auto at = std::prev(first_.upper_bound(input));
        return element_name(diagram_[at->second].name, extents_of(diagram_, at->second),
                            input - at->first);
    }

private:
    const Diagram& diagram_;
    Tensors tensors_;
    std::size_t count_ = 0;
    std::map<std::size_t, ArrayId> first_;  // by the number of its first element
};

/// What an element of an output has too much or too little.
struct Difference {
    std::string text;
    std::vector<std::size_t> leaked;  ///< inputs that the diagram's does not have
    std::vector<std::size_t> lost;    ///< inputs that the program's lacks
};
using Differences = std::map<std::pair<std::string, std::size_t>, Difference>;

class Comparison {
public:
    Comparison(const Diagram& plain, const Diagram& derived, const TileProgram& program,
               std::uint64_t seed)
        : plain_(plain),
          derived_(derived),
          program_(program),
          names_(plain, seed),
          steps_(work_of(plain).steps + work_of(program).steps) {}

    Differences differences(const std::vector<std::string>& outputs, bool gauges) {
        InputSets sets(names_.count());
        ProvenanceDomain domain(sets, gauges);
        const Grids<TracedValue> inputs = names_.grids(sets);
        const Grids<TracedValue> expected =
            PlainEvaluator<ProvenanceDomain>(domain, plain_, inputs).run();
        const Run<TracedValue> run =
            run_program(domain, derived_, program_, renamed_grids(derived_, plain_, inputs));
        Differences found;
        std::size_t listed = 0;
        for (const std::string& output : outputs) {
            const Grid<TracedValue>& want = expected.at(*find_array(plain_, output));
            const auto got = run.device.values.find(*find_array(derived_, output));
            for (std::size_t at = 0; at < want.values.size(); ++at) {
                ++elements_;
                const InputSet have =
                    got == run.device.values.end() ? InputSet{} : got->second.values[at].inputs;
                std::vector<std::size_t> leaked = sets.missing(have, want.values[at].inputs);
                std::vector<std::size_t> lost = sets.missing(want.values[at].inputs, have);
                if (leaked.empty() && lost.empty()) continue;
                listed += leaked.size() + lost.size();
                if (listed > kMostSets)
                    throw TooMuchWork("inputs that reach other outputs than in the diagram",
                                      kMostSets);
                std::string text = element_name(output, want.extents, at) +
                                   (leaked.empty() ? " does not depend on " + names_.name(lost[0])
                                                   : " depends on " + names_.name(leaked[0])) +
                                   ", unlike in the diagram";
                found[{output, at}] = {std::move(text), std::move(leaked), std::move(lost)};
            }
        }
        return found;
    }
    [[nodiscard]] std::int64_t elements() const { return elements_; }

    /// Whether an element of the diagram's changes with these inputs, as far as some values show.
    [[nodiscard]] bool depends(const std::string& output, std::size_t at,
                               const std::vector<std::size_t>& inputs) const {
        const ArrayId array = *find_array(plain_, output);
        return changes(inputs, [&](WatchedReals& reals, Grids<double> grids) {
            return PlainEvaluator<WatchedReals>(reals, plain_, std::move(grids))
                .run()
                .at(array)
                .values[at];
        });
    }

    /// Whether an element of the program's does.
    [[nodiscard]] bool program_depends(const std::string& output, std::size_t at,
                                       const std::vector<std::size_t>& inputs) const {
        const ArrayId array = *find_array(derived_, output);
        return changes(inputs, [&](WatchedReals& reals, const Grids<double>& grids) {
            return run_program(reals, derived_, program_, renamed_grids(derived_, plain_, grids))
                .device.values.at(array)
                .values[at];
        });
    }

private:
    /// Whether an element, which `value_at` computes, changes with these inputs.
    template <class ValueAt>
    [[nodiscard]] bool changes(const std::vector<std::size_t>& inputs,
                               const ValueAt& value_at) const {
        tried_ += steps_;
        if (tried_ > kMostTried)
            throw TooMuchWork("operations to try out what outputs depend on", kMostTried);
        WatchedReals usual;
        const double before = value_at(usual, names_.values());
        for (const double change : {3.0, -3.0, 100.0, -100.0, 0.5, -0.5}) {
            Grids<double> grids = names_.values();
            double factor = 1;  // another for each: what adds up to nothing would hide
            for (const std::size_t input : inputs) {
                factor = factor < 2 ? factor + 0.37 : 1;
                names_.element(grids, input) += change * factor;
            }
            WatchedReals reals;
            const double after = value_at(reals, std::move(grids));
            const bool same = (reals.swallowed() && !usual.swallowed()) ||
                              std::abs(after - before) <= kSame * (1 + std::abs(before)) ||
                              after == before || (std::isnan(after) && std::isnan(before));
            if (!same) return true;
        }
        return false;
    }

    const Diagram& plain_;
    const Diagram& derived_;
    const TileProgram& program_;
    NamedInputs names_;
    double steps_;  ///< of a run of either
    mutable double tried_ = 0;
    std::int64_t elements_ = 0;
};

}  // namespace

Provenance compare_provenance(const Diagram& plain, const Diagram& derived,
                              const TileProgram& program, std::uint64_t seed,
                              const std::vector<std::string>& outputs, bool gauges,
                              const std::set<std::string>& proved) {
    Comparison comparison(plain, derived, program, seed);
    Differences differences = comparison.differences(outputs, gauges);
    std::erase_if(differences, [&](const auto& each) {
        const auto& [output, at] = each.first;
        const Difference& found = each.second;
        const bool leaks =
            !found.leaked.empty() && comparison.program_depends(output, at, found.leaked);
        const bool loses = !found.lost.empty() && proved.count(output) == 0 &&
                           comparison.depends(output, at, found.lost);
        return !leaks && !loses;
    });
    Provenance result;
    result.elements = comparison.elements();
    if (gauges && !differences.empty()) {
        const Differences counted = comparison.differences(outputs, false);
        std::erase_if(differences,
                      [&](const auto& each) { return counted.count(each.first) == 0; });
    }
    for (const auto& [place, difference] : differences) {
        result.leaks += difference.leaked.empty() ? 0 : 1;
        result.losses += difference.lost.empty() ? 0 : 1;
        if (result.first.empty()) result.first = difference.text;
    }
    return result;
}

}  // namespace napkin::proof
