// A place in the token stream, and what happens after an error: the rest of the item is skipped
// and nothing more is said about it, so that one mistake gives one message.
#pragma once

#include <string>
#include <string_view>

#include "diagrams/diagnostic.h"
#include "diagrams/syntax.h"
#include "diagrams/syntax/token.h"

namespace napkin::syntax {

class Cursor {
public:
    Cursor(const SourceMap& sources, std::uint32_t file, const std::vector<Token>& tokens,
           Diagnostics& errors)
        : text_(sources.files[file].text), file_(file), tokens_(tokens), errors_(errors) {}

    [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
    [[nodiscard]] const Token& peek_second() const { return token_at(at_ + 1); }
    [[nodiscard]] const Token& previous() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }
    [[nodiscard]] const Token& token_at(std::size_t index) const {
        return tokens_[index < tokens_.size() ? index : tokens_.size() - 1];
    }
    [[nodiscard]] std::size_t index() const { return at_; }
    [[nodiscard]] bool at(TokenKind kind) const { return peek().kind == kind; }
    [[nodiscard]] bool at_item_end() const {
        return at(TokenKind::Newline) || at(TokenKind::RightBrace) || at(TokenKind::End);
    }
    /// Whether the token here can begin an operand, so that `max(x) S` is a reduction.
    [[nodiscard]] static bool begins_operand(TokenKind kind);

    /// Moves past the token here and returns it; stays on End.
    const Token& take();
    bool accept(TokenKind kind);
    void skip_newlines();

    [[nodiscard]] std::string_view text(const Token& token) const {
        return std::string_view(text_).substr(token.begin, token.end - token.begin);
    }
    [[nodiscard]] std::string_view text(Span span) const {
        return std::string_view(text_).substr(span.begin, span.end - span.begin);
    }
    [[nodiscard]] Span span(const Token& token) const { return {token.begin, token.end, file_}; }
    /// The place of the token here; where a line or the file ended too early, the end of its last
    /// word.
    [[nodiscard]] Span here() const;
    /// The token here as a message names it.
    [[nodiscard]] std::string found() const;

    /// Adds a message and goes on; past kMostErrors of them the rest of the file is skipped.
    void report(Diagnostic diagnostic);
    /// Adds a message unless the item already has one, and skips to the end of the item.
    void fail(Diagnostic diagnostic);
    [[nodiscard]] bool failed() const { return failed_; }
    /// A new item begins.
    void forget_failure() { failed_ = false; }

    /// `kind`, or the message that `what` is missing.
    bool expect(TokenKind kind, std::string_view what, std::string help = "");
    bool expect_assign(std::string help);
    /// The partner of the bracket `open`; `what` could also have followed.
    bool expect_close(const Token& open, std::string_view what);
    /// The same after a list of names, in which no product stands.
    bool expect_list_close(const Token& open);
    /// Whether another item of a list follows; a name that stands here instead of a comma is one
    /// too.
    bool accept_comma();
    /// The end of an item.
    void expect_item_end();
    /// A name that is no reserved word; `what` says of which kind of thing.
    [[nodiscard]] Name expect_name(std::string_view what);
    /// `[q, x]` or `(q, x)`: names of axes, at least one.
    [[nodiscard]] std::vector<Name> expect_axes(std::string_view owner, std::string_view where);
    /// What is said when a token here can only follow an operator or end an item.
    [[nodiscard]] Diagnostic stray_token(std::string_view expected_instead) const;

private:
    const std::string& text_;
    std::uint32_t file_ = 0;
    const std::vector<Token>& tokens_;
    Diagnostics& errors_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

}  // namespace napkin::syntax
