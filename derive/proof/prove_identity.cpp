// Tries settings from the most telling to the least until each output comes out equal.
#include <algorithm>
#include <array>
#include <set>

#include "derive/proof/boundaries.h"
#include "derive/proof/field_trial.h"
#include "derive/proof/met_outcomes.h"
#include "derive/proof/prove_program.h"
#include "derive/proof/renamed_grids.h"
#include "derive/proof/residue.h"

namespace napkin::proof {
namespace {

// Where roots are taken, half of the points say nothing about an element; this many are tried.
constexpr int kMostPoints = 96;
// Where data are compared by a random order, a wrong choice comes out right at every other point;
// so may one where elements lie at the boundary of a comparison.
constexpr int kTrialsWhereCompared = 16;
// Until integers have shown every outcome of what tests them.
constexpr int kMostTrialsForOutcomes = 64;
/// Of which a trial still tells something: wrong by chance once in a million.
constexpr double kLargestDegree = 1e-6 * static_cast<double>(InQ::kModulus);

// In the order of trying. Cells have no bound however exponents are kept.
constexpr std::array kNested = {Nested::Written, Nested::Factored, Nested::Whole};
constexpr std::array kReadings = {
    std::pair{Choices::Gauges, true},      std::pair{Choices::Gauges, false},
    std::pair{Choices::FreeMonoids, true}, std::pair{Choices::FreeMonoids, false},
    std::pair{Choices::Cells, false},
};

/// What was taken for unknown though it has an algebra: identities of it do not come out.
std::string reservation(const FieldUses& uses) {
    if (uses.flattened) return ", where of logarithms congruence alone is known";
    if (uses.nested) return ", where of exponents with exponentials congruence alone is known";
    return "";
}

/// What one output has shown under the settings in turn.
struct Progress {
    Identity* identity = nullptr;
    std::vector<int> decided;  ///< by element: trials that said something
    bool refuted = false;
    [[nodiscard]] bool complete(int trials) const {
        return !refuted && std::all_of(decided.begin(), decided.end(),
                                       [&](int count) { return count >= trials; });
    }
};

class IdentityProver {
public:
    IdentityProver(const Diagram& plain, const Diagram& derived, const TileProgram& program,
                   const ProofOptions& options)
        : plain_(plain),
          derived_(derived),
          program_(program),
          options_(options),
          needs_(needs_of(plain, program)),
          outcomes_(plain),
          meets_boundaries_(!boundaries_of(plain).empty()) {}

    std::vector<Identity> run() {
        std::vector<Identity> identities;
        for (const ArrayId output : outputs_of(plain_)) {
            Identity identity;
            identity.output = plain_[output].name;
            identities.push_back(std::move(identity));
        }
        for (const auto& [choices, strict] : kReadings)
            for (const Nested nested : kNested) {
                const FieldSettings settings{choices, strict, nested};
                if (!worthwhile(settings)) continue;
                std::vector<Progress> pending;
                for (Identity& identity : identities)
                    if (!identity.proved) pending.push_back({&identity, {}, false});
                if (pending.empty()) return identities;
                attempt(settings, pending);
            }
        return identities;
    }

private:
    /// Whether these settings can tell more than those before.
    [[nodiscard]] bool worthwhile(const FieldSettings& settings) const {
        if (!met_) return true;
        if (settings.nested != Nested::Written && !met_->elements) return false;
        const bool chooses = met_->choices || met_->compares;
        if (settings.choices == Choices::Gauges)
            return met_->exponentials || met_->roots || chooses;
        return chooses;
    }

