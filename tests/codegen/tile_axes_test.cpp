// Several axes on one side of a product (schedule/tile_axes.h): on warp groups, whose bulk copies
// bring boxes of them, and at random. The table of target sm_80 is among its workloads.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

using test::TensorWorkload;

EmitOptions options(const std::string& target) {
    EmitOptions made;
    made.target = target;
    return made;
}

Result<EmittedProgram> emitted(const State& state, const std::string& target) {
    return emit(state, test::program_of(state), options(target));
}

const char* const kImage = "group y by 8\ngroup x by 8\ngroup c by 32\n";

/// Whether threads copy what a kernel multiplies, and the reason of the schedule for it.
struct OnGroups {
    TensorWorkload workload;
    std::string by_threads = {};
};

std::vector<OnGroups> on_groups() {
    const auto neighbourhood = [](Sizes sizes, const char* tiles) {
        sizes.insert({{"d", 16}, {"b", 1}, {"h", 2}});
        return TensorWorkload{"neighbourhood", "attention_neighbourhood", std::move(sizes),
                              std::string("fuse all\n") + tiles};
    };
    const Sizes image = {{"y", 9}, {"x", 13}, {"k", 40}, {"c", 40}, {"b", 1}};
    return {
        {neighbourhood({{"i", 11}, {"j", 19}, {"w", 5}},
                       "group i by 8\ngroup j by 16\nstream u by 8\nstream v by 16")},
        {neighbourhood({{"i", 9}, {"j", 16}, {"w", 4}},
                       "group i by 4\ngroup j by 16\nstream u by 2\nstream v by 8")},
        {neighbourhood({{"i", 8}, {"j", 11}, {"w", 3}},
                       "group i by 8\ngroup j by 8\nstream u by 2"),
         "a block holds 22 of `u_v`, and its tile 32"},
        {{"convolution", "convolution", image, std::string(kImage) + "stream k by 16"}},
        {{"convolution, a row of the filter at a time", "convolution", image,
          std::string(kImage) + "stream r by 1\nstream k by 16"}},
        {{"convolution, two rows of the filter at a time",
          "convolution",
          {{"y", 9}, {"x", 10}, {"k", 64}, {"c", 32}, {"b", 1}},
          std::string(kImage) + "stream r by 2"},
         "past the end of `r` there is more of it"},
        {{"convolution, panels of several rows", "convolution", image,
          std::string(kImage) + "stream r by 2\nstream k by 16"},
         "16 of `k` are not whole panels of 32"},
        {{"convolution, short panels", "convolution", image,
          std::string(kImage) + "stream r by 1\nstream k by 8"},
         "a block holds 24 of `s_k`, and its tile 32"},
        {{"convolution, of every other pixel",
          "diagram image { axis y = 9, x = 13, k = 16, c = 24, r = 3, s = 3\n"
          "axis height = y * 2 + r, width = x * 2 + s\n"
          "input X[height, width, k], W[c, r, s, k] : bf16\n"
          "output Y[y, x, c] : bf16 = sum(r, s, k) X[2 * y + r, 2 * x + s, k] * W[c, r, s, k] }",
          {},
          "group y by 8\ngroup x by 8\ngroup c by 24"},
         "its rows do not go along `width` one by one"},
        {{"rows in another order",
          "diagram rows { axis a = 10, b = 12, k = 24, c = 24\n input A[a, b, k], D[b, a, k] : "
          "bf16\n input B[k, c] : bf16\n C[a, b, c] = sum(k) A[a, b, k] * B[k, c]\n"
          "E[a, b, c] = sum(k) D[b, a, k] * B[k, c]\n"
          "output F[a, b, c] : bf16 = C[a, b, c] + E[a, b, c] }",
          {},
          "fuse all\ngroup a by 8\ngroup b by 8\nstream k by 16"},
         "its rows do not go along"},
    };
}

}  // namespace

TEST_CASE("sm_90a: tile axes come in boxes where these lie as they do, and say why not") {
    std::vector<EmittedKernel> kernels;
    std::vector<std::pair<State, EmittedProgram>> all;
    for (const OnGroups& each : on_groups()) {
        INFO(each.workload.name, "\n", each.workload.derivation);
        State state = test::state_of(each.workload);
        Result<EmittedProgram> program = emitted(state, "sm_90a");
        REQUIRE(program);
        const EmittedKernel& kernel = program->kernels.front();
        CHECK_EQ(kernel.target, "sm_90a");
        CHECK_EQ(kernel.source.find("copy_pieces<") != std::string::npos, !each.by_threads.empty());
        CHECK_MESSAGE(kernel.scheduled().find(each.by_threads) != std::string::npos,
                      kernel.scheduled());
        kernels.push_back(kernel);
        all.emplace_back(std::move(state), std::move(program).value());
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const auto& [state, program] : all)
        for (const std::uint64_t order : {1, 2})
            CHECK_EQ(test::wrong_with(state, program, {1, order}), "");
}

