#include "cli/lsp/words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "diagrams/syntax/lexer.h"

namespace napkin::lsp {
namespace {

std::vector<Word> words_of_diagram(const Text& text) {
    SourceMap sources;
    const std::uint32_t file = sources.add("", text.bytes());
    Diagnostics ignored;
    std::vector<Word> words;
    for (const syntax::Token& token : syntax::lex(sources, file, ignored).tokens) {
        const std::string word = text.bytes().substr(token.begin, token.end - token.begin);
        const bool is_word =
            !word.empty() &&
            (std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_');
        if (is_word)
            words.push_back({word,
                             {token.begin, token.end, file},
                             token.kind == syntax::TokenKind::Identifier,
                             false});
    }
    return words;
}

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// Words that say what follows; what stands after `at` and `to` is a level or a type.
bool is_keyword(const std::string& word) {
    constexpr std::array<std::string_view, 9> kWords = {"by", "at",  "in",   "to",  "as",
                                                        "of", "all", "over", "true"};
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::vector<Word> words_of_derivation(const Text& text) {
    const std::string& bytes = text.bytes();
    std::vector<Word> words;
    bool first = true;
    bool is_fixed = false;
    for (std::size_t at = 0; at < bytes.size();) {
        if (bytes[at] == '#') at = std::min(bytes.find('\n', at), bytes.size() - 1);
        if (bytes[at] == '\n') first = true, is_fixed = false;
        if (!is_of_word(bytes[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < bytes.size() && is_of_word(bytes[end])) ++end;
        const std::string word = bytes.substr(at, end - at);
        const bool is_number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
        words.push_back({word,
                         {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end), 0},
                         !first && !is_fixed && !is_number && !is_keyword(word),
                         first});
        is_fixed = word == "at" || word == "to";
        first = false;
        at = end;
    }
    return words;
}

}  // namespace

std::vector<Word> words_of(const std::string& uri, const Text& text) {
    return is_derivation(uri) ? words_of_derivation(text) : words_of_diagram(text);
}

std::optional<Word> word_at(const std::vector<Word>& words, std::size_t offset) {
    const auto found = std::find_if(words.begin(), words.end(), [&](const Word& word) {
        return word.span.begin <= offset && offset <= word.span.end;
    });
    return found == words.end() ? std::nullopt : std::optional(*found);
}

}  // namespace napkin::lsp
