// The grammar of editors/vscode colours the words that the language has, and no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/lsp/vocabulary.h"
#include "diagrams/check/functions.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

using Words = std::set<std::string>;

/// The alternatives between the brackets of every pattern with one of these scopes.
Words coloured_as(const std::vector<std::string>& scopes) {
    const auto grammar = nlohmann::json::parse(
        read_text(NAPKIN_SOURCE_DIR "/editors/vscode/syntaxes/source.ncd.json"));
    Words words;
    for (const auto& pattern : grammar.at("patterns")) {
        if (std::find(scopes.begin(), scopes.end(), pattern.value("name", "")) == scopes.end())
            continue;
        const std::string text = pattern.at("match");
        const std::string alternatives = text.substr(0, text.find(")\\b"));
        const std::regex word("[A-Za-z_][A-Za-z0-9_]+");
        for (std::sregex_iterator at(alternatives.begin() + 2, alternatives.end(), word), end;
             at != end; ++at)
            words.insert(at->str());
    }
    return words;
}

Words set_of(const std::vector<std::string>& words) {
    return {words.begin(), words.end()};
}

}  // namespace

TEST_CASE("the grammar of the editor has the words of the language") {
    CHECK_EQ(coloured_as({"keyword.declaration.ncd"}), set_of(lsp::words_of_items()));
    CHECK_EQ(coloured_as({"storage.type.ncd"}), set_of(lsp::types()));
    Words called = set_of(checking::built_in_names());
    for (const std::string& name : lsp::reductions()) called.insert(name);
    Words of_expressions = set_of(lsp::words_of_expressions());
    for (const char* prefix : {"scan", "exclusive_scan"}) {
        CHECK(of_expressions.erase(prefix) == 1);
        called.insert(prefix);
    }
    CHECK_EQ(coloured_as({"support.function.reduction.ncd", "support.function.ncd"}), called);
    CHECK_EQ(
        coloured_as({"keyword.control.ncd", "keyword.operator.word.ncd", "constant.language.ncd"}),
        of_expressions);
}

}  // namespace napkin::test
