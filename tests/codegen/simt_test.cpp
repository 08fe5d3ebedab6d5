// Kernels of the simt target: every workload through derivation, emission and the emulator, against
// the reference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/run/execute.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

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

Diagram diagram_of(const test::Workload& workload, const Sizes& sizes) {
    if (workload.diagram.find('{') != std::string::npos) return test::load(workload.diagram, sizes);
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    return test::load(test::read_text(examples / (workload.diagram + ".ncd")), sizes);
}

EmittedProgram emitted(const test::Workload& workload, const EmitOptions& options = {}) {
    const State state = test::derive(diagram_of(workload, workload.sizes), workload.derivation);
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    const Result<EmittedProgram> program = emit(state, *tiles, options);
    REQUIRE(program.has_value());
    if (const char* folder = std::getenv("NAPKIN_DUMP"); folder != nullptr)
        for (const EmittedKernel& kernel : program->kernels)
            std::ofstream(std::filesystem::path(folder) / (kernel.name + ".cu")) << kernel.source;
    return *program;
}

/// Runs a program on a diagram, whose sizes may differ from those it was emitted for.
void check_program(const Diagram& diagram, const EmittedProgram& program) {
    const Tensors inputs = random_inputs(diagram, 3);
    const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
    REQUIRE(expected.has_value());
    ExecuteOptions how;
    how.emulator_cache = test::emulator_folder();
    const Result<Execution> execution = execute_emulated(diagram, program, inputs, how);
    REQUIRE(execution.has_value());
    CHECK_EQ(execution->canaries_broken, 0);
    CHECK_EQ(execution->never_written, 0);
    CHECK_LE(worst_difference(diagram, *expected, execution->outputs), tolerance(program));
}

}  // namespace

TEST_CASE("simt: every kernel compiles with NVRTC") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    for (const test::Workload& workload : test::workloads()) {
        INFO(workload.name);
        for (const EmittedKernel& kernel : emitted(workload).kernels) {
            CompileOptions how;
            how.architecture = "sm_80";  // the oldest: the kernels are the same for all
            how.cache = test::kept_folder("kernels");
            const Result<CompiledKernel> compiled = compile(kernel, how);
            REQUIRE(compiled.has_value());
            CHECK_EQ(compiled->image, KernelImage::Cubin);
            CHECK_LE(compiled->spill_stores.value_or(1000), 64);
        }
    }
}

// Column by column: the compiler died of loops that began at the lane.
TEST_CASE("simt: sums of columns and the largest of them compile, and are right") {
    const bool compiles = test::provided("nvrtc", nvrtc_status().missing);
    for (const auto& [rows, columns] :
         {std::pair{196, 64}, {64, 64}, {33, 9}, {32, 128}, {400, 16}}) {
        INFO(rows, " x ", columns);
        const State state = test::derive(
            test::load(fmt::format("diagram sums {{ axis y = {}, c = {}, r = 2\n input X[y, c] : "
                                   "f32\n output S[c] = sum(y) X[y, c]\n"
                                   "output V[c, r], I[c, r] = topk[y](X[y, c]) }}",
                                   rows, columns)),
            "");
        EmitOptions options;
        options.target = "simt";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program);
        CHECK_EQ(test::wrong_with(state, *program, 1), "");
        CompileOptions how;
        how.architecture = "sm_90";
        how.cache = test::kept_folder("kernels");
        for (const EmittedKernel& kernel : program->kernels)
            if (compiles) CHECK(compile(kernel, how).has_value());
    }
}

TEST_CASE("simt: the example of the README fits an H200 and an A100") {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const test::Workload workload{
        "example", "attention", {}, test::read_text(examples / "attention.drv")};
    EmitOptions options;
    options.shared_memory = 166912;  // of one block on an A100
    const EmittedProgram program = emitted(workload, options);
    REQUIRE_EQ(program.kernels.size(), 1);
    test::check_golden("codegen/attention_O.cu", program.kernels.front().source);
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    const Result<CompiledKernel> compiled = compile(program.kernels.front());
    REQUIRE(compiled.has_value());
    CHECK_LE(compiled->registers.value_or(1000), 255);
    CHECK_EQ(compiled->spill_stores.value_or(1000), 0);
    MESSAGE(compiled->log);
}

