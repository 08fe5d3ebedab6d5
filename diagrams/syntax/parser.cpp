// Files, definitions and the lines of a diagram.
#include <algorithm>
#include <array>
#include <utility>

#include "diagrams/messages.h"
#include "diagrams/nearest.h"
#include "diagrams/syntax/cursor.h"
#include "diagrams/syntax/expression_parser.h"
#include "diagrams/syntax/lexer.h"

namespace napkin::syntax {

namespace {

constexpr std::array kAllTypes = {ElementType::F32, ElementType::TF32, ElementType::BF16,
                                  ElementType::F16, ElementType::E4M3, ElementType::E5M2,
                                  ElementType::I8,  ElementType::I4,   ElementType::I32,
                                  ElementType::I64, ElementType::Bool};

/// What a name that is no type was probably meant to be; empty where that is unclear.
std::string type_meant_by(const std::string& name) {
    struct Alias {
        std::string_view name;
        ElementType type;
    };
    constexpr std::array kAliases = {
        Alias{"float", ElementType::F32},     Alias{"fp32", ElementType::F32},
        Alias{"float32", ElementType::F32},   Alias{"half", ElementType::F16},
        Alias{"fp16", ElementType::F16},      Alias{"float16", ElementType::F16},
        Alias{"bfloat16", ElementType::BF16}, Alias{"fp8", ElementType::E4M3},
        Alias{"f8", ElementType::E4M3},       Alias{"int", ElementType::I32},
        Alias{"int32", ElementType::I32},     Alias{"int64", ElementType::I64},
        Alias{"int8", ElementType::I8},       Alias{"boolean", ElementType::Bool},
    };
    for (const Alias& alias : kAliases)
        if (alias.name == name) return std::string(name_of(alias.type));
    std::vector<std::string> known;
    for (const ElementType type : kAllTypes) known.emplace_back(name_of(type));
    return nearest(name, known).value_or("");
}

/// Gives comments and blank lines to the items that they belong to.
class Comments {
public:
    Comments(const std::string& text, const std::vector<Trivia>& trivia)
        : text_(text), trivia_(trivia) {}

    /// What stands before `offset` and belongs to nothing yet; blank lines that have nothing
    /// before them are dropped where `at_start`.
    std::vector<std::string> before(std::uint32_t offset, bool at_start) {
        std::vector<std::string> lines;
        for (; at_ < trivia_.size() && trivia_[at_].begin < offset; ++at_) {
            const bool blank = trivia_[at_].kind == Trivia::Kind::BlankLine;
            const bool redundant = lines.empty() ? at_start : lines.back().empty();
            if (!blank || !redundant) lines.push_back(text_of(trivia_[at_]));
        }
        return lines;
    }

    /// Comments between the first and the last token of an item.
    void inside(std::uint32_t end, std::vector<std::string>& comments_before) {
        for (; at_ < trivia_.size() && trivia_[at_].begin < end; ++at_)
            if (trivia_[at_].kind != Trivia::Kind::BlankLine)
                comments_before.push_back(text_of(trivia_[at_]));
    }

    /// The comment at the end of an item's line, if nothing else stands between.
    std::string after(std::uint32_t next_token) {
        const bool there = at_ < trivia_.size() && trivia_[at_].kind == Trivia::Kind::Trailing &&
                           trivia_[at_].begin < next_token;
        return there ? text_of(trivia_[at_++]) : std::string();
    }

private:
    [[nodiscard]] std::string text_of(const Trivia& trivia) const {
        return text_.substr(trivia.begin, trivia.end - trivia.begin);
    }

    const std::string& text_;
    const std::vector<Trivia>& trivia_;
    std::size_t at_ = 0;
};

void drop_trailing_blanks(std::vector<std::string>& comments) {
    while (!comments.empty() && comments.back().empty()) comments.pop_back();
}

class Parser {
public:
    Parser(const SourceMap& sources, std::uint32_t file, const Lexed& lexed, Diagnostics& errors)
        : cursor_(sources, file, lexed.tokens, errors),
          expressions_(cursor_),
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
    LineBody line_body();
    LineBody unnamed_line();
    Definition definition();
    MonoidDefinition monoid();
    AxisLine axis_line();
    std::vector<AxisItem> axis_items();
    InputLine input_line();
    ParamLine param_line();
    WeaveLine weave_line();
    LetLine let_line();
    LineBody output_line();
    StatementLine statement(bool output);
    OpaqueLine opaque(bool output);
    Target target(std::string_view what, bool with_type);
    void type_of(Target& target);
    std::vector<Target> targets(std::string_view what);
    std::vector<Name> names(TokenKind end, std::string_view what);

