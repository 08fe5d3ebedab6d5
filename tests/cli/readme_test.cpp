// What the documents show is what happens: console blocks of the README are run and compared,
// pictures are drawn, the gallery is made, links lead somewhere, docs/rules.md is the rule
// catalogue. NAPKIN_UPDATE_GOLDEN=1 rewrites them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "derive/state.h"
#include "tests/cli/transcript.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

const std::filesystem::path kRoot = NAPKIN_SOURCE_DIR;

/// The text without what stands between two fences.
std::string without(std::string_view fence, const std::string& text) {
    std::string prose;
    std::size_t at = 0;
    for (std::size_t open = text.find(fence); open != std::string::npos;
         open = text.find(fence, at)) {
        prose += text.substr(at, open - at);
        const std::size_t close = text.find(fence, open + fence.size());
        if (close == std::string::npos) return prose;
        at = close + fence.size();
    }
    return prose + text.substr(at);
}
/// The text without its code, in which brackets mean something else.
std::string without_code(const std::string& text) {
    return without("`", without("\n```", text));
}

std::vector<std::filesystem::path> lessons() {
    const std::filesystem::directory_iterator files(kRoot / "docs/lessons");
    std::vector<std::filesystem::path> pages;
    for (const auto& file : files) pages.push_back(file.path());
    std::sort(pages.begin(), pages.end());
    return pages;
}

/// What follows the fence of a block: the words of its first line and its text.
struct Block {
    std::string words;
    std::string text;
};

/// The last block of a language before a place, and where it begins; npos where there is none.
std::size_t block_before(const std::string& page, std::size_t place, const std::string& language,
                         Block& block) {
    const std::string fence = "\n```" + language;
    const std::size_t open = page.rfind(fence, place);
    if (open == std::string::npos) return open;
    const std::size_t line = page.find('\n', open + fence.size());
    block.words = page.substr(open + fence.size(), line - open - fence.size());
    block.text = page.substr(line + 1, page.find("\n```", line) - line);
    return open;
}

/// The text with what the commands of its console blocks print now.
std::string with_output(const std::string& text, const std::string& folder, int& blocks) {
    constexpr std::string_view kOpen = "```console\n";
    std::string now;
    std::size_t at = 0;
    for (std::size_t open = text.find(kOpen); open != std::string::npos;
         open = text.find(kOpen, at)) {
        const std::size_t begin = open + kOpen.size();
        const std::size_t end = text.find("```", begin);
        REQUIRE(end != std::string::npos);
        now += text.substr(at, begin - at) + rerun(text.substr(begin, end - begin), folder);
        at = end;
        ++blocks;
    }
    return now + text.substr(at);
}

}  // namespace

TEST_CASE("the README names every command, and no other") {
    const std::string readme = read_text(kRoot / "README.md");
    const std::size_t begin = readme.find("## The commands");
    REQUIRE(begin != std::string::npos);
    const std::string table = readme.substr(begin, readme.find("\n## ", begin + 1) - begin);
    std::istringstream help(run_command({"napkin --help | sed '1,/^Subcommands/d'", ""}));
    std::size_t commands = 0;
    for (std::string line; std::getline(help, line);) {
        if (line.substr(0, 2) != "  " || line.substr(2, 1) == " ") continue;
        const std::string name = line.substr(2, line.find(' ', 2) - 2);
        INFO("command ", name);
        CHECK_NE(table.find("\n| `" + name), std::string::npos);
        ++commands;
    }
    CHECK_GT(commands, 10);
    std::size_t rows = 0;
    for (std::size_t at = table.find("\n| `"); at != std::string::npos;
         at = table.find("\n| `", at + 1))
        ++rows;
    CHECK_EQ(rows, commands);
}

TEST_CASE("the README shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "README.md"), {}, blocks);
    CHECK(blocks >= 4);
    check_file(kRoot / "README.md", now);
}

TEST_CASE("the page on exports shows what its commands print, typed in an empty folder") {
    const std::filesystem::path folder = scratch() + "/reader";
    std::filesystem::create_directories(folder);
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/export.md"), folder, blocks);
    CHECK(blocks >= 6);
    check_file(kRoot / "docs/export.md", now);
    // What bench/export-on-gpu takes is what the page writes.
    for (const char* file : {"variant.ncd", "variant.drv"})
        CHECK_EQ(read_text(kRoot / "docs/export" / file), read_text(folder / file));
}

TEST_CASE("the page on kernels shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/codegen.md"), {}, blocks);
    CHECK(blocks >= 8);
    check_file(kRoot / "docs/codegen.md", now);
}

TEST_CASE("lessons show what their commands print") {
    const std::vector<std::filesystem::path> pages = lessons();
    CHECK_EQ(pages.size(), 6);
    for (const std::filesystem::path& page : pages) {
        int blocks = 0;
        const std::string now = with_output(read_text(page), {}, blocks);
        CHECK(blocks >= 5);
        check_file(page, now);
    }
}

TEST_CASE("lessons end with a quiz whose own answers are right") {
    const std::string quoted = "`napkin quiz ";
    for (const std::filesystem::path& page : lessons()) {
        const std::string text = read_text(page);
        const std::size_t open = text.find(quoted);
        REQUIRE_NE(open, std::string::npos);
        const std::string command = text.substr(open + 1, text.find('`', open + 1) - open - 1);
        INFO(command);
        CHECK_EQ(run_command({command + " < /dev/null", ""}).find("error["), std::string::npos);
    }
}

TEST_CASE("the page on published algorithms shows what its commands print") {
    int blocks = 0;
    const std::string now =
        with_output(read_text(kRoot / "examples/published/README.md"), {}, blocks);
    CHECK_EQ(blocks, 1);
    check_file(kRoot / "examples/published/README.md", now);
}

