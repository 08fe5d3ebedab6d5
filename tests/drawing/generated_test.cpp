// Pictures of diagrams that nobody drew by hand: every example, plain and derived, and random ones.

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/changes.h"
#include "diagrams/drawing/factors_apart.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/render.h"
#include "diagrams/drawing/units.h"
#include "tests/drawing/crossings.h"
#include "tests/drawing/picture_checks.h"
#include "tests/golden.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin::test {

namespace {

/// Cells as wide as real ones.
drawing::DrawOptions with_table(const Diagram& diagram, const Relabelling& relabelling) {
    drawing::DrawOptions options;
    options.title = diagram.name;
    drawing::TableRow row{"H_l1", {}, "2qd + 2xqd/g_q + nk", false};
    for (const drawing::Column& column : drawing::columns_of(diagram, relabelling))
        row.cells.push_back(column.kind == drawing::ColumnKind::Boxes ? "" : "g_q d + s_x d");
    options.rows = {row, row};
    return options;
}

/// Whatever is computed of arrays with axes can be pointed at.
void check_handles(const Diagram& diagram, const Relabelling& relabelling,
                   const drawing::Canvas& canvas) {
    std::set<std::string> handles;
    for (const drawing::Element& element : canvas.elements) handles.insert(element.id);
    const drawing::Shown shown = drawing::with_factors_apart(diagram, relabelling);
    for (const drawing::Unit& unit : drawing::units_of(shown.diagram, shown.relabelling)) {
        const bool has_wires = std::any_of(unit.inputs.begin(), unit.inputs.end(),
                                           [&](const drawing::UnitInput& input) {
                                               return !shown.diagram[input.array].axes.empty();
                                           });
        const std::string& made = shown.diagram[unit.outputs.front()].name;
        INFO(made);
        if (has_wires) CHECK(handles.contains("box-" + made));
    }
}

/// The page; `most`: wires that one may cross at once.
drawing::Canvas check_drawing(const Diagram& diagram, const Relabelling& relabelling,
                              std::size_t most) {
    drawing::DrawOptions options = with_table(diagram, relabelling);
    drawing::Canvas canvas;
    for (const double width : {420.0, 760.0}) {
        options.max_width = width;
        canvas = draw_diagram(diagram, relabelling, options);
        check_picture(canvas);
        check_handles(diagram, relabelling, canvas);
        CHECK_LE(canvas.width, 760);
        CHECK_LE(most_crossed_at_once(canvas), most);
        for (const std::string& cramped : cramped_crossings(canvas)) FAIL_CHECK(cramped);
    }
    CHECK_LE(canvas.height, 9 * canvas.width);
    // A row of boxes under a table, as wide as a page may be.
    CHECK_LE(canvas.width, 3.2 * canvas.height);
    CHECK(canvas == draw_diagram(diagram, relabelling, options));
    check_order(diagram, relabelling, options);
    const drawing::Contents contents = drawing::contents_of(diagram, relabelling);
    if (relabelling.regions.size() == 1) check_plunges(contents, options);
    for (std::size_t r = 0; relabelling.regions.size() > 1 && r < relabelling.regions.size(); ++r)
        check_plunges(contents, options, r);
    options.medium = drawing::Medium::Terminal;
    options.max_width = drawing::kTerminalCell * 80;
    const std::string text = render_text(draw_diagram(diagram, relabelling, options));
    INFO(text);
    CHECK_LE(columns_of_text(text), 80);
    for (ArrayId output : outputs_of(diagram)) {
        INFO(text);
        CHECK_NE(text.find(diagram[output].name), std::string::npos);
    }
    return canvas;
}

/// A wire that passes an array crosses all of its wires, and may cross one beside them.
std::size_t most_crossed(const Diagram& diagram) {
    std::size_t most = 6;
    for (const Array& array : diagram.arrays) most = std::max(most, array.axes.size() + 1);
    return most;
}

}  // namespace

TEST_CASE("every example can be drawn, plain and derived") {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".ncd") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    REQUIRE_GT(files.size(), 10);
    for (const std::filesystem::path& file : files) {
        CAPTURE(file.filename().string());
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, file.string(), read_text(file));
        REQUIRE(checked.has_value());
        const State plain = initial_state(checked->diagram);
        const drawing::Canvas before = check_drawing(plain.diagram, plain.relabelling, 3);
        std::filesystem::path drv = file;
        drv.replace_extension(".drv");
        if (!std::filesystem::exists(drv)) continue;
        const Result<std::vector<Command>> commands =
            parse_derivation(sources, sources.add(drv.string(), read_text(drv)));
        REQUIRE(commands.has_value());
        const Result<State> derived = replay(checked->diagram, *commands);
        REQUIRE(derived.has_value());
        drawing::Canvas after = check_drawing(derived->diagram, derived->relabelling, 3);
        mark_changes(after, before, {}, 900);
        check_picture(after);
    }
}

