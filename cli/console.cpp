#include "cli/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/messages.h"

namespace napkin::cli {
namespace {

/// Closes a file descriptor at the end of a scope.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() { close_now(); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// False where closing reports a write that failed late.
    bool close_now() {
        if (descriptor_ < 0) return true;
        const int descriptor = descriptor_;
        descriptor_ = -1;
        return ::close(descriptor) == 0;
    }

private:
    int descriptor_;
};

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::optional<Diagnostic> write_directly(const std::string& path, std::string_view text) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.descriptor() < 0 || !write_all(file.descriptor(), text) || !file.close_now())
        return cannot_write(path, std::strerror(errno));
    return std::nullopt;
}

/// The mode a new file gets: all may read and write, less the process' mask.
mode_t default_mode() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return static_cast<mode_t>(0666) & ~mask;
}

}  // namespace

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
    return 100;
}

namespace {

/// Why standard output first failed, as an errno; 0 while it took everything.
int& output_failure() {
    static int failure = 0;
    return failure;
}

void note_output(bool taken) {
    if (!taken && output_failure() == 0) output_failure() = errno;
}

}  // namespace

void print_data(std::string_view text) {
    note_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void print_talk(std::string_view text) {
    note_output(std::fflush(stdout) == 0);
    std::fwrite(text.data(), 1, text.size(), stderr);
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
    if (output_failure() == 0) return std::nullopt;
    return cannot_write("standard output", std::strerror(output_failure()));
}

Result<std::string> read_file(const std::string& path, std::size_t largest) {
    File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.descriptor() < 0) return cannot_read(path, std::strerror(errno));
    std::string text;
    char buffer[1 << 16];
    while (true) {
        const ssize_t got = ::read(file.descriptor(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, std::strerror(errno));
        if (got == 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > largest) return file_too_large(path, largest);
    }
}

std::optional<Diagnostic> write_file(const std::string& path, std::string_view text) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return cannot_write(path, std::strerror(EISDIR));
        if (!S_ISREG(status.st_mode)) return write_directly(path, text);
        // Renaming needs the right to change the folder only; a file made read-only stays as it is.
        if (::access(path.c_str(), W_OK) != 0) return cannot_write(path, std::strerror(errno));
    }
    std::string temporary = path + ".XXXXXX";
    File file(::mkstemp(temporary.data()));
    if (file.descriptor() < 0) return cannot_write(path, std::strerror(errno));
    const bool complete = write_all(file.descriptor(), text) &&
                          ::fchmod(file.descriptor(), default_mode()) == 0 && file.close_now() &&
                          ::rename(temporary.c_str(), path.c_str()) == 0;
    if (complete) return std::nullopt;
    const int reason = errno;
    ::unlink(temporary.c_str());
    return cannot_write(path, std::strerror(reason));
}

std::optional<Diagnostic> write_data(const std::string& path, std::string_view text) {
    if (!path.empty() && path != "-") return write_file(path, text);
    print_data(text);
    return std::nullopt;
}

std::optional<Diagnostic> make_folder(const std::string& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (!failure) return std::nullopt;
    return cannot_write(path, failure.message());
}

}  // namespace napkin::cli
