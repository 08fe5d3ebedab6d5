#include "codegen/run/folders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "codegen/run/messages.h"

namespace napkin {

namespace fs = std::filesystem;

fs::path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return fs::path(cache) / "napkin";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "napkin";
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    return (error ? fs::path("/tmp") : temporary) / fmt::format("napkin-{}", getuid());
}

fs::path executable_folder() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : self.parent_path();
}

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    if (in.bad()) return std::nullopt;
    return text.str();
}

std::optional<Diagnostic> write_file_whole(const fs::path& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return messages::cannot_write_cache(path.parent_path().string(), error.message());
    const fs::path temporary = path.string() + fmt::format(".{}.part", getpid());
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        out.close();
        if (!out) {
            const std::string why = std::strerror(errno);
            fs::remove(temporary, error);
            return messages::cannot_write_cache(path.string(), why);
        }
    }
    fs::rename(temporary, path, error);
    if (!error) return std::nullopt;
    const std::string why = error.message();
    fs::remove(temporary, error);
    return messages::cannot_write_cache(path.string(), why);
}

std::string hash_text(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3;
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace napkin
