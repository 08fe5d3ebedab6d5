// Target sm_90a: workloads of warp groups through derivation, emission and the emulator, within the
// derived tolerance.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <random>

#include "tests/codegen/judge.h"
#include "tests/codegen/sm90_states.h"

namespace napkin {
namespace {

using test::group_attention;
using test::group_options;
using test::group_product;
using test::group_prologue;
using test::group_workloads;
using test::TensorWorkload;
using test::with_tiles;

}  // namespace

TEST_CASE("sm_90a: warp groups' kernels are right, whatever number of tiles a block takes") {
    struct Made {
        std::string name;
        State state;
        EmittedProgram plain;
        EmittedProgram several;
    };
    std::vector<Made> all;
    std::vector<EmittedKernel> kernels;
    for (const TensorWorkload& workload : group_workloads()) {
        INFO(workload.name);
        State state = test::state_of(workload);
        Result<EmittedProgram> plain = emit(state, test::program_of(state), group_options());
        Result<EmittedProgram> several = with_tiles(state, true);
        for (const Result<EmittedProgram>* program : {&plain, &several}) {
            REQUIRE(*program);
            const std::vector<EmittedKernel>& made = (*program)->kernels;
            // What adds up the parts of a split sum has no product.
            CHECK_EQ(made.front().target, "sm_90a");
            kernels.insert(kernels.end(), made.begin(), made.end());
        }
        for (const EmittedKernel& kernel : several->kernels)
            CHECK_EQ(kernel.persistent, kernel.target == "sm_90a");
        all.push_back({workload.name, std::move(state), *std::move(plain), *std::move(several)});
    }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Made& made : all) {
        INFO(made.name);
        for (const std::uint64_t order : {1, 2})
            CHECK_EQ(test::wrong_with(made.state, made.plain, {1, order}), "");
        // One to four blocks, and as many as there are tiles.
        for (const std::uint64_t order : {4, 1, 2, 3}) {
            INFO("order ", order);
            CHECK_EQ(test::wrong_with(made.state, made.several, {1, order}), "");
        }
    }
}

TEST_CASE("sm_90a: what a tile leaves wrong for the next one is found") {
    const TensorWorkload workload = group_attention("attention", "S[q, x]", "", {{"x", 200}},
                                                    "fuse all\ngroup q by 64\nstream x by 80");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> right = with_tiles(state, true);
    REQUIRE(right);
    REQUIRE_EQ(test::wrong_with(state, *right, 1), "");
    const auto found = [&](const std::string& from, const std::string& to) {
        EmittedProgram wrong = *right;
        std::string& source = wrong.kernels.front().source;
        const std::size_t at = source.rfind(from);
        REQUIRE_NE(at, std::string::npos);
        source.replace(at, from.size(), to);
        return test::wrong_with(state, wrong, 1);
    };
    // Three chunks of a ring of two slots: the next tile begins in the other one.
    CHECK_NE(found("tiles_before_2 += 1;", "tiles_before_2 += 1; chunk_of_x_2 = 0;"), "");
    CHECK_NE(found("tiles_before_2 += 1;", ""), "");
    CHECK_NE(found("tiles_before += 1;", ""), "");
    CHECK_NE(found("Q_ring.release(tiles_before_2);", ""), "");
    CHECK_NE(found("K_ring.release(chunk_of_x_2 + 1);", ""), "");
    CHECK_NE(found("tile_2 += int(gridDim.x)", "tile_2 += 1"), "");
}

TEST_CASE("sm_90a: copies and products take the tiles of a causal mask in the same order") {
    const TensorWorkload workload =
        group_attention("attention", "if x <= q then S[q, x] else -inf", "",
                        {{"q", 500}, {"x", 500}}, "fuse all\ngroup q by 64\nstream x by 80");
    const State state = test::state_of(workload);
    const Result<EmittedProgram> right = with_tiles(state, true);
    REQUIRE(right);
    REQUIRE_EQ(test::wrong_with(state, *right, 1), "");
    EmittedProgram wrong = *right;
    std::string& source = wrong.kernels.front().source;
    const std::string turn = "tile_2 = next_there_and_back(tile_2)";
    const std::size_t at = source.find(turn);
    REQUIRE_NE(at, std::string::npos);
    source.replace(at, turn.size(), "tile_2 += int(gridDim.x)");
    CHECK_NE(test::wrong_with(state, wrong, 1), "");
}

TEST_CASE("sm_90a: of a causal mask, any number of heads go together") {
    for (const char* band : {"1", "3", "64"}) {
        CAPTURE(std::string(band));
        const std::string text = std::string("fuse all\ngroup q by 64\nstream x by 80\n") +
                                 "schedule persistent = true in O\nschedule band = " + band +
                                 " in O";
        const State state =
            test::state_of(group_attention("attention", "if x <= q then S[q, x] else -inf", "",
                                           {{"q", 500}, {"x", 500}, {"h", 5}}, text));
        EmitOptions options;
        options.target = "sm_90a";
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        REQUIRE(program);
        CHECK_EQ(test::wrong_with(state, *program, 1), "");
    }
}

