// napkin_trials: random derivations of random diagrams. Each is executed and compared with the
// reference, proved, and its certificate verified.
//
//   napkin_trials [--seed N] [--trials N] [--prove-every N] [--result FILE]
//
// With --prove-every, the others are executed only.
// A trial is made from its number alone, so `--seed` with the number of a failing trial and
// `--trials 1` repeats it. A failing trial is made smaller and written to files; the others go on.
// What was reached is printed at the end, and every so often while a result is written to a file.
// A run of a thousand or more also fails where it leaves a rule or a monoid out.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <vector>

#include "diagrams/check.h"
#include "tests/support/random_diagram.h"
#include "tests/support/random_integers.h"
#include "tests/support/trial.h"
#include "tests/support/trial_diagrams.h"

namespace napkin::test {
namespace {

struct Options {
    std::uint32_t seed = 0;
    std::uint32_t trials = 3000;
    std::uint32_t prove_every = 1;
    std::string result;
};

constexpr int kSteps = 12;
constexpr std::int64_t kMostWork = 300;  // keeps a trial within some milliseconds
constexpr std::uint32_t kEnough = 1000;  // trials that have to reach everything
constexpr std::uint32_t kReportEvery = 1000;
constexpr std::size_t kMostFailures = 20;  // shown

/// Elements that the statements of a diagram visit together.
std::int64_t work_of(const std::string& text) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "trial.ncd", text, {});
    if (!checked) return 0;
    std::int64_t work = 0;
    for (const Statement& statement : checked->diagram.statements) {
        std::int64_t each = 1;
        for (const AxisId axis : axes_of(checked->diagram, statement))
            each *= checked->diagram[axis].extent;
        work += each;
    }
    return work;
}

/// One in sixteen is a diagram that someone wrote, two are of integers alone; of the others, axes
/// are as long as the work allows.
std::string diagram_of(std::uint32_t seed) {
    if (seed % 8 == 5) return random_integers(seed);
    if (seed % 16 == 0) return kTrialDiagrams[seed / 16 % kTrialDiagrams.size()];
    RandomDiagramOptions options;
    options.most_statements = 1 + static_cast<int>(seed % 4);
    for (options.largest_size = 7;; --options.largest_size) {
        std::string text = random_diagram(seed, options);
        if (options.largest_size <= 2 || work_of(text) <= kMostWork) return text;
    }
}

class Trials {
public:
    explicit Trials(Options options) : options_(std::move(options)) {}

    /// The exit code.
    int run() {
        for (std::uint32_t i = 0; i < options_.trials; ++i) {
            one(options_.seed + i);
            if ((i + 1) % kReportEvery == 0 && !options_.result.empty())
                std::ofstream(options_.result) << report(i + 1);
        }
        const std::string text = report(options_.trials);
        std::cout << text;
        if (!options_.result.empty()) std::ofstream(options_.result) << text;
        const bool reached = options_.trials < kEnough || coverage_.missing().empty();
        return failed_.empty() && reached ? EXIT_SUCCESS : EXIT_FAILURE;
    }

private:
    void one(std::uint32_t seed) {
        const Trial trial = random_trial(seed, kSteps, diagram_of(seed));
        steps_ += static_cast<long>(trial.steps.size());
        const Depth depth = seed % options_.prove_every == 0 ? Depth::Verify : Depth::Execute;
        const std::optional<std::string> failure = trial.steps.empty()
                                                       ? "the diagram is not well formed"
                                                       : failure_of(trial, depth, &coverage_);
        if (!failure) return;
        failed_.push_back(seed);
        std::cerr << "trial " << seed << ": " << *failure << "\n";
        if (failed_.size() <= kMostFailures) std::cerr << report_failure(trial, depth) << std::endl;
    }

    [[nodiscard]] std::string report(std::uint32_t done) const {
        std::ostringstream text;
        text << done << " derivations, seeds " << options_.seed << " to "
             << options_.seed + done - 1 << ", " << steps_ << " commands drawn, " << failed_.size()
             << " failed, "
             << std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                                 start_)
                    .count()
             << " s\n"
             << coverage_.text();
        for (const std::string& name : coverage_.missing())
            text << "never reached: " << name << "\n";
        for (const std::uint32_t seed : failed_) text << "failed: seed " << seed << "\n";
        return text.str();
    }

    Options options_;
    Coverage coverage_;
    long steps_ = 0;
    std::vector<std::uint32_t> failed_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool read(int count, char** words, Options& options) {
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        if (name == "--seed")
            options.seed = static_cast<std::uint32_t>(std::strtoul(words[i + 1], nullptr, 10));
        else if (name == "--trials")
            options.trials = static_cast<std::uint32_t>(std::strtoul(words[i + 1], nullptr, 10));
        else if (name == "--prove-every")
            options.prove_every =
                static_cast<std::uint32_t>(std::strtoul(words[i + 1], nullptr, 10));
        else if (name == "--result")
            options.result = words[i + 1];
        else
            return false;
    }
    return count % 2 == 1 && options.trials > 0 && options.prove_every > 0;
}

}  // namespace
}  // namespace napkin::test

int main(int count, char** words) {
    napkin::test::Options options;
    if (!napkin::test::read(count, words, options)) {
        std::cerr
            << "usage: napkin_trials [--seed N] [--trials N] [--prove-every N] [--result FILE]\n";
        return EXIT_FAILURE;
    }
    return napkin::test::Trials(std::move(options)).run();
}
