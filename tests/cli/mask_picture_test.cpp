// Pictures of masks, place by place: each pair is of the colour of its own tile.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/mask_export.h"
#include "perfmodel/mask_report.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin::test {
namespace {

using Indices = std::vector<std::int64_t>;

/// The axes of one side, and the lengths of their tiles.
struct Side {
    Indices extents;
    Indices tiles;
};

struct Case {
    const char* condition = "";
    std::function<bool(const Indices&, const Indices&)> sees;
    Side queries;
    Side keys;
};

/// A sum over keys u0, u1 of what is visible to queries i0, i1.
State sum_of(const Case& given) {
    std::string axes;
    std::string moves = "fuse all\n";
    const auto add = [&](const Side& side, const std::string& letter, const std::string& move) {
        std::string names;
        for (std::size_t k = 0; k < side.extents.size(); ++k) {
            const std::string name = letter + std::to_string(k);
            axes += "  axis " + name + " = " + std::to_string(side.extents[k]) + "\n";
            moves += move + " " + name + " by " + std::to_string(side.tiles[k]) + "\n";
            names += (k > 0 ? ", " : "") + name;
        }
        return names;
    };
    const std::string queries = add(given.queries, "i", "group");
    const std::string keys = add(given.keys, "u", "stream");
    return derived("diagram masked {\n" + axes + "  input V[" + keys + "] : f32\n  output O[" +
                       queries + "] : f32 = sum(" + keys + ") if " + given.condition + " then V[" +
                       keys + "] else 0\n}\n",
                   moves);
}

std::vector<Indices> tokens_of(const Side& side) {
    std::vector<Indices> tokens{{}};
    for (const std::int64_t extent : side.extents) {
        std::vector<Indices> longer;
        for (const Indices& token : tokens)
            for (std::int64_t index = 0; index < extent; ++index) {
                longer.push_back(token);
                longer.back().push_back(index);
            }
        tokens = longer;
    }
    return tokens;
}

Indices tile_of(const Indices& token, const Side& side) {
    Indices tile;
    for (std::size_t k = 0; k < token.size(); ++k) tile.push_back(token[k] / side.tiles[k]);
    return tile;
}

using Count = std::map<drawing::Color, std::int64_t>;

/// How many pairs are to be of each colour.
Count expected(const Case& given, bool with_pairs) {
    std::map<std::pair<Indices, Indices>, std::pair<std::int64_t, std::int64_t>> tiles;
    for (const Indices& query : tokens_of(given.queries))
        for (const Indices& key : tokens_of(given.keys)) {
            auto& [visible, all] = tiles[{tile_of(query, given.queries), tile_of(key, given.keys)}];
            visible += given.sees(query, key) ? 1 : 0;
            ++all;
        }
    Count count;
    for (const auto& [tile, pairs] : tiles) {
        const auto& [visible, all] = pairs;
        if (visible == all)
            count[drawing::kBlockColor] += all;
        else if (visible > 0 && with_pairs)
            count[drawing::kTensorCoreColor] += visible;
        if (visible > 0 && visible < all)
            count[drawing::kHiddenFill] += with_pairs ? all - visible : all;
    }
    return count;
}

/// How many are of each in the first panel, which is `rows` by `columns`.
Count painted(const drawing::Canvas& canvas, std::size_t rows, std::size_t columns) {
    std::vector<drawing::Color> colors(rows * columns, drawing::kWhite);
    std::optional<drawing::Box2> frame;
    for (const drawing::Operation& operation : canvas.operations)
        if (const auto* polygon = std::get_if<drawing::Polygon>(&operation.shape);
            polygon != nullptr && polygon->part == drawing::Part::Region)
            frame = bounds_of(operation);
    REQUIRE(frame);
    const auto place = [](double at, double begin, double end, std::size_t count) {
        const double exact = (at - begin) / (end - begin) * static_cast<double>(count);
        CHECK(std::abs(exact - std::round(exact)) < 1e-6);
        return static_cast<std::size_t>(std::lround(exact));
    };
    const auto paint = [&](const drawing::Box2& box, drawing::Color color) {
        const std::size_t bottom = place(box.bottom, frame->top, frame->bottom, rows);
        const std::size_t left = place(box.left, frame->left, frame->right, columns);
        const std::size_t right = place(box.right, frame->left, frame->right, columns);
        for (std::size_t row = place(box.top, frame->top, frame->bottom, rows); row < bottom; ++row)
            for (std::size_t column = left; column < right; ++column)
                colors[row * columns + column] = color;
    };
    for (const drawing::Operation& operation : canvas.operations)
        if (const auto* boxes = std::get_if<drawing::Boxes>(&operation.shape))
            for (const drawing::Box2& box : boxes->boxes) paint(box, boxes->fill);
    Count count;
    for (const drawing::Color color : colors)
        if (color != drawing::kWhite) ++count[color];
    return count;
}

drawing::Canvas picture_of(const Case& given) {
    const State state = sum_of(given);
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    REQUIRE(reports.has_value());
    const Result<drawing::Canvas> canvas = cli::mask_picture(state, reports->front());
    REQUIRE(canvas.has_value());
    return *canvas;
}

}  // namespace

