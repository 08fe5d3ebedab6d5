// Target sm_80 on diagrams and derivations that nobody wrote: what it takes is right in the
// emulator, what it does not take is refused with a reason.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
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

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
    const char* given = std::getenv(variable);
    return given != nullptr ? std::stoull(given) : usual;
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
            {"lone products in a loop", "multiply_on<"},
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

/// What is wrong with a trial; empty: nothing.
std::string try_seed(std::uint64_t seed, Met& met) {
    std::mt19937_64 random(seed);
    const bool around_products = random() % 2 == 0;
    test::RandomDiagramOptions options;
    options.largest_size = random() % 2 == 0 ? 7 : 21;
    options.most_statements = 3;
    options.selections = random() % 8 == 0;
    options.scans = random() % 8 == 0;
    const std::string text =
        around_products
            ? test::random_contraction(random)
            : with_short_types(test::random_diagram(static_cast<std::uint32_t>(random()), options),
                               random);
    const Diagram diagram = test::load(text);
    if (work_of(diagram) > kMostWork) return {};
    const State state = random() % 5 == 0 ? test::random_derivation(diagram, random, 8)
                        : around_products ? test::tiled_contraction(diagram, random)
                                          : tiled(diagram, random);
    std::string what = text;
    for (const Step& step : state.steps) what += print(step.command) + "\n";
    EmitOptions how;
    how.target = "sm_80";
    how.dynamic_sizes = random() % 3 == 0;
    how.free_strides = random() % 3 == 0;
    try {
        const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
        if (!program) {
            ++met.refused;
            const Diagnostic& why = program.error().list.front();
            if (std::getenv("NAPKIN_REASONS") != nullptr)
                MESSAGE(seed << ": " << why.message << " (" << why.help << ")");
            const bool known = why.code == "E0905" || why.code == "E0902";
            return known && !why.help.empty() ? "" : what + why.code + ": " + why.message;
        }
        ++met.run;
        for (const EmittedKernel& kernel : program->kernels) met.note(kernel.source);
        const std::string wrong = test::wrong_with(state, *program, seed);
        return wrong.empty() ? "" : what + wrong;
    } catch (const std::exception& error) {
        return what + error.what();
    }
}

}  // namespace

// NAPKIN_TRIALS lengthens the search for counterexamples, NAPKIN_SEED says where it starts, and
// NAPKIN_REASONS prints why derivations were refused.
TEST_CASE("sm_80: random derivations of random diagrams are right, or refused") {
    Met met;
    const std::uint64_t first = number_from("NAPKIN_SEED", 1);
    const std::uint64_t trials = number_from("NAPKIN_TRIALS", 24);
    for (std::uint64_t seed = first; seed < first + trials; ++seed) {
        const std::string wrong = try_seed(seed, met);
        CHECK_MESSAGE(wrong.empty(), "seed " << seed << " of\n" << wrong);
    }
    MESSAGE(met.text());
    if (std::getenv("NAPKIN_TRIALS") != nullptr) return;
    CHECK_GT(met.run, 0);
    for (const char* what : {"products", "rings of stages", "folds along rows"})
        CHECK_MESSAGE(met.kernels[what] > 0, what);
}

}  // namespace napkin