    /// Reads one item with `read`, and gives it its place and its comments.
    template <class Item, class Read>
    void with_comments(Item& item, bool at_start, const Read& read) {
        const Token& first = cursor_.peek();
        item.comments_before = comments_.before(first.begin, at_start);
        read();
        const Token& last = cursor_.previous();
        item.span = cover(cursor_.span(first), cursor_.span(last));
        comments_.inside(last.begin, item.comments_before);
        item.comment_after = comments_.after(cursor_.peek().begin + 1);
    }

    Cursor cursor_;
    ExpressionParser expressions_;
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
        Definition item;
        with_comments(item, at_start, [&] {
            std::vector<std::string> before = std::move(item.comments_before);
            item = definition();
            item.comments_before = std::move(before);
        });
        file_.definitions.emplace_back(std::move(item));
    } else {
        MonoidDefinition item;
        with_comments(item, at_start, [&] {
            std::vector<std::string> before = std::move(item.comments_before);
            item = monoid();
            item.comments_before = std::move(before);
        });
        file_.definitions.emplace_back(std::move(item));
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
            item.parameters = names(TokenKind::RightParen, "the name of a parameter");
        cursor_.expect_close(open, "`,` or ");
    }
    if (cursor_.expect_assign("a definition is `def name[axes](a, b) = expression`"))
        item.value = expressions_.parse();
    if (cursor_.accept(TokenKind::Glyph))
        item.glyph = cursor_.expect_name("the name of a glyph, such as `triangle`").text;
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
        item.left = names(TokenKind::Semicolon, "the name of a part");
        cursor_.expect(TokenKind::Semicolon, "`,` or `;`", std::string(kForm));
        item.right = names(TokenKind::RightParen, "the name of a part");
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

std::vector<Name> Parser::names(TokenKind end, std::string_view what) {
    std::vector<Name> list;
    do {
        list.push_back(cursor_.expect_name(what));
    } while (!cursor_.failed() && !cursor_.at(end) && cursor_.accept(TokenKind::Comma));
    return list;
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
    Line item;
    with_comments(item, file_.lines.empty(), [&] {
        item.body = line_body();
        cursor_.expect_item_end();
    });
    if (!cursor_.failed()) file_.lines.push_back(std::move(item));
}

LineBody Parser::line_body() {
    const TokenKind kind = cursor_.peek().kind;
    switch (kind) {
    case TokenKind::Axis: return axis_line();
    case TokenKind::Input: return input_line();
    case TokenKind::Output: return output_line();
    case TokenKind::Param: return param_line();
    case TokenKind::Weave: return weave_line();
    case TokenKind::Layout:
        cursor_.take();
        return LayoutLine{target("the name of an array", false)};
    case TokenKind::Let: return let_line();
    case TokenKind::Opaque: return opaque(false);
    case TokenKind::Def:
    case TokenKind::Monoid:
        cursor_.fail(messages::definition_inside(cursor_.here(), spelling(kind)));
        return AxisLine{};
    default: return unnamed_line();
    }
}

/// A statement, or a line whose first word is misspelt.
LineBody Parser::unnamed_line() {
    const bool two_words =
        cursor_.at(TokenKind::Identifier) && cursor_.peek_second().kind == TokenKind::Identifier;
    if (two_words) {
        std::vector<std::string> words;
        for (const TokenKind kind :
             {TokenKind::Axis, TokenKind::Input, TokenKind::Output, TokenKind::Param,
              TokenKind::Weave, TokenKind::Layout, TokenKind::Let, TokenKind::Opaque})
            words.emplace_back(spelling(kind));
        const std::string_view word = cursor_.text(cursor_.peek());
        cursor_.fail(
            messages::unknown_item(cursor_.here(), word, nearest(word, words).value_or("")));
        return AxisLine{};
    }
    if (!cursor_.at(TokenKind::Identifier) && !is_reserved(cursor_.peek().kind)) {
        cursor_.fail(messages::expected(cursor_.here(), "a line of the diagram", cursor_.found(),
                                        "a statement is `target[axes] = expression`"));
        return AxisLine{};
    }
    return statement(false);
}

AxisLine Parser::axis_line() {
    cursor_.take();
    return {axis_items()};
}

std::vector<AxisItem> Parser::axis_items() {
    std::vector<AxisItem> items;
    do {
        AxisItem item;
        item.name = cursor_.expect_name("the name of an axis");
        if (cursor_.expect_assign("an axis has a default size: `axis q = 4096`"))
            item.size = expressions_.parse();
        item.dynamic = cursor_.accept(TokenKind::Dynamic);
        items.push_back(std::move(item));
    } while (cursor_.accept(TokenKind::Comma));
    return items;
}

InputLine Parser::input_line() {
    cursor_.take();
    InputLine line{targets("the name of an input")};
    // A type holds for the arrays before it that have none.
    for (std::size_t i = line.arrays.size(); i-- > 1;) {
        if (line.arrays[i - 1].type) continue;
        line.arrays[i - 1].type = line.arrays[i].type;
        line.arrays[i - 1].type_span = line.arrays[i].type_span;
    }
    return line;
}

ParamLine Parser::param_line() {
    cursor_.take();
    ParamLine line;
    line.param.name = cursor_.expect_name("the name of a parameter");
    type_of(line.param);
    if (cursor_.expect_assign("a parameter has a default: `param eps : f32 = 1e-6`"))
        line.value = expressions_.parse();
    return line;
}

WeaveLine Parser::weave_line() {
    cursor_.take();
    WeaveLine line;
    line.axes = axis_items();
    if (cursor_.accept(TokenKind::Over)) line.over = names(TokenKind::End, "the name of an input");
    return line;
}

LetLine Parser::let_line() {
    cursor_.take();
    LetLine line;
    line.target = target("the name of an index value", false);
    if (cursor_.expect_assign("an index value is `let lo[i] = max(i - 3, 0)`"))
        line.value = expressions_.parse();
    return line;
}

LineBody Parser::output_line() {
    cursor_.take();
    if (cursor_.at(TokenKind::Opaque)) return opaque(true);
    return statement(true);
}

StatementLine Parser::statement(bool output) {
    StatementLine line;
    line.output = output;
    line.targets = targets("the name of an array");
    std::string help = "a statement is `target[axes] = expression`";
    if (cursor_.at(TokenKind::EqualEqual)) help = "`=` defines, `==` compares";
    if (cursor_.expect_assign(std::move(help))) line.value = expressions_.parse();
    return line;
}

OpaqueLine Parser::opaque(bool output) {
    constexpr std::string_view kForm = "an opaque box is `opaque F(A[a, x]) -> Y[a, y]`";
    OpaqueLine line;
    line.output = output;
    cursor_.take();
    line.function = cursor_.expect_name("the name of the box");
    const Token& open = cursor_.peek();
    if (cursor_.expect(TokenKind::LeftParen, "`(`", std::string(kForm))) {
        if (!cursor_.at(TokenKind::RightParen)) {
            do {
                line.inputs.push_back(target("the name of an array", false));
            } while (cursor_.accept(TokenKind::Comma));
        }
        cursor_.expect_close(open, "`,` or ");
    }
    if (cursor_.expect(TokenKind::Arrow, "`->`", std::string(kForm)))
        line.outputs = targets("the name of an array");
    return line;
}

Target Parser::target(std::string_view what, bool with_type) {
    Target result;
    result.name = cursor_.expect_name(what);
    if (cursor_.at(TokenKind::LeftBracket))
        result.axes = cursor_.expect_axes(result.name.text, "in the brackets of a target");
    if (with_type) type_of(result);
    return result;
}

void Parser::type_of(Target& target) {
    if (!cursor_.accept(TokenKind::Colon)) return;
    const Name name = cursor_.expect_name("the name of a type");
    if (cursor_.failed()) return;
    target.type = element_type_named(name.text);
    target.type_span = name.span;
    if (target.type) return;
    cursor_.report(messages::unknown_type(name.span, name.text, type_meant_by(name.text)));
}

std::vector<Target> Parser::targets(std::string_view what) {
    std::vector<Target> list;
    do {
        list.push_back(target(what, true));
    } while (cursor_.accept(TokenKind::Comma));
    return list;
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
