// Every code of the lexer and the parser has an input under tests/golden/errors, and the messages
// that it must give.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "diagrams/syntax.h"
#include "tests/golden.h"

namespace napkin {
namespace {

std::filesystem::path errors_dir() {
    return std::filesystem::path(NAPKIN_GOLDEN_DIR) / "errors";
}

struct Outcome {
    Diagnostics diagnostics;
    std::string text;
};

Outcome outcome_of(const std::string& name, const std::string& text) {
    SourceMap sources;
    const Result<syntax::File> tree = syntax::parse(sources, sources.add(name, text));
    Outcome outcome;
    if (tree) return outcome;
    outcome.diagnostics = tree.error();
    for (const Diagnostic& diagnostic : outcome.diagnostics.list)
        outcome.text += render(diagnostic, sources) + "\n";
    return outcome;
}

std::string code_of(const std::filesystem::path& path) {
    return path.stem().string().substr(0, path.stem().string().find('-'));
}

std::vector<std::filesystem::path> inputs() {
    std::vector<std::filesystem::path> list;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::directory_iterator(errors_dir()))
        if (entry.path().extension() == ".ncd" && code_of(entry.path()).starts_with("E01"))
            list.push_back(entry.path());
    std::sort(list.begin(), list.end());
    return list;
}

TEST_CASE("every syntax error: golden message") {
    for (const std::filesystem::path& path : inputs()) {
        INFO(path.filename().string());
        const Outcome outcome = outcome_of(path.filename().string(), test::read_text(path));
        const std::vector<Diagnostic>& list = outcome.diagnostics.list;
        CHECK(std::any_of(list.begin(), list.end(), [&](const Diagnostic& diagnostic) {
            return diagnostic.code == code_of(path);
        }));
        test::check_golden("errors/" + path.stem().string() + ".txt", outcome.text);
    }
}

TEST_CASE("every code of the catalogue has an input") {
    const std::string catalogue = test::read_text(errors_dir() / "../../../diagrams/messages.cpp");
    // These two need inputs too large to keep; tests below make them.
    std::set<std::string> tested = {"E0102", "E0104"};
    for (const std::filesystem::path& path : inputs()) tested.insert(code_of(path));
    int codes = 0;
    for (std::size_t at = catalogue.find("\"E01"); at != std::string::npos;
         at = catalogue.find("\"E01", at + 1)) {
        const std::string code = catalogue.substr(at + 1, 5);
        INFO(code);
        CHECK(tested.contains(code));
        ++codes;
    }
    CHECK_GT(codes, 20);
}

TEST_CASE("a file that is too large is not read") {
    const Outcome outcome = outcome_of("large.ncd", std::string((std::size_t{16} << 20) + 1, '\n'));
    test::check_golden("errors/E0102.txt", outcome.text);
}

TEST_CASE("errors are counted only up to a limit") {
    std::string text = "diagram a {\n";
    for (int i = 0; i < 150; ++i) text += "  axis q\n";
    const Outcome outcome = outcome_of("many.ncd", text + "}\n");
    REQUIRE_EQ(outcome.diagnostics.list.size(), 101);
    CHECK_EQ(outcome.diagnostics.list.back().code, "E0104");

    std::string strange = "diagram a {\n";
    for (int i = 0; i < 150; ++i) strange += "  $ % $\n";
    CHECK_EQ(outcome_of("many.ncd", strange + "}\n").diagnostics.list.size(), 101);
}

TEST_CASE("one mistake gives one message and hides no other") {
    const Outcome outcome = outcome_of("several.ncd",
                                       "diagram several {\n"
                                       "  axes q = 4\n"
                                       "  axis x = 4\n"
                                       "  input A[x : bf17\n"
                                       "  S[x] = (A[x] + 2\n"
                                       "  T[x] = A[x] $ 2\n"
                                       "  U[x] = if A[x] then 1\n"
                                       "  output V[x] = 1 < x < 3\n"
                                       "}\n");
    std::vector<std::string> codes;
    for (const Diagnostic& diagnostic : outcome.diagnostics.list) codes.push_back(diagnostic.code);
    const std::vector<std::string> expected = {"E0115", "E0112", "E0112",
                                               "E0105", "E0118", "E0117"};
    CHECK_EQ(codes, expected);
}

TEST_CASE("line ends, tabs and a byte order mark") {
    const std::string text = "diagram a {\n\taxis q = 4\n\tinput A[q] : f32\n}\n";
    std::string dos;
    for (const char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
    SourceMap sources;
    const Result<syntax::File> plain = syntax::parse(sources, sources.add("a.ncd", text));
    const Result<syntax::File> with_dos = syntax::parse(sources, sources.add("b.ncd", dos));
    const Result<syntax::File> with_mark =
        syntax::parse(sources, sources.add("c.ncd", "\xEF\xBB\xBF" + text));
    REQUIRE(plain);
    REQUIRE(with_dos);
    REQUIRE(with_mark);
    CHECK(*with_dos == *plain);
    CHECK(*with_mark == *plain);
    const Outcome outcome = outcome_of("mark.ncd", "\xEF\xBB\xBF$\r\n");
    CHECK(
        outcome.text.starts_with("mark.ncd:1:1: error[E0105]: `$` means nothing here\n  $\n  ^\n"));
}

TEST_CASE("an item goes on where it must") {
    struct Case {
        const char* text;
        std::size_t lines;
    };
    const Case cases[] = {
        {"S = a +\n b", 1},
        {"S = a\n + b", 1},
        {"S =\n a", 1},
        {"S = f(a,\n\n b\n)", 1},
        {"S = if a\n then b\n else c", 1},
        {"S = a\nT = b", 2},
        {"S = a # comment\n * b", 1},
        {"input A[\n q\n ]\ninput B", 2},
        {"weave b = 4\n over Q", 1},
        {"opaque F(A)\n -> B", 1},
        {"S = (a\n b)", 0},
    };
    for (const Case& each : cases) {
        INFO(each.text);
        SourceMap sources;
        const std::string text = "diagram t {\n" + std::string(each.text) + "\n}\n";
        const Result<syntax::File> tree = syntax::parse(sources, sources.add("t.ncd", text));
        REQUIRE_EQ(tree.has_value(), each.lines > 0);
        if (tree) CHECK_EQ(tree->lines.size(), each.lines);
    }
}

TEST_CASE("long lines are read, and cut around the caret when shown") {
    const std::string padding(10000000, ' ');
    const Outcome blank = outcome_of("long.ncd", "diagram a {\n  S = 1" + padding + "$\n}\n");
    REQUIRE_EQ(blank.diagnostics.list.size(), 1);
    CHECK_LT(blank.text.size(), 400);

    std::string sum = "diagram a {\n  S = 1";
    while (sum.size() < 10000000) sum += " + 1";
    const Outcome deep = outcome_of("long.ncd", sum + "\n}\n");
    REQUIRE_EQ(deep.diagnostics.list.size(), 1);
    CHECK_EQ(deep.diagnostics.list.front().code, "E0127");
    CHECK_LT(deep.text.size(), 1000);

    std::string list = "diagram a {\n  S = f(1";
    while (list.size() < 10000000) list += ", 1";
    SourceMap sources;
    CHECK(syntax::parse(sources, sources.add("long.ncd", list + ")\n}\n")));
}

TEST_CASE("the caret stands under what it means") {
    struct Case {
        std::string line;
        std::string shown;
    };
    const std::string filler(60, 'x');
    const Case cases[] = {
        {"\t$", "   $\n   ^\n"},
        {"\xC3\xA9", "  \xC3\xA9\n  ^\n"},
        {"a \x01", "  a ?\n    ^\n"},
        {filler + filler + " $",
         "  ..." + filler.substr(0, 38) + filler + " $\n" + std::string(104, ' ') + "^\n"},
        {filler + " $ " + filler + filler, "  ..." + filler.substr(0, 39) + " $ " +
                                               filler.substr(0, 58) + "...\n" +
                                               std::string(45, ' ') + "^\n"},
    };
    for (const Case& each : cases) {
        SourceMap sources;
        const std::uint32_t file = sources.add("t.ncd", "# first\n" + each.line + "\n# last\n");
        const std::size_t in_line = each.line.find_first_of("$\x01\xC3");
        const auto at = static_cast<std::uint32_t>(8 + in_line);
        Diagnostic diagnostic = plain_error("E0000", "message");
        diagnostic.has_place = true;
        const std::uint32_t length = each.line[in_line] == '\xC3' ? 2 : 1;
        diagnostic.primary.span = {at, at + length, file};
        const std::string text = render(diagnostic, sources);
        CHECK_EQ(text.substr(text.find('\n') + 1), each.shown);
    }
}

}  // namespace
}  // namespace napkin