TEST_CASE("axes that are written on every array run over all as woven ones do") {
    const auto crossings = [](const std::string& on_arrays, const std::string& weave) {
        std::string text = R"(diagram backward {
  axis BATCH q = 2048, x = q, d = 64
  input Q[*q, d], K[*x, d], V[*x, d], dO[*q, d], L[*q], D[*q] : f32
  S[*q, x] = sum(d) Q[*q, d] * K[*x, d] * rsqrt(size(d))
  P[*q, x] = if causal[q, x]() then exp(S[*q, x] - L[*q]) else 0
  dP[*q, x] = sum(d) dO[*q, d] * V[*x, d]
  dS[*q, x] = P[*q, x] * (dP[*q, x] - D[*q]) * rsqrt(size(d))
  output dQ[*q, d] : f32 = sum(x) dS[*q, x] * K[*x, d]
  output dK[*x, d] : f32 = sum(q) dS[*q, x] * Q[*q, d]
  output dV[*x, d] : f32 = sum(q) P[*q, x] * dO[*q, d]
  WEAVE
})";
        const auto fill = [&](const std::string& word, const std::string& with) {
            for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;)
                text.replace(at, word.size(), with);
        };
        fill("[*", "[" + on_arrays);
        fill("BATCH", on_arrays.empty() ? "" : "b = 4, h = 16,");
        fill("WEAVE", weave);
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "backward.ncd", text);
        REQUIRE(checked.has_value());
        std::size_t all = 0;
        for (const char* derivation : {"",
                                       "recompute S, P, dP, dS in dQ\nfuse dK, dV\n"
                                       "recompute S, P, dP, dS in dV\n"}) {
            const Result<std::vector<Command>> commands =
                parse_derivation(sources, sources.add("backward.drv", derivation));
            REQUIRE(commands.has_value());
            const Result<State> state = replay(checked->diagram, *commands);
            REQUIRE(state.has_value());
            drawing::DrawOptions options;
            for (std::size_t r = 0; r < state->relabelling.regions.size(); ++r) {
                options.kernel = r;
                for (const Crossing& each :
                     crossings_of(draw_diagram(state->diagram, state->relabelling, options))) {
                    CHECK_LE(each.crossed, 3);
                    all += each.crossed;
                }
            }
        }
        return all;
    };
    CHECK_EQ(crossings("b, h, ", ""), crossings("", "weave b = 4, h = 16"));
}

TEST_CASE("wires pass a box on the side where they cross fewer") {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "depthwise.ncd", R"(diagram depthwise {
  axis k = 64, r = 3, s = 3, p = 28, z = 28
  axis v = 2 * p + r - 1, w = 2 * z + s - 1
  input X[v, w, k], D[r, s, k] : f32
  output A[p, z, k] : f32 = sum(r, s) X[2 * p + r, 2 * z + s, k] * D[r, s, k]
})");
    REQUIRE(checked.has_value());
    const drawing::Canvas canvas =
        drawing::draw_diagram(checked->diagram, plain_relabelling(checked->diagram), {});
    CHECK_LE(most_crossed_at_once(canvas), 2);
}

TEST_CASE("random diagrams under random derivations can be drawn") {
    std::mt19937_64 random(20240611);
    std::set<std::string> applied;
    RandomDiagramOptions options;
    options.chains = false;  // drawn as any read is
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const std::string text = random_diagram(seed, options);
        INFO("seed ", seed, "\n", text);
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "random.ncd", text);
        REQUIRE(checked.has_value());
        const State state = random_derivation(checked->diagram, random, 12);
        INFO(steps_text(state));
        check_drawing(checked->diagram, plain_relabelling(checked->diagram),
                      most_crossed(checked->diagram));
        check_drawing(state.diagram, state.relabelling, most_crossed(state.diagram));
        for (const Step& step : state.steps) applied.insert(step.command.rule);
    }
    for (const char* rule : {"fuse", "group", "stream", "recompute", "split-stream"})
        CHECK_GT(applied.count(rule), 0);
}

}  // namespace napkin::test
