// A line end is a token only where an item can end. The rule, in three passes:
//
//   1. every word and every line end becomes a token (runs of line ends become one);
//   2. brackets find their partners. A bracket that is never closed must not swallow the rest of
//      the file, so a brace, a line that begins with a word such as `axis`, and an `=` on a later
//      line leave every bracket that is still open without a partner;
//   3. line ends are dropped between partners, after a token that cannot end an item (an operator,
//      `=`, a comma, `then`) and before one that cannot begin an item (an operator, `then`,
//      `else`); never before a word that begins an item, nor between a dangling operator and what
//      reads as the next statement, so that errors stay on their line.
#include "diagrams/syntax/lexer.h"

#include <algorithm>
#include <string>

#include "diagrams/messages.h"

namespace napkin::syntax {

namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/// Length of the UTF-8 sequence at `at`; 0 where there is none (overlong forms, surrogates and
/// values beyond U+10FFFF included).
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(at);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return follows(at + 1) ? 2 : 0;
    const unsigned second = byte(at + 1);
    if (lead >= 0xE0 && lead <= 0xEF) {
        const bool overlong = lead == 0xE0 && second < 0xA0;
        const bool surrogate = lead == 0xED && second > 0x9F;
        return follows(at + 1) && follows(at + 2) && !overlong && !surrogate ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const bool overlong = lead == 0xF0 && second < 0x90;
        const bool beyond = lead == 0xF4 && second > 0x8F;
        const bool whole = follows(at + 1) && follows(at + 2) && follows(at + 3);
        return whole && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

class Lexer {
public:
    Lexer(const SourceFile& source, std::uint32_t file, Diagnostics& errors)
        : name_(source.name), text_(source.text), file_(file), errors_(errors) {}

    Lexed run() {
        if (text_.size() > kLargestFile) {
            errors_.add(messages::file_too_large(name_, text_.size(), kLargestFile));
        } else if (is_utf8()) {
            split();
        }
        push(TokenKind::Newline, text_.size(), text_.size());
        push(TokenKind::End, text_.size(), text_.size());
        match_brackets();
        drop_inner_newlines();
        return std::move(lexed_);
    }

private:
    [[nodiscard]] Span span(std::size_t begin, std::size_t end) const {
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), file_};
    }

    bool is_utf8() {
        for (std::size_t at = 0; at < text_.size();) {
            const std::size_t length = utf8_length(text_, at);
            if (length == 0) {
                errors_.add(
                    messages::not_utf8(span(at, at + 1), static_cast<unsigned char>(text_[at])));
                return false;
            }
            at += length;
        }
        return true;
    }

    void push(TokenKind kind, std::size_t begin, std::size_t end) {
        if (kind == TokenKind::Newline &&
            (lexed_.tokens.empty() || lexed_.tokens.back().kind == TokenKind::Newline))
            return;
        Token token;
        token.kind = kind;
        token.begin = static_cast<std::uint32_t>(begin);
        token.end = static_cast<std::uint32_t>(end);
        lexed_.tokens.push_back(token);
    }

