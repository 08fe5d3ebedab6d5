// Target sm_80 on diagrams and derivations that nobody wrote: what it takes is right in the
// emulator, what it does not take is refused with a reason.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "diagrams/compare.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/support/random_contraction.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin {
namespace {

/// Elements that a diagram may visit: its reference is computed one by one.
constexpr double kMostWork = 3e5;

/// The points of all statements.
double work_of(const Diagram& diagram) {
    double work = 0;
    for (const Statement& statement : diagram.statements) {
        double points = 1;
        for (const AxisId axis : axes_of(diagram, statement))
            points *= static_cast<double>(diagram[axis].extent);
        work += points;
    }
    return work;
}

/// Floating inputs of a random diagram, most of them of a type that the tensor core multiplies.
std::string with_short_types(std::string text, std::mt19937_64& random) {
    const std::string type = "] : f32\n";
    for (std::size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + 1)) {
        const char* const kTypes[] = {"bf16", "bf16", "f16", "tf32", "f32"};
        const std::size_t line = text.rfind('\n', at) + 1;
        if (text.compare(line, 7, "  input") == 0)
            text.replace(at + 4, 3, kTypes[random() % std::size(kTypes)]);
    }
    return text;
}

/// Everything in one kernel, or some of it, axes in blocks and chunks of random sizes: what kernels
/// look like, where the shared generator wanders.
State tiled(const Diagram& diagram, std::mt19937_64& random) {
    State state = initial_state(diagram);
    const auto try_command = [&](Command command) {
        Outcome next = apply(state, command);
        if (State* made = std::get_if<State>(&next)) state = std::move(*made);
    };
    const auto command = [](const char* rule, std::vector<std::string> names) {
        Command made;
        made.rule = rule;
        made.names = std::move(names);
        return made;
    };
    if (random() % 4 != 0) try_command(command("fuse", {"all"}));
    for (const Axis& axis : diagram.axes)
        for (const Region& region : std::vector<Region>(state.relabelling.regions)) {
            if (random() % 3 == 0) continue;
            Command tile = command(random() % 2 == 0 ? "group" : "stream", {axis.name});
            const std::int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17};
            tile.size = kSizes[random() % std::size(kSizes)];
            tile.at = "l1";
            tile.in = region_name(state.diagram, region);
            try_command(tile);
        }
    return state;
}

/// What trials met, in kernels of target sm_80 that ran; they say nothing about what they never
/// met.
struct Met {
    int run = 0;
    int refused = 0;
    std::map<std::string, int> kernels;  ///< by what is in them

    void note(const std::string& source) {
        static const std::pair<const char*, const char*> kPieces[] = {
            {"products", "multiply"},
            {"operands fetched ahead", "multiply_head<"},
            {"operands published", "publish("},
            {"products of registers", "as_left<"},
            {"rings of stages", "_ahead"},
            {"chunks with and without tests", "kTested"},
            {"chunks that are skipped", "visible_"},
            {"folds along rows", "row_sum<"},
            {"folds of warps", "block_sum<"},
            {"copies in vectors", "copy_async<8>"},
            {"saves through shared memory", "save_matrix<"},
            {"rows in vectors", "save_rows("},
        };
        for (const auto& [what, text] : kPieces)
            kernels[what] += source.find(text) != std::string::npos ? 1 : 0;
        const std::size_t first = source.find("multiply<");
        if (first != std::string::npos && source.find("multiply<", first + 1) != std::string::npos)
            ++kernels["several products"];
    }
    [[nodiscard]] std::string text() const {
        std::string lines = fmt::format("{} run, {} refused", run, refused);
        for (const auto& [what, count] : kernels) lines += fmt::format("\n{:5} {}", count, what);
        return lines;
    }
};

struct Trial {
    std::uint64_t seed = 0;
    std::string text;  ///< diagram and derivation
    std::optional<State> state;
    std::optional<EmittedProgram> program;
    std::string wrong;  ///< what is already known to be
};

/// Whether a refusal is a clear one.
bool well_said(const Diagnostic& why) {
    return (why.code == "E0905" || why.code == "E0902") && !why.help.empty();
}

