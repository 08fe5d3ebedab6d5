#include "cli/terminal/sixel.h"

#include <png.h>

#include <algorithm>
#include <limits>
#include <map>

#include "diagrams/result.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kColors = 256;
constexpr std::size_t kBand = 6;  // rows

/// Colours that differ in their last three bits alone are one.
using Shade = std::uint32_t;
Shade shade_of(const Pixel& pixel) {
    constexpr unsigned kDropped = 3;
    return (static_cast<unsigned>(pixel[0]) >> kDropped) << 10U |
           (static_cast<unsigned>(pixel[1]) >> kDropped) << 5U |
           static_cast<unsigned>(pixel[2]) >> kDropped;
}

/// A picture's colours, and which of them each of its shades is.
struct Palette {
    std::vector<Pixel> colors;
    std::map<Shade, std::size_t> of;
};

std::size_t nearest_color(const std::vector<Pixel>& colors, const Pixel& pixel) {
    std::size_t best = 0;
    int least = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < colors.size(); ++i) {
        int distance = 0;
        for (std::size_t c = 0; c < 3; ++c)
            distance += (colors[i][c] - pixel[c]) * (colors[i][c] - pixel[c]);
        if (distance >= least) continue;
        least = distance;
        best = i;
    }
    return best;
}

Palette palette_of(const Pixels& pixels) {
    struct Seen {
        std::size_t count = 0;
        Pixel first{};
    };
    std::map<Shade, Seen> seen;
    for (const Pixel& pixel : pixels.rows) {
        Seen& shade = seen[shade_of(pixel)];
        if (shade.count++ == 0) shade.first = pixel;
    }
    std::vector<std::pair<Shade, Seen>> ranked(seen.begin(), seen.end());
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
    Palette palette;
    for (const auto& [shade, how] : ranked) {
        palette.of[shade] = palette.colors.size() < kColors
                                ? palette.colors.size()
                                : nearest_color(palette.colors, how.first);
        if (palette.colors.size() < kColors) palette.colors.push_back(how.first);
    }
    return palette;
}

/// A run of one sixel; `!12~` where that is shorter.
void write_run(std::string& text, char sixel, std::size_t length) {
    constexpr std::size_t kShort = 3;
    if (length <= kShort)
        text.append(length, sixel);
    else
        text += "!" + std::to_string(length) + sixel;
}

/// One colour of a band: a bit a row, with `?` for none.
std::string color_of_band(const std::vector<std::uint8_t>& bits) {
    std::string text;
    for (std::size_t x = 0; x < bits.size();) {
        std::size_t end = x + 1;
        while (end < bits.size() && bits[end] == bits[x]) ++end;
        if (end < bits.size() || bits[x] != 0)
            write_run(text, static_cast<char>('?' + bits[x]), end - x);
        x = end;
    }
    return text;
}

std::string band_text(const Pixels& pixels, const Palette& palette, std::size_t top) {
    std::map<std::size_t, std::vector<std::uint8_t>> bits_of;
    for (std::size_t y = top; y < std::min(top + kBand, pixels.height); ++y)
        for (std::size_t x = 0; x < pixels.width; ++x) {
            const std::size_t color = palette.of.at(shade_of(pixels.rows[y * pixels.width + x]));
            std::vector<std::uint8_t>& bits = bits_of[color];
            bits.resize(pixels.width);
            bits[x] = static_cast<std::uint8_t>(bits[x] | 1U << (y - top));
        }
    std::string text;
    for (const auto& [color, bits] : bits_of)
        text += (text.empty() ? "#" : "$#") + std::to_string(color) + color_of_band(bits);
    return text;
}

}  // namespace

Pixels pixels_of(const std::string& png) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    invariant(png_image_begin_read_from_memory(&image, png.data(), png.size()) != 0,
              "a picture is a PNG");
    image.format = PNG_FORMAT_RGB;
    Pixels pixels{image.width, image.height, {}};
    pixels.rows.resize(pixels.width * pixels.height);
    const png_color white{255, 255, 255};
    invariant(png_image_finish_read(&image, &white, pixels.rows.data(), 0, nullptr) != 0,
              "a picture is a whole PNG");
    return pixels;
}

std::string to_sixels(const Pixels& pixels) {
    constexpr int kMost = 255;
    const auto percent = [](std::uint8_t value) {
        return std::to_string((value * 100 + kMost / 2) / kMost);
    };
    const Palette palette = palette_of(pixels);
    std::string text =
        "\x1bPq\"1;1;" + std::to_string(pixels.width) + ";" + std::to_string(pixels.height);
    for (std::size_t i = 0; i < palette.colors.size(); ++i) {
        const Pixel& color = palette.colors[i];
        text += "#" + std::to_string(i) + ";2;" + percent(color[0]) + ";" + percent(color[1]) +
                ";" + percent(color[2]);
    }
    for (std::size_t top = 0; top < pixels.height; top += kBand)
        text += (top == 0 ? "" : "-") + band_text(pixels, palette, top);
    return text + "\x1b\\";
}

}  // namespace napkin::cli
