#include "diagrams/graphviz/render_canvas.h"

#include <doctest/doctest.h>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/graphviz/xdot.h"
#include "tests/drawing/figures.h"

namespace napkin::test {

namespace {

using drawing::Canvas;
using drawing::Format;

Canvas picture() {
    Figure figure = derived_attention();
    figure.options.title = "attention";
    return draw_diagram(figure.diagram, figure.relabelling, figure.options);
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("every format: the same canvas gives the same bytes") {
    const Canvas canvas = picture();
    CHECK_EQ(canvas, picture());
    for (const Format format :
         {Format::Svg, Format::Pdf, Format::Png, Format::Text, Format::Tikz}) {
        const Result<std::string> first = render_canvas(canvas, format);
        const Result<std::string> second = render_canvas(canvas, format);
        REQUIRE(first.has_value());
        CHECK_GT(first->size(), 100);
        CHECK((*first == *second));
        CHECK_EQ(count(*first, "CreationDate"),
                 0);  // two in one second would be equal all the same
    }
}

TEST_CASE("boxes of one colour are one shape, in lines that TeX reads") {
    Canvas canvas;
    drawing::Boxes boxes{{}, drawing::kBlockColor, true};
    for (int k = 0; k < 500; ++k) boxes.boxes.push_back({0, 1.0 * k, 20.0 + k, k + 1.0});
    canvas.operations.push_back({boxes, {}});
    fit(canvas, drawing::kMargin);
    const std::string svg = render_svg(canvas);
    CHECK_EQ(count(svg, "<path"), 1);
    CHECK_EQ(count(svg, "crispEdges"), 1);
    CHECK_EQ(count(svg, "z"), 500);
    const std::string tikz = render_tikz(canvas);
    CHECK_EQ(count(tikz, "rectangle ("), 500 + 1);
    CHECK_GT(count(tikz, "\n"), 500);
    CHECK_EQ(count(to_xdot(canvas), "P 3000 "), 1);
    CHECK_EQ(bounds_of(canvas).right, doctest::Approx(519 + drawing::kMargin));
}

TEST_CASE("string lengths in xdot are exact") {
    const std::string xdot = to_xdot(picture());
    // Walk it as Graphviz does: every string is `<bytes> -<text> `.
    std::size_t strings = 0;
    for (std::size_t at = 0; (at = xdot.find(" -", at)) != std::string::npos; ++at) {
        const std::size_t digits = xdot.find_last_not_of("0123456789", at - 1) + 1;
        if (digits >= at || xdot[at + 2] == '1') continue;  // the -1 of an alignment
        const std::size_t length = std::stoul(xdot.substr(digits, at - digits));
        REQUIRE_LT(at + 2 + length, xdot.size());
        CHECK_EQ(xdot[at + 2 + length], ' ');
        ++strings;
    }
    CHECK_GT(strings, 100);
}

TEST_CASE("everything painted reaches the SVG, with handles that say what they are") {
    const Canvas canvas = picture();
    const std::string svg = render_svg(canvas);
    std::size_t runs = 0;
    std::size_t texts = 0;
    std::size_t wires = 0;
    for (const drawing::Operation& operation : canvas.operations) {
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape)) {
            ++texts;
            for (const drawing::Run& run : text->text.runs)
                runs += run.text.find_first_not_of(' ') == std::string::npos ? 0 : 1;
        }
        const drawing::Line* line = std::get_if<drawing::Line>(&operation.shape);
        if (line == nullptr || line->part != drawing::Part::Wire) continue;
        ++wires;
        CHECK_FALSE(operation.meaning.axis.empty());
        CHECK_FALSE(operation.meaning.level.empty());
    }
    CHECK_GT(wires, 10);
    CHECK_EQ(count(svg, "<text "), texts);
    CHECK_EQ(count(svg, "<tspan "), runs);
    CHECK_EQ(count(svg, "class=\"wire "), wires + count(svg, "class=\"wire cup"));
    CHECK_EQ(count(svg, "class=\"handle "), canvas.elements.size());
    CHECK_EQ(count(svg, "<title>"), canvas.elements.size() + 1);
    CHECK_EQ(count(svg, "<desc>Kernel O loads Q, K, V and saves O; "), 1);
    CHECK_EQ(count(svg, "= sum(d) Q[b, h, q, d] * K[b, h, x, d]"),
             1);  // what a box computes, its fold too
}

TEST_CASE("a picture in a page says once what neighbours have in common, and all of it") {
    const Canvas canvas = picture();
    const std::string part = render_svg_part(canvas);
    const std::string svg = render_svg(canvas, drawing::Theme::Paper, drawing::Font::None);
    CHECK_LT(5 * part.size(), 3 * svg.size());
    CHECK_EQ(count(part, "<text "), count(svg, "<text "));
    CHECK_EQ(count(part, "class=\"handle "), canvas.elements.size());
    CHECK_EQ(count(part, "<g "), count(part, "</g>"));
    for (const drawing::Operation& operation : canvas.operations)
        for (const auto& [name, value] : {std::pair{"axis", operation.meaning.axis},
                                          std::pair{"array", operation.meaning.array},
                                          std::pair{"level", operation.meaning.level}}) {
            CAPTURE(value);
            CHECK((value.empty() ||
                   count(part, "data-" + std::string(name) + "=\"" + value + "\"") > 0));
        }
}

TEST_CASE(
    "in a page the wires of an axis are one path of their array, in steps that do not drift") {
    Canvas canvas;
    const drawing::Stroke pen = drawing::wire(drawing::kBlack);
    const drawing::Meaning q{.axis = "q", .array = "Q"};
    const drawing::Meaning k{.axis = "k", .array = "Q"};
    for (int i = 0; i < 3; ++i) {
        canvas.line({10.0 * i, 5}, {10.0 * i + 4.04, 5}, pen, drawing::Part::Wire, q);
        canvas.line({10.0 * i, 8}, {10.0 * i + 4.06, 9.5}, pen, drawing::Part::Wire, k);
    }
    canvas.curve({0, 9}, {10, 3}, pen, drawing::Part::Cup, q);
    const std::string part = render_svg_part(canvas);
    CHECK_EQ(count(part, "<path data-axis=\"q\" d=\"M0,5h4M10,5h4M20,5h4\"/>"), 1);
    CHECK_EQ(count(part, "<path data-axis=\"k\" d=\"M0,8l4.1 1.5M10,8l4.1 1.5M20,8l4.1 1.5\"/>"),
             1);
    CHECK_EQ(count(part, "d=\"M0,9c5 0 5-6 10-6\"/>"), 1);
    CHECK_EQ(count(part, "<g data-array=\"Q\">"), 1);
}

TEST_CASE("whatever is computed of arrays has a handle") {
    for (const std::string value :
         {"sum(c) A[n, c]", "A[n, c] * B[n, c]", "A[n, c] * D[n]", "D[n] * E[c]", "exp(A[n, c])",
          "softmax[c](A[n, c])", "sum(c) A[n, c] * B[n, c]", "A[n, c] * 2"}) {
        CAPTURE(value);
        SourceMap sources;
        const bool folds = value.starts_with("sum");
        const Result<Checked> checked = load_diagram(
            sources, "handle.ncd",
            "diagram handle {\n  axis n = 8, c = 4\n  input A[n, c], B[n, c], D[n], E[c] : f32\n"
            "  output Y[" +
                std::string(folds ? "n" : "n, c") + "] : f32 = " + value + "\n}\n");
        REQUIRE(checked.has_value());
        const State state = initial_state(checked->diagram);
        const Canvas canvas = drawing::draw_diagram(state.diagram, state.relabelling, {});
        CHECK(std::any_of(canvas.elements.begin(), canvas.elements.end(),
                          [](const drawing::Element& element) { return element.id == "box-Y"; }));
    }
}

TEST_CASE("themes: an ink on every fill that it may stand on") {
    using namespace drawing;
    for (const Theme theme : {Theme::Paper, Theme::Slides, Theme::Contrast, Theme::Dark})
        for (const Color fill : {kWhite, kLoadFill, kSaveFill, kSubAlgorithmFill})
            for (const Color ink : {kBlack, kBlockColor, kThreadColor, kTensorCoreColor,
                                    kClusterColor, kCacheColor, kGrey, kNameColor}) {
                INFO(ink_name(ink), " on ", ink_name(fill));
                CHECK_GE(contrast(shade(ink, theme), shade(fill, theme)),
                         theme == Theme::Contrast ? 6 : 3);
            }
    // What fills tiles of masks is seen on the page, and what is hidden beside what is visible.
    for (const Theme theme : {Theme::Paper, Theme::Slides, Theme::Contrast, Theme::Dark}) {
        CHECK_GE(contrast(shade(kHiddenFill, theme), shade(kWhite, theme)), 2);
        for (const Color visible : {kBlockColor, kTensorCoreColor}) {
            CHECK_GE(contrast(shade(visible, theme), shade(kWhite, theme)), 3);
            CHECK_GE(contrast(shade(visible, theme), shade(kHiddenFill, theme)), 1.7);
        }
    }
    CHECK_EQ(contrast(0x000000, 0xFFFFFF), doctest::Approx(21));
    CHECK_FALSE(theme_named("papers"));
}

TEST_CASE("a theme's colours reach every format") {
    const Canvas canvas = picture();
    const std::string svg = render_svg(canvas, drawing::Theme::Dark);
    CHECK_EQ(count(svg, "#b86800"), 0);
    CHECK_GT(count(svg, "var(--napkin-block,#ffb454)"), 0);
    CHECK_GT(count(render_tikz(themed(canvas, drawing::Theme::Dark)), "cFFB454"), 1);
}

TEST_CASE("an SVG carries the letters of the faces that it uses, each once, or none") {
    const Canvas canvas = picture();
    const std::string svg = render_svg(canvas);
    CHECK_EQ(count(svg, "@font-face"), 2);
    CHECK_EQ(
        count(svg,
              "@font-face{font-family:Napkin;font-style:italic;src:url(data:font/woff2;base64,"),
        1);
    CHECK_EQ(count(svg, "@font-face{font-family:\"Napkin Mono\""), 0);
    const std::string bare = render_svg(canvas, drawing::Theme::Paper, drawing::Font::None);
    CHECK_EQ(count(bare, "@font-face"), 0);
    CHECK_EQ(svg.substr(svg.find("</style>")), bare.substr(bare.find("</style>")));
    CHECK_LT(svg.size(), bare.size() + 31000);
    CHECK_EQ(count(drawing::svg_rules(), "@font-face"), 2);  // once for all parts of a page
    CHECK_EQ(count(drawing::render_svg_part(canvas), "@font-face"), 0);
    CHECK_FALSE(drawing::font_named("embedded"));
}

TEST_CASE("widths are those of the letters, whose shapes follow their face") {
    using drawing::Face;
    CHECK_EQ(drawing::units_of("ab", Face::Roman), 444 + 500);
    CHECK_EQ(drawing::units_of("ℓ", Face::Italic), 437);
    CHECK_EQ(drawing::units_of("∴", Face::Roman), 524);  // of the mathematical font
    CHECK_EQ(drawing::units_of("l·", Face::Mono), 1200);
    CHECK_FALSE(drawing::has_letter(U'字', Face::Roman));
    // An upright sign after a letter that leans out keeps clear of it.
    const auto gap = [](const char* formula) {
        const std::vector<drawing::PlacedRun> runs =
            drawing::place_runs(drawing::parse_math(formula), 10);
        return runs[1].x - runs[0].x - runs[0].width;
    };
    CHECK_EQ(gap("a/g"), 0);
    CHECK_EQ(gap("f/g"), doctest::Approx(0.01 * drawing::overhang_of("f", Face::Italic)));
    CHECK_GT(drawing::overhang_of("f", Face::Italic), 100);
}

TEST_CASE("in a terminal a wire leaves a row before another arrives at it") {
    const auto drawn = [](std::vector<std::pair<double, double>> wires) {
        Canvas canvas;
        for (const auto& [from, to] : wires)
            canvas.curve({0, from}, {48, to}, {}, drawing::Part::Wire);
        fit(canvas, 0);
        return render_text(canvas);
    };
    const char* const apart =
        "─────╮\n"
        "     │\n"
        "────╮╰───\n"
        "    │\n"
        "    ╰────\n";
    CHECK_EQ(drawn({{0, 20}, {20, 40}}), apart);
    CHECK_EQ(drawn({{20, 40}, {0, 20}}), apart);
    CHECK_FALSE(drawn({{0, 20}, {20, 0}}).empty());  // each before the other
}

TEST_CASE("formats by file name") {
    CHECK(*drawing::format_of("a.b.svg") == Format::Svg);
    CHECK(*drawing::format_of("x.tex") == Format::Tikz);
    for (const char* name : {"picture", "picture.gif", "", "."}) {
        const Result<Format> format = drawing::format_of(name);
        REQUIRE_FALSE(format.has_value());
        CHECK_EQ(format.error().list[0].code, "E0801");
    }
}

}  // namespace napkin::test
