// What scripts in Python try: `napkin lsp` as an editor drives it, and masks in other forms.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/cli/transcript.h"
#include "tests/support/provided.h"

namespace napkin::test {

TEST_CASE("an editor is served, and broken messages are outlived") {
    const bool has_python = std::system("python3 --version > /dev/null 2>&1") == 0;
    if (!provided("python3", has_python ? "" : "there is no python3")) return;
    const std::string session =
        "$ python3 '" NAPKIN_SOURCE_DIR "/tests/cli/editor_cases.py' '" NAPKIN_BINARY
        "' '" NAPKIN_SOURCE_DIR "/examples'\nok\n";
    CHECK_EQ(rerun(session), session);
}

TEST_CASE("masks in the forms of others let the same pairs through") {
    const bool has_python = std::system("python3 --version > /dev/null 2>&1") == 0;
    if (!provided("python3", has_python ? "" : "there is no python3")) return;
    const std::string session =
        "$ python3 '" NAPKIN_SOURCE_DIR "/tests/cli/mask_cases.py' '" NAPKIN_BINARY "'\nok\n";
    CHECK_EQ(rerun(session), session);
}

}  // namespace napkin::test
