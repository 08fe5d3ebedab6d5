#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/ascii.h"
#include "cli/messages.h"

namespace napkin::cli {
int exit_code_of(const Diagnostics& diagnostics) {
    int code = kOk;
    for (const Diagnostic& diagnostic : diagnostics.list) {
        if (diagnostic.severity != Severity::Error) continue;
        if (diagnostic.failure == Failure::Input) return kUserInput;
        code = diagnostic.failure == Failure::Missing ? kMissing : kNotProved;
    }
    return code;
}

bool wants_color(int stream) {
    const char* off = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if (off != nullptr && *off != '\0') return false;
    if (terminal != nullptr && std::strcmp(terminal, "dumb") == 0) return false;
    return ::isatty(stream) != 0;
}

int terminal_width() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return kColumns;
}

namespace {

/// Why standard output first failed, as an errno; 0 while it took everything.
int& output_failure() {
    static int failure = 0;
    return failure;
}

std::string readable(std::string_view text) {
    return writes_utf8() ? std::string(text) : in_ascii(text);
}

void note_output(bool taken) {
    if (!taken && output_failure() == 0) output_failure() = errno;
}

}  // namespace

void print_data(std::string_view text) {
    print_bytes(readable(text));
}

void print_bytes(std::string_view bytes) {
    note_output(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size());
}

void print_talk(std::string_view text) {
    note_output(std::fflush(stdout) == 0);
    const std::string shown = readable(text);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void print_diagnostics(const Diagnostics& diagnostics, const SourceMap& sources) {
    const bool color = wants_color(STDERR_FILENO);
    for (const Diagnostic& diagnostic : diagnostics.list) {
        std::string text = render(diagnostic, sources, color);
        if (text.empty() || text.back() != '\n') text += '\n';
        print_talk(text);
    }
}

std::optional<Diagnostic> flush_data() {
    note_output(std::fflush(stdout) == 0);
    // Who reads no further has what he wants.
    if (output_failure() == 0 || output_failure() == EPIPE) return std::nullopt;
    return cannot_write("standard output", std::strerror(output_failure()));
}

}  // namespace napkin::cli