    void split() {
        std::size_t at = begin_of(text_);
        bool line_has_token = false;
        bool line_has_comment = false;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '\n') {
                if (!line_has_token && !line_has_comment) blank_line(at);
                push(TokenKind::Newline, at, at);
                line_has_token = line_has_comment = false;
                ++at;
            } else if (is_blank(c)) {
                ++at;
            } else if (c == '#') {
                at = comment(at, line_has_token);
                line_has_comment = true;
            } else {
                at = word(at);
                line_has_token = true;
            }
        }
    }

    void blank_line(std::size_t at) {
        const auto offset = static_cast<std::uint32_t>(at);
        const bool again =
            !lexed_.trivia.empty() && lexed_.trivia.back().kind == Trivia::Kind::BlankLine &&
            (lexed_.tokens.empty() || lexed_.tokens.back().begin < lexed_.trivia.back().begin);
        if (!again) lexed_.trivia.push_back({Trivia::Kind::BlankLine, offset, offset});
    }

    std::size_t comment(std::size_t begin, bool after_token) {
        std::size_t end = text_.find('\n', begin);
        if (end == std::string_view::npos) end = text_.size();
        std::size_t last = end;
        while (last > begin && is_blank(text_[last - 1])) --last;
        lexed_.trivia.push_back({after_token ? Trivia::Kind::Trailing : Trivia::Kind::OwnLine,
                                 static_cast<std::uint32_t>(begin),
                                 static_cast<std::uint32_t>(last)});
        return end;
    }

    std::size_t word(std::size_t at) {
        const char c = text_[at];
        const bool starts_number =
            is_digit(c) || (c == '.' && at + 1 < text_.size() && is_digit(text_[at + 1]));
        if (starts_number) return number(at);
        if (is_letter(c)) {
            std::size_t end = at;
            while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
            push(kind_of_word(text_.substr(at, end - at)), at, end);
            return end;
        }
        return sign(at);
    }

    /// Takes everything that could be meant as one number; the parser judges its form.
    std::size_t number(std::size_t begin) {
        std::size_t at = begin;
        bool only_digits = true;
        while (at < text_.size()) {
            const char c = text_[at];
            const bool exponent_sign = (c == '+' || c == '-') && at > begin && only_digits &&
                                       (text_[at - 1] == 'e' || text_[at - 1] == 'E');
            if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent_sign) break;
            if (exponent_sign || (is_letter(c) && c != 'e' && c != 'E')) only_digits = false;
            ++at;
        }
        push(TokenKind::Number, begin, at);
        return at;
    }

    std::size_t sign(std::size_t at) {
        for (const std::size_t length : {std::size_t{2}, std::size_t{1}}) {
            if (at + length > text_.size()) continue;
            const TokenKind kind = kind_of_sign(text_.substr(at, length));
            if (kind == TokenKind::Unknown) continue;
            push(kind, at, at + length);
            return at + length;
        }
        return unknown(at);
    }

    /// Characters that mean nothing; the same one repeated, or any run of non-ASCII letters, is
    /// one mistake.
    std::size_t unknown(std::size_t begin) {
        std::size_t end = begin + utf8_length(text_, begin);
        const bool ascii = end == begin + 1;
        while (end < text_.size()) {
            const bool same =
                ascii ? text_[end] == text_[begin] : static_cast<unsigned char>(text_[end]) >= 0x80;
            if (!same) break;
            ++end;
        }
        if (errors_.list.size() <= kMostErrors)
            errors_.add(
                messages::unknown_character(span(begin, end), text_.substr(begin, end - begin)));
        push(TokenKind::Unknown, begin, end);
        return end;
    }

    void match_brackets();
    void drop_inner_newlines();

    const std::string& name_;
    std::string_view text_;
    std::uint32_t file_ = 0;
    Diagnostics& errors_;
    Lexed lexed_;
};

bool opens(TokenKind kind) {
    return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket;
}

TokenKind opener_of(TokenKind kind) {
    return kind == TokenKind::RightParen ? TokenKind::LeftParen : TokenKind::LeftBracket;
}

