// Short mathematical labels: `g_q`, `s_x^(32)`, `2qd + 2xqd/g_q`, `H_l1`, as runs of text with a
// style, and how wide they are. Widths come from a table of the Times metrics that Graphviz's
// default font and its free replacements share, so that a layout does not depend on the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace napkin::drawing {

enum class Face { Roman, Italic, Mono };
enum class Script { Base, Below, Above };

/// A stretch of text in one style.
struct Run {
    std::string text;  ///< UTF-8
    Face face = Face::Roman;
    Script script = Script::Base;
    bool overbar = false;
    bool under_root = false;  ///< of the sign before, whose bar is drawn, and no character
    bool operator==(const Run&) const = default;
};

/// A label: its runs from left to right.
struct MathText {
    std::vector<Run> runs;
    bool operator==(const MathText&) const = default;
};

/// Reads the notation above: letters are italic, digits and signs upright, `_` lowers and `^`
/// raises the name, number or parenthesised group that follows, and `√` stands over it; `l1` there
/// becomes the level sign; what is quoted stands upright as it is.
[[nodiscard]] MathText parse_math(std::string_view text, bool overbar = false);
/// Text as it stands, in one face.
[[nodiscard]] MathText plain_text(std::string_view text, Face face = Face::Roman);
/// The labels one after another.
[[nodiscard]] MathText operator+(MathText first, const MathText& second);

/// Where each run begins and how large it is set, relative to the label's start and size.
struct PlacedRun {
    double x = 0;
    double rise = 0;   ///< of the baseline, upwards
    double size = 12;  ///< of the type, in points
    double width = 0;
};
/// Places the runs of a label set at `size` points.
[[nodiscard]] std::vector<PlacedRun> place_runs(const MathText& text, double size);
/// A bar over a part of a label, from its start and baseline: close over letters without
/// ascenders, as in print, and at the end of a root's sign over what stands under that.
struct Bar {
    double left = 0;
    double right = 0;
    double rise = 0;
};
inline constexpr double kBarWidth = 0.9;
[[nodiscard]] std::vector<Bar> bars_over(const MathText& text, double size);
/// Width in points at `size` points.
[[nodiscard]] double width_of(const MathText& text, double size);
/// Width of plain text of one face in thousandths of its size, of the letters that an SVG carries.
[[nodiscard]] int units_of(std::string_view text, Face face);

/// How far the last sign leans out of that width, where it does so by far, as an italic f.
[[nodiscard]] int overhang_of(std::string_view text, Face face);
/// Whether the letters that an SVG carries have a sign.
[[nodiscard]] bool has_letter(char32_t sign, Face face);

/// `g_q`, for terminals and tooltips; overbars are combining characters.
[[nodiscard]] std::string to_unicode(const MathText& text);
/// `\textit{g}_{\textit{q}}`, to stand between dollar signs; takes the packages amsmath and
/// amssymb.
[[nodiscard]] std::string to_tex(const MathText& text);

/// A sign's name in TeX's mathematics; empty for letters and signs that labels do not use.
[[nodiscard]] std::string_view tex_of(char32_t sign);

/// One code point off the front of UTF-8 text; malformed bytes come singly.
[[nodiscard]] char32_t next_code_point(std::string_view& text);
/// Code points in a text: the columns it takes in a terminal, combining marks not counted.
[[nodiscard]] std::size_t columns_in(std::string_view text);

}  // namespace napkin::drawing
