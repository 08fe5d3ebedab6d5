#include "derive/proof/provenance.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "derive/interpret/tile_machine.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/renamed_grids.h"
#include "diagrams/infinity.h"

namespace napkin::proof {

InputSets::InputSets(std::size_t inputs) : words_((inputs + 63) / 64) {
    (void)intern(Words(words_, 0));
}

InputSet InputSets::intern(Words words) {
    const auto [entry, fresh] =
        known_.try_emplace(words, InputSet{static_cast<std::uint32_t>(sets_.size())});
    if (fresh) sets_.push_back(std::move(words));
    return entry->second;
}

InputSet InputSets::single(std::size_t input) {
    Words words(words_, 0);
    words[input / 64] |= std::uint64_t{1} << (input % 64);
    return intern(std::move(words));
}

InputSet InputSets::unite(InputSet a, InputSet b) {
    if (a == b || b == InputSet{}) return a;
    if (a == InputSet{}) return b;
    if (b < a) std::swap(a, b);
    const std::uint64_t pair = static_cast<std::uint64_t>(a.value) << 32 | b.value;
    if (const auto known = unions_.find(pair); known != unions_.end()) return known->second;
    Words words = sets_[a.index()];
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= sets_[b.index()][i];
    const InputSet united = intern(std::move(words));
    unions_.emplace(pair, united);
    return united;
}

std::int64_t InputSets::missing(InputSet from, InputSet in) const {
    for (std::size_t i = 0; i < words_; ++i)
        if (const std::uint64_t extra = sets_[from.index()][i] & ~sets_[in.index()][i]; extra != 0)
            return static_cast<std::int64_t>(64 * i) + std::countr_zero(extra);
    return -1;
}

namespace {

// What rounding makes of equal values.
constexpr double kSame = 1e-9;

/// A zero of a mask's.
bool masks(const TracedValue& value) {
    return value.real == 0 && value.inputs == InputSet{} && !value.computed;
}

}  // namespace

std::vector<std::size_t> InputSets::all_missing(InputSet from, InputSet in) const {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < words_; ++i)
        for (std::uint64_t extra = sets_[from.index()][i] & ~sets_[in.index()][i]; extra != 0;
             extra &= extra - 1)
            missing.push_back(64 * i + static_cast<std::size_t>(std::countr_zero(extra)));
    return missing;
}

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
        if ((absorbs(i) && !absorbs(1 - i)) || identity(1 - i)) result.inputs = arguments[i].inputs;
    const bool multiplies = function == Function::Multiply;
    const bool adds = function == Function::Add || function == Function::Subtract;
    if (multiplies || adds || function == Function::Divide) {
        const bool left = masks(arguments[0]);
        const bool right = masks(arguments[1]);
        result.computed =
            std::isfinite(result.real) && !(adds ? left && right : left || (multiplies && right));
    }
    return result;
}

void ProvenanceDomain::absorb_extreme(MonoidId monoid, TracedValue& state,
                                      const TracedValue& element) {
    const std::array<TracedValue, 2> both{state, element};
    state = apply(monoid == kMax ? Function::Max : Function::Min, both);
    if (gauges_) state.inputs = {};
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
    [[nodiscard]] std::string name(std::int64_t input) const {
        const auto at = std::prev(first_.upper_bound(static_cast<std::size_t>(input)));
        return element_name(diagram_[at->second].name, extents_of(diagram_, at->second),
                            static_cast<std::size_t>(input) - at->first);
    }

private:
    const Diagram& diagram_;
    Tensors tensors_;
    std::size_t count_ = 0;
    std::map<std::size_t, ArrayId> first_;  // by the number of its first element
};

/// What an element of an output has too much or too little.
struct Difference {
    bool leaks = false;
    bool loses = false;
    std::string text;
    std::vector<std::size_t> leaked;  ///< inputs that the diagram's does not have
    std::vector<std::size_t> lost;    ///< inputs that the program's lacks
};
using Differences = std::map<std::pair<std::string, std::size_t>, Difference>;

