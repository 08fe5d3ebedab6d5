#include "diagrams/syntax/cursor.h"

#include <utility>

#include "diagrams/messages.h"
#include "diagrams/syntax/lexer.h"

namespace napkin::syntax {

bool Cursor::begins_operand(TokenKind kind) {
    return kind == TokenKind::Identifier || kind == TokenKind::Number ||
           kind == TokenKind::LeftParen || kind == TokenKind::If || kind == TokenKind::Inf ||
           kind == TokenKind::Scan || kind == TokenKind::ExclusiveScan;
}

const Token& Cursor::take() {
    const Token& token = peek();
    if (token.kind != TokenKind::End) ++at_;
    return token;
}

bool Cursor::accept(TokenKind kind) {
    if (!at(kind)) return false;
    take();
    return true;
}

void Cursor::skip_newlines() {
    while (at(TokenKind::Newline)) take();
}

Span Cursor::here() const {
    if (!at(TokenKind::Newline) && !at(TokenKind::End)) return span(peek());
    std::size_t last = at_;
    while (last > 0 && token_at(last - 1).kind == TokenKind::Newline) --last;
    const std::uint32_t end = last == 0 ? 0 : token_at(last - 1).end;
    return {end, end, file_};
}

std::string Cursor::found() const {
    constexpr std::size_t kLongest = 24;
    if (at(TokenKind::Newline)) return "the end of the line";
    if (at(TokenKind::End)) return "the end of the file";
    std::string quoted = "`";
    quoted += text(peek()).substr(0, kLongest);
    if (peek().end - peek().begin > kLongest) quoted += "...";
    quoted += '`';
    return quoted;
}

void Cursor::report(Diagnostic diagnostic) {
    if (errors_.list.size() <= kMostErrors) {
        errors_.add(std::move(diagnostic));
    } else {
        at_ = tokens_.size() - 1;
    }
}

void Cursor::fail(Diagnostic diagnostic) {
    if (!failed_ && !at(TokenKind::Unknown)) report(std::move(diagnostic));
    failed_ = true;
    while (!at_item_end()) take();
}

bool Cursor::expect(TokenKind kind, std::string_view what, std::string help) {
    if (accept(kind)) return true;
    fail(messages::expected(here(), what, found(), std::move(help)));
    return false;
}

bool Cursor::expect_assign(std::string help) {
    if (accept(TokenKind::Assign)) return true;
    fail(messages::missing_assign(here(), found(), std::move(help)));
    return false;
}

bool Cursor::expect_close(const Token& open, std::string_view what) {
    const bool paren = open.kind == TokenKind::LeftParen;
    if (accept(paren ? TokenKind::RightParen : TokenKind::RightBracket)) return true;
    if (open.match == kNoMatch) {
        fail(messages::unclosed_bracket(here(), spelling(open.kind), span(open), found()));
    } else {
        fail(stray_token(std::string(what) + (paren ? "`)`" : "`]`")));
    }
    return false;
}

bool Cursor::expect_list_close(const Token& open) {
    if (at(TokenKind::Identifier) && open.match != kNoMatch) return accept_comma();
    return expect_close(open, "`,` or ");
}

bool Cursor::accept_comma() {
    if (accept(TokenKind::Comma)) return true;
    if (at(TokenKind::Identifier))
        fail(messages::expected(here(), "`,`", found(), "a comma stands between items of a list"));
    return false;
}

void Cursor::expect_item_end() {
    if (!at_item_end()) fail(stray_token("the end of the line"));
}

Diagnostic Cursor::stray_token(std::string_view expected_instead) const {
    const TokenKind kind = peek().kind;
    if (kind == TokenKind::RightParen || kind == TokenKind::RightBracket)
        return messages::unopened_bracket(here(), spelling(kind));
    if (begins_operand(kind)) {
        std::string help = "a product is written with `*`";
        if (kind == TokenKind::Scan || previous().kind == TokenKind::RightParen)
            help += "; a reduction names only axes in its parentheses: `sum(x) ...`";
        else if (previous().kind == TokenKind::RightBracket)
            help +=
                "; a reduction has its axes in parentheses, `sum(x) ...`, and a named "
                "operation its argument, `mean[x](...)`";
        else if (previous().kind == TokenKind::Identifier)
            help +=
                "; a named operation has its argument in parentheses, `relu(...)`, and a "
                "reduction its axes, `sum(x) ...`";
        return messages::missing_operator(here(), found(), std::move(help));
    }
    if (kind == TokenKind::Not)
        return messages::missing_operator(here(), found(),
                                          "conditions are joined by `and` or `or`");
    std::string help;
    if (kind == TokenKind::Assign) help = "`==` compares";
    if (kind == TokenKind::Semicolon) help = "a line ends without `;`";
    return messages::expected(here(), expected_instead, found(), std::move(help));
}

Name Cursor::expect_name(std::string_view what) {
    if (at(TokenKind::Identifier)) {
        const Token& token = take();
        return {std::string(text(token)), span(token)};
    }
    if (is_reserved(peek().kind)) {
        fail(messages::reserved_word(here(), text(peek())));
    } else {
        fail(messages::expected(here(), what, found()));
    }
    return {};
}

std::vector<Name> Cursor::expect_axes(std::string_view owner, std::string_view where) {
    std::vector<Name> names;
    const Token& open = take();
    if (at(TokenKind::RightBracket) || at(TokenKind::RightParen)) {
        fail(messages::empty_brackets(span(open), owner));
        return names;
    }
    do {
        names.push_back(expect_name("the name of an axis"));
        if (failed()) return names;
        const bool computed = is_binary_operator(peek().kind) || at(TokenKind::LeftBracket) ||
                              at(TokenKind::LeftParen);
        if (computed) {
            fail(messages::not_an_axis(cover(names.back().span, here()), where));
            return names;
        }
    } while (accept(TokenKind::Comma));
    expect_list_close(open);
    return names;
}

}  // namespace napkin::syntax
