// Masks of derivations: what is counted against visiting every pair, the library's masks against
// their definitions written here a second time, and figures that are known from elsewhere.
#include "perfmodel/tile_grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

#include "diagrams/index/mask.h"
#include "perfmodel/progressions.h"
#include "tests/perfmodel/derive_support.h"
#include "tests/support/random_index.h"

namespace napkin {

namespace {

using Row = std::vector<bool>;
using Matrix = std::vector<Row>;

/// One axis of a neighbourhood.
struct Near {
    std::int64_t length = 1;
    std::int64_t window = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    bool causal = false;
    std::int64_t tile_q = 1;
    std::int64_t tile_x = 1;
};

/// The keys of each query, class by class.
Matrix neighbourhood(const Near& near) {
    Matrix matrix(static_cast<std::size_t>(near.length),
                  Row(static_cast<std::size_t>(near.length), false));
    for (std::int64_t residue = 0; residue < near.dilation; ++residue) {
        const std::int64_t length = (near.length - residue + near.dilation - 1) / near.dilation;
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t left = near.window / 2;
            const std::int64_t right = near.window / 2 + near.window % 2 - 1;
            const std::int64_t step = near.causal ? near.stride - 1 : near.stride / 2;
            const std::int64_t leader = std::min(i / near.stride * near.stride + step, length - 1);
            std::int64_t start = std::max<std::int64_t>(leader - left, 0);
            if (leader + right >= length) start += length - right - leader - 1;
            std::int64_t end = start + near.window;
            if (near.causal) {
                start = std::max<std::int64_t>(leader - near.window + 1, 0);
                end = std::min(i + 1, length);
            }
            for (std::int64_t j = start; j < end; ++j)
                matrix[static_cast<std::size_t>(i * near.dilation + residue)]
                      [static_cast<std::size_t>(j * near.dilation + residue)] = true;
        }
    }
    return matrix;
}

std::string named(const char* name, std::size_t at) {
    return name + std::to_string(at);
}

/// A sum over what a mask of axes i0, u0, i1, u1 and so on leaves.
State sum_where(const std::vector<Near>& axes, const std::string& mask) {
    std::string text = "diagram masked {\n";
    std::string queries;
    std::string keys;
    std::string derivation;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const std::string q = named("i", k);
        const std::string x = named("u", k);
        text +=
            "  axis " + q + " = " + std::to_string(axes[k].length) + ", " + x + " = " + q + "\n";
        queries += (k > 0 ? ", " : "") + q;
        keys += (k > 0 ? ", " : "") + x;
        derivation += "group " + q + " by " + std::to_string(axes[k].tile_q) + "\nstream " + x +
                      " by " + std::to_string(axes[k].tile_x) + "\n";
    }
    text += "  input V[" + keys + "] : f32\n  output O[" + queries + "] : f32 = sum(" + keys +
            ") if " + mask + " then V[" + keys + "] else 0\n}\n";
    return test::derived(text, derivation);
}

std::string library_mask(const std::vector<Near>& axes) {
    std::string mask;
    for (std::size_t k = 0; k < axes.size(); ++k)
        mask += std::string(k > 0 ? " and " : "") + (axes[k].causal ? "causal_" : "") +
                "neighbourhood[" + named("i", k) + ", " + named("u", k) + "](" +
                std::to_string(axes[k].window) + ", " + std::to_string(axes[k].stride) + ", " +
                std::to_string(axes[k].dilation) + ")";
    return mask;
}

MaskReport only_report(const State& state) {
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    REQUIRE(reports.has_value());
    REQUIRE_EQ(reports->size(), 1);
    REQUIRE_FALSE(reports->front().counts.empty());
    return reports->front();
}

/// What the diagram's own text says of a pair.
bool is_visible(const Diagram& diagram, const MaskReport& report,
                const std::map<AxisId, std::int64_t>& at) {
    return std::all_of(report.conditions.begin(), report.conditions.end(),
                       [&](const Expression& condition) {
                           return test::value_at({diagram.axes, at, {}}, condition) != 0;
                       });
}

