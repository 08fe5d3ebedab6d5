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
    const std::optional<Bar> letter = bar_over(parse_math("y", true), 10);
    const std::optional<Bar> number = bar_over(parse_math("y2", true), 10);
    REQUIRE(letter);
    REQUIRE(number);
    CHECK_GT(number->right, letter->right + 4);
    CHECK_GT(number->rise, letter->rise);
    CHECK_FALSE(bar_over(parse_math("y2"), 10));
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
