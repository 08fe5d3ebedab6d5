#include "tests/cli/terminal.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/cli/transcript.h"

namespace napkin::test {
namespace {

constexpr int kWait = 50;  // milliseconds

}  // namespace

Terminal::Terminal(const std::string& file, TerminalKind kind) : kind_(std::move(kind)) {
    const winsize size{24, 80, 0, 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ != 0) return;
    ::setenv("TERM", kind_.name.c_str(), 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::unsetenv("NO_COLOR");
    ::setenv("HOME", scratch().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", scratch().c_str(), 1);
    ::execl(NAPKIN_BINARY, "napkin", "derive", file.c_str(), "-i", nullptr);
    ::_exit(127);
}

Terminal::~Terminal() {
    if (child_ > 0) ::kill(child_, SIGKILL);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
    ::close(terminal_);
}

void Terminal::type(const std::string& keys) const {
    REQUIRE(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

bool Terminal::read_some() {
    pollfd ready{terminal_, POLLIN, 0};
    if (::poll(&ready, 1, kWait) <= 0) return true;
    char buffer[4096];
    const ssize_t got = ::read(terminal_, buffer, sizeof buffer);
    if (got <= 0) return false;
    shown_.append(buffer, static_cast<std::size_t>(got));
    const std::string question = "\x1b[c";
    const std::size_t asked = shown_.find(question, asked_);
    if (asked == std::string::npos) return true;
    asked_ = asked + question.size();
    type(kind_.answer);
    return true;
}

bool Terminal::shows(const std::string& text, int milliseconds) {
    for (int waited = 0; waited < milliseconds; waited += kWait) {
        const std::size_t found = shown_.find(text, read_);
        if (found != std::string::npos) {
            read_ = found + text.size();
            return true;
        }
        if (!read_some()) return false;
    }
    return false;
}

bool Terminal::prompts() {
    if (!shows("napkin> ")) return false;
    for (int waited = 0; waited < 60000; waited += kWait) {
        termios mode{};
        if (::tcgetattr(terminal_, &mode) != 0) return false;
        if ((mode.c_lflag & ICANON) == 0) return true;
        ::poll(nullptr, 0, kWait);
    }
    return false;
}

int Terminal::ended() {
    int status = 0;
    while (!shows("\x01never", kWait) && ::waitpid(child_, &status, WNOHANG) == 0) continue;
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace napkin::test
