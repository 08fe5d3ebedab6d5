#include "cli/validation.h"

#include <algorithm>
#include <optional>

#include "cli/memory.h"
#include "cli/messages.h"
#include "derive/work.h"

namespace napkin::cli {
namespace {

// Indices that the slow reference may visit in a validation: up to the first number everything is
// compared, above it samples that cost the second. A few seconds in Release, bounds included.
constexpr double kMostSampleWork = 3e7;
constexpr double kSampleWork = 1.5e8;
// Between them everything is compared with the fast reference, where time allows it and it takes no
// more of the memory that is left.
constexpr double kShareOfMemory = 0.5;
// An element that costs more is not computed from the inputs: it is compared with what follows from
// the outputs that it reads, which are compared for themselves.
constexpr double kMostWorkOfOne = 2e9;

/// Sizes of tiles by the axes of `diagram`, which may be another than the state's.
TileSizes tiles_of(const State& state, const Diagram& diagram) {
    TileSizes tiles;
    const auto add = [&](AxisId axis, std::int64_t size) {
        if (const auto there = find_axis(diagram, state.diagram[axis].name))
            tiles[*there].insert(size);
    };
    for (const Region& region : state.relabelling.regions) {
        for (const Stream& stream : region.streams) add(stream.axis, stream.size);
        for (const Group& group : region.groups) add(group.axis, group.size);
    }
    return tiles;
}

/// What is compared: values of the plain diagram with what a state computed.
class Judge {
public:
    Judge(const Diagram& plain, const State& state, const Tensors& inputs, const Tensors& outputs,
          const Precision& precision, const Sampling& sampling)
        : plain_(plain),
          state_(state),
          rewritten_(!(plain == state.diagram)),
          inputs_(inputs),
          outputs_(outputs),
          precision_(precision),
          sampling_(sampling),
          reference_(reference(plain, inputs, state.diagram)) {}

    /// Whether all elements of the arrays are known now.
    bool compute_whole(const std::vector<ArrayId>& arrays, double most_seconds) {
        const double values = kShareOfMemory * memory_left() / sizeof(double);
        const std::optional<WholeWork> work =
            reference_.whole_work(arrays, {.most_values = values});
        if (!work || work->seconds > most_seconds) return false;
        reference_.compute_whole(arrays);
        whole_ = arrays;
        return true;
    }

    Comparison compare_all(ArrayId array) { return compare_at(array, {}); }

    Comparison compare_some(ArrayId array) {
        if (visits(plain_, array) <= kMostWorkOfOne)
            return compare_at(array, offsets(plain_, array, state_.diagram));
        return compare_given_outputs(array);
    }

private:
    const Diagram& plain_;
    const State& state_;
    bool rewritten_;
    const Tensors& inputs_;
    const Tensors& outputs_;
    const Precision& precision_;
    Sampling sampling_;
    Reference reference_;
    std::vector<ArrayId> whole_;        ///< arrays that are known whole
    std::optional<Reference> rounded_;  ///< once asked for

    /// Where that leaves it undecided, by what is handed over rounded too: then both have to agree.
    Comparison compare_at(ArrayId array, const std::vector<std::int64_t>& offsets) {
        Comparison given = compare(reference_, array, outputs_.at(array), offsets);
        if (given.verdict() != Verdict::Undecided || rewritten_ || precision_.handed_over.empty())
            return given;
        if (!rounded_) {
            const RoundedDiagram rounded = round_handed_over(plain_, precision_);
            rounded_.emplace(rounded.diagram, inputs_, rounded.precision);
            if (!whole_.empty()) rounded_->compute_whole(whole_);
        }
        Comparison rounded = compare(*rounded_, array, outputs_.at(array), offsets);
        rounded.rounded = true;
        return rounded.verdict() == Verdict::Wrong || rounded.judged() > given.judged() ? rounded
                                                                                        : given;
    }

    [[nodiscard]] Reference reference(const Diagram& plain, const Tensors& inputs,
                                      const Diagram& executed) const {
        if (rewritten_) return Reference(plain, inputs, executed, precision_);
        return Reference(plain, inputs, precision_);
    }

    [[nodiscard]] ArrayId twin(ArrayId array) const {
        return find_array(state_.diagram, plain_[array].name).value();
    }

    [[nodiscard]] double visits(const Diagram& plain, ArrayId array) const {
        const double of_plain = visits_of_one(plain, array);
        return rewritten_ ? std::max(of_plain, visits_of_one(state_.diagram, twin(array)))
                          : of_plain;
    }

