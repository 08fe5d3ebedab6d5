#include <algorithm>
#include <array>
#include <optional>

#include "diagrams/drawing/font/widths.h"
#include "diagrams/drawing/math_text.h"
#include "diagrams/result.h"

namespace napkin::drawing {

namespace {

// clang-format off
/// A sign beyond ASCII that labels use, and its name in TeX's mathematics.
struct Sign {
    char32_t point;
    std::string_view tex;
};
constexpr std::array kSigns = {
    Sign{U'ℓ', "\\ell"}, Sign{U'·', "\\cdot"}, Sign{U'−', "-"}, Sign{U'≡', "\\equiv"},
    Sign{U'∴', "\\therefore"}, Sign{U'≥', "\\geq"}, Sign{U'≤', "\\leq"}, Sign{U'×', "\\times"},
    Sign{U'Σ', "\\Sigma"}, Sign{U'′', "{}'"}, Sign{U'…', "\\dots"}, Sign{U'→', "\\to"},
    Sign{U'←', "\\gets"}, Sign{U'√', "\\surd"}, Sign{U'∞', "\\infty"}, Sign{U'∏', "\\prod"},
    Sign{U'≠', "\\neq"}, Sign{U'∈', "\\in"}, Sign{U'α', "\\alpha"}, Sign{U'β', "\\beta"},
    Sign{U'λ', "\\lambda"}, Sign{U'■', "\\blacksquare"},
};
// clang-format on

constexpr int kUnknownWidth = 800;

const Sign* find_sign(char32_t point) {
    const auto* found = std::find_if(kSigns.begin(), kSigns.end(),
                                     [&](const Sign& sign) { return sign.point == point; });
    return found == kSigns.end() ? nullptr : found;
}

template <std::size_t N>
std::optional<int> width_in(const std::array<Advance, N>& advances, char32_t point) {
    const auto* found =
        std::lower_bound(advances.begin(), advances.end(), point,
                         [](const Advance& advance, char32_t p) { return advance.point < p; });
    if (found == advances.end() || found->point != point) return std::nullopt;
    return found->width;
}

std::optional<int> width_of(char32_t point, Face face) {
    switch (face) {
    case Face::Roman: return width_in(kRomanAdvances, point);
    case Face::Italic: return width_in(kItalicAdvances, point);
    case Face::Mono: return width_in(kMonoAdvances, point);
    }
    throw InternalError("unknown face");
}

int units_of(char32_t point, Face face) {
    if (point == U'\u0305') return 0;
    const int unknown = face == Face::Mono ? kMonoAdvances.front().width : kUnknownWidth;
    return width_of(point, face).value_or(unknown);
}

}  // namespace

int units_of(std::string_view text, Face face) {
    int total = 0;
    while (!text.empty()) total += units_of(next_code_point(text), face);
    return total;
}

int overhang_of(std::string_view text, Face face) {
    if (face != Face::Italic) return 0;
    char32_t last = 0;
    while (!text.empty()) last = next_code_point(text);
    return width_in(kItalicOverhangs, last).value_or(0);
}

bool has_letter(char32_t sign, Face face) {
    return width_of(sign, face).has_value();
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
