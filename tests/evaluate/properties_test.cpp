// Properties of the reference evaluator and of the tolerances, on every example and on random
// diagrams.
#include <filesystem>
#include <set>

#include "diagrams/compare.h"
#include "examples.h"
#include "plain_evaluator.h"
#include "tests/support/random_diagram.h"

using napkin::ArrayId;
using napkin::Comparison;
using napkin::ElementType;
using napkin::Reference;
using napkin::Sizes;
using napkin::Tensor;
using napkin::test::PlainEvaluator;
using napkin::test::Run;

namespace {

/// Every example at sizes of at most 6.
std::vector<Run> small_examples() {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".ncd") files.insert(entry.path());
    std::vector<Run> runs;
    for (const std::filesystem::path& file : files) {
        const std::string text = napkin::test::read_text(file);
        const Run large(file.filename(), text, {}, 0.0, Run::kNoInputs);
        Sizes sizes;
        std::int64_t next = 0;
        for (std::uint32_t i = 0; i < large.diagram.axes.size(); ++i) {
            const napkin::Axis& axis = large.diagram.axes[i];
            if (napkin::has_own_size(large.diagram, napkin::AxisId{i}))
                sizes[axis.name] = axis.extent < 4 ? axis.extent : 4 + next++ % 3;
        }
        if (sizes.count("w") == 1) sizes["w"] = 3;
        if (sizes.count("k") == 1 && sizes.count("e") == 1) sizes["k"] = 2;
        runs.emplace_back(file.filename(), text, sizes);
    }
    return runs;
}

std::vector<Run> random_runs(std::uint32_t count) {
    std::vector<Run> runs;
    for (std::uint32_t seed = 1; seed <= count; ++seed)
        runs.emplace_back("random" + std::to_string(seed) + ".ncd",
                          napkin::test::random_diagram(seed), Sizes{}, 1.0, Run::kWarnings);
    return runs;
}

bool same(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    return std::abs(a - b) <= 1e-10 * (std::abs(a) + std::abs(b)) + 1e-12;
}

void check_same_meaning(Run& run) {
    run.evaluate();
    PlainEvaluator plain(run.diagram, run.inputs);
    for (const auto& [array, tensor] : run.outputs) {
        const Tensor expected = plain.array(array);
        INFO(print(run.diagram), "\noutput ", run.diagram[array].name);
        REQUIRE_EQ(tensor.extents, expected.extents);
        for (std::size_t at = 0; at < expected.values.size(); ++at)
            REQUIRE(same(tensor.values[at], expected.values[at]));
    }
}

struct Counts {
    std::int64_t outputs = 0;
    std::int64_t undecided = 0;
    std::int64_t compared = 0;
    std::int64_t caught = 0;
    std::int64_t mutants = 0;
};

/// A computation that rounds every step to f32 is within the tolerance; one element off by a
/// hundredth of the largest is not, wherever the tolerance says that it can be seen.
void check_tolerance(const Run& run, Counts& counts) {
    Reference reference(run.diagram, run.inputs, {});
    PlainEvaluator single(run.diagram, run.inputs, ElementType::F32);
    for (const ArrayId output : outputs_of(run.diagram)) {
        Tensor got = single.array(output);
        bool has_nan = false;
        double largest = 0;
        for (const double value : got.values) {
            has_nan = has_nan || std::isnan(value);
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        }
        if (has_nan) continue;
        const Comparison good = compare(reference, output, got);
        INFO(print(run.diagram), "\n", describe(good));
        CHECK(good.ok);
        ++counts.outputs;
        counts.undecided += good.undecided;
        counts.compared += good.compared;
        if (good.undecided > 0 || largest == 0) continue;
        got.values[got.values.size() / 2] += largest / 100 + 1;
        ++counts.mutants;
        if (!compare(reference, output, got).ok) ++counts.caught;
    }
}

}  // namespace

TEST_CASE("property: the evaluator agrees with plain recursion on every example") {
    for (Run& run : small_examples()) check_same_meaning(run);
}

TEST_CASE("property: the evaluator agrees with plain recursion on random diagrams") {
    for (Run& run : random_runs(150)) check_same_meaning(run);
}

TEST_CASE("property: f32 arithmetic is within the derived tolerance, a wrong element is not") {
    Counts examples;
    for (const Run& run : small_examples()) check_tolerance(run, examples);
    CHECK(examples.outputs >= 20);
    CHECK_EQ(examples.caught, examples.mutants);
    Counts random;
    for (const Run& run : random_runs(150)) check_tolerance(run, random);
    CHECK(random.outputs >= 100);
    CHECK(random.undecided * 10 < random.compared);
    CHECK(random.caught * 100 >= random.mutants * 95);
}
