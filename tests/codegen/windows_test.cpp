// Elements beside each other and folds along several axes at once, on diagrams and derivations that
// nobody wrote (tests/support/random_window.h): what a target takes is right in the emulator.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <random>

#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/support/random_window.h"

namespace napkin {
namespace {

struct WindowTrial {
    std::uint64_t seed = 0;
    std::string text;  ///< diagram and derivation
    State state;
    std::optional<EmittedProgram> program;
};

WindowTrial draw_window(std::uint64_t seed, const char* target) {
    std::mt19937_64 random(seed);
    WindowTrial trial;
    trial.seed = seed;
    trial.text = test::random_window(random);
    trial.state = test::tiled_window(test::load(trial.text), random);
    for (const Step& step : trial.state.steps) trial.text += print(step.command) + "\n";
    EmitOptions how;
    how.target = target;
    Result<EmittedProgram> program = emit(trial.state, test::program_of(trial.state), how);
    if (program) {
        trial.program = std::move(program).value();
        test::rename_kernels(*trial.program, seed);
        return trial;
    }
    const Diagnostic& why = program.error().list.front();
    CHECK_MESSAGE(((why.code == "E0905" || why.code == "E0902") && !why.help.empty()),
                  trial.text << why.code << ": " << why.message);
    return trial;
}

/// How many kernels use what this is about.
struct WindowsMet {
    std::map<std::string, int> kernels;
    void note(const std::string& source) {
        static const std::pair<const char*, const char*> kPieces[] = {
            {"products of gathered tiles", "copy_pieces<"},
            {"rows of several axes", "row_pieces<"},
            {"sums of columns by a block", "combine_columns<"},
            {"vectors", "values_at<"},
        };
        for (const auto& [what, text] : kPieces)
            kernels[what] += source.find(text) != std::string::npos ? 1 : 0;
    }
};

}  // namespace

// NAPKIN_TRIALS lengthens the search for counterexamples, NAPKIN_SEED says where it starts.
TEST_CASE("windows and folds along several axes, at random, are right on every target") {
    const std::uint64_t first = test::number_from("NAPKIN_SEED", 1);
    const std::uint64_t trials = test::number_from("NAPKIN_TRIALS", 64);
    constexpr std::uint64_t kTogether = 32;
    WindowsMet met;
    for (const char* target : {"sm_80", "sm_90a", "simt"})
        for (std::uint64_t start = first; start < first + trials; start += kTogether) {
            std::vector<WindowTrial> drawn;
            std::vector<EmittedKernel> kernels;
            for (std::uint64_t seed = start; seed < std::min(start + kTogether, first + trials);
                 ++seed) {
                drawn.push_back(draw_window(seed, target));
                if (!drawn.back().program) continue;
                for (const EmittedKernel& kernel : drawn.back().program->kernels) {
                    met.note(kernel.source);
                    kernels.push_back(kernel);
                }
            }
            CHECK_EQ(test::compile_together(kernels), "");
            for (const WindowTrial& trial : drawn) {
                if (!trial.program) continue;
                INFO(std::string(target), ", seed ", trial.seed, " of\n", trial.text);
                CHECK_EQ(test::wrong_with(trial.state, *trial.program, trial.seed), "");
            }
        }
    if (trials < 64) return;
    for (const auto& [what, count] : met.kernels)
        CHECK_MESSAGE(count > 2, what << ": " << count << " kernels");
}

}  // namespace napkin
