// What terminals answer, and images as they take them: sixels are read back by a reader of their
// own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "cli/terminal/answers.h"
#include "cli/terminal/image.h"
#include "cli/terminal/sixel.h"

namespace napkin::cli {
namespace {

/// Colours in percent by place, from the top left; -1 where no sixel painted.
using Painted = std::vector<int>;

/// A number off the front.
std::size_t number_in(std::string_view& text) {
    std::size_t number = 0;
    for (; !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
         text.remove_prefix(1))
        number = 10 * number + static_cast<std::size_t>(text.front() - '0');
    return number;
}

struct Sixels {
    std::size_t width = 0;
    std::size_t height = 0;
    std::map<std::size_t, Pixel> colors;  ///< in percent
    Painted painted;
};

/// `!12~` and `~`: a run off the front, painted from `x` on, which moves.
void paint_run(std::string_view& text, Sixels& sixels, std::size_t color, std::size_t& x,
               std::size_t top) {
    std::size_t count = 1;
    if (text.front() == '!') {
        text.remove_prefix(1);
        count = number_in(text);
    }
    const int bits = text.front() - '?';
    text.remove_prefix(1);
    REQUIRE(bits >= 0);
    REQUIRE(bits < 64);
    for (; count > 0; --count, ++x)
        for (std::size_t row = 0; row < 6; ++row) {
            if ((bits >> row & 1) == 0) continue;
            REQUIRE(x < sixels.width);
            REQUIRE(top + row < sixels.height);
            int& place = sixels.painted[(top + row) * sixels.width + x];
            CHECK_EQ(place, -1);
            place = static_cast<int>(color);
        }
}

Sixels read_sixels(std::string_view text) {
    const std::string_view begin = "\x1bPq\"1;1;";
    const std::string_view end = "\x1b\\";
    REQUIRE(text.starts_with(begin));
    REQUIRE(text.ends_with(end));
    text.remove_prefix(begin.size());
    text.remove_suffix(end.size());
    Sixels sixels;
    sixels.width = number_in(text);
    text.remove_prefix(1);
    sixels.height = number_in(text);
    sixels.painted.assign(sixels.width * sixels.height, -1);
    std::size_t color = 0;
    std::size_t x = 0;
    std::size_t top = 0;
    while (!text.empty()) {
        const char first = text.front();
        if (first != '#' && first != '$' && first != '-') {
            paint_run(text, sixels, color, x, top);
            continue;
        }
        text.remove_prefix(1);
        if (first == '#') {
            color = number_in(text);
            if (!text.starts_with(";2;")) continue;
            text.remove_prefix(2);
            for (std::uint8_t& part : sixels.colors[color]) {
                text.remove_prefix(1);
                part = static_cast<std::uint8_t>(number_in(text));
            }
        } else {
            x = 0;
            top += first == '-' ? 6 : 0;
        }
    }
    return sixels;
}

/// The largest difference of a painted colour, in percent.
int largest_difference(const Pixels& pixels, const Sixels& sixels) {
    int largest = 0;
    REQUIRE_EQ(sixels.painted.size(), pixels.rows.size());
    for (std::size_t i = 0; i < pixels.rows.size(); ++i) {
        REQUIRE(sixels.painted[i] >= 0);
        const Pixel& color = sixels.colors.at(static_cast<std::size_t>(sixels.painted[i]));
        for (std::size_t c = 0; c < 3; ++c)
            largest = std::max(largest, std::abs(color[c] - pixels.rows[i][c] * 100 / 255));
    }
    return largest;
}

Pixels painted(std::size_t width, std::size_t height, Pixel (*color)(std::size_t, std::size_t)) {
    Pixels pixels{width, height, {}};
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) pixels.rows.push_back(color(x, y));
    return pixels;
}

}  // namespace