Matrix matrix_of(const Diagram& diagram, const MaskReport& report,
                 std::map<AxisId, std::int64_t> at = {}) {
    const AxisId q = report.queries.front();
    const AxisId x = report.keys.front();
    Matrix matrix;
    for (at[q] = 0; at[q] < diagram[q].extent; ++at[q]) {
        matrix.emplace_back();
        for (at[x] = 0; at[x] < diagram[x].extent; ++at[x])
            matrix.back().push_back(is_visible(diagram, report, at));
    }
    return matrix;
}

TileCounts counted(const Matrix& matrix, std::size_t tile_q, std::size_t tile_x) {
    TileCounts counts;
    for (std::size_t i = 0; i < matrix.size(); i += tile_q)
        for (std::size_t j = 0; j < matrix.front().size(); j += tile_x) {
            bool all = true;
            std::int64_t pairs = 0;
            std::int64_t within = 0;
            for (std::size_t a = i; a < std::min(matrix.size(), i + tile_q); ++a)
                for (std::size_t b = j; b < std::min(matrix[a].size(), j + tile_x); ++b) {
                    pairs += matrix[a][b] ? 1 : 0;
                    ++within;
                    all = all && matrix[a][b];
                }
            counts.pairs += pairs;
            counts.visited += pairs > 0 ? 1 : 0;
            counts.full += all ? 1 : 0;
            counts.within += pairs > 0 ? within : 0;
        }
    return counts;
}

TileCounts counted(const std::vector<Near>& axes) {
    TileCounts product{1, 1, 1, 1};
    for (const Near& axis : axes) {
        const TileCounts one = counted(neighbourhood(axis), static_cast<std::size_t>(axis.tile_q),
                                       static_cast<std::size_t>(axis.tile_x));
        product.visited *= one.visited;
        product.full *= one.full;
        product.pairs *= one.pairs;
        product.within *= one.within;
    }
    return product;
}

/// Rows as digits.
std::string text_of(const Matrix& matrix) {
    std::string text;
    for (const Row& row : matrix) {
        if (!text.empty()) text += ' ';
        for (const bool visible : row) text += visible ? '1' : '0';
    }
    return text;
}

/// One axis of queries and one of keys.
State pairs_where(const std::string& mask, std::int64_t queries, std::int64_t keys,
                  std::int64_t tile_q, std::int64_t tile_x, const std::string& more = "") {
    const std::string text = "diagram masked {\n  axis q = " + std::to_string(queries) +
                             ", x = " + std::to_string(keys) +
                             "\n  input V[x] : f32\n  output O[q] : f32 = sum(x) if " + mask +
                             " then V[x] else 0\n" + more + "}\n";
    return test::derived(text, "group q by " + std::to_string(tile_q) + "\nstream x by " +
                                   std::to_string(tile_x) + "\n");
}

Matrix matrix_where(const std::string& mask, std::int64_t queries, std::int64_t keys) {
    const State state = pairs_where(mask, queries, keys, 1, 1);
    return matrix_of(state.diagram, only_report(state));
}

}  // namespace

TEST_CASE("windows of a neighbourhood are those of its definition") {
    const auto rows = [](const Near& near) {
        const State state = sum_where({near}, library_mask({near}));
        const Matrix matrix = matrix_of(state.diagram, only_report(state));
        CHECK_EQ(text_of(matrix), text_of(neighbourhood(near)));
        return text_of(matrix);
    };
    CHECK_EQ(rows({8, 3, 1, 1}),
             "11100000 11100000 01110000 00111000 00011100 00001110 00000111 00000111");
    CHECK_EQ(rows({8, 4, 1, 1}),
             "11110000 11110000 11110000 01111000 00111100 00011110 00001111 00001111");
    CHECK_EQ(rows({8, 4, 2, 1}),
             "11110000 11110000 01111000 01111000 00011110 00011110 00001111 00001111");
    CHECK_EQ(rows({8, 4, 4, 1}),
             "11110000 11110000 11110000 11110000 00001111 00001111 00001111 00001111");
    CHECK_EQ(rows({8, 3, 1, 1, true}),
             "10000000 11000000 11100000 01110000 00111000 00011100 00001110 00000111");
    CHECK_EQ(rows({8, 4, 2, 1, true}),
             "10000000 11000000 11100000 11110000 00111000 00111100 00001110 00001111");
    CHECK_EQ(rows({7, 3, 1, 2}), "1010100 0101010 1010100 0101010 0010101 0101010 0010101");
}

