// A terminal answers in escape sequences: ESC [ parameters letter, or a string between ESC with one
// of `]P_^X` and ESC \ (a bell ends those of `]` too). Keys without a letter send ESC O letter.
// What stands outside of these was typed.

#include "cli/terminal/answers.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace napkin::cli {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';

/// A sequence without its ESC and its end, or a character that was typed.
struct Piece {
    char kind = 0;  ///< what follows ESC; 0 of what was typed
    std::string_view text;
};

/// Takes the next piece off the front.
Piece next_piece(std::string_view& bytes) {
    const auto take = [&](std::size_t length, std::size_t end) {
        const std::string_view text = bytes.substr(0, length);
        bytes.remove_prefix(std::min(end, bytes.size()));
        return text;
    };
    if (bytes.front() != kEscape) return {0, take(1, 1)};
    bytes.remove_prefix(1);
    if (bytes.empty()) return {kEscape, {}};
    const char kind = bytes.front();
    bytes.remove_prefix(1);
    if (kind == '[') {
        const auto is_last = [](char c) { return c >= '@' && c <= '~'; };
        const auto last = std::find_if(bytes.begin(), bytes.end(), is_last);
        const auto length = static_cast<std::size_t>(last - bytes.begin());
        if (last == bytes.end()) return {kEscape, take(0, bytes.size())};
        return {kind, take(length + 1, length + 1)};
    }
    if (kind == 'O') return {kEscape, take(0, 1)};
    if (std::string_view("]P_^X").find(kind) == std::string_view::npos) return {kEscape, {}};
    const std::size_t escape = bytes.find(kEscape);
    const std::size_t bell = kind == ']' ? bytes.find(kBell) : std::string_view::npos;
    const std::size_t end = std::min(escape, bell);
    if (end == std::string_view::npos) return {kEscape, take(0, bytes.size())};
    return {kind, take(end, bell < escape ? end + 1 : end + 2)};
}

std::vector<int> numbers_in(std::string_view list) {
    std::vector<int> numbers;
    while (true) {
        const std::string_view word = list.substr(0, list.find(';'));
        int number = 0;
        std::from_chars(word.data(), word.data() + word.size(), number);
        numbers.push_back(number);
        if (word.size() == list.size()) return numbers;
        list.remove_prefix(word.size() + 1);
    }
}

/// `6;20;10t` is a cell of 20 by 10 pixels, `?2;0;1000;800S` at most 1000 by 800 pixels in sixels,
/// `?62;4c` a device with the extension 4, sixels.
void read_control(std::string_view text, Answers& answers) {
    const char last = text.back();
    text.remove_suffix(1);
    if (last == 'c' && text.starts_with('?')) {
        const std::vector<int> attributes = numbers_in(text.substr(1));
        answers.complete = true;
        // The first is the kind of the device.
        answers.sixel = std::find(attributes.begin() + 1, attributes.end(), 4) != attributes.end();
    }
    if (last == 'S' && text.starts_with("?2;0;")) {
        const std::vector<int> most = numbers_in(text.substr(1));
        answers.most_width = most[2];
        answers.most_height = most.size() > 3 ? most[3] : 0;
    }
    if (last != 't') return;
    const std::vector<int> sizes = numbers_in(text);
    constexpr int kMost = 200;  // what is larger is no letter
    if (sizes.size() == 3 && sizes[0] == 6 && sizes[2] > 0 && sizes[2] <= kMost)
        answers.cell_width = sizes[2];
}

/// `T3CwF`: features begin with a capital; F are files, shown inline.
bool names_files(std::string_view features) {
    for (std::size_t i = 0; i < features.size(); ++i)
        if (features[i] == 'F' && (i + 1 == features.size() || std::islower(features[i + 1]) == 0))
            return true;
    return false;
}

/// `11;rgb:1e1e/1e1e/2e2e`, of one to four digits each.
bool is_dark(std::string_view color) {
    constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
    double light = 0;
    for (const double weight : kWeights) {
        const std::string_view digits = color.substr(0, color.find('/'));
        unsigned value = 0;
        const char* const end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
        if (error != std::errc{} || rest != end || digits.size() > 4) return false;
        light += weight * value / ((1U << (4 * digits.size())) - 1);
        color.remove_prefix(std::min(digits.size() + 1, color.size()));
    }
    return light < 0.5;
}

void read_string(const Piece& piece, Answers& answers) {
    constexpr std::string_view kFeatures = "1337;Capabilities=";
    constexpr std::string_view kBehind = "11;rgb:";
    if (piece.kind == '_' && piece.text == "Gi=31;OK") answers.kitty = true;
    if (piece.kind != ']') return;
    if (piece.text.starts_with(kFeatures))
        answers.iterm = names_files(piece.text.substr(kFeatures.size()));
    if (piece.text.starts_with(kBehind))
        answers.is_dark = is_dark(piece.text.substr(kBehind.size()));
}

}  // namespace

std::string questions() {
    return "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
           "\x1b]1337;Capabilities\x1b\\"
           "\x1b]11;?\x1b\\"
           "\x1b[16t"
           "\x1b[?2;4;0S"
           "\x1b[c";
}

Answers read_answers(std::string_view bytes) {
    Answers answers;
    while (!bytes.empty()) {
        const Piece piece = next_piece(bytes);
        if (piece.kind == 0)
            answers.typed += piece.text;
        else if (piece.kind == '[')
            read_control(piece.text, answers);
        else
            read_string(piece, answers);
    }
    return answers;
}

}  // namespace napkin::cli
