// Sessions at a terminal: what ^C and ^D do there cannot be piped.
#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/cli/transcript.h"

namespace napkin::test {
namespace {

/// The binary on a terminal of its own, typed at by a test.
class Terminal {
public:
    explicit Terminal(const std::string& file) {
        child_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
        REQUIRE(child_ >= 0);
        if (child_ != 0) return;
        ::setenv("TERM", "dumb", 1);
        ::setenv("HOME", scratch().c_str(), 1);
        ::setenv("XDG_CACHE_HOME", scratch().c_str(), 1);
        ::execl(NAPKIN_BINARY, "napkin", "derive", file.c_str(), "-i", nullptr);
        ::_exit(127);
    }
    ~Terminal() {
        if (child_ > 0) ::kill(child_, SIGKILL);
        if (child_ > 0) ::waitpid(child_, nullptr, 0);
        ::close(terminal_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) const {
        REQUIRE(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }
    /// Reads until a text stands after what was read before; false after a while, or at the end.
    bool shows(const std::string& text, int milliseconds = 60000) {
        for (int waited = 0; waited < milliseconds; waited += kWait) {
            const std::size_t found = shown_.find(text, read_);
            if (found != std::string::npos) {
                read_ = found + text.size();
                return true;
            }
            pollfd ready{terminal_, POLLIN, 0};
            if (::poll(&ready, 1, kWait) <= 0) continue;
            char buffer[4096];
            const ssize_t got = ::read(terminal_, buffer, sizeof buffer);
            if (got <= 0) return false;
            shown_.append(buffer, static_cast<std::size_t>(got));
        }
        return false;
    }
    /// Whether a prompt comes and takes keys: what is typed before the editor has the terminal is
    /// the terminal's own, which drops a line at ^C.
    bool prompts() {
        if (!shows("napkin> ")) return false;
        for (int waited = 0; waited < 60000; waited += kWait) {
            termios mode{};
            if (::tcgetattr(terminal_, &mode) != 0) return false;
            if ((mode.c_lflag & ICANON) == 0) return true;
            ::poll(nullptr, 0, kWait);
        }
        return false;
    }
    /// The exit code, once it has ended by itself.
    int ended() {
        int status = 0;
        while (!shows("\x01never", kWait) && ::waitpid(child_, &status, WNOHANG) == 0) continue;
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    static constexpr int kWait = 50;
    int terminal_ = -1;
    pid_t child_ = -1;
    std::string shown_;
    std::size_t read_ = 0;
};

const std::string kDiagram = NAPKIN_SOURCE_DIR "/examples/prefix_sum.ncd";

}  // namespace

TEST_CASE("^C stops a command of a session, and keeps the session and the derivation") {
    const std::string pipe = scratch() + "/nobody_reads.txt";
    REQUIRE_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    Terminal terminal(kDiagram);
    REQUIRE(terminal.prompts());
    terminal.type("set t = 96\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("draw " + pipe + "\n");
    bool stopped = false;
    for (int attempt = 0; attempt < 100 && !stopped; ++attempt) {
        terminal.type("\x03");
        stopped = terminal.shows("interrupted", 200);
    }
    CHECK(stopped);
    REQUIRE(terminal.prompts());
    terminal.type("history\n");
    CHECK(terminal.shows("1  set t = 96"));
    terminal.type("quit\nquit\n");
    CHECK_EQ(terminal.ended(), 0);
}

TEST_CASE("a session asks before it forgets a derivation, once") {
    Terminal terminal(kDiagram);
    REQUIRE(terminal.prompts());
    terminal.type("set t = 96\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("\x04");
    CHECK(terminal.shows("not saved"));
    REQUIRE(terminal.prompts());
    terminal.type("undo\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("redo\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("quit\n");
    CHECK(terminal.shows("not saved"));
    REQUIRE(terminal.prompts());
    terminal.type("\x04");
    CHECK_EQ(terminal.ended(), 0);
}

}  // namespace napkin::test