    /// Those that the diagram in which they cost more affords: the order of elements is the same.
    [[nodiscard]] std::vector<std::int64_t> offsets(const Diagram& plain, ArrayId array,
                                                    const Diagram& executed) {
        const bool other =
            rewritten_ && visits_of_one(executed, twin(array)) >= visits_of_one(plain, array);
        const Diagram& dearer = other ? executed : plain;
        sampling_.tiles = tiles_of(state_, dearer);
        return sample_offsets(dearer, other ? twin(array) : array, sampling_);
    }

    /// Nothing is known to be wrong of it.
    [[nodiscard]] Comparison unchecked(ArrayId array, double visits) const {
        Comparison comparison;
        comparison.name = plain_[array].name;
        comparison.ok = true;
        comparison.too_dear = visits;
        return comparison;
    }

    /// An element that costs too much is compared with what follows from the outputs that it reads,
    /// which are compared for themselves.
    Comparison compare_given_outputs(ArrayId array) {
        const GivenOutputs given = give_outputs(plain_, array, inputs_, outputs_);
        GivenOutputs executed{state_.diagram, {}, {}};
        if (rewritten_)
            executed = give_outputs(state_.diagram, twin(array),
                                    tensors_in(state_.diagram, plain_, inputs_),
                                    tensors_in(state_.diagram, plain_, outputs_));
        double most = visits_of_one(given.diagram, array);
        if (rewritten_) most = std::max(most, visits_of_one(executed.diagram, twin(array)));
        if (most > kMostWorkOfOne) return unchecked(array, most);
        Tensors known = given.inputs;
        if (rewritten_) known.merge(tensors_in(plain_, state_.diagram, executed.inputs));
        Reference reference = this->reference(given.diagram, known, executed.diagram);
        Comparison comparison = compare(reference, array, outputs_.at(array),
                                        offsets(given.diagram, array, executed.diagram));
        for (const ArrayId id : given.given) comparison.given.push_back(plain_[id].name);
        return comparison;
    }
};

}  // namespace

bool Validation::ok() const {
    return std::none_of(outputs.begin(), outputs.end(),
                        [](const Comparison& c) { return c.verdict() == Verdict::Wrong; });
}

Verdict Validation::verdict() const {
    Verdict worst = Verdict::Right;
    for (const Comparison& output : outputs) worst = std::min(worst, output.verdict());
    return worst;
}

bool Validation::undecided() const {
    return std::any_of(outputs.begin(), outputs.end(),
                       [](const Comparison& c) { return c.verdict() == Verdict::Undecided; });
}

Validation left_unchecked(const Diagram& plain) {
    Validation validation;
    for (const ArrayId array : outputs_of(plain)) {
        Comparison& comparison = validation.outputs.emplace_back();
        comparison.name = plain[array].name;
        comparison.ok = comparison.left_out = true;
    }
    return validation;
}

void Validation::take_judged(const Validation& other) {
    for (std::size_t at = 0; at < outputs.size(); ++at)
        if (outputs[at].alike == 0 && other.outputs[at].judged() > outputs[at].judged())
            outputs[at] = other.outputs[at];
}

bool Validation::sampled() const {
    return std::any_of(outputs.begin(), outputs.end(),
                       [](const Comparison& c) { return c.sampled; });
}

bool has_values(const Diagram& diagram) {
    return std::none_of(
        diagram.statements.begin(), diagram.statements.end(),
        [](const Statement& statement) { return std::holds_alternative<Opaque>(statement.body); });
}

Validation validate(const Diagram& plain, const State& state, const Tensors& inputs,
                    const Tensors& outputs, const Precision& precision, std::uint64_t seed,
                    double most_seconds) {
    const std::vector<ArrayId> arrays = outputs_of(plain);
    const bool small =
        std::max(work_of(plain).places, work_of(state.diagram).places) <= kMostSampleWork;
    Sampling sampling;
    sampling.budget = kSampleWork / static_cast<double>(arrays.size());
    sampling.seed = seed;
    Judge judge(plain, state, inputs, outputs, precision, sampling);
    const bool all = small || judge.compute_whole(arrays, most_seconds);
    Validation validation;
    for (const ArrayId array : arrays) {
        validation.outputs.push_back(all ? judge.compare_all(array) : judge.compare_some(array));
    }
    return validation;
}

}  // namespace napkin::cli
