// napkin_fuzz: mutated diagrams, derivations and machine files through the front end.
//
//   napkin_fuzz [--seed N] [--trials N | --seconds N] [--last FILE]
//
// Every input is made from its trial's number alone, so `--seed` with the number of a failing trial
// and `--trials 1` repeats it. `--last` keeps the input at hand, for crashes. An input that takes
// longer than a minute ends the program: nothing that a user types may take that long.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "diagrams/check.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/properties.h"

namespace napkin::test {
namespace {

struct Options {
    std::uint64_t seed = 1;
    std::uint64_t trials = 0;  ///< as many as the seconds allow where 0
    double seconds = 0;
    std::string last;
};

constexpr unsigned kLongest = 60;  // seconds for one input

constexpr const char* kSchedule =
    "[O]  # a region\nwarps = 8\nwarps_down = 4\nstages = { K = 3, V = 0x3 }\n"
    "leads.\"publish S''_left\" = 1\nstaged.O = false\n\n[\"S'\"]\nstages = 3\nfetched = true\n";
constexpr const char* kScheduled =
    "fuse all\nschedule warps = 8\nschedule stages of K = 3 in O  # deep\n"
    "schedule leads of fetch the first operands of S = 0 in O\nschedule staged of O = false\n";

std::vector<std::string> with(std::vector<std::string> texts, const char* text) {
    texts.emplace_back(text);
    return texts;
}

std::vector<Diagram> example_diagrams() {
    std::vector<Diagram> diagrams;
    SourceMap sources;
    for (const std::string& text : texts_below({NAPKIN_EXAMPLES_DIR}, ".ncd")) {
        Result<Checked> checked = load_diagram(sources, "example.ncd", text);
        invariant(checked.has_value(), "an example is not well formed");
        diagrams.push_back(std::move(checked->diagram));
    }
    return diagrams;
}

class Fuzzer {
public:
    explicit Fuzzer(Options options)
        : options_(std::move(options)),
          diagrams_(texts_below({NAPKIN_EXAMPLES_DIR, NAPKIN_GOLDEN_DIR}, ".ncd")),
          derivations_(with(texts_below({NAPKIN_EXAMPLES_DIR}, ".drv"), kScheduled)),
          schedules_({kSchedule}),
          machines_(texts_below({NAPKIN_MACHINES_DIR}, ".toml")),
          examples_(example_diagrams()) {}

    /// The exit code.
    int run() {
        const auto start = std::chrono::steady_clock::now();
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        std::uint64_t trial = options_.seed;
        while (options_.trials > 0 ? trial < options_.seed + options_.trials
                                   : seconds() < options_.seconds) {
            if (const std::string failure = one(trial); !failure.empty()) {
                std::cerr << "trial " << trial << ": " << failure << "\n--- input\n"
                          << input_ << "\n---\n";
                return EXIT_FAILURE;
            }
            ++trial;
        }
        std::cout << trial - options_.seed << " inputs in " << seconds() << " s\n";
        return EXIT_SUCCESS;
    }

private:
    std::string one(std::uint64_t trial) {
        Random random(trial);
        const std::int64_t which = random.below(10);
        const Mutator& mutator = which < 6              ? diagrams_
                                 : which < 9            ? derivations_
                                 : random.below(2) == 0 ? machines_
                                                        : schedules_;
        input_ = mutator.text(random.next());
        if (!options_.last.empty())
            std::ofstream(options_.last, std::ios::binary | std::ios::trunc) << input_;
        ::alarm(kLongest);
        try {
            if (which < 6) return diagram_failure(input_);
            if (&mutator == &machines_) return machine_failure(input_);
            const auto example = random.below(static_cast<std::int64_t>(examples_.size()));
            const Diagram& diagram = examples_[static_cast<std::size_t>(example)];
            return &mutator == &schedules_ ? schedule_failure(input_, diagram)
                                           : derivation_failure(input_, diagram);
        } catch (const std::exception& bug) {
            return bug.what();
        }
    }

    Options options_;
    Mutator diagrams_;
    Mutator derivations_;
    Mutator schedules_;
    Mutator machines_;
    std::vector<Diagram> examples_;
    std::string input_;
};

bool read(int count, char** words, Options& options) {
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        if (name == "--seed")
            options.seed = std::strtoull(words[i + 1], nullptr, 10);
        else if (name == "--trials")
            options.trials = std::strtoull(words[i + 1], nullptr, 10);
        else if (name == "--seconds")
            options.seconds = std::strtod(words[i + 1], nullptr);
        else if (name == "--last")
            options.last = words[i + 1];
        else
            return false;
    }
    return count % 2 == 1 && (options.trials > 0 || options.seconds > 0);
}

}  // namespace
}  // namespace napkin::test

int main(int count, char** words) {
    napkin::test::Options options;
    if (!napkin::test::read(count, words, options)) {
        std::cerr << "usage: napkin_fuzz [--seed N] [--trials N | --seconds N] [--last FILE]\n";
        return EXIT_FAILURE;
    }
    return napkin::test::Fuzzer(std::move(options)).run();
}