TEST_CASE("every neighbourhood of a short axis is that of its definition") {
    for (std::int64_t length = 2; length <= 7; ++length)
        for (std::int64_t window = 2; window <= length; ++window)
            for (std::int64_t stride = 1; stride <= window; ++stride)
                for (std::int64_t dilation = 1; window * dilation <= length; ++dilation)
                    for (const bool causal : {false, true}) {
                        const Near near{length, window, stride, dilation, causal};
                        CAPTURE(library_mask({near}));
                        CAPTURE(length);
                        const State state = sum_where({near}, library_mask({near}));
                        const MaskReport report = only_report(state);
                        CHECK_EQ(text_of(matrix_of(state.diagram, report)),
                                 text_of(neighbourhood(near)));
                        CHECK_EQ(report.total(), counted({near}));
                    }
}

TEST_CASE("shapes of neighbourhoods in every causal combination, and in tiles that do not divide") {
    struct Shape {
        std::vector<std::int64_t> length, window, stride, dilation;
        std::int64_t pairs = 0;         ///< where they are known
        std::int64_t causal_pairs = 0;  ///< causal in every axis
    };
    const std::vector<Shape> shapes = {
        {{256}, {255}, {82}, {1}, 65280, 32886},
        {{128}, {63}, {31}, {1}, 8064, 5175},
        {{128}, {3}, {2}, {5}, 384, 311},
        {{128}, {8}, {7}, {5}, 1024, 632},
        {{128}, {3}, {2}, {10}, 384, 304},
        {{125}, {3}, {1}, {1}, 375, 372},
        {{125}, {25}, {4}, {5}},
        {{256}, {3}, {2}, {10}, 768, 622},
        {{5, 25}, {5, 16}, {1, 16}, {1, 1}, 10000, 3660},
        {{84, 19}, {7, 3}, {1, 1}, {5, 1}},
        {{19, 29}, {8, 8}, {1, 1}, {2, 3}},
        {{67, 80}, {12, 7}, {8, 4}, {5, 11}},
        {{44, 80}, {44, 80}, {1, 1}, {1, 1}},
        {{32, 10, 10}, {7, 3, 3}, {5, 1, 1}, {1, 2, 3}},
        {{18, 37, 12}, {14, 16, 12}, {12, 8, 1}, {1, 2, 1}},
        {{13, 11, 9}, {3, 4, 3}, {2, 3, 3}, {3, 2, 2}},
    };
    const std::array<std::int64_t, 3> tile_q = {128, 8, 3};
    const std::array<std::int64_t, 3> tile_x = {128, 5, 4};
    for (const Shape& shape : shapes) {
        const std::size_t rank = shape.length.size();
        const std::size_t ways = std::size_t{1} << rank;
        for (std::size_t causal = 0; causal < ways; ++causal) {
            std::vector<Near> axes;
            for (std::size_t k = 0; k < rank; ++k)
                axes.push_back({shape.length[k], shape.window[k], shape.stride[k],
                                shape.dilation[k], (causal >> k & 1U) != 0,
                                std::min(shape.length[k], tile_q[rank > 1 ? k + (rank < 3) : 0]),
                                std::min(shape.length[k], tile_x[rank > 1 ? k + (rank < 3) : 0])});
            CAPTURE(library_mask(axes));
            const TileCounts total = only_report(sum_where(axes, library_mask(axes))).total();
            CHECK_EQ(total, counted(axes));
            if (shape.pairs != 0 && causal == 0) CHECK_EQ(total.pairs, shape.pairs);
            if (shape.pairs != 0 && causal == ways - 1) CHECK_EQ(total.pairs, shape.causal_pairs);
        }
    }
}

TEST_CASE("random neighbourhoods in random tiles are counted as they are one by one") {
    std::mt19937_64 random(20261123);
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<Near> axes;
        for (std::int64_t k = pick(1, 2); k > 0; --k) {
            Near near;
            near.length = pick(4, 200);
            near.window = pick(2, near.length);
            near.dilation = pick(1, near.length / near.window);
            near.stride = pick(1, near.window);
            near.causal = pick(0, 1) == 1;
            near.tile_q = pick(1, near.length);
            near.tile_x = pick(1, near.length);
            axes.push_back(near);
        }
        CAPTURE(library_mask(axes));
        CHECK_EQ(only_report(sum_where(axes, library_mask(axes))).total(), counted(axes));
    }
}

