// hypothesis: what follows from a claim and from its opposite, beside what was measured.
#include "cli/hypothesis_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/execution.h"
#include "cli/json.h"
#include "cli/machines.h"
#include "cli/messages.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/recorded.h"
#include "cli/session.h"
#include "cli/study_messages.h"
#include "cli/tile_reasons.h"
#include "codegen/run/execute.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/pipelines.h"

namespace napkin::cli {
namespace {

/// A time and how far its repetitions lie apart, as a part of it.
struct Measured {
    double value = 0;
    double spread = 0;
    std::string from;                  ///< a device or a file
    const RecordedRow* row = nullptr;  ///< of the file
};

enum class Verdict { Supported, Refuted, Undecided };
const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::Supported: return "supported";
    case Verdict::Refuted: return "refuted";
    case Verdict::Undecided: break;
    }
    return "undecided";
}

/// One workload: what each side says of it, and what is.
struct Finding {
    std::string name;
    double if_true = 0;
    double if_false = 0;
    Measured measured;
    Verdict verdict = Verdict::Undecided;
    std::string because;
};

std::string percent(double part) {
    const double shown = 100 * part;
    return (shown < 1000 ? three_digits(shown) : value_text(std::round(shown))) + " %";
}

/// How many parts larger the larger of two is.
double apart(double a, double b) {
    return std::max(a, b) / std::min(a, b) - 1;
}

/// Whose prediction is the nearer one, by ratios.
void judge(double threshold, Finding& finding) {
    const double told = std::max(threshold, finding.measured.spread);
    const double between = apart(finding.if_true, finding.if_false);
    const double to_true = apart(finding.if_true, finding.measured.value);
    const double to_false = apart(finding.if_false, finding.measured.value);
    const double nearer = std::min(to_true, to_false);
    if (between < told) {
        finding.because = "the predictions are " + percent(between) + " apart";
    } else if (nearer > told && std::max(to_true, to_false) > between) {
        finding.because = "it is " + percent(nearer) + " beyond both";
    } else if ((1 + std::max(to_true, to_false)) / (1 + nearer) - 1 < told) {
        finding.because = "it is between them";
    } else {
        const bool is_true = to_true < to_false;
        finding.verdict = is_true ? Verdict::Supported : Verdict::Refuted;
        finding.because = percent(nearer) + " from what follows if " + (is_true ? "true" : "false");
    }
}

/// Supported or refuted where all that decide agree.
Verdict verdict_of(const std::vector<Finding>& findings) {
    const auto some = [&](Verdict verdict) {
        return std::any_of(findings.begin(), findings.end(),
                           [&](const Finding& each) { return each.verdict == verdict; });
    };
    if (some(Verdict::Supported) == some(Verdict::Refuted)) return Verdict::Undecided;
    return some(Verdict::Supported) ? Verdict::Supported : Verdict::Refuted;
}

/// A kernel of the file, loaded.
struct Subject {
    Arguments arguments;
    Loaded loaded;
    std::vector<std::string> steps;
    const HypothesisKernel* kernel = nullptr;
};

class Study {
public:
    Study(Context& context, const Hypothesis& hypothesis)
        : context_(context), hypothesis_(hypothesis) {}

    /// What each side says of every workload, before anything is measured.
    Result<std::vector<Finding>> predict() {
        const Result<Machine> machine =
            take_timed_machine(context_.sources, hypothesis_.machine, "machine");
        if (!machine) return named_at(machine.error(), hypothesis_.machine_place);
        machine_ = *machine;
        std::vector<Finding> findings;
        for (const HypothesisWorkload& workload : hypothesis_.workloads) {
            Result<Finding> finding = predict(workload);
            if (!finding) return finding.error();
            findings.push_back(std::move(finding).value());
        }
        return findings;
    }

