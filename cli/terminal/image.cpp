#include "cli/terminal/image.h"

#include "cli/terminal/sixel.h"
#include "diagrams/result.h"

namespace napkin::cli {
namespace {

/// https://sw.kovidgoyal.net/kitty/graphics-protocol: chunks of at most 4096 letters, and no answer
/// (`q=2`), which would look typed.
std::string kitty_text(const std::string& png, int columns) {
    constexpr std::size_t kChunk = 4096;
    const std::string letters = to_base64(png);
    std::string text;
    for (std::size_t at = 0; at < letters.size(); at += kChunk) {
        text += "\x1b_G";
        if (at == 0) text += "a=T,f=100,q=2,c=" + std::to_string(columns) + ",";
        text += at + kChunk < letters.size() ? "m=1;" : "m=0;";
        text += letters.substr(at, kChunk) + "\x1b\\";
    }
    return text;
}

/// https://iterm2.com/documentation-images.html
std::string iterm_text(const std::string& png, int columns) {
    return "\x1b]1337;File=inline=1;size=" + std::to_string(png.size()) +
           ";width=" + std::to_string(columns) + ":" + to_base64(png) + "\a";
}

}  // namespace

std::optional<ImageProtocol> protocol_of(const Answers& answers) {
    if (answers.kitty) return ImageProtocol::Kitty;
    if (answers.iterm) return ImageProtocol::ITerm;
    if (answers.sixel) return ImageProtocol::Sixel;
    return std::nullopt;
}

std::string image_text(ImageProtocol protocol, const std::string& png, int columns) {
    switch (protocol) {
    case ImageProtocol::Kitty: return kitty_text(png, columns);
    case ImageProtocol::ITerm: return iterm_text(png, columns);
    case ImageProtocol::Sixel: return to_sixels(pixels_of(png));
    }
    throw InternalError("unknown protocol");
}

std::string to_base64(std::string_view bytes) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view part = bytes.substr(at, 3);
        unsigned bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8U | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= part.size() ? kLetters[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

}  // namespace napkin::cli