Trial draw(std::uint64_t seed, Met& met, bool layouts) {
    std::mt19937_64 random(seed);
    const bool around_products = random() % 2 == 0 && !layouts;
    test::RandomDiagramOptions options;
    options.largest_size = random() % 2 == 0 ? 7 : 21;
    options.most_statements = 3;
    options.selections = random() % 8 == 0;
    options.scans = random() % 8 == 0;
    options.layouts = layouts;
    Trial trial;
    trial.seed = seed;
    trial.text =
        around_products
            ? test::random_contraction(random)
            : with_short_types(test::random_diagram(static_cast<std::uint32_t>(random()), options),
                               random);
    const Diagram diagram = test::load(trial.text);
    if (work_of(diagram) > kMostWork) return trial;
    trial.state = random() % 5 == 0 ? test::random_derivation(diagram, random, 8)
                  : around_products ? test::tiled_contraction(diagram, random)
                                    : tiled(diagram, random);
    for (const Step& step : trial.state->steps) trial.text += print(step.command) + "\n";
    EmitOptions how;
    how.target = "sm_80";
    how.dynamic_sizes = random() % 3 == 0;
    how.free_strides = random() % 3 == 0;
    try {
        Result<EmittedProgram> program = emit(*trial.state, test::program_of(*trial.state), how);
        if (program) {
            ++met.run;
            for (const EmittedKernel& kernel : program->kernels) {
                met.note(kernel.source);
                if (const char* folder = std::getenv("NAPKIN_DUMP"))
                    std::ofstream(std::filesystem::path(folder) /
                                  fmt::format("trial{}_{}.cpp", seed, kernel.name))
                        << kernel.source;
            }
            trial.program = std::move(program).value();
            test::rename_kernels(*trial.program, seed);
            return trial;
        }
        ++met.refused;
        const Diagnostic& why = program.error().list.front();
        if (std::getenv("NAPKIN_REASONS") != nullptr)
            MESSAGE(seed << ": " << why.message << " (" << why.help << ")");
        if (!well_said(why)) trial.wrong = why.code + ": " + why.message;
    } catch (const std::exception& error) {
        trial.wrong = error.what();
    }
    return trial;
}

std::vector<EmittedKernel> kernels_of(const std::vector<Trial>& trials) {
    std::vector<EmittedKernel> kernels;
    for (const Trial& trial : trials)
        if (trial.program)
            kernels.insert(kernels.end(), trial.program->kernels.begin(),
                           trial.program->kernels.end());
    return kernels;
}

void judge(const Trial& trial) {
    std::string wrong = trial.wrong;
    try {
        if (trial.program) {
            wrong = test::wrong_with(*trial.state, *trial.program, trial.seed);
            if (wrong.empty())
                wrong = test::wrong_with_nan(*trial.state, *trial.program, trial.seed);
        }
    } catch (const std::exception& error) {
        wrong = error.what();
    }
    CHECK_MESSAGE(wrong.empty(), "seed " << trial.seed << " of\n" << trial.text << wrong);
}

/// Draws, compiles and judges trials of seeds that follow each other.
Met try_seeds(std::uint64_t first, std::uint64_t trials, bool layouts) {
    Met met;
    constexpr std::uint64_t kTogether = 32;
    for (std::uint64_t start = first; start < first + trials; start += kTogether) {
        std::vector<Trial> drawn;
        for (std::uint64_t seed = start; seed < std::min(start + kTogether, first + trials); ++seed)
            drawn.push_back(draw(seed, met, layouts));
        CHECK_EQ(test::compile_together(kernels_of(drawn)), "");
        for (const Trial& trial : drawn) judge(trial);
    }
    MESSAGE(met.text());
    return met;
}

}  // namespace

// NAPKIN_TRIALS lengthens the search for counterexamples, NAPKIN_SEED says where it starts, and
// NAPKIN_REASONS prints why derivations were refused; NAPKIN_DUMP names a folder for the kernels.
TEST_CASE("sm_80: random derivations of random diagrams are right, or refused") {
    const Met met = try_seeds(test::number_from("NAPKIN_SEED", 1),
                              test::number_from("NAPKIN_TRIALS", 64), false);
    if (std::getenv("NAPKIN_TRIALS") != nullptr) return;
    CHECK_GT(met.run, 0);
    for (const char* what : {"products", "rings of stages", "folds along rows"})
        CHECK_MESSAGE(met.kernels.at(what) > 0, what);
}

TEST_CASE("sm_80: random diagrams whose inputs lie in other orders are right, or refused") {
    const Met met = try_seeds(test::number_from("NAPKIN_SEED", 3000),
                              test::number_from("NAPKIN_TRIALS", 32), true);
    if (std::getenv("NAPKIN_TRIALS") == nullptr) CHECK_GT(met.run, 0);
}

}  // namespace napkin
