// What a terminal says of itself when it is asked, read from the bytes that it sends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace napkin::cli {

/// The questions: kitty's and iTerm2's own, the colour behind, the size of a character, that of the
/// largest sixels, and last the device's attributes, which every terminal since the VT100 answers,
/// after all the others.
[[nodiscard]] std::string questions();

struct Answers {
    bool complete = false;  ///< the last question was answered
    bool kitty = false;     ///< it takes images by kitty's graphics protocol
    bool iterm = false;     ///< by iTerm2's
    bool sixel = false;
    bool is_dark = false;
    int cell_width = 0;  ///< of a character in pixels; 0 where it did not say
    int most_width = 0;  ///< of an image in sixels, likewise; what is larger is cut
    int most_height = 0;
    std::string typed;  ///< what is no answer: somebody typed already
};
/// Sequences that answer nothing are left out, also those that are not whole.
[[nodiscard]] Answers read_answers(std::string_view bytes);

}  // namespace napkin::cli