TEST_CASE("tiles of large neighbourhoods") {
    const auto total = [](const std::vector<Near>& axes) {
        return only_report(sum_where(axes, library_mask(axes))).total();
    };
    const auto counts = [](std::int64_t visited, std::int64_t full, std::int64_t pairs) {
        return TileCounts{visited, full, pairs, visited * 128 * 128};
    };
    CHECK_EQ(total({{32768, 2048, 1, 1, false, 128, 128}}), counts(4336, 3856, 32768LL * 2048));
    for (const std::int64_t stride : {256, 2048})
        CHECK_EQ(total({{32768, 2048, stride, 1, false, 128, 128}}),
                 counts(4096, 4096, 32768LL * 2048));
    const auto image = [&](std::int64_t stride) {
        return total({{256, 80, stride, 1, false, 16, 16}, {256, 80, stride, 1, false, 8, 8}});
    };
    CHECK_EQ(image(1), counts(34884, 17284, 65536LL * 6400));
    CHECK_EQ(image(16), counts(25600, 25600, 65536LL * 6400));
}

TEST_CASE("a neighbourhood written by hand under other names is the same mask") {
    const std::string by_hand = "near(i0, u0, size(i0), 7)";
    const std::string definition =
        "def near(here, there, length, width) = min(max(here - width // 2, 0), length - width) <= "
        "there and there < min(max(here - width // 2, 0), length - width) + width\n";
    const std::vector<Near> axes{{100, 7, 1, 1, false, 16, 8}};
    std::string text =
        definition +
        "diagram m {\n axis i0 = 100, u0 = i0\n input V[u0] : f32\n output O[i0] : f32 = sum(u0) "
        "if " +
        by_hand + " then V[u0] else 0\n}\n";
    const MaskReport hand = only_report(test::derived(text, "group i0 by 16\nstream u0 by 8\n"));
    const MaskReport library = only_report(sum_where(axes, library_mask(axes)));
    CHECK_EQ(hand.total(), library.total());
    REQUIRE_EQ(hand.terms.size(), 1);
    REQUIRE_EQ(library.terms.size(), 1);
    std::vector<std::map<AxisId, Trend>> trends;
    for (const MaskReport* report : {&hand, &library})
        for (const MaskCondition& condition : report->terms.front()) {
            CHECK(condition.kind == ConditionKind::Bound);
            trends.push_back(condition.trends);
        }
    REQUIRE_EQ(trends.size(), 4);
    CHECK_EQ(trends[0], trends[2]);
    CHECK_EQ(trends[1], trends[3]);
}

TEST_CASE("causal, window and prefix masks are aligned with the last key") {
    CHECK_EQ(text_of(matrix_where("causal[q, x]()", 2, 5)), "11110 11111");
    CHECK_EQ(text_of(matrix_where("causal[q, x]()", 5, 2)), "00 00 00 10 11");
    CHECK_EQ(text_of(matrix_where("sliding[q, x](1, 0)", 3, 4)), "1100 0110 0011");
    CHECK_EQ(text_of(matrix_where("prefix[q, x](2)", 4, 4)), "1100 1100 1110 1111");
    CHECK_EQ(text_of(matrix_where("global_tokens[q, x](1)", 3, 3)), "111 100 100");
    CHECK_EQ(text_of(matrix_where("block_diagonal[q, x](2)", 5, 5)),
             "11000 11000 00110 00110 00001");
    CHECK_EQ(text_of(matrix_where("dilated_window[q, x](2, 3)", 6, 6)),
             "100000 010000 001000 100100 010010 001001");
    CHECK_EQ(text_of(matrix_where("neighbourhood[q, x](3, 1, 1) or extra_keys[q, x]()", 4, 6)),
             "111011 111011 011111 011111");
    const auto total = [](const std::string& mask, std::int64_t length) {
        return only_report(pairs_where(mask, length, length, 128, 128)).total();
    };
    const TileCounts short_causal = total("causal[q, x]()", 1024);
    CHECK_EQ(short_causal.visited, 36);
    CHECK_EQ(short_causal.full, 28);
    const TileCounts causal = total("causal[q, x]()", 8192);
    CHECK_EQ(causal.visited, 2080);
    CHECK_EQ(causal.full, 2016);
    const TileCounts back = total("sliding[q, x](256, 0)", 1024);
    CHECK_EQ(back.visited, 21);
    CHECK_EQ(back.full, 7);
    const TileCounts around = total("sliding[q, x](128, 128)", 1024);
    CHECK_EQ(around.visited, 22);
    CHECK_EQ(around.full, 8);
}

