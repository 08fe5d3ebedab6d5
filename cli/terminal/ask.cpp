#include "cli/terminal/ask.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "cli/console.h"

namespace napkin::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience(1000);
constexpr std::size_t kMost = std::size_t{1} << 16;  // bytes of answers

/// Input comes as it is typed, and is not echoed, until the scope ends.
class Unbuffered {
public:
    Unbuffered() : known_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!known_) return;
        termios now = before_;
        now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        now.c_cc[VMIN] = 0;
        now.c_cc[VTIME] = 0;
        known_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
    }
    ~Unbuffered() {
        if (known_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    Unbuffered(const Unbuffered&) = delete;
    Unbuffered& operator=(const Unbuffered&) = delete;
    [[nodiscard]] bool works() const { return known_; }

private:
    termios before_{};
    bool known_;
};

/// Whether more bytes were read before the time is over.
bool read_more(std::string& bytes, Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    const int events = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (events < 0) return errno == EINTR;
    if (events == 0) return false;
    char buffer[1024];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got > 0) bytes.append(buffer, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

Answers ask_terminal() {
    Answers answers;
    if (::isatty(STDIN_FILENO) == 0 || !wants_color(STDOUT_FILENO)) return answers;
    const Unbuffered unbuffered;
    if (!unbuffered.works()) return answers;
    // A terminal that shows a question instead of answering it has its line wiped.
    print_bytes(questions() + "\r\x1b[K");
    if (flush_data()) return answers;
    std::string bytes;
    const Clock::time_point until = Clock::now() + kPatience;
    while (!answers.complete && bytes.size() < kMost && read_more(bytes, until))
        answers = read_answers(bytes);
    return answers;
}

}  // namespace napkin::cli
