// Every code of the checker has an input under tests/golden/errors and the messages it must give.
// A first line `# set q = 4` stands for `--set`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "diagrams/check.h"
#include "diagrams/check/other_spellings.h"
#include "tests/golden.h"

namespace napkin {
namespace {

std::filesystem::path errors_dir() {
    return std::filesystem::path(NAPKIN_GOLDEN_DIR) / "errors";
}

std::string code_of(const std::filesystem::path& path) {
    return path.stem().string().substr(0, path.stem().string().find('-'));
}

bool is_ours(const std::string& code) {
    return (code >= "E0200" && code < "E0500") || (code >= "W0500" && code < "W0600");
}

std::vector<std::filesystem::path> inputs() {
    std::vector<std::filesystem::path> list;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::directory_iterator(errors_dir()))
        if (entry.path().extension() == ".ncd" && is_ours(code_of(entry.path())))
            list.push_back(entry.path());
    std::sort(list.begin(), list.end());
    return list;
}

/// Sizes of a first line `# set q = 4, x = 5`.
Sizes sizes_in(const std::string& text) {
    Sizes sizes;
    if (!text.starts_with("# set ")) return sizes;
    std::istringstream line(text.substr(6, text.find('\n') - 6));
    std::string item;
    while (std::getline(line, item, ',')) {
        std::istringstream words(item);
        std::string name;
        std::string equals;
        std::int64_t size = 0;
        words >> name >> equals >> size;
        sizes[name] = size;
    }
    return sizes;
}

TEST_CASE("every error and warning of the checker: golden message") {
    for (const std::filesystem::path& path : inputs()) {
        INFO(path.filename().string());
        const std::string text = test::read_text(path);
        SourceMap sources;
        const Result<Checked> checked =
            load_diagram(sources, path.filename().string(), text, sizes_in(text));
        const bool warns = code_of(path).starts_with("W");
        REQUIRE_EQ(checked.has_value(), warns);
        const Diagnostics& said = checked.has_value() ? checked->warnings : checked.error();
        std::string shown;
        bool found = false;
        for (const Diagnostic& diagnostic : said.list) {
            shown += render(diagnostic, sources) + "\n";
            found = found || diagnostic.code == code_of(path);
        }
        CHECK(found);
        test::check_golden("errors/" + path.stem().string() + ".txt", shown);
    }
}

TEST_CASE("every code of the checker's catalogue has an input") {
    std::string catalogue;
    for (const char* name : {"messages.cpp", "messages_types.cpp"})
        catalogue += test::read_text(errors_dir() / "../../../diagrams/check" / name);
    // The parser refuses these two as well; a test below builds their trees.
    std::set<std::string> tested = {"E0420", "E0422"};
    for (const std::filesystem::path& path : inputs()) tested.insert(code_of(path));
    int codes = 0;
    for (const char* prefix : {"\"E0", "\"W0"})
        for (std::size_t at = catalogue.find(prefix); at != std::string::npos;
             at = catalogue.find(prefix, at + 1)) {
            const std::string code = catalogue.substr(at + 1, 5);
            INFO(code);
            CHECK(tested.contains(code));
            ++codes;
        }
    CHECK_GT(codes, 50);
}

TEST_CASE("words of other languages are answered with statements that check") {
    for (const checking::OtherSpelling& each : checking::other_spellings()) {
        INFO(each.word);
        SourceMap sources;
        const std::string arrays =
            "diagram t {\n  axis i = 4, j = 4, k = 4\n  input I[i] : i32\n"
            "  input X[i, j], A[i, k], B[k, j] : f32\n  output ";
        const Result<Checked> answer =
            load_diagram(sources, "answer.ncd", arrays + std::string(each.statement) + "\n}\n");
        CHECK(answer.has_value());
        const Result<Checked> asked = load_diagram(
            sources, "asked.ncd", arrays + "Y[i] = " + std::string(each.word) + "(X[i, 0])\n}\n");
        REQUIRE(!asked.has_value());
        CHECK_EQ(asked.error().list.front().help, checking::written_here(each.word));
    }
}

TEST_CASE("trees that the parser would refuse are refused") {
    SourceMap sources;
    const std::string text =
        "diagram a {\n  axis q = 4\n  input A[q] : f32\n  param eps : f32 = 1\n  let n = 3\n"
        "  output S[q] = A[q] * eps + n\n}\n";
    Result<syntax::File> tree = syntax::parse(sources, sources.add("a.ncd", text));
    REQUIRE(tree.has_value());
    std::get<syntax::ParamLine>(tree->lines[2].body).param.axes.push_back({"q", {}});
    std::get<syntax::LetLine>(tree->lines[3].body).target.type = ElementType::I32;
    const Result<Checked> checked = check(sources, *tree);
    REQUIRE(!checked.has_value());
    std::set<std::string> codes;
    for (const Diagnostic& diagnostic : checked.error().list) codes.insert(diagnostic.code);
    CHECK_EQ(codes, std::set<std::string>{"E0420", "E0422"});
}

}  // namespace
}  // namespace napkin