TEST_CASE("strided heads") {
    const State alike =
        pairs_where("strided_heads[q, x, h](1, 2, 3, 0, 1, 0)", 8, 8, 1, 1, "  weave h = 1\n");
    const MaskReport rows = only_report(alike);
    const std::map<AxisId, std::int64_t> first{{*find_axis(alike.diagram, "h"), 0}};
    CHECK_EQ(text_of(matrix_of(alike.diagram, rows, first)),
             "10000000 11000000 11100000 10110000 10011000 10011100 10010110 10010011");
    const State large = pairs_where("strided_heads[q, x, h](32, 16, 8, 0, 64, 0)", 8192, 8192, 64,
                                    64, "  weave h = 32\n");
    const MaskReport report = only_report(large);
    CHECK_EQ(report.counts.size(), 32);
    CHECK_EQ(report.total().visited, 87008);
    const State triangle = pairs_where("causal[q, x]()", 8192, 8192, 64, 64);
    CHECK_EQ(32 * only_report(triangle).total().visited, 264192);
}

TEST_CASE("random strided heads are counted as they are one by one") {
    std::mt19937_64 random(20261124);
    const auto pick = [&](int least, int most) {
        return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    };
    for (int trial = 0; trial < 12; ++trial) {
        const int length = pick(20, 90);
        const int block = pick(1, 9);
        const int stride = pick(1, 6);
        const int local = pick(0, 5);
        const int offset = pick(0, 2);
        const int dense = pick(0, 1);
        const int heads = pick(1, 3);
        const int all_heads = heads * pick(1, 2);
        const int tile_q = pick(1, 20);
        const int tile_x = pick(1, 20);
        const std::string mask = "strided_heads[q, x, h](" + std::to_string(all_heads) + ", " +
                                 std::to_string(local) + ", " + std::to_string(stride) + ", " +
                                 std::to_string(offset) + ", " + std::to_string(block) + ", " +
                                 std::to_string(dense) + ")";
        CAPTURE(mask);
        const State state = pairs_where(mask, length, length, tile_q, tile_x,
                                        "  weave h = " + std::to_string(heads) + "\n");
        const MaskReport report = only_report(state);
        const AxisId h = *find_axis(state.diagram, "h");
        TileCounts total;
        for (int head = 0; head < heads; ++head) {
            Matrix matrix;
            for (int i = 0; i < length; ++i) {
                matrix.emplace_back();
                for (int j = 0; j < length; ++j) {
                    const int q = i / block;
                    const int k = j / block;
                    const int step = std::max(1, stride / all_heads);
                    matrix.back().push_back(j <= i && (head >= heads - dense || q - k < local ||
                                                       (k + head * step + offset) % stride == 0));
                }
            }
            const TileCounts one =
                counted(matrix, static_cast<std::size_t>(tile_q), static_cast<std::size_t>(tile_x));
            total += one;
            if (report.counts.size() > 1)
                CHECK_EQ(report.counts[static_cast<std::size_t>(head)], one);
            CHECK_EQ(text_of(matrix_of(state.diagram, report, {{h, head}})), text_of(matrix));
        }
        if (report.counts.size() > 1 || heads == 1) CHECK_EQ(report.total(), total);
    }
}

TEST_CASE("strided heads that together see every pair") {
    // Where there are as many key heads as the stride is long, no pair is left out.
    const State state =
        pairs_where("strided_heads[q, x, h](4, 1, 4, 0, 2, 0)", 40, 40, 4, 4, "  weave h = 4\n");
    const MaskReport report = only_report(state);
    const AxisId h = *find_axis(state.diagram, "h");
    Matrix seen(40, Row(40, false));
    for (int head = 0; head < 4; ++head) {
        const Matrix matrix = matrix_of(state.diagram, report, {{h, head}});
        for (std::size_t i = 0; i < 40; ++i)
            for (std::size_t j = 0; j < 40; ++j) seen[i][j] = seen[i][j] || matrix[i][j];
    }
    for (std::size_t i = 0; i < 40; ++i)
        for (std::size_t j = 0; j < 40; ++j) CHECK(seen[i][j] == (j <= i));
}