TEST_CASE("simt: run-time sizes serve other sizes than the kernel was made for") {
    const auto runs_at = [](const std::string& name, const std::vector<Sizes>& others) {
        for (const test::Workload& workload : test::workloads()) {
            if (workload.name != name) continue;
            EmitOptions options;
            options.dynamic_sizes = true;
            const EmittedProgram program = emitted(workload, options);
            check_program(diagram_of(workload, workload.sizes), program);
            for (Sizes sizes : others) {
                for (const auto& [axis, size] : workload.sizes) sizes.emplace(axis, size);
                check_program(diagram_of(workload, sizes), program);
            }
        }
    };
    runs_at("attention, fused", {{{"q", 7}, {"x", 61}}, {{"q", 65}, {"x", 3}, {"h", 1}}});
    runs_at("attention, nested", {{{"q", 70}, {"x", 20}}, {{"q", 1}, {"x", 1}}});
    runs_at("attention, window", {{{"q", 33}}, {{"q", 9}}});
    runs_at("matmul, tiled", {{{"m", 3}, {"n", 100}, {"k", 17}}, {{"m", 16}, {"n", 32}, {"k", 8}}});
    runs_at("convolution", {{{"y", 5}, {"x", 13}}});
}

TEST_CASE("simt: infinities and NaN follow the reference's conventions") {
    for (const test::Workload& workload : test::workloads()) {
        if (workload.name != "attention, window" && workload.name != "matmul, tiled") continue;
        INFO(workload.name);
        const Diagram diagram = diagram_of(workload, workload.sizes);
        const EmittedProgram program = emitted(workload);
        Tensors inputs = random_inputs(diagram, 5);
        // An infinite score has no softmax to agree on, an infinite value does; a NaN that a mask
        // hides is only seen by who visits it.
        const bool attention = workload.diagram == "attention_window";
        const std::vector<double> odd = {INFINITY, -INFINITY, attention ? 0.0 : NAN, 0.0};
        for (auto& [array, tensor] : inputs)
            for (std::size_t i = attention && diagram[array].name != "V" ? tensor.values.size() : 3;
                 i < tensor.values.size(); i += 61)
                tensor.values[i] = odd[i / 61 % odd.size()];
        const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
        REQUIRE(expected.has_value());
        ExecuteOptions how;
        how.emulator_cache = test::emulator_folder();
        const Result<Execution> execution = execute_emulated(diagram, program, inputs, how);
        REQUIRE(execution.has_value());
        CHECK_LE(worst_difference(diagram, *expected, execution->outputs), tolerance(program));
    }
}

TEST_CASE("simt: a launch with sizes that the kernel does not serve is refused") {
    for (const test::Workload& workload : test::workloads()) {
        if (workload.name != "attention, fused") continue;
        Sizes sizes = workload.sizes;
        sizes["q"] = 41;
        const Diagram diagram = diagram_of(workload, sizes);
        const Result<Execution> execution =
            execute_emulated(diagram, emitted(workload), random_inputs(diagram, 1));
        REQUIRE_FALSE(execution.has_value());
        CHECK_EQ(execution.error().list.front().code, "E0918");
        CHECK_EQ(execution.error().list.front().message,
                 "kernel `attention_O` was made for `q = 40`, not 41");
    }
}

TEST_CASE("simt: a run-time size that tiles hold whole has a limit") {
    for (const test::Workload& workload : test::workloads()) {
        if (workload.name != "a run-time size that is held whole") continue;
        const EmittedProgram program = emitted(workload);
        check_program(diagram_of(workload, {{"n", 9}, {"d", 20}}), program);
        const Diagram diagram = diagram_of(workload, {{"d", 34}});
        const Result<Execution> execution =
            execute_emulated(diagram, program, random_inputs(diagram, 1));
        REQUIRE_FALSE(execution.has_value());
        CHECK_EQ(execution.error().list.front().message,
                 "kernel `held_Y` holds `d` whole, up to 33; 34 is more");
    }
}