    /// Measures what was predicted, and judges.
    std::optional<Diagnostics> measure(std::vector<Finding>& findings) {
        for (const std::string& path : hypothesis_.recorded) {
            const Result<std::vector<RecordedRow>> rows = read_recorded(path);
            if (!rows) return named_at(rows.error(), hypothesis_.recorded_place);
            for (const RecordedRow& row : *rows)
                if (is_machine(row.device))
                    rows_.push_back(row);
                else
                    others_.insert(row.device.empty() ? "a device that is not named"
                                                      : "`" + row.device + "`");
        }
        for (std::size_t i = 0; i < findings.size(); ++i) {
            Result<Measured> measured = measure(hypothesis_.workloads[i]);
            if (!measured) return measured.error();
            findings[i].measured = std::move(measured).value();
            judge(hypothesis_.threshold, findings[i]);
        }
        return std::nullopt;
    }

private:
    /// Times, of a change those after it over those before, or utilisations.
    Result<Finding> predict(const HypothesisWorkload& workload) {
        const Result<Subject> before = load(workload.kernel);
        if (!before) return before.error();
        Finding finding;
        finding.name = workload.name;
        std::optional<Subject> after;
        if (workload.changed) {
            Result<Subject> changed = load(*workload.changed);
            if (!changed) return changed.error();
            after = std::move(changed).value();
        }
        for (const auto& [side, told] : {std::pair{&hypothesis_.if_true, &finding.if_true},
                                         std::pair{&hypothesis_.if_false, &finding.if_false}}) {
            const Result<double> time = predicted(*before, *side);
            if (!time) return time.error();
            *told = as_asked(*before, *time);
            if (!after) continue;
            const Result<double> later = predicted(*after, *side);
            if (!later) return later.error();
            *told = *later / *time;
        }
        return finding;
    }

    /// The same, measured.
    Result<Measured> measure(const HypothesisWorkload& workload) {
        const Result<Subject> before = load(workload.kernel);
        if (!before) return before.error();
        Result<Measured> measured = measure(*before, workload.name);
        if (!measured) return measured;
        if (!workload.changed) {
            measured->value = as_asked(*before, measured->value);
            return measured;
        }
        const Result<Subject> after = load(*workload.changed);
        if (!after) return after.error();
        const std::string name = workload.name + ", changed";
        const Result<Measured> later = measure(*after, name);
        if (!later) return later;
        if (later->row != nullptr && later->row == measured->row)
            return not_measured(workload.changed->place, name,
                                "the recorded row that stands for it is the one before the change: "
                                "it does not tell what is changed");
        measured->value = later->value / measured->value;
        measured->spread += later->spread;
        return measured;
    }

    /// A time as the quantity that is looked at.
    [[nodiscard]] double as_asked(const Subject& subject, double time) const {
        return hypothesis_.quantity == Hypothesis::Quantity::Time
                   ? time
                   : tensor_core_time(subject.loaded.state) / time;
    }

    Result<Subject> load(const HypothesisKernel& kernel) {
        if (!kernel.target.empty())
            if (const auto wrong = check_target(kernel.target, machine_.target))
                return named_at({{*wrong}}, kernel.place);
        Subject subject;
        subject.kernel = &kernel;
        subject.arguments = context_.arguments;
        subject.arguments.file = kernel.diagram;
        subject.arguments.target = kernel.target;
        subject.arguments.schedule = kernel.schedule;
        Result<std::vector<Command>> commands = commands_of(kernel);
        if (!commands) return commands.error();
        for (Command command : *commands) {
            command.comment.clear();
            subject.steps.push_back(print(command));
        }
        const Result<std::uint32_t> text = load_text(context_.sources, kernel.diagram);
        if (!text) return named_at(text.error(), kernel.place_of("diagram"));
        Settings settings(kernel.sizes.begin(), kernel.sizes.end());
        Diagnostics warnings;
        Result<Loaded> loaded =
            load_given(context_, *text, *commands, std::move(settings), warnings);
        if (!loaded)
            return named_at(loaded.error(),
                            kernel.place_of(kernel.steps.empty() ? "derivation" : "steps"));
        subject.loaded = std::move(loaded).value();
        return subject;
    }

    Result<std::vector<Command>> commands_of(const HypothesisKernel& kernel) {
        std::vector<Command> all;
        if (!kernel.derivation.empty()) {
            const Result<std::uint32_t> file = load_text(context_.sources, kernel.derivation);
            if (!file) return named_at(file.error(), kernel.place_of("derivation"));
            Result<std::vector<Command>> commands = parse_derivation(context_.sources, *file);
            if (!commands) return named_at(commands.error(), kernel.place_of("derivation"));
            all = std::move(commands).value();
        }
        for (const std::string& step : kernel.steps) {
            Result<Command> command = read_command(context_.sources, "steps", step);
            if (!command) return named_at(command.error(), kernel.place_of("steps"));
            all.push_back(std::move(command).value());
        }
        return all;
    }

