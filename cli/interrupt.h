// Ctrl-C while a command works on something that it can end in order.
#pragma once

#include <csignal>

namespace napkin::cli {

/// While it lives the first SIGINT or SIGTERM is only noted; the next one ends the process.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    [[nodiscard]] static bool noted();

private:
    struct sigaction interrupt_ {};
    struct sigaction terminate_ {};
};

/// The exit code of a command that was interrupted, as shells give it.
inline constexpr int kInterrupted = 128 + SIGINT;

}  // namespace napkin::cli
