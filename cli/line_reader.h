// Lines typed at a prompt: edited, with history and completion, on a terminal; read and echoed
// otherwise, so that a piped session reads like a typed one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::cli {

/// Every word that may stand at the cursor, given the line up to the word that is being typed.
using Completer = std::function<std::vector<std::string>(std::string_view before)>;

class LineReader {
public:
    /// `history` is the file that keeps what was typed; empty keeps nothing.
    LineReader(std::string prompt, std::string history, Completer completer);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// The next line without its end; nullopt when there are no more.
    [[nodiscard]] std::optional<std::string> next();
    /// Takes text as if it were typed; on a terminal only.
    void type(const std::string& text);
    /// Whether somebody types: the lines come from a terminal.
    [[nodiscard]] bool is_terminal() const { return editor_ != nullptr; }

private:
    struct Editor;
    std::optional<std::string> next_piped();
    std::string prompt_;
    std::unique_ptr<Editor> editor_;  ///< null when standard input is no terminal
};

/// Where the history of interactive sessions is kept: below XDG_CACHE_HOME, or `~/.cache`; empty
/// where neither is known.
[[nodiscard]] std::string history_file();

}  // namespace napkin::cli