TEST_CASE("answers of terminals are read") {
    struct Case {
        const char* bytes;
        std::optional<ImageProtocol> protocol;
        bool complete;
        int cell;
        bool dark;
        const char* typed;
    };
    const Case cases[] = {
        {"", std::nullopt, false, 0, false, ""},
        {"\x1b[?62;4c", ImageProtocol::Sixel, true, 0, false, ""},
        {"\x1b[?4c", std::nullopt, true, 0, false, ""},
        {"\x1b[?64;14;24c", std::nullopt, true, 0, false, ""},
        {"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c", ImageProtocol::Kitty, true, 0, false, ""},
        {"\x1b_Gi=31;ENOTSUP\x1b\\\x1b[?62c", std::nullopt, true, 0, false, ""},
        {"\x1b_Gi=31;OK", std::nullopt, false, 0, false, ""},
        {"\x1b]1337;Capabilities=T3FB\a\x1b[?62;4c", ImageProtocol::ITerm, true, 0, false, ""},
        {"\x1b]1337;Capabilities=FrT3\x1b\\\x1b[?62c", std::nullopt, true, 0, false, ""},
        {"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[6;20;10t", std::nullopt, false, 10, true, ""},
        {"\x1b]11;rgb:ff/ff/f0\a\x1b[6;0;0t\x1b[4;20;10t", std::nullopt, false, 0, false, ""},
        {"\x1b]11;rgb:0/0/0\a", std::nullopt, false, 0, true, ""},
        {"\x1b]11;rgb:zz//\a\x1b[6;20;99999999999999999999t", std::nullopt, false, 0, false, ""},
        {"und\x1b[Ao\n\x1b[?62", std::nullopt, false, 0, false, "undo\n"},
        {"\x1b", std::nullopt, false, 0, false, ""},
        {"q\x1bOAr\x1b]0;\x1b\\", std::nullopt, false, 0, false, "qr"},
    };
    for (const Case& each : cases) {
        INFO("answered: ", each.bytes);
        const Answers answers = read_answers(each.bytes);
        CHECK(protocol_of(answers) == each.protocol);
        CHECK_EQ(answers.complete, each.complete);
        CHECK_EQ(answers.cell_width, each.cell);
        CHECK_EQ(answers.is_dark, each.dark);
        CHECK_EQ(answers.typed, each.typed);
    }
}

TEST_CASE("bytes are written in base64 as RFC 4648 has it") {
    CHECK_EQ(to_base64(""), "");
    CHECK_EQ(to_base64("f"), "Zg==");
    CHECK_EQ(to_base64("fo"), "Zm8=");
    CHECK_EQ(to_base64("foo"), "Zm9v");
    CHECK_EQ(to_base64("foobar"), "Zm9vYmFy");
    CHECK_EQ(to_base64("\xff\xfe\xfb"), "//77");
}

TEST_CASE("an image for kitty comes in chunks, which are the whole of it") {
    for (const std::size_t size :
         {std::size_t{3}, std::size_t{3072}, std::size_t{3073}, std::size_t{9000}}) {
        const std::string bytes(size, 'x');
        std::string text = image_text(ImageProtocol::Kitty, bytes, 40);
        std::string letters;
        bool more = true;
        while (!text.empty()) {
            CHECK(more);
            const std::size_t end = text.find("\x1b\\");
            const std::size_t payload = text.find(';') + 1;
            REQUIRE(text.starts_with("\x1b_G"));
            CHECK(end - payload <= 4096);
            more = text.substr(payload - 4, 3) == "m=1";
            letters += text.substr(payload, end - payload);
            text.erase(0, end + 2);
        }
        CHECK_FALSE(more);
        CHECK_EQ(letters, to_base64(bytes));
    }
}

TEST_CASE("sixels paint every pixel once, in its colour") {
    const auto few = [](std::size_t x, std::size_t y) {
        const auto part = static_cast<std::uint8_t>(40 * ((x / 3 + y / 2) % 6));
        return Pixel{part, static_cast<std::uint8_t>(255 - part), 128};
    };
    for (const auto& [width, height] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {13, 6}, {40, 20}}) {
        const Pixels pixels = painted(width, height, few);
        CHECK(largest_difference(pixels, read_sixels(to_sixels(pixels))) <= 1);
    }
}

TEST_CASE("of more than 256 colours the frequent ones stay as they are") {
    // Five columns in six are of six colours, the others of some thousand.
    const Pixels pixels = painted(384, 128, [](std::size_t x, std::size_t y) {
        if (x % 6 != 0) return Pixel{static_cast<std::uint8_t>(40 * (x % 6)), 7, 250};
        return Pixel{static_cast<std::uint8_t>(4 * x / 6), static_cast<std::uint8_t>(2 * y),
                     static_cast<std::uint8_t>(x + y)};
    });
    const Sixels sixels = read_sixels(to_sixels(pixels));
    CHECK_EQ(sixels.colors.size(), 256);
    for (std::size_t x = 1; x < 6; ++x) {
        const auto color = static_cast<std::size_t>(sixels.painted[x]);
        CHECK_EQ(sixels.colors.at(color)[0], (40 * x * 100 + 127) / 255);
    }
    for (const int color : sixels.painted) REQUIRE(color >= 0);
}

}  // namespace napkin::cli
