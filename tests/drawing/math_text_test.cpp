#include "diagrams/drawing/math_text.h"

#include <doctest/doctest.h>

namespace napkin::drawing {

TEST_CASE("labels: what is read, in a terminal and in TeX") {
    struct Case {
        const char* text;
        const char* unicode;
        const char* tex;
    };
    for (const Case& c : {
             Case{"g_q", "g_q", "\\textit{g}_{\\textit{q}}"},
             Case{"a_b_c", "a_b_c", "\\textit{a}_{\\textit{b}\\text{\\_}\\textit{c}}"},
             Case{"s_x^(32)", "s_x^(32)", "\\textit{s}_{\\textit{x}}^{\\text{(32)}}"},
             Case{"H_l1", "H_ℓ1", "\\textit{H}_{{\\ell}\\text{1}}"},
             Case{"2qd/g_q", "2qd/g_q", "\\text{2}\\textit{qd}\\text{/}\\textit{g}_{\\textit{q}}"},
             Case{"a*b", "a·b", "\\textit{a}{\\cdot}\\textit{b}"},
             Case{"g_q@warps", "g_q,ℓ2", "\\textit{g}_{\\textit{q}\\text{,}{\\ell}\\text{2}}"},
         }) {
        CAPTURE(c.text);
        CHECK_EQ(to_unicode(parse_math(c.text)), c.unicode);
        CHECK_EQ(to_tex(parse_math(c.text)), c.tex);
    }
    CHECK_EQ(to_unicode(parse_math("q", true)), "q\u0305");
    CHECK_EQ(to_tex(parse_math("q", true)), "\\overline{\\textit{q}}");
    CHECK_EQ(to_unicode(parse_math("y2", true)), "y\u03052\u0305");
    CHECK_EQ(to_tex(parse_math("y2", true)), "\\overline{\\textit{y}\\text{2}}");
    CHECK_EQ(to_tex(parse_math("q_i", true)), "\\overline{\\textit{q}}_{\\textit{i}}");
}

TEST_CASE("one bar goes over a name and its number, as high as the higher asks") {
    const std::vector<Bar> letter = bars_over(parse_math("y", true), 10);
    const std::vector<Bar> number = bars_over(parse_math("y2", true), 10);
    REQUIRE_EQ(letter.size(), 1);
    REQUIRE_EQ(number.size(), 1);
    CHECK_GT(number[0].right, letter[0].right + 4);
    CHECK_GT(number[0].rise, letter[0].rise);
    CHECK(bars_over(parse_math("y2"), 10).empty());
}

TEST_CASE("a root has a bar over what stands under it, and stands clear of a slash") {
    const MathText label = parse_math("/√d_2·√(a + b)c");
    CHECK_EQ(to_unicode(label), "/√d_2·√(a + b)c");
    CHECK_EQ(to_tex(label),
             "\\text{/}\\sqrt{\\textit{d}_{\\text{2}}}{\\cdot}"
             "\\sqrt{\\text{(}\\textit{a}\\text{ + }\\textit{b}\\text{)}}\\textit{c}");
    const std::vector<PlacedRun> places = place_runs(label, 10);
    CHECK_GT(places[1].x, places[0].x + places[0].width);
    const std::vector<Bar> bars = bars_over(label, 10);
    REQUIRE_EQ(bars.size(), 2);
    CHECK_EQ(bars[0].left, doctest::Approx(places[2].x));
    CHECK_EQ(bars[0].right, doctest::Approx(places[3].x + places[3].width).epsilon(0.05));
    CHECK_LT(bars[1].right, width_of(label, 10));
}

TEST_CASE("labels: anything can be read, nothing crashes") {
    for (const char* text :
         {"", "_", "^", "a_", "a^", "a_{", "a_{}", "a_(", "\xff\xfe", "ℓ\xe2", "_@", "a_@b"})
        CHECK_GE(width_of(parse_math(text), 12), 0);
}

TEST_CASE("labels: widths add up and scripts are smaller") {
    CHECK_EQ(width_of(parse_math("qq"), 10), doctest::Approx(10));
    CHECK_LT(width_of(parse_math("g_q"), 10), width_of(parse_math("gq"), 10));
    // A superscript over a subscript takes no room beside it.
    CHECK_EQ(width_of(parse_math("s_xxx^2"), 10),
             doctest::Approx(width_of(parse_math("s_xxx"), 10)));
    CHECK_EQ(columns_in("q\u0305x"), 2);
}

}  // namespace napkin::drawing
