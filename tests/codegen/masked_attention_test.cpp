// The derivations under bench/masks/, which bench/masks.py times: right in the emulator at small
// sizes that reach every kind of border, and nothing spilled at the sizes that are measured.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "codegen/emit.h"
#include "codegen/run/compile.h"
#include "codegen/run/execute.h"
#include "perfmodel/tile_grid.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

struct Measured {
    std::string name;
    std::vector<Sizes> small;
    std::vector<Sizes> real;
};

std::vector<Measured> all_measured() {
    return {
        {"neighbourhood_1d",
         {{{"q", 500}, {"w", 130}, {"s", 1}, {"d", 16}, {"h", 1}},
          {{"q", 384}, {"w", 128}, {"s", 32}, {"d", 16}, {"h", 1}}},
         {{{"s", 1}}, {{"s", 256}}, {{"s", 2048}}}},
        {"neighbourhood_2d",
         {{{"i", 20}, {"j", 23}, {"w", 7}, {"s", 1}, {"d", 16}, {"h", 1}},
          {{"i", 32}, {"j", 32}, {"w", 16}, {"s", 16}, {"d", 16}, {"h", 1}}},
         {{{"s", 1}}, {{"s", 16}}}},
        {"neighbourhood_3d",
         {{{"t", 6}, {"i", 9}, {"j", 13}, {"wt", 4}, {"w", 6}, {"d", 16}, {"h", 1}}},
         {{}}},
        {"strided_heads", {{{"q", 1300}, {"d", 16}, {"h", 2}}}, {{}, {{"q", 65536}, {"h", 8}}}},
    };
}

State state_of(const std::string& name, const std::string& target, const Sizes& sizes) {
    const std::filesystem::path folder = std::filesystem::path(NAPKIN_BENCHMARKS_DIR) / "../masks";
    return test::derive(test::load(test::read_text(folder / (name + ".ncd")), sizes),
                        test::read_text(folder / target / (name + ".drv")));
}

EmittedProgram emitted_on(const State& state, const std::string& target) {
    EmitOptions how;
    how.target = target;
    Result<EmittedProgram> program = emit(state, test::program_of(state), how);
    REQUIRE(program);
    CHECK_EQ(program->kernels.front().target, target);
    return std::move(program).value();
}

/// Attention of one axis under a mask.
State masked(const std::string& mask, std::int64_t length, int heads, const std::string& tiles) {
    return test::derive(
        test::load(fmt::format(
            "diagram masked {{ axis q = {}, x = q, d = 16\n"
            "input Q[q, d], K[x, d], V[x, d] : bf16\n"
            "S[q, x] = sum(d) Q[q, d] * K[x, d]\n M[q, x] = if {} then S[q, x] else -inf\n"
            "P[q, x] = softmax[x](M[q, x])\n"
            "output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = {} }}",
            length, mask, heads)),
        "fuse all\n" + tiles);
}

test::Emission made(const std::string& name, State state, const std::string& target) {
    EmittedProgram program = emitted_on(state, target);
    return {name + " for " + target, std::move(state), std::move(program)};
}

/// What a program computes, of random inputs that `arrange` changes.
std::vector<double> results_of(const State& state, const EmittedProgram& program,
                               const std::function<void(const Array&, Tensor&)>& arrange) {
    Tensors inputs = random_inputs(state.diagram, 1);
    for (auto& [id, tensor] : inputs) arrange(state.diagram[id], tensor);
    ExecuteOptions how;
    how.emulator_cache = test::emulator_folder();
    const Result<Execution> run = execute_emulated(state.diagram, program, inputs, how);
    REQUIRE(run);
    return run->outputs.begin()->second.values;
}

}  // namespace

TEST_CASE("full chunks that are taken for partial ones change no bit") {
    std::vector<test::Emission> plain;
    std::vector<test::Emission> tested;
    for (const std::string target : {"sm_90a", "sm_80"})
        for (const std::string mask :
             {"neighbourhood[q, x](70, 3, 1)", "strided_heads[q, x, h](2, 2, 3, 0, 16, 0)",
              "x < 16 or sliding[q, x](80, 0)"}) {
            plain.push_back(
                made(mask, masked(mask, 256, 2, "group q by 64\nstream x by 16"), target));
            INFO(plain.back().name);
            std::string& source = tested.emplace_back(plain.back()).program.kernels.front().source;
            // Asked of every chunk, or listed with it.
            const std::string listed = "x_listed_2 += 1;";
            const std::size_t whole = source.find("const auto whole_x = ");
            const std::size_t taken = source.find(listed);
            REQUIRE_NE((whole == std::string::npos), (taken == std::string::npos));
            if (whole != std::string::npos)
                source.insert(source.find("return ", whole) + std::strlen("return "), "false && ");
            else
                source.insert(taken + listed.size(), "x_whole = false;");
        }
    CHECK_EQ(test::compile_together(plain), "");
    CHECK_EQ(test::compile_together(tested), "");
    const auto as_it_is = [](const Array&, Tensor&) {};
    for (std::size_t i = 0; i < plain.size(); ++i) {
        INFO(plain[i].name);
        CHECK_EQ(results_of(plain[i].state, plain[i].program, as_it_is),
                 results_of(plain[i].state, tested[i].program, as_it_is));
    }
}

