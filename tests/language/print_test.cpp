#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "diagrams/overloaded.h"
#include "diagrams/syntax.h"
#include "tests/golden.h"
#include "tests/language/random_syntax.h"
#include "tests/support/rendered.h"

namespace napkin {
namespace {

syntax::File parsed(const std::string& text) {
    SourceMap sources;
    const std::uint32_t file = sources.add("test.ncd", text);
    const Result<syntax::File> tree = syntax::parse(sources, file);
    INFO("text:\n", text);
    INFO("errors:\n", tree ? std::string() : test::rendered(tree.error(), sources));
    REQUIRE(tree);
    return *tree;
}

std::string formatted_expression(const std::string& text) {
    const syntax::File tree = parsed("diagram t {\nY = " + text + "\n}\n");
    return syntax::print(std::get<syntax::StatementLine>(tree.lines.front().body).value);
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::size_t length = 0;
    for (const char c : text) {
        length = c == '\n' ? 0 : length + 1;
        longest = std::max(longest, length);
    }
    return longest;
}

void count_kinds(const syntax::Expression& expression, std::map<std::size_t, int>& kinds) {
    ++kinds[expression.node.index()];
    const auto all = [&](const std::vector<syntax::Expression>& list) {
        for (const syntax::Expression& item : list) count_kinds(item, kinds);
    };
    std::visit(overloaded{
                   [](const syntax::Literal&) {},
                   [](const syntax::Reference&) {},
                   [&](const syntax::Access& node) { all(node.index); },
                   [&](const syntax::Call& node) { all(node.arguments); },
                   [&](const syntax::Reduction& node) { all(node.operands); },
                   [&](const syntax::Unary& node) { all(node.operand); },
                   [&](const syntax::Binary& node) { all(node.operands); },
                   [&](const syntax::Conditional& node) { all(node.parts); },
               },
               expression.node);
}

TEST_CASE("reading what is printed gives the same tree") {
    std::map<std::size_t, int> line_kinds;
    std::map<std::size_t, int> node_kinds;
    std::size_t broken_lines = 0;
    for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
        const syntax::File tree = test::RandomSyntax(seed).file();
        const std::string text = syntax::print(tree);
        INFO("seed ", seed, "\n", text);
        const syntax::File again = parsed(text);
        REQUIRE(again == tree);
        REQUIRE_EQ(syntax::print(again), text);
        for (const syntax::Line& line : tree.lines) {
            ++line_kinds[line.body.index()];
            if (const auto* statement = std::get_if<syntax::StatementLine>(&line.body)) {
                count_kinds(statement->value, node_kinds);
                if (syntax::print(statement->value).size() > 100) ++broken_lines;
            }
        }
    }
    CHECK_EQ(line_kinds.size(), std::variant_size_v<syntax::LineBody>);
    CHECK_EQ(node_kinds.size(), std::variant_size_v<decltype(syntax::Expression::node)>);
    CHECK_GT(broken_lines, 50);
}

TEST_CASE("a tree that differs anywhere prints differently") {
    // The property above would hold of a printer that dropped what the parser then defaults.
    std::map<std::string, syntax::File> seen;
    for (std::uint32_t seed = 1; seed <= 500; ++seed) {
        const syntax::File tree = test::RandomSyntax(seed).file();
        const auto [entry, is_new] = seen.emplace(syntax::print(tree), tree);
        if (!is_new) CHECK(entry->second == tree);
    }
}

TEST_CASE("parentheses stand where they are needed") {
    struct Case {
        const char* text;
        const char* expected;
    };
    const Case cases[] = {
        {"(a) + (b)", "a + b"},
        {"a - (b - c)", "a - (b - c)"},
        {"(a - b) - c", "a - b - c"},
        {"(a * b) + c", "a * b + c"},
        {"a * (b + c)", "a * (b + c)"},
        {"-(a ^ 2)", "-a ^ 2"},
        {"(-a) ^ 2", "(-a) ^ 2"},
        {"2 ^ (-3)", "2 ^ -3"},
        {"2 ^ 3 ^ 2", "2 ^ (3 ^ 2)"},
        {"(2 ^ 3) ^ 2", "(2 ^ 3) ^ 2"},
        {"sum(d) (Q[q, d] * K[x, d])", "sum(d) Q[q, d] * K[x, d]"},
        {"(sum(d) Q[d]) * 2", "(sum(d) Q[d]) * 2"},
        {"2 * (sum(d) Q[d])", "2 * sum(d) Q[d]"},
        {"pair(d) ((sum(d) Q[d]), tanh((sum(d) Q[d])))",
         "pair(d) ((sum(d) Q[d]), tanh(sum(d) Q[d]))"},
        {"2 * (sum(d) Q[d]) * 3", "2 * (sum(d) Q[d]) * 3"},
        {"(sum(d) Q[d]) + 1", "sum(d) Q[d] + 1"},
        {"sum(d) (Q[d] + 1)", "sum(d) (Q[d] + 1)"},
        {"sum(d) (-Q[d])", "sum(d) (-Q[d])"},
        {"sum(d) (-Q[d] * 2)", "sum(d) (-Q[d] * 2)"},
        {"sum(d) ((-Q[d] + 1) * 2)", "sum(d) (-Q[d] + 1) * 2"},
        {"max(u, v)", "max(u, v)"},
        {"max(x) S[q, x]", "max(x) S[q, x]"},
        {"max(x) (if c then a else b)", "max(x) if c then a else b"},
        {"(max(x) if c then a else b) + 1", "max(x) (if c then a else b) + 1"},
        {"(if c then a else b) + 1", "(if c then a else b) + 1"},
        {"if c then a else (b + 1)", "if c then a else b + 1"},
        {"if a then b else (if c then d else e)", "if a then b else if c then d else e"},
        {"if a then if c then d else e else b", "if a then (if c then d else e) else b"},
        {"not (a == b)", "not a == b"},
        {"(not a) == b", "(not a) == b"},
        {"not (a and b)", "not (a and b)"},
        {"(a and b) or c", "a and b or c"},
        {"a and (b or c)", "a and (b or c)"},
        {"(a < b) == (c < d)", "(a < b) == (c < d)"},
        {"scan[t] sum (X[t])", "scan[t] sum X[t]"},
        {"scan[t] affine (A[t], B[t])", "scan[t] affine (A[t], B[t])"},
        {"affine(t) (A[t], B[t])", "affine(t) (A[t], B[t])"},
        {"topk[e](G[n, e])", "topk[e](G[n, e])"},
        {"- -a", "--a"},
        {"1.50 + 1E-06 + 1e+3 + 2.0 + 007", "1.5 + 1e-6 + 1000.0 + 2.0 + 7"},
        {"a // b % c / d", "a // b % c / d"},
        {"-inf", "-inf"},
    };
    for (const Case& each : cases) {
        INFO(each.text);
        CHECK_EQ(formatted_expression(each.text), each.expected);
    }
}

TEST_CASE("formatting: golden, idempotent, no line too long") {
    const std::string before =
        test::read_text(std::filesystem::path(NAPKIN_GOLDEN_DIR) / "language/untidy.ncd");
    const std::string after = syntax::print(parsed(before));
    test::check_golden("language/tidy.ncd", after);
    CHECK_EQ(syntax::print(parsed(after)), after);
    CHECK_LE(longest_line(after), 100);
    const auto comments = [](const std::string& text) {
        return std::count(text.begin(), text.end(), '#');
    };
    CHECK_EQ(comments(after), comments(before));
}

TEST_CASE("the deepest trees print as text that can be read") {
    const auto repeated = [](const std::string& text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += text;
        return result;
    };
    const std::string deep[] = {
        repeated("f(a[", 99) + "b" + repeated("])", 99),
        repeated("if a then ", 199) + "b" + repeated(" else c", 199),
        repeated("sum(d) ", 199) + "b",
        repeated("sum(d) -", 99) + "b",
        repeated("scan[d] sum ", 199) + "b",
        repeated("-", 199) + "b",
        repeated("not ", 199) + "b",
        repeated("2 ^ ", 199) + "b",
        repeated("a - (", 199) + "b" + repeated(")", 199),
        repeated("(", 400) + "b" + repeated(")", 400),
    };
    for (const std::string& text : deep) {
        const syntax::File tree = parsed("diagram t {\nY = " + text + "\n}\n");
        CHECK(parsed(syntax::print(tree)) == tree);
    }
}

TEST_CASE("formatting the examples and the library keeps their trees") {
    namespace fs = std::filesystem;
    std::vector<fs::path> paths = {fs::path(NAPKIN_EXAMPLES_DIR) / "../diagrams/library.ncd"};
    for (const fs::directory_entry& entry : fs::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".ncd") paths.push_back(entry.path());
    CHECK_GT(paths.size(), 1);
    for (const fs::path& path : paths) {
        INFO(path.filename().string());
        const syntax::File tree = parsed(test::read_text(path));
        const std::string text = syntax::print(tree);
        CHECK(parsed(text) == tree);
        CHECK_LE(longest_line(text), 120);  // a comment is never broken
    }
}

TEST_CASE("input lines that share no type are split rather than changed") {
    syntax::File tree = parsed("diagram t {\n  input A[x], B[x] : f32\n}\n");
    std::get<syntax::InputLine>(tree.lines[0].body).arrays[0].type.reset();
    CHECK_EQ(syntax::print(tree), "diagram t {\n  input A[x]\n  input B[x] : f32\n}\n");
}

}  // namespace
}  // namespace napkin
