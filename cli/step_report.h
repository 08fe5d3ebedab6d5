// What an interactive derivation says after a step: figures, change, reasons, accumulator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/picture.h"
#include "derive/derive_accumulator.h"
#include "derive/state.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin::cli {

/// The figures that steps are compared by.
struct Figures {
    double transferred = 0;  ///< H at block level, bytes
    double memory = 0;       ///< M, bytes: the most of any region
    double time_low = 0;     ///< seconds
    double time_high = 0;
    bool fits = true;  ///< else times are of what a machine with room for it would take
    std::string transferred_form;
    std::string memory_form;
    std::string binds;
};
[[nodiscard]] Figures figures_of(const Cost& cost, const Machine& machine);

/// The times, and that they are of what is too large, where it is.
[[nodiscard]] std::string times_text(const Figures& figures);
/// Three lines, `H`, `M` and `time`, beside the earlier ones where there are any.
[[nodiscard]] std::string figures_text(const std::optional<Figures>& before, const Figures& now);
/// Ratios to bound and best, capacities that are exceeded.
[[nodiscard]] std::string standing_text(const Diagram& plain, const State& state, const Cost& cost,
                                        const Machine& machine);
/// The side conditions of a step, one a line, and what is unsafe.
[[nodiscard]] std::string checked_text(const Step& step);
/// The accumulator of every region, where it is streamed.
[[nodiscard]] std::vector<std::optional<Accumulator>> accumulators_of(const State& state);
/// One in formulas.
[[nodiscard]] std::string accumulator_text(const Diagram& diagram, const Accumulator& accumulator);
/// The accumulators of all streamed regions, in formulas; empty where nothing is streamed.
[[nodiscard]] std::string accumulators_text(const State& state);
/// An accumulator that `split-stream` took apart: each part folds by it, and its combination is in
/// the diagram.
struct SplitAccumulator {
    std::string command;
    Diagram diagram;  ///< before that command
    Accumulator accumulator;
};
[[nodiscard]] std::vector<SplitAccumulator> split_accumulators(const Diagram& plain,
                                                               const State& state);
/// What there is to say after a step, beside the picture.
struct StepReport {
    Cost cost;
    bool same_picture = false;  ///< nothing but the schedule changed
    std::string words;
};
/// After a step from `before` (null at the start), in a derivation from the plain diagram.
[[nodiscard]] Result<StepReport> report_step(const State* before, const Diagram& plain,
                                             const State& now, const Machine& machine,
                                             CostOfSteps& cost_of);

}  // namespace napkin::cli
