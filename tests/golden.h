// Golden files: whole texts under tests/golden/, rewritten by NAPKIN_UPDATE_GOLDEN=1 and then
// reviewed as a diff.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace napkin::test {

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Compares `text` with the file. A test that rewrites it fails, so that nothing passes that nobody
/// compared.
inline void check_file(const std::filesystem::path& path, const std::string& text) {
    INFO("golden file ", path.string(), "; NAPKIN_UPDATE_GOLDEN=1 rewrites it");
    if (std::getenv("NAPKIN_UPDATE_GOLDEN") != nullptr && read_text(path) != text) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        FAIL_CHECK("rewritten: review the difference");
    }
    REQUIRE(std::filesystem::exists(path));
    CHECK_EQ(read_text(path), text);
}

/// Compares `text` with the golden file `name` (a path below tests/golden).
inline void check_golden(const std::string& name, const std::string& text) {
    check_file(std::filesystem::path(NAPKIN_GOLDEN_DIR) / name, text);
}

}  // namespace napkin::test