TEST_CASE("strided blocks both ways") {
    const Matrix matrix = matrix_where("strided_blocks[q, x](2, 3, 2)", 20, 20);
    for (int i = 0; i < 20; ++i)
        for (int j = 0; j < 20; ++j) {
            const int left = std::max(i / 2 - j / 2 - 2 + 1, 0);
            const int right = std::max(j / 2 - i / 2 - 2 + 1, 0);
            CHECK(matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] ==
                  ((left + right) % 3 == 0));
        }
}

TEST_CASE("data decides where it is read, and no more") {
    const State state = test::derived(
        "diagram d {\n axis q = 64, x = q\n input V[x] : f32\n input doc[x], length : i32\n"
        " output O[q] : f32 = sum(x) if x <= q and x < length and same_document(doc[q], doc[x])"
        " then V[x] else 0\n}\n",
        "group q by 16\nstream x by 16\n");
    const MaskReport report = only_report(state);
    CHECK_EQ(report.data.size(), 2);
    CHECK_EQ(report.conditions.size(), 1);
    CHECK_EQ(report.total(), TileCounts{10, 6, 64 * 65 / 2, 10 * 16 * 16});
    REQUIRE_EQ(report.terms.size(), 1);
    CHECK(report.terms[0][0].kind == ConditionKind::Bound);
    CHECK(report.terms[0][2].kind == ConditionKind::Data);
}

TEST_CASE("terms are those of a union, without what never holds") {
    const State state = pairs_where(
        "x <= q and (1 < 0 or q // 4 == x // 4 or x < 3) and (x < 100 or q < 0)", 64, 64, 16, 16);
    const MaskReport report = only_report(state);
    REQUIRE_EQ(report.terms.size(), 2);
    CHECK_EQ(report.terms[0].size(), 2);
    CHECK(report.terms[0][1].kind == ConditionKind::Equality);
    CHECK(report.terms[1][1].kind == ConditionKind::Bound);
    CHECK(report.terms[1][1].trends.at(report.keys.front()) == Trend::Falls);
}

TEST_CASE("conditions without a closed form are counted pair by pair") {
    for (const std::string mask :
         {"(q - x) * (q - x) < 300", "bit_xor(q, x) == 4 or q == x", "q * x % 7 == 3 and x <= q"}) {
        CAPTURE(mask);
        const State state = pairs_where(mask, 40, 33, 8, 5);
        const MaskReport report = only_report(state);
        CHECK(report.pairs);
        CHECK_FALSE(report.decided);
        CHECK_EQ(report.total(), counted(matrix_of(state.diagram, report), 8, 5));
        const auto grid = tile_grid(state.diagram, report, report.tilings, 0);
        REQUIRE(grid);
        CHECK_EQ(std::count(grid->states.begin(), grid->states.end(), index::TileState::Full),
                 report.total().full);
    }
    const State large = pairs_where("(q - x) * (q - x) < 300", 100'000, 100'000, 128, 128);
    const Result<std::vector<MaskReport>> reports = mask_reports(large);
    REQUIRE(reports.has_value());
    REQUIRE(reports->front().uncounted);
    CHECK_EQ(reports->front().uncounted->list.front().code, "E0722");
}

TEST_CASE("kernels visit what is counted of unions of residue classes too") {
    for (const std::string mask :
         {"neighbourhood[q, x](9, 3, 5) or neighbourhood[q, x](9, 2, 3)",
          "neighbourhood[q, x](9, 3, 5) or x < 4", "dilated_window[q, x](9, 5) or q // 4 == x // 4",
          "causal_neighbourhood[q, x](9, 2, 7) or global_tokens[q, x](3)"}) {
        CAPTURE(mask);
        const State state = pairs_where(mask, 160, 160, 16, 16);
        const MaskReport report = only_report(state);
        CHECK(report.decided);
        const index::Mask asked(state.diagram.axes, report.conditions);
        std::int64_t met = 0;
        for (std::int64_t i = 0; i < 160; i += 16)
            for (std::int64_t j = 0; j < 160; j += 16)
                met += asked.meets({{report.queries.front(), {i, i + 15}},
                                    {report.keys.front(), {j, j + 15}}})
                           ? 1
                           : 0;
        CHECK_EQ(met, report.total().visited);
        CHECK(asked.chunks_met(report.keys.front(), 16, true));
    }
}

