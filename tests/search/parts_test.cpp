// Streams in parts: of a page table's blocks, whose parts have to be whole, as of any other axis.
#include "search/parts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "search/search.h"
#include "tests/search/search_support.h"

namespace napkin {
namespace {

/// One token of each sequence against keys and values that lie in pages.
std::string paged(std::int64_t sequences, std::int64_t heads, std::int64_t blocks) {
    return fmt::format(
        "diagram paged {{\n axis pages = 2048, blocks = {}, s = 64, d = 128\n"
        " axis b = {}, h = {}, g = 4\n input Q[b, h, g, d] : bf16\n"
        " input K[pages, s, h, d], V[pages, s, h, d] : bf16\n"
        " input table[b, blocks] : i32\n input len[b] : i32\n"
        " S[b, h, g, blocks, s] = if blocks * size(s) + s < len[b] then"
        " sum(d) Q[b, h, g, d] * K[table[b, blocks], s, h, d] * rsqrt(size(d)) else -inf\n"
        " P[b, h, g, blocks, s] = softmax[blocks, s](S[b, h, g, blocks, s])\n"
        " output O[b, h, g, d] : bf16 ="
        " sum(blocks, s) P[b, h, g, blocks, s] * V[table[b, blocks], s, h, d]\n}}\n",
        blocks, sequences, heads);
}

TEST_CASE("search splits the streams of few sequences that read pages") {
    const Machine h200 = test::machine_of("H200");
    const struct {
        std::int64_t sequences, heads, blocks, part;
    } cases[] = {{8, 8, 64, 4}, {2, 4, 64, 4}, {2, 4, 63, 3}};
    for (const auto& [sequences, heads, blocks, part] : cases) {
        CAPTURE(sequences);
        CAPTURE(blocks);
        const std::string diagram = paged(sequences, heads, blocks);
        const Result<SearchResult> result =
            search(test::derived(diagram).diagram, h200, {.top = 1});
        REQUIRE(result.has_value());
        const Candidate& best = result->ranked.front();
        CHECK(std::any_of(best.commands.begin(), best.commands.end(),
                          [](const Command& each) { return each.rule == "split-stream"; }));
        const std::string by_hand = fmt::format(
            "fuse all\ngroup b by 1\ngroup h by 1\nstream blocks by 1\nsplit-stream blocks by {}\n"
            "ungroup b in O\nungroup h in O\ngroup b by 1 in O\ngroup h by 1 in O\n"
            "group g by 1 in O\n",
            part);
        CHECK_LE(best.time.middle().value,
                 test::kernels_time(diagram, by_hand, h200).value * 1.001);
    }
}

TEST_CASE("parts that are possible do not hide what is faster in one piece") {
    const Machine h200 = test::machine_of("H200");
    const char* const rows =
        "diagram rows {\n axis n = 4, d = 1048576\n input X[n, d] : bf16\n"
        " output Y[n] : f32 = sum(d) X[n, d] * X[n, d]\n}\n";
    CHECK_LE(test::best_time(rows, h200),
             1.001 * test::kernels_time(rows, "group n by 1\nstream d by 32768\n", h200).value);
}

TEST_CASE("parts are as many as give each processor a block, and whole where they have to be") {
    const State plain = test::derived(paged(2, 4, 63), "fuse all\n");
    Command stream;
    stream.rule = "stream";
    stream.names = {"blocks"};
    stream.size = 2;
    const auto splits = [&](std::int64_t blocks, std::int64_t processors) {
        std::string found;
        for (const auto& way : ways_in_parts(plain, "O", {stream}, blocks, processors))
            for (const Command& command : way)
                if (command.rule == "split-stream") found += print(command) + "\n";
        return found;
    };
    CHECK_EQ(splits(8, 132), "split-stream blocks by 3\nsplit-stream s by 2\n");
    CHECK_EQ(splits(66, 132), "split-stream blocks by 21\nsplit-stream s by 32\n");
    CHECK_EQ(splits(132, 132), "");
}

}  // namespace
}  // namespace napkin
