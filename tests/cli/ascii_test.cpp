// Stand-ins for signs where the locale does not write UTF-8.
#include "cli/ascii.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/golden.h"

namespace napkin::test {
namespace {

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

TEST_CASE("every sign that stands in a source has a stand-in") {
    const std::filesystem::path root(NAPKIN_SOURCE_DIR);
    for (const char* folder : {"cli", "diagrams", "derive", "perfmodel", "codegen", "search"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const std::string kind = entry.path().extension().string();
            if (kind != ".cpp" && kind != ".h") continue;
            INFO(entry.path().string());
            CHECK(is_ascii(cli::in_ascii(read_text(entry.path()))));
        }
}

TEST_CASE("stand-ins keep columns where blanks give way, and the user's own signs") {
    CHECK_EQ(cli::in_ascii("╭─╮\n│é│\n"), "+-+\n|é|\n");
    CHECK_EQ(cli::in_ascii("ℓ1 g\u0305   ∞    | ∞ x"), "l1 g~  inf  | inf x");
}

}  // namespace
}  // namespace napkin::test