TEST_CASE("more heads than can be told apart are refused") {
    const State state = pairs_where("x + h <= q", 8, 8, 1, 1, "  weave h = 5000\n");
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    REQUIRE_FALSE(reports.has_value());
    CHECK_EQ(reports.error().list.front().code, "E0721");
}

TEST_CASE("grids of tiles are what is counted") {
    const std::vector<Near> axes{{23, 5, 2, 2, false, 4, 3}, {14, 6, 3, 2, true, 5, 4}};
    const State state = sum_where(axes, library_mask(axes));
    const MaskReport report = only_report(state);
    const std::optional<TileGrid> grid = tile_grid(state.diagram, report, report.tilings, 0);
    REQUIRE(grid);
    CHECK_EQ(grid->rows, 6 * 3);
    CHECK_EQ(grid->columns, 8 * 4);
    const auto of = [&](index::TileState wanted) {
        return std::count(grid->states.begin(), grid->states.end(), wanted);
    };
    CHECK_EQ(of(index::TileState::Full), report.total().full);
    CHECK_EQ(of(index::TileState::Partial), report.total().partial());
    const auto pairs = tile_grid(state.diagram, report, single_indices(report), 0);
    REQUIRE(pairs);
    for (std::int64_t row = 0; row < pairs->rows; ++row)
        for (std::int64_t column = 0; column < pairs->columns; ++column) {
            const bool visible = neighbourhood(axes[0])[static_cast<std::size_t>(row / 14)]
                                                       [static_cast<std::size_t>(column / 14)] &&
                                 neighbourhood(axes[1])[static_cast<std::size_t>(row % 14)]
                                                       [static_cast<std::size_t>(column % 14)];
            CHECK((pairs->at(row, column) == index::TileState::Full) == visible);
        }
}

TEST_CASE("rows have the columns that grids have") {
    const std::vector<Near> axes{{11, 5, 2, 2, false, 4, 3}, {7, 4, 3, 1, true, 5, 4}};
    const State states[] = {
        sum_where(axes, library_mask(axes)),
        sum_where(axes, "u0 <= i0 and i1 < 4"),
        sum_where(axes, "u1 <= i1 and i0 % 3 == 1"),
        pairs_where("abs(q - x) < 4 or x % 5 == q % 5", 23, 19, 4, 4),
        pairs_where("(0 * q + 4 * x > -6) and q // 5 == x // 5", 23, 19, 4, 4),
        pairs_where("x <= q and q % 3 == 1", 23, 19, 4, 4),
        pairs_where("x * x > q * 3", 23, 19, 4, 4),
    };
    for (const State& state : states) {
        const MaskReport report = only_report(state);
        const auto pairs = tile_grid(state.diagram, report, single_indices(report), 0);
        MaskRows rows(state.diagram, report, 0);
        REQUIRE(pairs);
        REQUIRE_EQ(rows.count(), pairs->rows);
        for (std::int64_t row = 0; row < pairs->rows; ++row) {
            std::vector<ColumnRun> right;
            for (std::int64_t column = 0; column < pairs->columns; ++column)
                if (pairs->at(row, column) == index::TileState::Full) add_run(right, {column, 1});
            CHECK_EQ(rows.visible(row), right);
        }
    }
}