TEST_CASE("the weights of every row add up to 1") {
    std::vector<test::Emission> all;
    for (const std::string target : {"sm_90a", "sm_80"})
        for (const std::string mask :
             {"neighbourhood[q, x](8, 3, 5)", "causal_neighbourhood[q, x](8, 3, 5)",
              "strided_heads[q, x, h](4, 1, 4, 0, 2, 0)", "global_tokens[q, x](3)"})
            all.push_back(
                made(mask, masked(mask, 125, 4, "group q by 128\nstream x by 16"), target));
    CHECK_EQ(test::compile_together(all), "");
    const auto ones = [](const Array& array, Tensor& tensor) {
        if (array.name == "V") std::fill(tensor.values.begin(), tensor.values.end(), 1.0);
    };
    for (const test::Emission& each : all) {
        INFO(each.name);
        // Each weight is rounded to 8 bits, and so is the sum.
        for (const double sum : results_of(each.state, each.program, ones))
            CHECK_LE(std::abs(sum - 1), 2.0 / 256);
    }
}

TEST_CASE("tiles that are longer than the axis, and residue classes of it, see no padding") {
    std::vector<test::Emission> all;
    for (const std::string target : {"sm_90a", "sm_80"})
        for (const std::int64_t chunk : {16, 128})
            for (const std::string mask :
                 {"neighbourhood[q, x](8, 3, 5)", "neighbourhood[q, x](25, 4, 5)",
                  "causal_neighbourhood[q, x](25, 4, 5)", "dilated_window[q, x](8, 5)"})
                all.push_back(
                    made(mask,
                         masked(mask, 125, 1, fmt::format("group q by 128\nstream x by {}", chunk)),
                         target));
    CHECK_EQ(test::compile_together(all), "");
    for (const test::Emission& each : all) {
        INFO(each.name);
        CHECK_EQ(test::wrong_with(each.state, each.program, 1), "");
        for (const double value :
             results_of(each.state, each.program, [](const Array&, Tensor&) {}))
            CHECK(std::isfinite(value));
    }
}

TEST_CASE("kernels visit the tiles of several axes that are counted, and no other") {
    // In copy b every value of tile b of the keys is no number, which reaches whoever visits it.
    const State state = test::derive(
        test::load("diagram image { axis i = 16, j = 16, d = 16\n axis u = i, v = j\n"
                   "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
                   "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
                   "M[i, j, u, v] = if neighbourhood[i, u](3, 1, 1) and neighbourhood[j, v](4, 2, "
                   "1) or (u < 4 and v < 4) then S[i, j, u, v] else -inf\n"
                   "P[i, j, u, v] = softmax[u, v](M[i, j, u, v])\n"
                   "output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d]\n"
                   "weave b = 16 }"),
        "fuse all\ngroup i by 8\ngroup j by 8\nstream u by 4\nstream v by 4");
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    REQUIRE(reports);
    const auto grid = tile_grid(state.diagram, reports->front(), reports->front().tilings, 0);
    REQUIRE(grid);
    const auto one_tile_each = [](const Array& array, Tensor& tensor) {
        if (array.name != "V") return;
        for (std::size_t at = 0; at < tensor.values.size(); ++at) {
            const std::size_t u = at / 16 / 16 % 16;
            const std::size_t v = at / 16 % 16;
            const bool inside = u / 4 * 4 + v / 4 == at / (16 * 16 * 16);
            tensor.values[at] = inside ? std::nan("") : 0;
        }
    };
    for (const std::string target : {"sm_90a", "sm_80"}) {
        CAPTURE(target);
        const std::vector<double> results =
            results_of(state, emitted_on(state, target), one_tile_each);
        for (std::size_t at = 0; at < results.size(); at += 16) {
            const auto keys = static_cast<std::int64_t>(at / (16 * 16 * 16));
            const auto queries =
                static_cast<std::int64_t>(at / 16 / 16 % 16 / 8 * 2 + at / 16 % 16 / 8);
            CHECK(std::isnan(results[at]) == (grid->at(queries, keys) != index::TileState::Empty));
        }
    }
}

TEST_CASE("attention under masks is right in the emulator, as it is measured") {
    std::vector<test::Emission> all;
    for (const Measured& measured : all_measured())
        for (const std::string target : {"sm_90a", "sm_80"})
            for (const Sizes& sizes : measured.small)
                all.push_back(made(measured.name, state_of(measured.name, target, sizes), target));
    CHECK_EQ(test::compile_together(all), "");
    for (const test::Emission& each : all) {
        INFO(each.name);
        CHECK_EQ(test::wrong_with(each.state, each.program, 1), "");
    }
}

TEST_CASE("attention under masks spills next to nothing at the sizes that are measured") {
    constexpr std::int64_t kMostBytes = 64;
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    for (const Measured& measured : all_measured())
        for (const std::string target : {"sm_90a", "sm_80"})
            for (const Sizes& sizes : measured.real) {
                const State state = state_of(measured.name, target, sizes);
                INFO(measured.name, " for ", target);
                CompileOptions how;
                how.architecture = "sm_90";
                const Result<CompiledKernel> compiled =
                    compile(emitted_on(state, target).kernels.front(), how);
                REQUIRE(compiled);
                REQUIRE(compiled->spill_stores);
                CHECK_LE(*compiled->spill_stores, kMostBytes);
                CHECK_EQ(compiled->log.find("C75"), std::string::npos);
            }
}

}  // namespace napkin
