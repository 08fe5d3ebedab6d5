// Files: definitions, then a diagram.
#include <algorithm>
#include <utility>

#include "diagrams/messages.h"
#include "diagrams/syntax/comments.h"
#include "diagrams/syntax/lexer.h"
#include "diagrams/syntax/line_parser.h"

namespace napkin::syntax {

namespace {

class Parser {
public:
    Parser(const SourceMap& sources, std::uint32_t file, const Lexed& lexed, Diagnostics& errors)
        : cursor_(sources, file, lexed.tokens, errors),
          expressions_(cursor_),
          lines_(cursor_, expressions_),
          comments_(sources.files[file].text, lexed.trivia),
          errors_(errors) {}

    File run() {
        while (true) {
            cursor_.forget_failure();
            cursor_.skip_newlines();
            if (cursor_.at(TokenKind::End)) break;
            top_level_item();
        }
        const bool at_start = file_.definitions.empty() && !file_.diagram;
        file_.comments_at_end = comments_.before(cursor_.peek().end + 1, at_start);
        drop_trailing_blanks(file_.comments_at_end);
        if (at_start && errors_.list.empty()) cursor_.report(messages::empty_file(cursor_.here()));
        return std::move(file_);
    }

private:
    void top_level_item();
    void skip_to_definition();
    void diagram();
    void diagram_body(Span opened, bool has_brace);
    void line();
    Definition definition();
    MonoidDefinition monoid();

    /// An item as `read` gives it, with its place and its comments.
    template <class Read>
    auto with_comments(bool at_start, const Read& read) {
        const Token& first = cursor_.peek();
        std::vector<std::string> before = comments_.before(first.begin, at_start);
        auto item = read();
        const Token& last = cursor_.previous();
        item.span = cover(cursor_.span(first), cursor_.span(last));
        comments_.inside(last.begin, before);
        item.comments_before = std::move(before);
        item.comment_after = comments_.after(cursor_.peek().begin + 1);
        return item;
    }