TEST_CASE("each pair of a picture is of the colour of its own tile") {
    const auto causal = [](const Indices& query, const Indices& key) { return key[0] <= query[0]; };
    const auto near = [](const Indices& query, const Indices& key) {
        return std::abs(query[0] - key[0]) < 3 && std::abs(query[1] - key[1]) < 4;
    };
    const char* const is_near = "abs(i0 - u0) < 3 and abs(i1 - u1) < 4";
    const Case cases[] = {
        {"u0 <= i0", causal, {{125}, {100}}, {{125}, {100}}},
        {"u0 <= i0", causal, {{50}, {16}}, {{41}, {7}}},
        {is_near, near, {{12, 20}, {4, 5}}, {{12, 20}, {4, 4}}},
        {is_near, near, {{7, 10}, {4, 3}}, {{8, 11}, {3, 11}}},
        {is_near, near, {{9, 6}, {1, 4}}, {{9, 6}, {2, 1}}},
    };
    for (const Case& given : cases) {
        CAPTURE(given.condition);
        CHECK(painted(picture_of(given), tokens_of(given.queries).size(),
                      tokens_of(given.keys).size()) == expected(given, true));
    }
}

TEST_CASE("tiles of different lengths keep a mask's proportions where pairs are too many") {
    const Case given{"u0 <= i0",
                     [](const Indices& query, const Indices& key) { return key[0] <= query[0]; },
                     {{2100}, {800}},
                     {{2100}, {500}}};
    const drawing::Canvas canvas = picture_of(given);
    CHECK(painted(canvas, 2100, 2100) == expected(given, false));
    for (const drawing::Operation& operation : canvas.operations)
        if (const auto* polygon = std::get_if<drawing::Polygon>(&operation.shape);
            polygon != nullptr && polygon->part == drawing::Part::Region) {
            const drawing::Box2 frame = bounds_of(operation);
            CHECK_EQ(frame.right - frame.left, doctest::Approx(frame.bottom - frame.top));
        }
}

TEST_CASE("panels of heads stand in as few lines as 1600 pixels allow, of as many each") {
    const std::pair<int, int> cases[] = {{1, 1}, {3, 3}, {4, 2}, {5, 3}, {8, 3}};
    for (const auto& [heads, in_line] : cases) {
        CAPTURE(heads);
        const State state = derived(
            "diagram shifted {\n  axis q = 16, x = 16\n  input V[x], S[q, x] : f32\n"
            "  M[q, x] = if x == (q + h) % 16 then S[q, x] else -inf\n"
            "  P[q, x] = softmax[x](M[q, x])\n  output O[q] : f32 = sum(x) P[q, x] * V[x]\n"
            "  weave h = " +
                std::to_string(heads) + "\n}\n",
            "fuse all\ngroup q by 2\nstream x by 2\n");
        const Result<std::vector<MaskReport>> reports = mask_reports(state);
        REQUIRE(reports.has_value());
        const Result<drawing::Canvas> canvas = cli::mask_picture(state, reports->front());
        REQUIRE(canvas.has_value());
        CHECK_LE(canvas->width, 1200);
        std::map<double, int> lines;
        for (const drawing::Operation& operation : canvas->operations)
            if (const auto* frame = std::get_if<drawing::Polygon>(&operation.shape);
                frame != nullptr && frame->part == drawing::Part::Region)
                ++lines[frame->points.front().y];
        int panels = 0;
        for (const auto& [top, count] : lines) {
            CHECK_LE(count, in_line);
            panels += count;
        }
        CHECK_EQ(lines.begin()->second, in_line);
        CHECK_EQ(panels, heads);
    }
}

}  // namespace napkin::test
