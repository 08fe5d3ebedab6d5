// Kernels of the simt target: every workload through derivation, emission and the emulator, against
// the reference.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/run/execute.h"
#include "tests/codegen/workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

std::filesystem::path scratch() {
    return std::filesystem::temp_directory_path() / "napkin-test-emulator";
}

/// The largest difference between outputs, relative to one plus the value.
double worst_difference(const Diagram& diagram, const Tensors& expected, const Tensors& actual) {
    double worst = 0;
    for (const ArrayId output : outputs_of(diagram)) {
        const Tensor& right = expected.at(output);
        const Tensor& found = actual.at(output);
        REQUIRE_EQ(right.values.size(), found.values.size());
        for (std::size_t i = 0; i < right.values.size(); ++i) {
            const double a = right.values[i];
            const double b = found.values[i];
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            const double difference = std::abs(a - b) / (1 + std::abs(a));
            worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
        }
    }
    return worst;
}

/// What rounding to the coarsest stored type may do to a value and, where it is stored between
/// kernels, to sums of what is made of it.
double tolerance(const EmittedProgram& program) {
    double unit = 1e-5;
    for (const DeviceArray& array : program.arrays)
        unit = std::max(unit, 3 * unit_roundoff(array.type));
    return unit * static_cast<double>(program.kernels.size());
}

void validate(const test::Workload& workload, const EmitOptions& options = {}) {
    INFO(workload.name);
    const bool is_text = workload.diagram.starts_with("diagram");
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const Diagram diagram = test::load(
        is_text ? workload.diagram : test::read_text(examples / (workload.diagram + ".ncd")),
        workload.sizes);
    const State state = test::derive(diagram, workload.derivation);
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    const Result<EmittedProgram> program = emit(state, *tiles, options);
    REQUIRE(program.has_value());
    if (const char* folder = std::getenv("NAPKIN_DUMP"); folder != nullptr)
        for (const EmittedKernel& kernel : program->kernels)
            std::ofstream(std::filesystem::path(folder) / (kernel.name + ".cu")) << kernel.source;
    const Tensors inputs = random_inputs(diagram, 3);
    const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
    REQUIRE(expected.has_value());
    ExecuteOptions how;
    how.emulator_cache = scratch();
    const Result<Execution> execution = execute_emulated(diagram, *program, inputs, how);
    REQUIRE(execution.has_value());
    CHECK_EQ(execution->canaries_broken, 0);
    CHECK_EQ(execution->never_written, 0);
    CHECK_LE(worst_difference(diagram, *expected, execution->outputs), tolerance(*program));
}

}  // namespace

TEST_CASE("simt: every workload agrees with the reference in the emulator") {
    const char* only = std::getenv("NAPKIN_ONLY");
    for (const test::Workload& workload : test::workloads()) {
        if (only != nullptr && workload.name.find(only) == std::string::npos) continue;
        try {
            validate(workload);
        } catch (const InternalError& error) {
            FAIL_CHECK(workload.name << ": " << error.what());
        }
    }
}

}  // namespace napkin
