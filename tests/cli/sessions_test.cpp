// Every file of tests/cli/sessions is a transcript; the commands are run and everything that they
// print is compared. NAPKIN_UPDATE_GOLDEN=1 rewrites the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/cli/transcript.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

std::vector<std::filesystem::path> sessions() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/tests/cli/sessions"))
        if (entry.path().extension() == ".txt") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

TEST_CASE("sessions at the command line print what they printed") {
    REQUIRE_FALSE(sessions().empty());
    for (const std::filesystem::path& path : sessions()) {
        INFO("session ", path.filename().string());
        const std::string before = read_text(path);
        const std::string now = rerun(before);
        if (std::getenv("NAPKIN_UPDATE_GOLDEN") != nullptr)
            std::ofstream(path, std::ios::binary) << now;
        else
            CHECK_EQ(before, now);
    }
}

TEST_CASE("a transcript whose output differs is noticed") {
    CHECK_EQ(rerun("$ echo one\ntwo\n"), "$ echo one\none\n");
    CHECK_EQ(rerun("$ exit 3\n"), "$ exit 3\n[exit 3]\n");
    CHECK_EQ(rerun("$ cat\nnapkin> typed\n"), "$ cat\ntyped\n");
}

}  // namespace napkin::test
