// What tests find around them: what ./test installs, and folders of this user.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace napkin::test {

/// Whether what ./test installs is there: `missing` says in one line why not, or is empty. A test
/// without it fails, unless NAPKIN_TESTS_WITHOUT names it (`NAPKIN_TESTS_WITHOUT=nvrtc,nvcc`).
inline bool provided(const std::string& name, const std::string& missing) {
    if (missing.empty()) return true;
    const char* without = std::getenv("NAPKIN_TESTS_WITHOUT");
    const std::string named = fmt::format(",{},", without == nullptr ? "" : without);
    if (named.find("," + name + ",") == std::string::npos)
        FAIL_CHECK(name << " is missing: " << missing << "; NAPKIN_TESTS_WITHOUT=" << name
                        << " leaves this test out");
    MESSAGE("left out: " << missing);
    return false;
}

/// Where this user's tests keep what they compile, from run to run.
inline std::filesystem::path kept_folder(const std::string& name) {
    return std::filesystem::temp_directory_path() / fmt::format("napkin-tests-{}", getuid()) / name;
}

}  // namespace napkin::test
