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

TracedValue ProvenanceDomain::apply(Function function, std::span<const TracedValue> arguments) {
    std::array<double, 3> reals{};
    TracedValue result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        reals[i] = arguments[i].real;
        result.inputs = sets_.unite(result.inputs, arguments[i].inputs);
    }
    result.real = apply_function(function, {reals.data(), arguments.size()});
    const auto absorbs = [&](std::size_t i) {
        const TracedValue& value = arguments[i];
        switch (function) {
        case Function::Add:
        case Function::Subtract: return std::isinf(value.real);
        case Function::Multiply: return value.real == 0 && value.inputs == InputSet{};
        case Function::Divide: return i == 0 && value.real == 0 && value.inputs == InputSet{};
        default: return false;
        }
    };
    const auto identity = [&](std::size_t i) {
        return (function == Function::Max && arguments[i].real == -kInfinity) ||
               (function == Function::Min && arguments[i].real == kInfinity);
    };
    for (std::size_t i = 0; i < arguments.size() && arguments.size() == 2; ++i)
        if ((absorbs(i) && !absorbs(1 - i)) || identity(1 - i)) result.inputs = arguments[i].inputs;
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
                grid.values.push_back({value, traced ? sets.single(next++) : InputSet{}});
        }
        return grids;
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

}  // namespace

Provenance compare_provenance(const Diagram& plain, const Diagram& derived,
                              const TileProgram& program, std::uint64_t seed,
                              const std::vector<std::string>& outputs, bool gauges) {
    const NamedInputs names(plain, seed);
    InputSets sets(names.count());
    ProvenanceDomain domain(sets, gauges);
    const Grids<TracedValue> inputs = names.grids(sets);
    const Grids<TracedValue> expected =
        PlainEvaluator<ProvenanceDomain>(domain, plain, inputs).run();
    const Run<TracedValue> run =
        run_program(domain, derived, program, renamed_grids(derived, plain, inputs));
    Provenance result;
    for (const std::string& output : outputs) {
        const Grid<TracedValue>& want = expected.at(*find_array(plain, output));
        const auto got = run.device.values.find(*find_array(derived, output));
        for (std::size_t at = 0; at < want.values.size(); ++at) {
            ++result.elements;
            const InputSet have =
                got == run.device.values.end() ? InputSet{} : got->second.values[at].inputs;
            const std::int64_t leak = sets.missing(have, want.values[at].inputs);
            const std::int64_t loss = sets.missing(want.values[at].inputs, have);
            if (leak >= 0) ++result.leaks;
            if (loss >= 0) ++result.losses;
            if ((leak >= 0 || loss >= 0) && result.first.empty())
                result.first = element_name(output, want.extents, at) +
                               (leak >= 0 ? " depends on " + names.name(leak)
                                          : " does not depend on " + names.name(loss)) +
                               ", unlike in the diagram";
        }
    }
    return result;
}

}  // namespace napkin::proof
