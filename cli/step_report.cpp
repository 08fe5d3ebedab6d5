#include "cli/step_report.h"

#include <algorithm>

#include "cli/cost_text.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/reasons.h"
#include "cli/workbench.h"
#include "derive/accumulator_text.h"
#include "derive/derive_accumulator.h"
#include "derive/tile_program.h"
#include "perfmodel/cost_table.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/time.h"

namespace napkin::cli {
namespace {

/// Apart from what follows, however long.
std::string cell(const std::string& text, std::size_t width) {
    const std::string filled = padded(text, width);
    return filled.ends_with(' ') ? filled : filled + ' ';
}

std::string line(const std::string& name, const std::string& before, const std::string& now,
                 const std::string& change, const std::string& form) {
    constexpr std::size_t kFigure = 20;
    constexpr std::size_t kChange = 10;
    std::string text = "  " + padded(name, 6);
    if (!before.empty()) text += cell(before, kFigure - 1) + "-> ";
    text += cell(now, kFigure);
    if (!before.empty()) text += cell(change, kChange);
    text += form;
    while (text.back() == ' ') text.pop_back();
    return text + "\n";
}

/// Which of the times are of what is too large.
std::string unfit_text(const std::optional<Figures>& before, const Figures& now) {
    if (!before) return now.fits ? "" : "does not fit";
    if (before->fits) return now.fits ? "" : "the latter does not fit";
    return now.fits ? "the former does not fit" : "neither fits";
}

std::string time_line(const std::optional<Figures>& before, const Figures& now) {
    const auto interval = [](const Figures& figures) {
        return interval_text(figures.time_low, figures.time_high);
    };
    std::string form = now.binds;
    if (const std::string unfit = unfit_text(before, now); !unfit.empty())
        form += (form.empty() ? "" : "; ") + unfit;
    return line("time", before ? interval(*before) : "", interval(now),
                before ? change_text(before->time_high, now.time_high) : "", form);
}

std::string indented(const std::string& text, const std::string& indent) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        result += indent + text.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return result;
}

}  // namespace

Figures figures_of(const Cost& cost, const Machine& machine) {
    const auto form = [](const Amount& amount, const auto& of) {
        return amount.ideal ? text_beside_number(amount, of) : std::string();
    };
    Figures figures;
    if (const auto total = cost.transferred.find(Level::Block); total != cost.transferred.end()) {
        figures.transferred = static_cast<double>(total->second.bytes());
        figures.transferred_form = form(total->second, cost);
    }
    for (const RegionCost& region : cost.regions) {
        const Amount& memory = region.levels.at(Level::Block).memory;
        if (static_cast<double>(memory.bytes()) <= figures.memory) continue;
        figures.memory = static_cast<double>(memory.bytes());
        figures.memory_form = form(memory, region);
    }
    figures.fits =
        std::all_of(cost.regions.begin(), cost.regions.end(),
                    [&](const RegionCost& region) { return excesses_of(region, machine).empty(); });
    const TimeEstimate time = time_of(cost, machine);
    figures.time_low = time.low.value;
    figures.time_high = time.high.value;
    if (!time.is_known()) return figures;
    figures.binds = time.bound_by() + " binds";
    if (const std::string targets = targets_of(cost); !targets.empty())
        figures.binds += ", for " + targets;
    return figures;
}

std::string times_text(const Figures& figures) {
    return interval_text(figures.time_low, figures.time_high) +
           (figures.fits ? "" : " (too large)");
}

std::string figures_text(const std::optional<Figures>& before, const Figures& now) {
    const auto change = [&](double Figures::*figure) {
        return before ? change_text(*before.*figure, now.*figure) : std::string();
    };
    const auto earlier = [&](double Figures::*figure) {
        return before ? bytes_text(*before.*figure) : std::string();
    };
    return line("H", earlier(&Figures::transferred), bytes_text(now.transferred),
                change(&Figures::transferred), now.transferred_form) +
           line("M", earlier(&Figures::memory), bytes_text(now.memory), change(&Figures::memory),
                now.memory_form) +
           time_line(before, now);
}