    void attempt(const FieldSettings& settings, std::vector<Progress>& pending) {
        for (Progress& each : pending) {
            each.identity->trials.clear();
            each.identity->settings = settings;
            each.identity->degree.reset();
        }
        const bool random_order = settings.choices != Choices::Cells;
        const int more = std::max(options_.trials, kTrialsWhereCompared);
        bool compared = meets_boundaries_;
        int trials = compared || (random_order && !settings.strict) ? more : options_.trials;
        bool bounded = settings.strict && !compared;
        double degree = 0;
        MetOutcomes outcomes = outcomes_;
        for (int i = 0; i < kMostPoints; ++i) {
            const bool for_outcomes = i < kMostTrialsForOutcomes && !outcomes.all();
            const bool needed =
                std::any_of(pending.begin(), pending.end(), [&](const Progress& each) {
                    return !each.refuted && (for_outcomes || i < trials || !each.complete(trials));
                });
            if (!needed) break;
            const std::uint64_t seed =
                RandomFunction(options_.seed)(static_cast<std::uint64_t>(i)).word();
            if (!outcomes.all()) outcomes.note(random_inputs(plain_, seed));
            const FieldTrial trial =
                run_field_trial(plain_, derived_, program_, seed, settings, needs_);
            note(trial);
            compared = compared || trial.uses.compares;
            if (compared && random_order) trials = more;
            bounded = bounded && !trial.uses.compares;
            degree = std::max(degree, trial.degree + trial.uses.collisions);
            if (bounded && degree > kLargestDegree) {
                bounded = false;
                trials = more;
            }
            for (Progress& each : pending) take(each, trial, seed);
        }
        for (Progress& each : pending) {
            each.identity->proved =
                each.complete(trials) && each.identity->unclaimed < each.identity->elements;
            each.identity->compared = compared;
            if (each.identity->proved) each.identity->counterexample.clear();
            if (each.identity->proved && bounded) each.identity->degree = degree;
        }
    }

    void take(Progress& progress, const FieldTrial& trial, std::uint64_t seed) {
        if (progress.refuted) return;
        Identity& identity = *progress.identity;
        const auto found = trial.outputs.find(identity.output);
        if (found == trial.outputs.end()) {
            progress.refuted = true;
            identity.counterexample = trial.failure;
            return;
        }
        const OutputTrial& output = found->second;
        identity.trials.push_back({seed, trial.digest});
        identity.elements = static_cast<std::int64_t>(output.decided.size());
        // Where masks depend on data, a row may be empty at one point and not at another.
        const bool first = identity.trials.size() == 1;
        identity.unclaimed =
            first ? output.unclaimed : std::min(identity.unclaimed, output.unclaimed);
        progress.decided.resize(output.decided.size());
        for (std::size_t at = 0; at < output.decided.size(); ++at)
            progress.decided[at] += output.decided[at] ? 1 : 0;
        progress.refuted = output.different > 0;
        if (progress.refuted)
            identity.counterexample =
                element_name(identity.output, output.where) + reservation(trial.uses);
        else if (output.inconclusive > 0)
            identity.counterexample = "roots were taken of numbers that have none";
        else if (identity.unclaimed == identity.elements)
            identity.counterexample = "nothing is visible anywhere";
    }

    void note(const FieldTrial& trial) {
        if (!met_) met_ = FieldUses{};
        met_->choices = met_->choices || trial.uses.choices || !trial.failure.empty();
        met_->compares = met_->compares || trial.uses.compares;
        met_->exponentials = met_->exponentials || trial.uses.exponentials;
        met_->roots = met_->roots || trial.uses.roots;
        met_->elements = met_->elements || trial.uses.elements;
    }

    const Diagram& plain_;
    const Diagram& derived_;
    const TileProgram& program_;
    const ProofOptions& options_;
    FieldNeeds needs_;
    MetOutcomes outcomes_;  ///< none met yet
    bool meets_boundaries_;
    std::optional<FieldUses> met_;
};

}  // namespace

std::vector<Identity> prove_identity(const Diagram& plain, const Diagram& derived,
                                     const TileProgram& program, const ProofOptions& options) {
    return IdentityProver(plain, derived, program, options).run();
}

std::string print(const FieldSettings& settings) {
    const char* choices = settings.choices == Choices::Gauges        ? "gauges"
                          : settings.choices == Choices::FreeMonoids ? "free monoids"
                                                                     : "cells";
    return std::string(choices) + (settings.strict ? ", atoms" : ", residues") +
           (settings.nested == Nested::Factored ? ", factored"
            : settings.nested == Nested::Whole  ? ", whole"
                                                : "");
}

}  // namespace napkin::proof