TEST_CASE("the page on hypotheses shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/hypothesis.md"), {}, blocks);
    CHECK(blocks >= 4);
    check_file(kRoot / "docs/hypothesis.md", now);
}

TEST_CASE("the page on machines shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/machines.md"), {}, blocks);
    CHECK(blocks >= 4);
    check_file(kRoot / "docs/machines.md", now);
}

TEST_CASE("the page on the paper's figures shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/paper.md"), {}, blocks);
    CHECK(blocks >= 6);
    check_file(kRoot / "docs/paper.md", now);
}

TEST_CASE("the page on questions shows what its commands print") {
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/quiz.md"), {}, blocks);
    CHECK_EQ(blocks, 2);
    check_file(kRoot / "docs/quiz.md", now);
}

TEST_CASE("the page on masks shows what its commands print, typed in an empty folder") {
    const std::filesystem::path folder = scratch() + "/masks";
    std::filesystem::create_directories(folder);
    int blocks = 0;
    const std::string now = with_output(read_text(kRoot / "docs/masks.md"), folder, blocks);
    CHECK(blocks >= 2);
    check_file(kRoot / "docs/masks.md", now);
}

TEST_CASE("the page on reading shows what its texts are drawn as") {
    const std::string page = read_text(kRoot / "docs/reading.md");
    const std::string folder = scratch() + "/reading";
    std::filesystem::create_directories(folder);
    constexpr std::string_view kLink = "](pictures/reading/";
    std::size_t pictures = 0;
    std::size_t last = 0;
    for (std::size_t at = page.find(kLink); at != std::string::npos;
         at = page.find(kLink, at + 1)) {
        const std::size_t begin = at + kLink.size();
        const std::string name = page.substr(begin, page.find(')', begin) - begin);
        INFO("picture ", name);
        Block diagram;
        Block derivation;
        const std::size_t text = block_before(page, at, "ncd", diagram);
        REQUIRE(text != std::string::npos);
        const std::size_t steps = block_before(page, at, "drv", derivation);
        const bool derived = steps != std::string::npos && steps > last;
        CHECK((derived || text > last));
        std::ofstream(folder + "/text.ncd", std::ios::binary) << diagram.text;
        std::ofstream(folder + "/steps.drv", std::ios::binary) << derivation.text;
        const std::string said = run_command(
            {"napkin fmt text.ncd | cmp - text.ncd && napkin draw text.ncd --font none -o out.svg" +
                 (derived ? " --drv steps.drv" + derivation.words : ""),
             ""},
            folder);
        CHECK_EQ(said, "");
        check_file(kRoot / "docs/pictures/reading" / name, read_text(folder + "/out.svg"));
        last = at;
        ++pictures;
    }
    const std::filesystem::directory_iterator kept(kRoot / "docs/pictures/reading");
    CHECK_EQ(pictures, std::distance(begin(kept), end(kept)));
    CHECK_GT(pictures, 10);
}

TEST_CASE("the gallery is what its script makes of the examples") {
    const std::string folder = scratch() + "/docs";
    std::filesystem::create_directories(folder);
    CHECK_EQ(run_command({"scripts/make-gallery \"$(command -v napkin)\" \"$SCRATCH/docs\"", ""}),
             "");
    check_file(kRoot / "docs/gallery.md", read_text(folder + "/gallery.md"));
    std::size_t pictures = 0;
    for (const auto& picture : std::filesystem::directory_iterator(folder + "/pictures/gallery")) {
        check_file(kRoot / "docs/pictures/gallery" / picture.path().filename(),
                   read_text(picture.path()));
        ++pictures;
    }
    const std::filesystem::directory_iterator kept(kRoot / "docs/pictures/gallery");
    CHECK_EQ(pictures, std::distance(begin(kept), end(kept)));
    CHECK_GT(pictures, 40);
}

TEST_CASE("pages whose commands write to a folder say how to make it") {
    std::vector<std::filesystem::path> pages = lessons();
    for (const char* name : {"docs/paper.md", "docs/machines.md"}) pages.push_back(kRoot / name);
    for (const std::filesystem::path& path : pages) {
        INFO(path.string());
        CHECK_LT(read_text(path).find("`SCRATCH=$(mktemp -d)`"),
                 read_text(path).find("> $SCRATCH"));
    }
}

TEST_CASE("links of the documents lead somewhere") {
    std::vector<std::filesystem::path> pages = lessons();
    for (const char* name :
         {"README.md", "docs/architecture.md", "docs/rules.md", "docs/export.md", "docs/codegen.md",
          "docs/masks.md", "docs/quiz.md", "docs/hypothesis.md", "docs/model.md", "docs/paper.md",
          "docs/reading.md", "docs/machines.md", "docs/python.md", "docs/editors.md",
          "docs/gallery.md", "examples/published/README.md"})
        pages.push_back(kRoot / name);
    for (const std::filesystem::path& path : pages) {
        const std::string text = without_code(read_text(path));
        REQUIRE_FALSE(text.empty());
        for (std::size_t at = text.find("]("); at != std::string::npos;
             at = text.find("](", at + 1)) {
            const std::string link = text.substr(at + 2, text.find_first_of("#)", at + 2) - at - 2);
            if (link.find("://") != std::string::npos || link.empty()) continue;
            INFO(path.string(), " links to ", link);
            CHECK(std::filesystem::exists(path.parent_path() / link));
        }
    }
}

TEST_CASE("docs/rules.md is the rule catalogue") {
    check_file(kRoot / "docs/rules.md", rules_page());
}

}  // namespace napkin::test
