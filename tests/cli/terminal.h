// The binary on a terminal of its own, typed at by a test, which answers what it is asked.
#pragma once

#include <sys/types.h>

#include <string>

namespace napkin::test {

struct TerminalKind {
    std::string name = "dumb";  ///< TERM
    std::string answer{};       ///< to the question for its attributes; nothing where empty
};

class Terminal {
public:
    /// `napkin derive FILE -i` in 80 columns.
    explicit Terminal(const std::string& file, TerminalKind kind = {});
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) const;
    /// Reads until a text stands after what was read before; false after a while, or at the end.
    bool shows(const std::string& text, int milliseconds = 60000);
    /// Whether a text stands in what was read.
    [[nodiscard]] bool has_shown(const std::string& text) const {
        return shown_.substr(0, read_).find(text) != std::string::npos;
    }
    /// Whether a prompt comes and takes keys: what is typed before the editor has the terminal is
    /// the terminal's own, which drops a line at ^C.
    bool prompts();
    /// The exit code, once it has ended by itself.
    int ended();

private:
    /// Whether something may still come.
    bool read_some();

    TerminalKind kind_;
    int terminal_ = -1;
    pid_t child_ = -1;
    std::string shown_;
    std::size_t read_ = 0;
    std::size_t asked_ = 0;  ///< up to where questions were answered
};

}  // namespace napkin::test