TEST_CASE("costs count the chunks that are tiles of a mask") {
    const std::string sums =
        "  input V[x] : f32\n  output O[q] : f32 = sum(x) if MASK then V[x] else 0\n}\n";
    struct Case {
        const char* mask;
        const char* derivation;
    };
    const Case cases[] = {
        {"x <= q", "fuse all\ngroup q by 8\nstream x by 4\n"},
        {"dilated_window[q, x](4, 4)", "fuse all\ngroup q by 8\nstream x by 4\n"},
        {"dilated_window[q, x](4, 4)",
         "split-axis q as q_class by 4\nsplit-axis x as x_class by 4\nfuse all\n"
         "group q_class by 1\ngroup q by 4\nstream x_class by 1\nstream x by 4\n"},
    };
    for (const Case& each : cases) {
        CAPTURE(each.derivation);
        std::string text = sums;
        text.replace(text.find("MASK"), 4, each.mask);
        const State state =
            test::derived("diagram sums {\n  axis q = 64, x = q\n" + text, each.derivation);
        const MaskReport report = only_report(state);
        const RegionCost region = test::cost(state).regions.back();
        CHECK_EQ(region.chunks_visited, report.total().visited);
        CHECK_EQ(region.chunks, report.tiles);
        CHECK_LT(region.chunks_visited, region.chunks);
    }
}

TEST_CASE("rows of progressions") {
    using Rows = std::vector<NestedProgression>;
    CHECK_EQ(*compressed({}), Rows{});
    CHECK_EQ(*compressed({7}), Rows{{{1, 7, 1}, 0, 1}});
    CHECK_EQ(*compressed({3, 4, 5}), Rows{{{1, 3, 3}, 0, 1}});
    CHECK_EQ(*compressed({1, 6, 11, 16}), Rows{{{5, 1, 4}, 0, 1}});
    CHECK_EQ(*compressed({2, 3, 4, 12, 13, 14, 22, 23, 24}), Rows{{{1, 2, 3}, 10, 3}});
    // Near blocks after every third one.
    CHECK_EQ(*compressed({0, 3, 6, 8, 9, 10}), Rows{{{3, 0, 3}, 0, 1}, {{1, 8, 3}, 0, 1}});
    CHECK_EQ(*compressed({0, 1, 2, 9, 14, 19}), Rows{{{1, 0, 3}, 0, 1}, {{5, 9, 3}, 0, 1}});
    // One that lies in another.
    CHECK_EQ(*compressed({0, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30}),
             Rows{{{5, 0, 7}, 0, 1}, {{1, 2, 7}, 0, 1}});
    CHECK_FALSE(compressed({0, 1, 3, 7, 12, 20, 30, 44, 65, 80, 96, 122, 147}));
}

TEST_CASE("unions of up to three progressions, or of one and a repeated one, are found") {
    std::mt19937_64 random(20261127);
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    std::set<std::int64_t> columns;
    const auto add = [&](bool repeats) {
        const std::int64_t stride = pick(1, repeats ? 3 : 9);
        const std::int64_t first = pick(0, 20);
        const std::int64_t count = pick(2, repeats ? 4 : 9);
        const std::int64_t again = stride * count + pick(0, 9);
        for (std::int64_t k = repeats ? pick(2, 5) : 1; k-- > 0;)
            for (std::int64_t t = 0; t < count; ++t) columns.insert(first + stride * t + again * k);
    };
    for (int trial = 0; trial < 100; ++trial)
        for (const std::vector<bool>& parts :
             {std::vector{false, false}, {true}, {false, true}, {false, false, false}}) {
            columns.clear();
            for (const bool repeats : parts) add(repeats);
            CHECK(compressed({columns.begin(), columns.end()}));
        }
}

TEST_CASE("compressed rows have the columns that they are of, whatever these are") {
    std::mt19937_64 random(20261125);
    int told = 0;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<std::int64_t> columns;
        const unsigned density = 1 + static_cast<unsigned>(trial % 9);
        for (std::int64_t column = 0; column < 30; ++column)
            if (random() % 10 < density) columns.push_back(column);
        const auto rows = compressed(columns);
        if (!rows) continue;
        ++told;
        std::vector<std::int64_t> again;
        for (const NestedProgression& row : *rows)
            for (std::int64_t k = 0; k < row.count; ++k)
                for (std::int64_t t = 0; t < row.inner.count; ++t)
                    again.push_back(row.inner.first + row.inner.stride * t + row.stride * k);
        std::sort(again.begin(), again.end());
        again.erase(std::unique(again.begin(), again.end()), again.end());
        CHECK_EQ(again, columns);
    }
    CHECK(told > 100);
    CHECK(told < 190);
}

}  // namespace napkin
