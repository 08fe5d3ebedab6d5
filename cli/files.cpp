#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "cli/console.h"
#include "cli/messages.h"
#include "derive/state.h"

namespace napkin::cli {
namespace {

namespace fs = std::filesystem;

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

/// Signals that end the process wait until the scope ends: no temporary file is left behind.
class SignalsHeld {
public:
    SignalsHeld() {
        sigset_t held;
        ::sigemptyset(&held);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held, signal);
        ::sigprocmask(SIG_BLOCK, &held, &before_);
    }
    ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    sigset_t before_{};
};

bool write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// `/dev/stderr`, `/dev/fd/3`: a file that is open already, whatever its name is elsewhere.
bool is_descriptor(const std::string& path) {
    return path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
           path.starts_with("/proc/self/fd/");
}

std::optional<Diagnostic> write_directly(const std::string& path, std::string_view bytes) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_APPEND));
    if (file.descriptor() < 0 || !write_all(file.descriptor(), bytes) || !file.close_now())
        return cannot_write(path, std::strerror(errno));
    return std::nullopt;
}

/// The mode a new file gets: all may read and write, less the process' mask.
mode_t default_mode() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return static_cast<mode_t>(0666) & ~mask;
}

/// What a link leads to, there or not.
std::string target_of(fs::path path) {
    std::error_code failure;
    while (fs::is_symlink(path, failure))
        path = path.parent_path() / fs::read_symlink(path, failure);
    return path.string();
}

/// Replaces a file, or makes a new one where `old` is null.
std::optional<Diagnostic> replace_file(const std::string& path, std::string_view bytes,
                                       const struct stat* old) {
    const SignalsHeld held;
    std::string temporary = path + ".XXXXXX";
    File file(::mkstemp(temporary.data()));
    if (file.descriptor() < 0) return cannot_write(path, std::strerror(errno));
    if (old != nullptr)  // another owner is kept where the system lets us
        static_cast<void>(::fchown(file.descriptor(), old->st_uid, old->st_gid) == 0);
    const mode_t mode = old != nullptr ? old->st_mode & 07777U : default_mode();
    const bool complete = write_all(file.descriptor(), bytes) &&
                          ::fchmod(file.descriptor(), mode) == 0 && file.close_now() &&
                          ::rename(temporary.c_str(), path.c_str()) == 0;
    if (complete) return std::nullopt;
    const int reason = errno;
    ::unlink(temporary.c_str());
    return cannot_write(path, std::strerror(reason));
}

bool is_same_file(const std::string& one, const std::string& other) {
    struct stat a {};
    struct stat b {};
    return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// `Q=q.npy`: `q.npy`.
std::string after_equals(const std::string& text) {
    return text.substr(std::min(text.find('='), text.size() - 1) + 1);
}

bool writes_derivation(const std::string& command) {
    return command == "derive" || command == "search";
}

/// Whether a file's ending says that it is something else than a page.
bool is_no_page(const std::string& ending) {
    static constexpr std::array kOthers{".txt", ".md",  ".pdf",  ".svg", ".png", ".tex",
                                        ".drv", ".ncd", ".json", ".cu",  ".csv", ".toml"};
    return std::find(kOthers.begin(), kOthers.end(), ending) != kOthers.end();
}

bool writes_page(const std::string& command) {
    return command == "report" || command == "lecture";
}

bool is_derivation(const std::string& text) {
    SourceMap sources;
    const Result<std::vector<Command>> commands = parse_derivation(sources, sources.add("", text));
    return commands && std::all_of(commands->begin(), commands->end(), [](const Command& command) {
               return find_rule(command.rule) != nullptr;
           });
}

/// A `.toml` that a command wrote may be written again: a schedule has its program below it, a
/// machine says what it was measured on.
bool wrote(const Arguments& arguments, const std::string& path) {
    const Result<std::string> text = text_of_file(path);
    if (!text) return false;
    if (arguments.command == "calibrate") return text->find(kMeasuredBy) < text->find('\n');
    return arguments.as == "schedule" && text->find(kProgramBelow) != std::string::npos;
}

/// What stands there that people write and the command did not; empty where nothing does.
std::string source_at(const Arguments& arguments, const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return "";
    const std::string ending = fs::path(target_of(path)).extension();
    if (ending == ".ncd") return "diagram";
    if (ending == ".drv") return "derivation";
    if (ending == ".quiz") return "quiz";
    return ending == ".toml" && !wrote(arguments, path) ? "schedule, machine or hypothesis" : "";
}

std::optional<Diagnostic> refuse_output(const Arguments& arguments, const std::string& path) {
    // The same diagram, in place.
    if (arguments.command == "fmt" && is_same_file(arguments.file, path)) return std::nullopt;
    for (const std::string& input : arguments.reads)
        if (is_same_file(input, path)) return output_is_input(path, input);
    if (writes_derivation(arguments.command)) return refuse_derivation(path);
    const std::string source = source_at(arguments, path);
    if (!source.empty()) return output_is_source(path, source);
    if (writes_page(arguments.command) && is_no_page(fs::path(path).extension()))
        return page_ending_unknown(path);
    return std::nullopt;
}

}  // namespace

std::optional<Diagnostic> refuse_outputs(const Arguments& arguments) {
    std::vector<std::string> outputs;
    if (!arguments.output.empty() && arguments.output != "-") outputs.push_back(arguments.output);
    for (const std::string& output : arguments.outputs) outputs.push_back(after_equals(output));
    std::set<fs::path> files;
    for (const std::string& output : outputs) {
        if (output.empty()) continue;  // what is no array and a file is refused where it is read
        if (auto refused = refuse_output(arguments, output)) return refused;
        std::error_code ignored;
        const bool is_device = fs::is_other(output, ignored);
        const bool is_fresh =
            files.insert(fs::weakly_canonical(fs::absolute(output), ignored)).second;
        if (!is_fresh && !is_device && !is_descriptor(output)) return repeated_output(output);
    }
    return std::nullopt;
}

std::optional<Diagnostic> refuse_derivation(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return std::nullopt;
    const Result<std::string> text = text_of_file(path);
    if (text && is_derivation(*text)) return std::nullopt;
    return output_is_no_derivation(path);
}

std::optional<Diagnostic> write_file(const std::string& path, std::string_view bytes) {
    if (is_descriptor(path)) return write_directly(path, bytes);
    struct stat old {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) return cannot_write(path, std::strerror(errno));
    if (exists && S_ISDIR(old.st_mode)) return cannot_write(path, std::strerror(EISDIR));
    if (exists && !S_ISREG(old.st_mode)) return write_directly(path, bytes);
    // Renaming needs the right to change the folder only, and root has every right.
    constexpr mode_t kAnyWrite = S_IWUSR | S_IWGRP | S_IWOTH;
    if (exists && ((old.st_mode & kAnyWrite) == 0 || ::access(path.c_str(), W_OK) != 0))
        return read_only(path);
    return replace_file(target_of(path), bytes, exists ? &old : nullptr);
}

std::optional<Diagnostic> write_data(const std::string& path, std::string_view bytes) {
    if (!path.empty() && path != "-") return write_file(path, bytes);
    print_bytes(bytes);
    return std::nullopt;
}

std::optional<Diagnostic> make_folder(const std::string& path) {
    std::error_code failure;
    fs::create_directories(path, failure);
    if (!failure) return std::nullopt;
    return cannot_write(path, failure.message());
}

}  // namespace napkin::cli