    /// Seconds of all kernels, as a side has it.
    Result<double> predicted(const Subject& subject, const HypothesisSide& side) {
        Machine machine = machine_;
        if (!side.figures.empty()) {
            Result<Machine> other = take_timed_machine(
                context_.sources, with_figures(hypothesis_.machine, side.figures), "figures");
            if (!other) return named_at(other.error(), side.place);
            machine = std::move(other).value();
        }
        if (side.how != HypothesisSide::How::Model)
            return of_pipelines(subject.loaded.state, side, machine);
        const Context inner{subject.arguments, context_.sources};
        Result<Setup> setup = setup_of(inner);
        if (!setup) return named_at(setup.error(), subject.kernel->place);
        setup->machine = std::move(machine);
        const Result<Prediction> prediction = predict_or_say(subject.loaded.state, *setup);
        if (!prediction) return named_at(prediction.error(), subject.kernel->place);
        return prediction->time.middle().value;
    }

    static Result<double> of_pipelines(const State& state, const HypothesisSide& side,
                                       const Machine& machine) {
        const Result<Cost> cost = cost_of_state(state);
        if (!cost) return cost.error();
        std::vector<std::string> known;
        double total = 0;
        for (const RegionCost& region : cost->regions) {
            double sum = 0;
            double most = 0;
            for (const Pipeline& pipeline : pipelines_of(region, machine)) {
                known.push_back(pipeline.name);
                if (std::find(side.pipelines.begin(), side.pipelines.end(), pipeline.name) ==
                    side.pipelines.end())
                    continue;
                sum += pipeline.least / pipeline.rate;
                most = std::max(most, pipeline.least / pipeline.rate);
            }
            total += side.how == HypothesisSide::How::Added ? sum : most;
        }
        for (const std::string& name : side.pipelines)
            if (std::find(known.begin(), known.end(), name) == known.end())
                return unknown_pipeline(side.place, name, known);
        return total;
    }

    /// At the rates of the machine file.
    [[nodiscard]] double tensor_core_time(const State& state) const {
        const Result<Cost> cost = cost_of_state(state);
        if (!cost) return 0;
        double total = 0;
        for (const RegionCost& region : cost->regions)
            for (const Pipeline& pipeline : pipelines_of(region, machine_))
                if (pipeline.name.starts_with("tensor core"))
                    total += pipeline.least / pipeline.rate;
        return total;
    }

    /// On the GPU that is there, where it is the machine; else as it was recorded.
    Result<Measured> measure(const Subject& subject, const std::string& name) {
        const DeviceStatus device = device_status();
        if (device.missing.empty() && is_machine(device.name)) return measure_here(subject, name);
        const HypothesisKernel& kernel = *subject.kernel;
        if (!kernel.schedule.empty())
            return not_measured(kernel.place, name,
                                "there is no " + machine_.name +
                                    " here, and recorded rows do not tell of a `schedule`");
        const std::string row = kernel.row.empty() ? subject.loaded.plain.name : kernel.row;
        const std::string target = kernels_for(machine_, kernel.target).target;
        const RecordedRow* found =
            find_row(rows_, {subject.loaded.plain, row, target, kernel.sizes, subject.steps});
        if (found == nullptr)
            return not_measured(
                kernel.place, name,
                "there is no " + machine_.name + " here, and " + why_no_row(row, target));
        return Measured{found->seconds, 0, found->file, found};
    }

    /// Whether a GPU that its driver calls so is the machine.
    [[nodiscard]] bool is_machine(const std::string& device) const {
        return device.find(machine_.name) != std::string::npos;
    }

    [[nodiscard]] std::string why_no_row(const std::string& row, const std::string& target) const {
        if (!rows_.empty())
            return "no recorded row of `" + row + "` for " + target + " has these sizes and steps";
        if (others_.empty()) return "nothing is recorded";
        return "what is recorded is of " +
               joined(std::vector<std::string>(others_.begin(), others_.end()));
    }

    Result<Measured> measure_here(const Subject& subject, const std::string& name) {
        Context inner{subject.arguments, context_.sources};
        const Result<RunReport> report = execute_random(
            inner, subject.loaded,
            {.device = "cuda", .repetitions = kRepetitions, .check_seconds = kCheckSeconds});
        if (!report) return report.error();
        if (!report->ok()) return measured_wrong(subject.kernel->place, name);
        const Timing& whole = report->times.front();
        return Measured{whole.median, whole.most / whole.least - 1, report->device, nullptr};
    }

