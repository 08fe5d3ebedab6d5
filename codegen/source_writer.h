// Writes indented source text line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace napkin {

class SourceWriter {
public:
    void line(std::string_view text = {}) {
        if (!text.empty()) text_.append(kIndent * depth_, ' ').append(text);
        text_ += '\n';
    }
    /// Lines at no indent: preprocessor directives.
    void directive(std::string_view text) { text_.append(text).append("\n"); }

    /// Closes its block when it goes.
    class Scope {
    public:
        Scope(SourceWriter& writer, std::string_view close) : writer_(writer), close_(close) {
            ++writer_.depth_;
        }
        ~Scope() {
            --writer_.depth_;
            if (!close_.empty()) writer_.line(close_);
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        SourceWriter& writer_;
        std::string close_;
    };
    /// Opens a block: `auto loop = writer.block("for (...) {");`.
    [[nodiscard]] Scope block(std::string_view open, std::string_view close = "}") {
        line(open);
        return {*this, close};
    }
    /// Indents what follows.
    [[nodiscard]] Scope indent() { return {*this, ""}; }
    /// Columns that the next line is indented by.
    [[nodiscard]] std::size_t columns() const { return kIndent * depth_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    static constexpr std::size_t kIndent = 4;
    std::string text_;
    std::size_t depth_ = 0;
};

}  // namespace napkin