std::string standing_text(const Diagram& plain, const State& state, const Cost& cost,
                          const Machine& machine) {
    const Costed costed{plain, state, cost, &machine};
    const Ratios ratios = ratios_of(costed);
    std::string text;
    if (ratios.to_bound) text += "  H is " + beside_bound(*ratios.to_bound);
    if (ratios.to_best)
        text += std::string(text.empty() ? "  H is " : ", ") + three_digits(*ratios.to_best) +
                " times the best of its kind, " + ratios.best->formula;
    if (!text.empty()) text += "\n";
    for (const Diagnostic& warning : capacity_warnings(costed).list)
        text += "  too large: " + warning.message + "\n";
    for (const RegionCost& region : cost.regions) {
        if (region.refused)
            text += "  no kernel of `" + region.name + "`: " + region.refused->reason + "\n";
        if (region.work && region.work->spills()) text += "  spills: " + spill_text(region) + "\n";
    }
    return text;
}

std::string checked_text(const Step& step) {
    std::string text;
    for (const std::string& condition : step.conditions) text += "  checked: " + condition + "\n";
    for (const std::string& hazard : step.hazards) text += "  unsafe: " + hazard + "\n";
    return text;
}

std::vector<std::optional<Accumulator>> accumulators_of(const State& state) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    std::vector<std::optional<Accumulator>> all(state.relabelling.regions.size());
    if (!program) return all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = program->regions[i].accumulator;
    return all;
}

std::string accumulator_text(const Diagram& diagram, const Accumulator& accumulator) {
    return indented(explain(diagram, accumulator), "  ");
}

std::string accumulators_text(const State& state) {
    std::string text;
    for (const std::optional<Accumulator>& accumulator : accumulators_of(state))
        if (accumulator) text += accumulator_text(state.diagram, *accumulator);
    return text;
}

std::vector<SplitAccumulator> split_accumulators(const Diagram& plain, const State& state) {
    std::vector<SplitAccumulator> parts;
    State before = initial_state(plain);
    for (const Step& step : state.steps) {
        if (step.command.rule == "split-stream") {
            Region streamed =
                before.relabelling
                    .regions[std::get<std::size_t>(find_region(before, step.command.in))];
            const AxisId axis = *find_axis(before.diagram, step.command.names.front());
            streamed.streams = {{axis, *step.command.size, Level::Block}};
            auto accumulator =
                derive_accumulator(before.diagram, streamed, {axis}, before.relabelling.wire_types);
            if (Accumulator* found = std::get_if<Accumulator>(&accumulator))
                parts.push_back({print(step.command), before.diagram, std::move(*found)});
        }
        before = std::get<State>(apply(before, step.command));
    }
    return parts;
}

Result<StepReport> report_step(const State* before, const Diagram& plain, const State& now,
                               const Machine& machine, CostOfSteps& cost_of) {
    std::optional<Cost> cost_before;
    std::optional<Figures> earlier;
    if (before != nullptr) {
        Result<Cost> cost = cost_of(*before);
        if (!cost) return cost.error();
        earlier = figures_of(*cost, machine);
        cost_before = std::move(*cost);
    }
    Result<Cost> cost = cost_of(now);
    if (!cost) return cost.error();
    const Figures figures = figures_of(*cost, machine);
    const std::string standing = standing_text(plain, now, *cost, machine);
    if (before != nullptr && before->steps.size() != now.steps.size() &&
        changes_nothing(*before, now))
        return StepReport{std::move(*cost), true, kNothingChanged};
    if (before != nullptr && before->steps.size() != now.steps.size() &&
        computes_the_same(*before, now)) {
        const std::string words =
            time_line(earlier, figures) + standing +
            "  what is computed stays as it is; `emit schedule` shows how it is carried out\n";
        return StepReport{std::move(*cost), true, words};
    }
    std::string reasons;
    if (before != nullptr)
        for (const std::string& reason : reasons_of(*before, now, *cost_before, *cost))
            reasons += "  " + reason + "\n";
    std::string words = figures_text(earlier, figures) + standing + reasons;
    const std::string accumulators = accumulators_text(now);
    if (before == nullptr || accumulators != accumulators_text(*before)) words += accumulators;
    return StepReport{std::move(*cost), false, std::move(words)};
}

}  // namespace napkin::cli