TEST_CASE("simt: what cannot be emitted is refused with the reason") {
    const test::Workload& workload = test::workloads().front();
    const State state = test::derive(diagram_of(workload, workload.sizes), workload.derivation);
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    EmitOptions small;
    small.shared_memory = 4096;
    const Result<EmittedProgram> large = emit(state, *tiles, small);
    REQUIRE_FALSE(large.has_value());
    const Diagnostic& exceeded = large.error().list.front();
    CHECK_EQ(exceeded.code, "E0902");
    CHECK_NE(exceeded.message.find("of shared memory a block, and the machine has 4096"),
             std::string::npos);
    CHECK_NE(exceeded.help.find("_tile"), std::string::npos);
    EmitOptions other;
    other.target = "abacus";
    CHECK_EQ(emit(state, *tiles, other).error().list.front().code, "E0901");
    EmitOptions threads;
    threads.threads = 33;
    CHECK_EQ(emit(state, *tiles, threads).error().list.front().code, "E0903");
}

TEST_CASE("simt: every mutant of a printed kernel is caught") {
    for (const test::Workload& workload : test::workloads()) {
        if (workload.name != "attention, fused") continue;
        const Diagram diagram = diagram_of(workload, workload.sizes);
        const EmittedProgram program = emitted(workload);
        const Tensors inputs = random_inputs(diagram, 3);
        const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
        REQUIRE(expected.has_value());
        const std::string& source = program.kernels.front().source;
        const auto caught = [&](std::size_t at, const std::string& from, const std::string& to) {
            EmittedProgram mutant = program;
            mutant.kernels.front().source.replace(at, from.size(), to);
            ExecuteOptions how;
            how.emulator_cache = test::emulator_folder();
            try {
                const Result<Execution> execution = execute_emulated(diagram, mutant, inputs, how);
                return execution->never_written > 0 || execution->canaries_broken > 0 ||
                       !(worst_difference(diagram, *expected, execution->outputs) <=
                         tolerance(program));
            } catch (const InternalError&) {
                return true;
            }
        };
        const std::vector<std::pair<std::string, std::string>> mutations = {
            {"block_barrier();", ""},
            {"minimum(16, 40 - q0)", "16"},
            {"minimum(8, 52 - x0)", "8"},
            {"multiply(O_sum", "add(O_sum"},
            {"multiply(P_sum", "add(P_sum"},
            {"0.20412415f", "0.25f"},
            {"* K_stride_h", "* K_stride_b"},
            {"* O_stride_h", "* O_stride_b"},
            {"expf(", "guard("},
            {"x0 += 8", "x0 += 16"},
            {"outer_product(acc, a, b);", ""},
            {"copy_vector<8>(V_tile, ix * 26", "copy_vector<8>(V_tile, ix * 24"},
        };
        int planted = 0;
        for (const auto& [from, to] : mutations) {
            REQUIRE_NE(source.find(from), std::string::npos);
            for (std::size_t at = source.find(from); at != std::string::npos;
                 at = source.find(from, at + 1)) {
                // Every thread saves what it computed itself: the last barrier is not needed.
                if (from == "block_barrier();" && at == source.rfind(from)) continue;
                INFO("`", from, "` to `", to, "` at ", at);
                CHECK(caught(at, from, to));
                ++planted;
            }
        }
        CHECK_GE(planted, 12);
    }
}

TEST_CASE("simt: every workload agrees with the reference in the emulator") {
    const char* only = std::getenv("NAPKIN_ONLY");
    std::vector<test::Workload> chosen = test::workloads();
    if (only != nullptr)
        std::erase_if(chosen, [&](const test::Workload& workload) {
            return workload.name.find(only) == std::string::npos;
        });
    std::vector<EmittedKernel> kernels;
    for (const test::Workload& workload : chosen)
        for (EmittedKernel& kernel : emitted(workload).kernels)
            kernels.push_back(std::move(kernel));
    CHECK_EQ(test::compile_together(kernels), "");
    for (const test::Workload& workload : chosen) {
        try {
            INFO(workload.name);
            // A derivation may split axes, which changes the diagram.
            const State state =
                test::derive(diagram_of(workload, workload.sizes), workload.derivation);
            check_program(state.diagram, emitted(workload));
        } catch (const InternalError& error) {
            FAIL_CHECK(workload.name << ": " << error.what());
        }
    }
}