void Lexer::match_brackets() {
    struct Open {
        std::size_t index = 0;
        std::size_t line = 0;
    };
    std::vector<Open> open;
    std::size_t line = 0;
    bool at_line_start = true;
    for (std::size_t i = 0; i < lexed_.tokens.size(); ++i) {
        Token& token = lexed_.tokens[i];
        const TokenKind kind = token.kind;
        const bool brace = kind == TokenKind::LeftBrace || kind == TokenKind::RightBrace;
        if (brace || (at_line_start && begins_item(kind))) open.clear();
        if (kind == TokenKind::Assign)
            std::erase_if(open, [line](const Open& bracket) { return bracket.line < line; });
        if (kind == TokenKind::Comma && !open.empty())
            lexed_.tokens[open.back().index].has_comma = true;
        if (opens(kind)) open.push_back({i, line});
        if (kind == TokenKind::RightParen || kind == TokenKind::RightBracket) {
            const auto partner = std::find_if(open.rbegin(), open.rend(), [&](const Open& bracket) {
                return lexed_.tokens[bracket.index].kind == opener_of(kind);
            });
            if (partner != open.rend()) {
                lexed_.tokens[partner->index].match = static_cast<std::uint32_t>(i);
                open.erase(std::prev(partner.base()), open.end());
            }
        }
        at_line_start = kind == TokenKind::Newline;
        if (at_line_start) ++line;
    }
}

/// Tokens after which an item must go on.
bool wants_more(TokenKind kind) {
    switch (kind) {
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::Colon:
    case TokenKind::Assign:
    case TokenKind::Arrow:
    case TokenKind::Over:
    case TokenKind::If:
    case TokenKind::Then:
    case TokenKind::Else:
    case TokenKind::Not:
    case TokenKind::Glyph:
    case TokenKind::Identity: return true;
    default: return is_binary_operator(kind);
    }
}

/// `name =`, `name[axes] =` or a type in place of `=`: nothing like it stands in an expression.
bool reads_as_statement(const std::vector<Token>& tokens, std::size_t at) {
    if (tokens[at].kind != TokenKind::Identifier) return false;
    std::size_t next = at + 1;
    if (tokens[next].kind == TokenKind::LeftBracket && tokens[next].match != kNoMatch)
        next = tokens[next].match + 1;
    const TokenKind kind = tokens[next].kind;
    return kind == TokenKind::Assign || kind == TokenKind::Colon;
}

/// Tokens that cannot begin an item.
bool continues(TokenKind kind) {
    switch (kind) {
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::Colon:
    case TokenKind::Assign:
    case TokenKind::Arrow:
    case TokenKind::Over:
    case TokenKind::Then:
    case TokenKind::Else:
    case TokenKind::Glyph:
    case TokenKind::Identity:
    case TokenKind::Noncommutative:
    case TokenKind::LeftBrace: return true;
    default: return is_binary_operator(kind);
    }
}

void Lexer::drop_inner_newlines() {
    std::vector<Token>& tokens = lexed_.tokens;
    std::vector<std::uint32_t> moved(tokens.size());
    std::size_t kept = 0;
    std::size_t inside_until = 0;  // tokens before this index stand inside a bracket with a partner
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token token = tokens[i];
        if (token.match != kNoMatch)
            inside_until = std::max<std::size_t>(inside_until, token.match);
        moved[i] = static_cast<std::uint32_t>(kept);
        if (token.kind == TokenKind::Newline) {
            const TokenKind next = tokens[i + 1].kind;
            const bool after_list =
                kept == 0 || tokens[kept - 1].kind == TokenKind::Comma || i < inside_until;
            const bool item_begins = begins_item(next) || next == TokenKind::RightBrace ||
                                     next == TokenKind::End ||
                                     (!after_list && reads_as_statement(tokens, i + 1));
            const bool inner = i < inside_until ||
                               (kept > 0 && wants_more(tokens[kept - 1].kind)) || continues(next);
            if (inner && !item_begins) continue;
        }
        tokens[kept++] = token;
    }
    tokens.resize(kept);
    for (Token& token : tokens)
        if (token.match != kNoMatch) token.match = moved[token.match];
}

}  // namespace

Lexed lex(const SourceMap& sources, std::uint32_t file, Diagnostics& errors) {
    return Lexer(sources.files[file], file, errors).run();
}

bool is_name(std::string_view text) {
    return !text.empty() && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter(c) || is_digit(c); }) &&
           !is_reserved(kind_of_word(text));
}

}  // namespace napkin::syntax
