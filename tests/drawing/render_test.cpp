#include "diagrams/drawing/render.h"

#include <doctest/doctest.h>

#include "tests/drawing/figures.h"

namespace napkin::test {

namespace {

using drawing::Canvas;
using drawing::Format;

Canvas picture() {
    const Figure figure = derived_attention();
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
        CHECK(*first == *second);
    }
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

TEST_CASE("everything painted reaches the SVG, with handles") {
    const Canvas canvas = picture();
    const Result<std::string> svg = render_canvas(canvas, Format::Svg);
    REQUIRE(svg.has_value());
    std::size_t runs = 0;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
            for (const drawing::Run& run : text->text.runs)
                runs += run.text.find_first_not_of(' ') == std::string::npos ? 0 : 1;
    CHECK_EQ(count(*svg, "<text "), runs);
    for (const drawing::Element& element : canvas.elements)
        CHECK_EQ(count(*svg, "class=\"node " + element.kind + "\"") > 0, true);
    CHECK_EQ(count(*svg, "class=\"node "), canvas.elements.size());
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
