// The grammars of editors/vscode colour the words that the languages have, and no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/lsp/vocabulary.h"
#include "derive/state.h"
#include "diagrams/check/functions.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

using Words = std::set<std::string>;

/// The alternatives between the first brackets of every pattern that gives them, or all that it
/// matches, one of these scopes.
Words coloured_as(const std::string& language, const std::vector<std::string>& scopes) {
    const auto grammar = nlohmann::json::parse(
        read_text(NAPKIN_SOURCE_DIR "/editors/vscode/syntaxes/source." + language + ".json"));
    Words words;
    for (const auto& pattern : grammar.at("patterns")) {
        const auto whole = nlohmann::json::json_pointer("/name");
        const auto first = nlohmann::json::json_pointer("/captures/1/name");
        const std::string scope = pattern.value(whole, pattern.value(first, ""));
        if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) continue;
        const std::string text = pattern.at("match");
        const std::size_t open = text.find('(');
        const std::string alternatives = text.substr(open, text.find(')') - open);
        const std::regex word("[A-Za-z_][A-Za-z0-9_-]+");
        for (std::sregex_iterator at(alternatives.begin(), alternatives.end(), word), end;
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
    CHECK_EQ(coloured_as("ncd", {"keyword.declaration.ncd"}), set_of(lsp::words_of_items()));
    CHECK_EQ(coloured_as("ncd", {"storage.type.ncd"}), set_of(lsp::types()));
    Words called = set_of(checking::built_in_names());
    for (const std::string& name : lsp::reductions()) called.insert(name);
    Words of_expressions = set_of(lsp::words_of_expressions());
    for (const char* prefix : {"scan", "exclusive_scan"}) {
        CHECK(of_expressions.erase(prefix) == 1);
        called.insert(prefix);
    }
    CHECK_EQ(coloured_as("ncd", {"support.function.reduction.ncd", "support.function.ncd"}),
             called);
    CHECK_EQ(coloured_as("ncd", {"keyword.control.ncd", "keyword.operator.word.ncd",
                                 "constant.language.ncd"}),
             of_expressions);
}

TEST_CASE("the grammar of the editor has the rules of the catalogue") {
    Words rules;
    for (const Rule& rule : all_rules()) rules.insert(std::string(rule.name));
    CHECK_EQ(coloured_as("drv", {"keyword.control.drv"}), rules);
}

}  // namespace napkin::test