    Cursor cursor_;
    ExpressionParser expressions_;
    LineParser lines_;
    Comments comments_;
    Diagnostics& errors_;
    File file_;
    Span diagram_place_;
};

void Parser::top_level_item() {
    const TokenKind kind = cursor_.peek().kind;
    const bool at_start = file_.definitions.empty();
    if (kind == TokenKind::Diagram) {
        diagram();
        return;
    }
    const bool defines = kind == TokenKind::Def || kind == TokenKind::Monoid;
    if (!defines || file_.diagram) {
        if (kind == TokenKind::RightBrace) {
            cursor_.report(messages::unopened_bracket(cursor_.here(), "}"));
            cursor_.take();
        } else {
            cursor_.fail(
                messages::text_outside(cursor_.here(), cursor_.found(), file_.diagram.has_value()));
            skip_to_definition();
        }
        return;
    }
    if (kind == TokenKind::Def) {
        file_.definitions.emplace_back(with_comments(at_start, [&] { return definition(); }));
    } else {
        file_.definitions.emplace_back(with_comments(at_start, [&] { return monoid(); }));
    }
}

/// One message is enough for all the lines of a stray piece of text.
void Parser::skip_to_definition() {
    while (!cursor_.at(TokenKind::End)) {
        const TokenKind kind = cursor_.peek().kind;
        if (kind == TokenKind::Def || kind == TokenKind::Monoid || kind == TokenKind::Diagram)
            return;
        cursor_.take();
    }
}

Definition Parser::definition() {
    Definition item;
    cursor_.take();
    item.name = cursor_.expect_name("the name of an operation");
    if (cursor_.at(TokenKind::LeftBracket))
        item.axes = cursor_.expect_axes(item.name.text, "in the brackets of a definition");
    const Token& open = cursor_.peek();
    if (cursor_.expect(TokenKind::LeftParen, "`(`",
                       "a definition is `def name[axes](a, b) = ...`")) {
        if (!cursor_.at(TokenKind::RightParen))
            item.parameters = lines_.names(TokenKind::RightParen, "the name of a parameter");
        cursor_.expect_close(open, "`,` or ");
    }
    if (cursor_.expect_assign("a definition is `def name[axes](a, b) = expression`"))
        item.value = expressions_.parse();
    if (cursor_.accept(TokenKind::Glyph))
        item.glyph = cursor_.expect_name("the name of a glyph, such as `triangle`");
    cursor_.expect_item_end();
    return item;
}

MonoidDefinition Parser::monoid() {
    constexpr std::string_view kForm =
        "a monoid is `monoid name(a; b) = a + b identity 0`, with the parts of the left and the "
        "right element";
    MonoidDefinition item;
    cursor_.take();
    item.name = cursor_.expect_name("the name of a monoid");
    const Token& open = cursor_.peek();
    if (cursor_.expect(TokenKind::LeftParen, "`(`", std::string(kForm))) {
        item.left = lines_.names(TokenKind::Semicolon, "the name of a part");
        cursor_.expect(TokenKind::Semicolon, "`,` or `;`", std::string(kForm));
        item.right = lines_.names(TokenKind::RightParen, "the name of a part");
        cursor_.expect_close(open, "`,` or ");
    }
    if (cursor_.expect_assign(std::string(kForm))) item.combine = expressions_.parse_tuple();
    if (!cursor_.failed() && !cursor_.at(TokenKind::Identity)) {
        cursor_.fail(
            messages::expected(cursor_.here(), "`identity`", cursor_.found(), std::string(kForm)));
    }
    if (cursor_.accept(TokenKind::Identity)) item.identity = expressions_.parse_tuple();
    item.commutative = !cursor_.accept(TokenKind::Noncommutative);
    cursor_.expect_item_end();
    if (cursor_.failed()) return item;
    const std::size_t parts = item.left.size();
    const auto compare = [&](std::string_view what, std::size_t count) {
        if (count == parts) return;
        cursor_.fail(
            messages::component_mismatch(item.name.span, what, count, parts, item.name.text));
    };
    compare("right element", item.right.size());
    compare("result", item.combine.size());
    compare("identity", item.identity.size());
    return item;
}

void Parser::diagram() {
    const Token& word = cursor_.peek();
    std::vector<std::string> before =
        comments_.before(word.begin, file_.definitions.empty() && !file_.diagram);
    cursor_.take();
    Name name = cursor_.expect_name("the name of the diagram");
    if (file_.diagram) {
        cursor_.report(messages::second_diagram(cursor_.span(word), diagram_place_));
    } else {
        file_.comments_before = std::move(before);
        file_.diagram = std::move(name);
        diagram_place_ = cursor_.span(word);
    }
    const Span opened = cursor_.here();
    const bool has_brace =
        cursor_.expect(TokenKind::LeftBrace, "`{`", "a diagram is `diagram name { ... }`");
    cursor_.forget_failure();
    diagram_body(opened, has_brace);
}

void Parser::diagram_body(Span opened, bool has_brace) {
    while (true) {
        cursor_.forget_failure();
        cursor_.skip_newlines();
        const TokenKind kind = cursor_.peek().kind;
        if (kind == TokenKind::RightBrace) break;
        if (kind == TokenKind::End || kind == TokenKind::Diagram) {
            if (has_brace)
                cursor_.report(
                    messages::missing_brace(cursor_.here(), opened, file_.diagram->text));
            return;
        }
        line();
    }
    file_.comments_after = comments_.before(cursor_.peek().begin, file_.lines.empty());
    drop_trailing_blanks(file_.comments_after);
    cursor_.take();
    cursor_.expect_item_end();
}

void Parser::line() {
    Line item = with_comments(file_.lines.empty(), [&] {
        Line result;
        result.body = lines_.parse();
        cursor_.expect_item_end();
        return result;
    });
    if (!cursor_.failed()) file_.lines.push_back(std::move(item));
}

}  // namespace

Result<File> parse(const SourceMap& sources, std::uint32_t file) {
    Diagnostics errors;
    const Lexed lexed = lex(sources, file, errors);
    const bool unreadable = errors.has_errors() && lexed.tokens.size() <= 2 &&
                            lexed.tokens.front().kind != TokenKind::Unknown;
    if (unreadable) return errors;
    File tree = Parser(sources, file, lexed, errors).run();
    if (!errors.has_errors()) return tree;
    std::stable_sort(errors.list.begin(), errors.list.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                         return a.primary.span.begin < b.primary.span.begin;
                     });
    if (errors.list.size() > kMostErrors) {
        const Span place = errors.list[kMostErrors].primary.span;
        errors.list.resize(kMostErrors);
        errors.add(messages::too_many_errors(place, kMostErrors));
    }
    return errors;
}

}  // namespace napkin::syntax
