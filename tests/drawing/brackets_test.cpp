// Brackets below a picture: how far a loop goes, and what wires are called that an axis of another
// name reads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/layout.h"

namespace napkin::test {

namespace {

using drawing::Canvas;

Canvas picture_of(const std::string& lines, const std::vector<std::string>& commands,
                  double width = 2000) {
    SourceMap sources;
    const Result<Checked> checked =
        load_diagram(sources, "brackets.ncd", "diagram brackets {\n" + lines + "}\n");
    if (!checked) FAIL(render(checked.error().list.front(), sources));
    State state = initial_state(checked->diagram);
    for (const std::string& command : commands) {
        INFO(command);
        const std::uint32_t text = sources.add("typed", command);
        const Result<std::vector<Command>> parsed = parse_derivation(sources, text);
        REQUIRE(parsed.has_value());
        Outcome outcome = apply(state, parsed->front());
        REQUIRE(std::holds_alternative<State>(outcome));
        state = std::get<State>(std::move(outcome));
    }
    drawing::DrawOptions options;
    options.max_width = width;
    return drawing::draw_diagram(state.diagram, state.relabelling, options);
}

std::size_t count_of(const Canvas& canvas, const std::string& label) {
    return static_cast<std::size_t>(std::count_if(
        canvas.operations.begin(), canvas.operations.end(), [&](const auto& operation) {
            const auto* text = std::get_if<drawing::Text>(&operation.shape);
            return text != nullptr && to_unicode(text->text) == label;
        }));
}

struct Line {
    double left = 0;
    double right = 0;
    double y = 0;
};

/// The bracket over a text: the nearest rule above it, in whose middle it stands.
Line bracket_over(const Canvas& canvas, const std::string& label) {
    Line nearest{0, 0, -1};
    const auto look = [&](const drawing::Text& text) {
        for (const auto& operation : canvas.operations) {
            const auto* line = std::get_if<drawing::Line>(&operation.shape);
            if (line == nullptr || line->part != drawing::Part::Rule) continue;
            const drawing::Point& from = line->points.front();
            const drawing::Point& to = line->points.back();
            const bool above = from.y == to.y && from.y < text.at.y && from.y > nearest.y;
            if (above && std::abs((from.x + to.x) / 2 - text.at.x) < 0.01)
                nearest = {from.x, to.x, from.y};
        }
    };
    for (const auto& operation : canvas.operations)
        if (const auto* text = std::get_if<drawing::Text>(&operation.shape))
            if (to_unicode(text->text) == label) look(*text);
    INFO("bracket of ", label);
    REQUIRE(nearest.y > 0);
    return nearest;
}

const drawing::Box2& handle(const Canvas& canvas, const std::string& id) {
    const auto found = std::find_if(canvas.elements.begin(), canvas.elements.end(),
                                    [&](const auto& element) { return element.id == id; });
    INFO("handle ", id);
    REQUIRE(found != canvas.elements.end());
    return found->bounds;
}

const std::string kEpilogue =
    "  axis m = 512, n = 256, k = 1024\n  input X[m, k], W[n, k], R[m, n], shift[k] : f32\n"
    "  Y[m, n] = sum(k) relu(X[m, k] + shift[k]) * W[n, k]\n"
    "  output Z[m, n] : f32 = gelu(Y[m, n]) + R[m, n]\n";

}  // namespace

TEST_CASE("the bracket of a loop goes over what runs along its axis, and no further") {
    const Canvas canvas = picture_of(kEpilogue, {"fuse all", "group m by 64", "stream k by 32"});
    const Line loop = bracket_over(canvas, "each s_k");
    CHECK_EQ(loop.left, handle(canvas, "load").left);
    CHECK(loop.right >= handle(canvas, "box-Y").right);
    CHECK(loop.right < handle(canvas, "box-Z").left);
    CHECK(loop.y > handle(canvas, "box-Z").bottom);
}

TEST_CASE("the loop of a scan saves in every turn") {
    const Canvas canvas = picture_of(
        "  axis n = 64, t = 1024\n  input X[n, t] : f32\n  output C[n, t] : f32 = scan[t] sum X[n, "
        "t]\n",
        {"group n by 32", "stream t by 128"});
    const Line loop = bracket_over(canvas, "each s_t");
    CHECK_EQ(loop.left, handle(canvas, "load").left);
    CHECK_EQ(loop.right, handle(canvas, "save").right);
}

TEST_CASE("of loops inside each other the inner one stands above") {
    const Canvas canvas = picture_of(
        "  axis n = 4096, v = 32768, d = 4096\n  input X[n, d], W[v, d] : f32\n"
        "  Z[n, v] = sum(d) X[n, d] * W[v, d]\n  output Y[n] : f32 = logsumexp[v](Z[n, v])\n",
        {"fuse all", "group n by 64", "stream v by 128", "stream d by 32"});
    const Line outer = bracket_over(canvas, "each s_v");
    const Line inner = bracket_over(canvas, "each s_d");
    CHECK(inner.y < outer.y);
    CHECK(inner.right < outer.right);
    CHECK_EQ(outer.right, handle(canvas, "box-Y").right);
}

TEST_CASE("a loop that goes on in the next row ends in the last") {
    const Canvas canvas = picture_of(
        "  axis q = 512, x = 512, d = 64\n  input Q[q, d], K[x, d], V[x, d] : f32\n"
        "  S[q, x] = sum(d) Q[q, d] * K[x, d]\n  T[q, x] = softcap(S[q, x], 30)\n"
        "  P[q, x] = softmax[x](T[q, x])\n  output O[q, d] : f32 = sum(x) P[q, x] * V[x, d]\n",
        {"fuse all", "group q by 64", "stream x by 64"}, 330);
    CHECK_EQ(count_of(canvas, "goes on below →"), 1);
    CHECK_EQ(count_of(canvas, "each s_x"), 2);
    std::size_t ends = 0;
    for (const auto& operation : canvas.operations)
        if (const auto* line = std::get_if<drawing::Line>(&operation.shape))
            ends +=
                line->part == drawing::Part::Rule && line->points.front().x == line->points.back().x
                    ? 1
                    : 0;
    CHECK_EQ(ends, 2);
}

TEST_CASE("kernels stand below loops, and only where there are several") {
    const std::string lines =
        "  axis a = 64, k = 32, c = 128\n  input A[a, k], B[k, c] : f32\n"
        "  T[a, c] = sum(k) A[a, k] * B[k, c]\n"
        "  output Y[a, c] : f32 = softmax[c](T[a, c])\n";
    const Canvas two = picture_of(lines, {"stream k by 16 in T"});
    CHECK(bracket_over(two, "each s_k").y < bracket_over(two, "T").y);
    CHECK_EQ(bracket_over(two, "T").y, bracket_over(two, "Y").y);
    const Canvas one = picture_of(lines, {"fuse all"});
    for (const char* label : {"each s_k", "each k", "T"}) CHECK_EQ(count_of(one, label), 0);
}

TEST_CASE("a wire that is read along an axis of another name is called by that inside") {
    const std::string lines =
        "  axis n = 512, v = 256, d = 1024, k = d\n  input X[n, d], W[v, d] : f32\n"
        "  output Z[n, v] : f32 = sum(k) X[n, k] * W[v, k]\n";
    const Canvas canvas = picture_of(lines, {"group n by 64", "stream k by 32"});
    CHECK_EQ(count_of(canvas, "s_k"), 2);
    CHECK_EQ(count_of(canvas, "d"), 0);
    CHECK_EQ(count_of(canvas, "d̅"), 2);
    CHECK_EQ(bracket_over(canvas, "each s_k").left, handle(canvas, "load").left);
    // Read along two axes, it keeps the name of its own.
    const Canvas both = picture_of(
        "  axis n = 64, m = n, d = 32\n  input X[n, d] : f32\n"
        "  output S[n, m] : f32 = sum(d) X[n, d] * X[m, d]\n",
        {"group n by 16", "group m by 8"});
    CHECK_EQ(count_of(both, "g_n"), 1);
    CHECK_EQ(count_of(both, "g_m"), 0);
}

}  // namespace napkin::test