TEST_CASE("simt: an integer that buffers are filled with before a run may be a result") {
    const State state = test::derive(
        test::load("diagram all { axis m = 256\n input A[m] : i8\n output C[m] : i8 = 0 * A[m] + m "
                   "- 128\n output D[m] : i32 = 0 * A[m] - 1448498775 }"),
        "group m by 16 in C\ngroup m by 16 in D");
    EmitOptions options;
    options.target = "simt";
    Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    REQUIRE(program);
    CHECK_EQ(test::wrong_with(state, *program, 1), "");
    // One that nobody writes is found all the same.
    std::string& source = program->kernels.front().source;
    const std::size_t at = source.find("C[at] = ");
    REQUIRE_NE(at, std::string::npos);
    source.insert(at, "if (at != 41) ");
    CHECK_NE(test::wrong_with(state, *program, 1).find("never written"), std::string::npos);
}

// Beyond 2^24 f32 has not every integer.
TEST_CASE("simt: integers are compared and kept as integers, chunk by chunk and in parts too") {
    const std::pair<const char*, std::vector<const char*>> table[] = {
        {"output G[n] : i32 = argmax(m) (A[n, m] % 2 + 16777216)",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"output G[n] : i32 = argmin(m) (A[n, m] % 3 + 9007199254740000)",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"v[n, k], i[n, k] = topk[m](A[n, m] + 16777216)\n output V[n, k] : i64 = v[n, k]\n"
         "output T[n, k] : i32 = i[n, k]",
         {"fuse all", "fuse all\nstream m by 8", "fuse i, V\nfuse i, T\nsplit-stream m by 8"}},
        {"output M[n] : i64 = max(m) (A[n, m] + 16777216)",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"output M[n] : i64 = min(m) (A[n, m] - 16777216)",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"g[n] = argmax(m) X[n, m]\n B[n, m] = A[n, m] + m + 16777216\n"
         "output Y[n] : i64 = B[n, g[n]]",
         {"fuse all", "fuse all\nstream m by 8"}},
        // What an output of few bits holds is known after the last chunk.
        {"output S[n] : i8 = sum(m) (0 * A[n, m] + (if m < 8 then 100 else -60))",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"output S[n] : i32 = sum(m) X[n, m] * 0.3", {"", "stream m by 8", "split-stream m by 8"}},
        {"output S[n] : i32 = max(m) X[n, m] * X[n, m] * 9",
         {"", "stream m by 8", "split-stream m by 8"}},
        {"output v[n, k], i[n, k] : i8 = topk[m](A[n, m] * 0 + (if m < 8 then 200 else 150 + m))",
         {"", "stream m by 8", "split-stream m by 8"}},
    };
    for (const auto& [statements, derivations] : table)
        for (const char* derivation : derivations) {
            INFO(std::string(statements), "\n", std::string(derivation));
            const State state = test::derive(
                test::load(fmt::format("diagram whole {{ axis n = 5, m = 20, k = 2\n input A[n, m] "
                                       ": i8\n input X[n, m] : f32\n {} }}",
                                       statements)),
                derivation);
            EmitOptions options;
            options.target = "simt";
            const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            REQUIRE(program);
            CHECK_EQ(test::wrong_with(state, *program, 1), "");
        }
}

// `(float(int(W[t])) - zero)` would be a cast to the type of a function.
TEST_CASE("simt: numbers of 4 bits less a real zero point compile, and are right") {
    const State state = test::derive(
        test::load("diagram zeros { axis m = 9, n = 33, k = 40\n input A[m, k] : f32\n input W[n, "
                   "k] : i4\n input zero[n], gain[k] : f32\n output Y[m, n] : f32 = sum(k) A[m, k] "
                   "* ((W[n, k] - zero[n]) * gain[k]) }"),
        "group m by 9\nstream k by 8\nsplit-stream k by 16");
    EmitOptions options;
    options.target = "simt";
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    REQUIRE(program);
    CHECK_EQ(test::wrong_with(state, *program, 1), "");
}

}  // namespace napkin