    Context& context_;
    const Hypothesis& hypothesis_;
    Machine machine_;
    std::vector<RecordedRow> rows_;
    std::set<std::string> others_;  ///< devices of rows that are not of the machine
};

std::string shown_value(const Hypothesis& hypothesis, const HypothesisWorkload& workload,
                        double value) {
    if (workload.changed) return "x " + three_digits(value);
    return hypothesis.quantity == Hypothesis::Quantity::Time ? time_text(value) : percent(value);
}

std::vector<std::string> where_measured(const std::vector<Finding>& findings) {
    std::vector<std::string> all;
    for (const Finding& finding : findings)
        if (std::find(all.begin(), all.end(), finding.measured.from) == all.end())
            all.push_back(finding.measured.from);
    return all;
}

/// The claim, and a row a workload; without what was measured where nothing could be.
std::string hypothesis_text(const Hypothesis& hypothesis, const std::vector<Finding>& findings,
                            bool measured) {
    std::size_t width = 8;
    for (const Finding& finding : findings) width = std::max(width, finding.name.size());
    std::string text = hypothesis.claim + "\n";
    text += "  if true   " + hypothesis.if_true.says + "\n";
    text += "  if false  " + hypothesis.if_false.says + "\n";
    text += "  on " + hypothesis.machine +
            (measured ? ", measured: " + joined(where_measured(findings)) : ", not measured") +
            "\n";
    text += "  " + padded("", width) + "  " + padded_left("if true", 9) +
            padded_left("if false", 10) + (measured ? padded_left("measured", 10) : "") + "\n";
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Finding& finding = findings[i];
        const HypothesisWorkload& workload = hypothesis.workloads[i];
        const auto cell = [&](double value, std::size_t columns) {
            return padded_left(shown_value(hypothesis, workload, value), columns);
        };
        text += "  " + padded(finding.name, width) + "  " + cell(finding.if_true, 9) +
                cell(finding.if_false, 10);
        if (measured)
            text += cell(finding.measured.value, 10) + "  " + name_of(finding.verdict) + ": " +
                    finding.because;
        text += "\n";
    }
    if (!measured) return text;
    return text + "verdict: " + name_of(verdict_of(findings)) + ", told apart from " +
           percent(hypothesis.threshold) + " on\n";
}

Json hypothesis_json(const Hypothesis& hypothesis, const std::vector<Finding>& findings) {
    const bool is_time = hypothesis.quantity == Hypothesis::Quantity::Time;
    Json json{{"ok", true},
              {"claim", hypothesis.claim},
              {"machine", hypothesis.machine},
              {"verdict", name_of(verdict_of(findings))},
              {"threshold", hypothesis.threshold},
              {"if_true", hypothesis.if_true.says},
              {"if_false", hypothesis.if_false.says},
              {"workloads", Json::array()}};
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Finding& finding = findings[i];
        const bool in_seconds = is_time && !hypothesis.workloads[i].changed;
        const double unit = in_seconds ? kMicroseconds : 1;
        json["workloads"].push_back(
            Json{{"name", finding.name},
                 {"unit", in_seconds                        ? "us"
                          : hypothesis.workloads[i].changed ? "ratio"
                                                            : "utilisation"},
                 {"if_true", finding.if_true * unit},
                 {"if_false", finding.if_false * unit},
                 {"measured", finding.measured.value * unit},
                 {"spread", finding.measured.spread},
                 {"from", finding.measured.from},
                 {"verdict", name_of(finding.verdict)},
                 {"because", finding.because}});
    }
    return json;
}

}  // namespace

Result<int> run_hypothesis(Context& context) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    const Result<Hypothesis> hypothesis = read_hypothesis(context.sources, *file);
    if (!hypothesis) return hypothesis.error();
    Study study(context, *hypothesis);
    Result<std::vector<Finding>> findings = study.predict();
    if (!findings) return findings.error();
    if (auto failure = study.measure(*findings)) {
        if (!context.arguments.json) print_data(hypothesis_text(*hypothesis, *findings, false));
        return std::move(*failure);
    }
    print_data(context.arguments.json ? text_of(hypothesis_json(*hypothesis, *findings))
                                      : hypothesis_text(*hypothesis, *findings, true));
    return kOk;
}

}  // namespace napkin::cli