TEST_CASE("sm_90a: blocks take several tiles where these are many and can be evened out") {
    const auto chosen = [](const std::string& score, std::int64_t size) {
        const State state = test::state_of(
            group_attention("attention", score, "", {{"q", size}, {"x", size}, {"h", 16}},
                            "fuse all\ngroup q by 64\nstream x by 64"));
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
        REQUIRE(program);
        return program->kernels.front().persistent;
    };
    CHECK(chosen("S[q, x]", 1024));
    CHECK_FALSE(chosen("S[q, x]", 512));
    CHECK_FALSE(chosen("S[q, x]", 32768));
    CHECK(chosen("if x <= q then S[q, x] else -inf", 16384));
    CHECK(chosen("if x <= q then S[q, x] else -inf", 1024));
    CHECK(chosen("if x <= q and q - x < 100 then S[q, x] else -inf", 1024));
    // The last queries see one chunk, those in the middle half of them.
    CHECK_FALSE(chosen("if (x <= q and x <= 1023 - q) then S[q, x] else -inf", 1024));
}

TEST_CASE("sm_90a: random products and attentions in random tiles are right") {
    // NAPKIN_TRIALS asks for more, from NAPKIN_SEED on.
    const auto number = [](const char* variable, std::uint64_t usual) {
        const char* given = std::getenv(variable);
        return given != nullptr ? std::stoull(given) : usual;
    };
    const std::uint64_t first = number("NAPKIN_SEED", 1);
    const std::uint64_t trials = number("NAPKIN_TRIALS", 6);
    std::size_t of_groups = 0;
    for (std::uint64_t seed = first; seed < first + trials; ++seed) {
        std::mt19937_64 random(seed);
        const auto pick = [&](std::initializer_list<std::int64_t> from) {
            return *(from.begin() + static_cast<std::ptrdiff_t>(random() % from.size()));
        };
        const auto any = [&](std::int64_t least, std::int64_t most) {
            return least + static_cast<std::int64_t>(random() %
                                                     static_cast<std::uint64_t>(most - least + 1));
        };
        // Half of the sizes keep rows at multiples of 16 bytes.
        const auto size = [&] { return random() % 2 == 0 ? 8 * any(1, 24) : any(1, 190); };
        TensorWorkload workload;
        if (const std::uint64_t kind = random() % 4; kind < 3) {
            const char* const left = random() % 2 == 0 ? "m, k" : "k, m";
            const char* const right = random() % 2 == 0 ? "k, n" : "n, k";
            const std::int64_t depth = pick({16, 32, 48, 64, 24, 13});
            const std::string tiles = fmt::format("group m by {}\ngroup n by {}\nstream k by {}",
                                                  pick({64, 128, 100, 192}), any(1, 20) * 8, depth);
            if (kind == 0)
                workload = group_product(
                    left, right, std::array{"bf16", "f16", "e4m3", "e5m2"}[random() % 4], tiles);
            else if (kind == 1)
                workload = group_product(left, right, "bf16",
                                         fmt::format("{}\nsplit-stream k by {}", tiles, 2 * depth));
            else
                workload = group_prologue(
                    left, right, random() % 2 == 0 ? test::kActivation : test::kNorm, tiles);
            workload.sizes = {{"m", size()}, {"n", size()}, {"k", size()}};
        } else {
            const char* const kKeys[] = {"",
                                         " input W[x, d] : bf16\n R[x, d] = K[x, d] * W[x, d]\n"};
            const std::size_t turned = random() % std::size(kKeys);
            const char* const kScores[] = {"S[q, x]", "if x <= q then S[q, x] else -inf",
                                           "if x <= q and q - x < 37 then S[q, x] else -inf",
                                           "S[q, x] * 0.5 + 1"};
            workload =
                group_attention("random", kScores[random() % std::size(kScores)], kKeys[turned],
                                {{"q", size()}, {"x", size()}, {"d", pick({16, 32, 40, 64, 80})}},
                                fmt::format("fuse all\ngroup q by {}\nstream x by {}",
                                            pick({64, 128, 60}), pick({16, 32, 48, 64, 80, 7})));
            if (random() % 2 == 0) workload.derivation += "\nschedule stale = true";
            if (turned > 0)
                workload.diagram.replace(workload.diagram.find("* K[x, d] *"), 11, "* R[x, d] *");
        }
        INFO("seed ", seed, ": ", workload.diagram, "\n", workload.derivation);
        const State state = test::state_of(workload);
        const Result<EmittedProgram> program =
            emit(state, test::program_of(state), group_options());
        if (!program) {
            CHECK_EQ(program.error().list.front().code, "E0905");
            continue;
        }
        CHECK_EQ(test::wrong_with(state, *program, seed), "");
        if (program->kernels.front().target != "sm_90a") continue;
        ++of_groups;
        const Result<EmittedProgram> several = with_tiles(state, true);
        REQUIRE(several);
        CHECK_EQ(test::wrong_with(state, *several, seed), "");
    }
    CHECK_GE(2 * of_groups, trials / 2);
}

}  // namespace napkin
