#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace napkin::test {
namespace {

template <class List>
const auto& one_of(const List& list, Random& random) {
    return list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(std::size(list))))];
}

std::size_t below(std::size_t bound, Random& random) {
    return static_cast<std::size_t>(
        random.below(static_cast<std::int64_t>(std::max<std::size_t>(bound, 1))));
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Begins and ends (without the line's end) of all lines.
std::vector<std::pair<std::size_t, std::size_t>> lines_of(std::string_view text) {
    std::vector<std::pair<std::size_t, std::size_t>> lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.emplace_back(begin, end);
        begin = end + 1;
    }
    return lines;
}

}  // namespace

Mutator::Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {
    std::set<std::string> words;
    std::set<std::string> symbols;
    for (const std::string& text : corpus_)
        for (const Token& token : tokens_of(text))
            if (token.kind != Kind::Number)
                (token.kind == Kind::Word ? words : symbols)
                    .insert(text.substr(token.begin, token.end - token.begin));
    words_.assign(words.begin(), words.end());
    symbols_.assign(symbols.begin(), symbols.end());
}

std::string Mutator::text(std::uint64_t seed) const {
    Random random(seed);
    std::string text = one_of(corpus_, random);
    for (std::int64_t i = 1 + random.below(6); i > 0 && !text.empty(); --i) {
        const std::int64_t how = random.below(8);
        if (how == 0)
            mutate_bytes(text, random);
        else if (how < 6)
            mutate_token(text, random);
        else
            mutate_line(text, random);
    }
    return text;
}

std::vector<Mutator::Token> Mutator::tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        std::size_t end = at + 1;
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            at = end;
            continue;
        }
        Kind kind = Kind::Symbol;
        if (is_word(c)) {
            kind = std::isdigit(static_cast<unsigned char>(c)) != 0 ? Kind::Number : Kind::Word;
            while (end < text.size() &&
                   (is_word(text[end]) || (kind == Kind::Number && text[end] == '.')))
                ++end;
        }
        tokens.push_back({at, end, kind});
        at = end;
    }
    return tokens;
}

void Mutator::mutate_bytes(std::string& text, Random& random) const {
    static constexpr const char* kPieces[] = {"\xEF\xBB\xBF", "\xFF", "\xC3", "\r\n", "\t", "$"};
    const std::size_t at = below(text.size(), random);
    const std::size_t length = 1 + below(12, random);
    const std::string& other = one_of(corpus_, random);
    switch (random.below(6)) {
    case 0: text.erase(at, length); break;
    case 1: text.insert(at, one_of(kPieces, random)); break;
    case 2: text.insert(at, text.substr(below(text.size(), random), length * 4)); break;
    case 3: text[at] = static_cast<char>(random.below(256)); break;
    case 4: text.resize(at); break;
    default: text.insert(at, other.substr(below(other.size(), random), length * 4));
    }
}

/// Something of the same kind: a word of this text or of any, a number that is a limit of
/// something.
std::string Mutator::other(Kind kind, const std::string& text, Random& random) const {
    static constexpr const char* kNumbers[] = {"0",
                                               "1",
                                               "2",
                                               "3",
                                               "7",
                                               "16",
                                               "0.5",
                                               "1e-6",
                                               "1e308",
                                               "1e309",
                                               "4097",
                                               "65536",
                                               "-1",
                                               "2147483648",
                                               "9007199254740991",
                                               "inf",
                                               "1e999",
                                               "0.0",
                                               "4611686018427387904"};
    if (kind == Kind::Number) return one_of(kNumbers, random);
    if (kind == Kind::Symbol) return one_of(symbols_, random);
    std::vector<std::string> here;
    for (const Token& token : tokens_of(text))
        if (token.kind == Kind::Word)
            here.push_back(text.substr(token.begin, token.end - token.begin));
    return here.empty() || random.below(4) == 0 ? one_of(words_, random) : one_of(here, random);
}

void Mutator::mutate_token(std::string& text, Random& random) const {
    const std::vector<Token> tokens = tokens_of(text);
    if (tokens.empty()) return;
    const std::size_t which = below(tokens.size(), random);
    const Token& token = tokens[which];
    const std::size_t length = token.end - token.begin;
    switch (random.below(6)) {
    case 0: text.erase(token.begin, length); break;
    case 1: text.insert(token.end, " " + text.substr(token.begin, length)); break;
    case 2: {
        const Token& next = tokens[std::min(which + 1, tokens.size() - 1)];
        const std::string first = text.substr(token.begin, length);
        text.replace(next.begin, next.end - next.begin, first);
        break;
    }
    default: text.replace(token.begin, length, other(token.kind, text, random));
    }
}

void Mutator::mutate_line(std::string& text, Random& random) const {
    const auto lines = lines_of(text);
    const auto [begin, end] = one_of(lines, random);
    const std::string line = text.substr(begin, end - begin);
    const std::string& source = random.below(2) == 0 ? text : one_of(corpus_, random);
    const auto [from, to] = one_of(lines_of(source), random);
    const std::string another = source.substr(from, to - from);
    switch (random.below(4)) {
    case 0: text.erase(begin, end - begin); break;
    case 1: text.insert(begin, line + "\n"); break;
    case 2: text.insert(begin, another + "\n"); break;
    default: text.replace(begin, end - begin, another);
    }
}

std::vector<std::string> texts_below(const std::vector<std::string>& folders,
                                     std::string_view ending) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& folder : folders)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.path().extension() == ending) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    texts.reserve(paths.size());
    for (const std::filesystem::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

}  // namespace napkin::test
