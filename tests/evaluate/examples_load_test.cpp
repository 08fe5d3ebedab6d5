// Every example checks without a warning at its default sizes.
#include <filesystem>
#include <set>

#include "examples.h"

using napkin::Checked;
using napkin::Result;
using napkin::SourceMap;

TEST_CASE("examples: every file of the folder checks at its default sizes") {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".ncd") files.insert(entry.path());
    CHECK(files.size() >= 20);
    for (const std::filesystem::path& file : files) {
        SourceMap sources;
        const Result<Checked> checked =
            load_diagram(sources, file.filename(), napkin::test::read_text(file));
        INFO(file.filename().string());
        INFO((checked ? napkin::test::rendered(checked->warnings, sources)
                      : napkin::test::rendered(checked.error(), sources)));
        CHECK(checked.has_value());
        if (checked) CHECK(checked->warnings.list.empty());
    }
}

TEST_CASE("examples: every file is in the canonical form") {
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        if (entry.path().extension() != ".ncd") continue;
        const std::string text = napkin::test::read_text(entry.path());
        SourceMap sources;
        const Result<napkin::syntax::File> file =
            napkin::syntax::parse(sources, sources.add(entry.path().filename(), text));
        REQUIRE(file.has_value());
        CHECK_EQ(napkin::syntax::print(*file), text);
    }
}
