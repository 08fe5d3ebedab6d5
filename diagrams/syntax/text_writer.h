// One item of canonical text, broken into lines where it is too long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace napkin::syntax {

inline constexpr std::size_t kLineWidth = 100;

/// Collects an item's text and the places where a line may end. Where the item is too long it is
/// broken at the outermost, loosest of them.
class TextWriter {
public:
    explicit TextWriter(std::size_t indent) : indent_(indent) {}

    TextWriter& operator<<(std::string_view text) {
        text_ += text;
        return *this;
    }
    /// A space that may become a line end; a lower `tightness` breaks first. Where one space of a
    /// group (other than 0) becomes a line end, all of them do.
    void space(int tightness, std::size_t group = 0);
    [[nodiscard]] std::size_t new_group() { return ++groups_; }
    void open_bracket(std::string_view bracket);
    void close_bracket(std::string_view bracket);

    /// The item, indented, lines joined by newlines, without one at the end.
    [[nodiscard]] std::string str() const;
    /// The text unbroken and not indented.
    [[nodiscard]] const std::string& one_line() const { return text_; }

private:
    struct Break {
        std::size_t at = 0;
        int tightness = 0;
        std::size_t group = 0;
    };
    [[nodiscard]] std::size_t choose_break(std::size_t first, std::size_t begin,
                                           std::size_t room) const;

    std::size_t indent_ = 0;
    std::string text_;
    std::vector<Break> breaks_;
    int depth_ = 0;
    std::size_t groups_ = 0;
};

}  // namespace napkin::syntax