namespace {

std::int64_t from_to(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

/// A product of one or two axes on each side, in any order in memory, in random tiles.
TensorWorkload random_product(std::mt19937_64& random, bool groups) {
    const auto any = [&](std::int64_t least, std::int64_t most) {
        return from_to(random, least, most);
    };
    const auto axes = [&](const std::string& names) {
        return names.substr(0, static_cast<std::size_t>(any(1, 2)));
    };
    const std::string rows = axes("ab");
    const std::string columns = axes("ce");
    const std::string depth = rows.size() + columns.size() == 2 ? "kl" : axes("kl");
    const auto shuffled = [&](std::string names) {
        std::shuffle(names.begin(), names.end(), random);
        std::string list;
        for (const char name : names) list += (list.empty() ? "" : ", ") + std::string(1, name);
        return list;
    };
    TensorWorkload made;
    std::string sizes;
    for (const char name : rows + columns + depth) {
        // Half of them keep rows at multiples of 16 bytes.
        const std::int64_t size = random() % 2 == 0 ? 8 * any(1, 2) : any(1, 13);
        sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", name, size);
        const bool row = rows.find(name) != std::string::npos;
        const bool deep = depth.find(name) != std::string::npos;
        const std::int64_t kTiles[] = {2, 3, 4, 8, 16};
        const std::int64_t tile =
            row && groups ? (rows.size() == 2 ? 8 : 64) : kTiles[random() % std::size(kTiles)];
        if (!deep || random() % 3 != 0)
            made.derivation += fmt::format("{} {} by {}\n", deep ? "stream" : "group", name, tile);
    }
    const std::string left = shuffled(rows + depth);
    const std::string right = shuffled(columns + depth);
    const std::string result = shuffled(rows + columns);
    std::string summed;
    for (const char name : depth) summed += (summed.empty() ? "" : ", ") + std::string(1, name);
    const char* const kValues[] = {"A[{0}] * B[{1}]", "max(A[{0}], 0) * B[{1}]",
                                   "(if {2} + {3} < 9 then A[{0}] else 0) * B[{1}]"};
    const std::string value = fmt::format(fmt::runtime(kValues[random() % std::size(kValues)]),
                                          left, right, rows.back(), depth.front());
    made.diagram = fmt::format(
        "diagram random {{ axis {}\n input A[{}], B[{}] : {}\n"
        "output C[{}] : f32 = sum({}) {} }}",
        sizes, left, right, random() % 2 == 0 ? "bf16" : "f16", result, summed, value);
    return made;
}

/// Attention of pixels to those around them, in windows of random sizes and tiles.
TensorWorkload random_neighbourhood(std::mt19937_64& random, bool groups) {
    const auto any = [&](std::int64_t least, std::int64_t most) {
        return from_to(random, least, most);
    };
    const std::int64_t i = any(4, 11);
    const std::int64_t j = any(4, 13);
    TensorWorkload made;
    made.diagram = fmt::format(
        "diagram random {{ axis i = {}, j = {}, d = {}\n axis u = i, v = j\n"
        "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
        "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
        "M[i, j, u, v] = if neighbourhood[i, u]({}, {}, 1) and {}[j, v]({}, 1, {}) then "
        "S[i, j, u, v] else -inf\n P[i, j, u, v] = softmax[u, v](M[i, j, u, v])\n"
        "output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d] }}",
        i, j, 8 * any(1, 3), any(2, i), any(1, 2),
        random() % 2 == 0 ? "neighbourhood" : "causal_neighbourhood", any(2, j / 2), any(1, 2));
    made.derivation =
        fmt::format("fuse all\ngroup i by {}\ngroup j by {}\nstream u by {}\nstream v by {}",
                    groups ? 8 : any(2, 5), groups ? 8 : any(2, 8), any(1, 6), any(2, 9));
    return made;
}

}  // namespace

// NAPKIN_TRIALS asks for more, from NAPKIN_SEED on.
TEST_CASE("tile axes: random products and neighbourhoods in random tiles are right") {
    struct Trial {
        std::string text;
        State state;
        EmittedProgram program;
    };
    std::vector<Trial> drawn;
    std::vector<EmittedKernel> kernels;
    const auto number = [](const char* variable, std::uint64_t usual) {
        const char* given = std::getenv(variable);
        return given != nullptr ? std::stoull(given) : usual;
    };
    const std::uint64_t first = number("NAPKIN_SEED", 1);
    const std::uint64_t trials = number("NAPKIN_TRIALS", 24);
    std::size_t tiled = 0;
    for (std::uint64_t seed = first; seed < first + trials; ++seed) {
        std::mt19937_64 random(seed);
        const bool groups = random() % 3 == 0;
        const TensorWorkload workload = random() % 3 == 0 ? random_neighbourhood(random, groups)
                                                          : random_product(random, groups);
        const std::string text =
            fmt::format("seed {}: {}\n{}", seed, workload.diagram, workload.derivation);
        INFO(text);
        State state = test::state_of(workload);
        Result<EmittedProgram> program = emitted(state, groups ? "sm_90a" : "sm_80");
        if (!program) {
            CHECK_EQ(program.error().list.front().code, "E0905");
            continue;
        }
        for (EmittedKernel& kernel : program->kernels) {
            const std::string own = fmt::format("tiled{}_{}", seed, kernel.name);
            kernel.source.replace(kernel.source.find(kernel.name + "("), kernel.name.size(), own);
            kernel.name = own;
            for (const char* primitive : {"copy_pieces<", "load_gathered(", "save_pieces<"})
                tiled += kernel.source.find(primitive) != std::string::npos ? 1 : 0;
            kernels.push_back(kernel);
        }
        drawn.push_back({text, std::move(state), std::move(program).value()});
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        INFO(drawn[i].text);
        CHECK_EQ(test::wrong_with(drawn[i].state, drawn[i].program, i + 1), "");
    }
    CHECK_GT(tiled, trials / 2);
}

}  // namespace napkin
