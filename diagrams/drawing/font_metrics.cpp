#include <algorithm>
#include <array>

#include "diagrams/drawing/math_text.h"

namespace napkin::drawing {

namespace {

constexpr char32_t kFirst = 32;

// clang-format off
/// Advance widths of U+0020 to U+007E in thousandths of the size.
constexpr std::array<int, 95> kRoman = {
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722,
    722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333,
    278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500,
    500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541};
constexpr std::array<int, 95> kItalic = {
    250, 333, 420, 500, 500, 833, 778, 214, 333, 333, 500, 675, 250, 333, 250, 278, 500, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 333, 333, 675, 675, 675, 500, 920, 611, 611, 667, 722, 611, 611, 722,
    722, 333, 444, 667, 556, 833, 667, 722, 611, 722, 611, 500, 556, 722, 611, 833, 611, 556, 556, 389,
    278, 389, 422, 500, 333, 500, 500, 444, 500, 444, 278, 500, 500, 278, 278, 444, 278, 722, 500, 500,
    500, 500, 389, 389, 278, 500, 444, 667, 444, 444, 389, 400, 275, 400, 541};
/// A sign beyond ASCII that labels use: its width in either face and its name in TeX's mathematics.
struct Sign {
    char32_t point;
    int width;
    std::string_view tex;
};
constexpr std::array kSigns = {
    Sign{U'ℓ', 479, "\\ell"},    Sign{U'·', 333, "\\cdot"},       Sign{U'−', 564, "-"},
    Sign{U'≡', 564, "\\equiv"},  Sign{U'∴', 778, "\\therefore"},  Sign{U'≥', 549, "\\geq"},
    Sign{U'≤', 549, "\\leq"},    Sign{U'×', 564, "\\times"},      Sign{U'Σ', 582, "\\Sigma"},
    Sign{U'′', 219, "{}'"},       Sign{U'…', 1000, "\\dots"},      Sign{U'→', 1000, "\\to"},
    Sign{U'←', 1000, "\\gets"},  Sign{U'√', 549, "\\surd"},       Sign{U'∞', 713, "\\infty"},
    Sign{U'∏', 823, "\\prod"},   Sign{U'≠', 549, "\\neq"},        Sign{U'∈', 713, "\\in"},
    Sign{U'α', 524, "\\alpha"},  Sign{U'β', 509, "\\beta"},       Sign{U'λ', 485, "\\lambda"},
    Sign{U'■', 604, "\\blacksquare"},
};
// clang-format on

constexpr int kMonoWidth = 600;
constexpr int kUnknownWidth = 800;

const Sign* find_sign(char32_t point) {
    const auto* found = std::find_if(kSigns.begin(), kSigns.end(),
                                     [&](const Sign& sign) { return sign.point == point; });
    return found == kSigns.end() ? nullptr : found;
}

int units_of(char32_t point, Face face) {
    if (point == U'\u0305') return 0;
    if (face == Face::Mono) return kMonoWidth;
    if (point >= kFirst && point < kFirst + kRoman.size())
        return face == Face::Italic ? kItalic[point - kFirst] : kRoman[point - kFirst];
    const Sign* sign = find_sign(point);
    return sign != nullptr ? sign->width : kUnknownWidth;
}

}  // namespace

int units_of(std::string_view text, Face face) {
    int total = 0;
    while (!text.empty()) total += units_of(next_code_point(text), face);
    return total;
}

std::string_view tex_of(char32_t sign) {
    const Sign* known = find_sign(sign);
    return known != nullptr ? known->tex : std::string_view();
}

char32_t next_code_point(std::string_view& text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC0 || length > text.size()) {
        text.remove_prefix(1);
        return lead < 0x80 ? lead : U'\uFFFD';
    }
    char32_t point = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) point = (point << 6U) | (byte(i) & 0x3FU);
    text.remove_prefix(length);
    return point;
}

std::size_t columns_in(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) columns += next_code_point(text) == U'\u0305' ? 0 : 1;
    return columns;
}

}  // namespace napkin::drawing
