#include "diagrams/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "diagrams/diagnostic.h"

namespace napkin {
namespace {

Diagnostic file_too_large(const std::string& path, std::size_t largest) {
    return plain_error("E9003",
                       "`" + path + "` is larger than " + std::to_string(largest >> 20) + " MiB");
}

/// Closes a file descriptor at the end of a scope.
class Opened {
public:
    explicit Opened(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Opened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace

Diagnostic cannot_read(const std::string& path, const std::string& reason) {
    return plain_error("E9001", "cannot read `" + path + "`: " + reason);
}

Result<std::string> text_of_file(const std::string& path, std::size_t largest) {
    const Opened file(path);
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

}  // namespace napkin