class Comparison {
public:
    Comparison(const Diagram& plain, const Diagram& derived, const TileProgram& program,
               std::uint64_t seed)
        : plain_(plain), derived_(derived), program_(program), names_(plain, seed) {}

    Differences differences(const std::vector<std::string>& outputs, bool gauges) {
        InputSets sets(names_.count());
        ProvenanceDomain domain(sets, gauges);
        const Grids<TracedValue> inputs = names_.grids(sets);
        const Grids<TracedValue> expected =
            PlainEvaluator<ProvenanceDomain>(domain, plain_, inputs).run();
        const Run<TracedValue> run =
            run_program(domain, derived_, program_, renamed_grids(derived_, plain_, inputs));
        Differences found;
        for (const std::string& output : outputs) {
            const Grid<TracedValue>& want = expected.at(*find_array(plain_, output));
            const auto got = run.device.values.find(*find_array(derived_, output));
            for (std::size_t at = 0; at < want.values.size(); ++at) {
                ++elements_;
                const InputSet have =
                    got == run.device.values.end() ? InputSet{} : got->second.values[at].inputs;
                const std::int64_t leak = sets.missing(have, want.values[at].inputs);
                const std::int64_t loss = sets.missing(want.values[at].inputs, have);
                if (leak < 0 && loss < 0) continue;
                found[{output, at}] = {
                    leak >= 0, loss >= 0,
                    element_name(output, want.extents, at) +
                        (leak >= 0 ? " depends on " + names_.name(leak)
                                   : " does not depend on " + names_.name(loss)) +
                        ", unlike in the diagram",
                    sets.all_missing(have, want.values[at].inputs),
                    sets.all_missing(want.values[at].inputs, have)};
            }
        }
        return found;
    }
    [[nodiscard]] std::int64_t elements() const { return elements_; }

    /// Whether an element of the diagram's changes with these inputs, as far as some values show.
    [[nodiscard]] bool depends(const std::string& output, std::size_t at,
                               const std::vector<std::size_t>& inputs) const {
        const ArrayId array = *find_array(plain_, output);
        return changes(inputs, [&](RealDomain& reals, Grids<double> grids) {
            return PlainEvaluator<RealDomain>(reals, plain_, std::move(grids))
                .run()
                .at(array)
                .values[at];
        });
    }

    /// Whether an element of the program's does.
    [[nodiscard]] bool program_depends(const std::string& output, std::size_t at,
                                       const std::vector<std::size_t>& inputs) const {
        const ArrayId array = *find_array(derived_, output);
        return changes(inputs, [&](RealDomain& reals, const Grids<double>& grids) {
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
        RealDomain reals;
        const double before = value_at(reals, names_.values());
        for (const double change : {3.0, -3.0, 100.0, -100.0, 0.5, -0.5}) {
            Grids<double> grids = names_.values();
            double factor = 1;  // another for each: what adds up to nothing would hide
            for (const std::size_t input : inputs) {
                factor = factor < 2 ? factor + 0.37 : 1;
                names_.element(grids, input) += change * factor;
            }
            const double after = value_at(reals, std::move(grids));
            const bool same = std::abs(after - before) <= kSame * (1 + std::abs(before)) ||
                              after == before || (std::isnan(after) && std::isnan(before));
            if (!same) return true;
        }
        return false;
    }

    const Diagram& plain_;
    const Diagram& derived_;
    const TileProgram& program_;
    NamedInputs names_;
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
        const bool leaks = found.leaks && comparison.program_depends(output, at, found.leaked);
        const bool loses =
            found.loses && proved.count(output) == 0 && comparison.depends(output, at, found.lost);
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
        result.leaks += difference.leaks ? 1 : 0;
        result.losses += difference.loses ? 1 : 0;
        if (result.first.empty()) result.first = difference.text;
    }
    return result;
}

}  // namespace napkin::proof
