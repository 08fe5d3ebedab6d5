// The model against recorded measurements: the table is recomputed from the files.
#include <doctest/doctest.h>

#include "tests/golden.h"
#include "tests/judged/judge.h"

namespace napkin {
namespace {

const std::filesystem::path kDocs =
    std::filesystem::path(NAPKIN_RESULTS_DIR).parent_path().parent_path() / "docs";

Machine built_in(const char* name) {
    SourceMap sources;
    const Result<Machine> machine = load_machine(sources, name);
    REQUIRE(machine.has_value());
    return *machine;
}

/// The page with what stands between two marks replaced.
std::string with_part(std::string page, const std::string& name, const std::string& text) {
    const std::string begin = "<!-- " + name + " -->\n";
    const std::size_t from = page.find(begin) + begin.size();
    const std::size_t to = page.find("<!-- end -->", from);
    REQUIRE_NE(page.find(begin), std::string::npos);
    REQUIRE_NE(to, std::string::npos);
    return page.replace(from, to - from, text);
}

TEST_CASE("the page on the model shows its times beside the recorded ones") {
    const std::filesystem::path path = kDocs / "model.md";
    std::string page = test::read_text(path);
    for (const char* name : {"H200", "H100"}) {
        const Machine machine = built_in(name);
        const test::Records records =
            test::recorded_on(name == std::string("H200") ? "h200" : "h100");
        REQUIRE_GT(records.rows.size(), 60);
        page = with_part(page, name, "\n" + test::table(records, machine) + "\n");
    }
    test::check_file(path, page);
}

TEST_CASE("the plot of predicted over measured times") {
    test::check_file(kDocs / "pictures/model.svg",
                     test::scatter(test::recorded_on("h200"), built_in("H200")));
}

TEST_CASE("every rule of struck.jsonl strikes a row") {
    CHECK_EQ(test::idle_strikes(), std::vector<std::string>());
}

}  // namespace
}  // namespace napkin
