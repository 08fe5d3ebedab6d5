#include "codegen/run/kept.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/run/folders.h"

namespace napkin {
namespace {

namespace fs = std::filesystem;

fs::path entry_of(const fs::path& folder, const std::string& key) {
    return folder / hash_text(key);
}

/// Stands before a value: the key in full, so that a collision of hashes is only a miss, and what
/// shows that nothing after it changed.
std::string head_of(const std::string& key, const std::string& value) {
    return fmt::format("napkin kept 1 {} {} {}\n", key.size(), value.size(), hash_text(value)) +
           key;
}

}  // namespace

std::optional<std::string> find_kept(const fs::path& folder, const std::string& key) {
    const std::optional<std::string> text = read_file(entry_of(folder, key));
    if (!text) return std::nullopt;
    const std::size_t line = text->find('\n');
    if (line == std::string::npos || text->size() - line - 1 < key.size()) return std::nullopt;
    std::string value = text->substr(line + 1 + key.size());
    if (*text != head_of(key, value) + value) return std::nullopt;
    return value;
}

void keep(const fs::path& folder, const std::string& key, const std::string& value) {
    static_cast<void>(write_file_whole(entry_of(folder, key), head_of(key, value) + value));
}

std::string this_build() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const auto size = fs::file_size(self, error);
    const auto time = fs::last_write_time(self, error).time_since_epoch();
    if (error) return "";
    return fmt::format("{} bytes of {}", size,
                       std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace napkin
