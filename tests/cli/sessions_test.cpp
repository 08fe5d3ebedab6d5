// Every file of tests/cli/sessions is a transcript; the commands are run and everything that they
// print is compared. NAPKIN_UPDATE_GOLDEN=1 rewrites the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
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

/// What of a folder's sources and texts matches.
std::multiset<std::string> codes_in(const std::string& folder, const std::string& pattern) {
    std::multiset<std::string> codes;
    const std::regex code(pattern);
    const std::filesystem::path root = std::filesystem::path(NAPKIN_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_regular_file() || name == "sessions_test.cpp") continue;
        const std::string text = read_text(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at)
            codes.insert(at->str());
    }
    return codes;
}

}  // namespace

TEST_CASE("sessions at the command line print what they printed") {
    REQUIRE_FALSE(sessions().empty());
    for (const std::filesystem::path& path : sessions()) {
        INFO("session ", path.filename().string());
        check_file(path, rerun(read_text(path)));
    }
}

TEST_CASE("every code of an error that a user can cause is of one message, and stands in a test") {
    // What needs a broken installation, a GPU, or code that the stages before it keep it from.
    const std::map<std::string, std::string> untold = {
        {"E0130", "formulas are written by programs; tests/formula reads wrong ones"},
        {"E0501", "the checker proves every index in bounds"},
        {"E0802", "Graphviz is installed where tests run"},
        {"E0803", "Graphviz is installed where tests run"},
        {"E0914", "a driver that fails"},
        {"E0915", "a GPU with less shared memory than its architecture allows"},
        {"E0921", "a compiler that writes what cannot be loaded"},
        {"E0931", "the checker asks for an output"},
        {"E0950", "small sizes keep to what the steps divide"},
        {"E0963", "the checker asks for an output that is computed"},
        {"E0967", "an assembler that crashes"},
        {"E9050", "a GPU: a hypothesis about a kernel that computes something else there"},
    };
    const std::multiset<std::string> told = codes_in("tests", "[EW][0-9]{4}");
    std::set<std::string> codes;
    for (const std::string folder :
         {"diagrams", "derive", "schedule", "perfmodel", "codegen", "search", "cli"})
        for (const std::string& code : codes_in(folder, "\"[EW][0-9]{4}\"")) {
            const std::string bare = code.substr(1, 5);
            INFO("code ", bare);
            CHECK((told.contains(bare) || untold.contains(bare)));
            CHECK_MESSAGE(codes.insert(bare).second, "two messages have this code");
        }
    CHECK(codes.size() > 150);
}

TEST_CASE("a transcript whose output differs is noticed") {
    CHECK_EQ(rerun("$ echo one\ntwo\n"), "$ echo one\none\n");
    CHECK_EQ(rerun("$ exit 3\n"), "$ exit 3\n[exit 3]\n");
    CHECK_EQ(rerun("$ cat\nnapkin> typed\n"), "$ cat\ntyped\n");
}

}  // namespace napkin::test
