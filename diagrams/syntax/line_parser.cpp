#include "diagrams/syntax/line_parser.h"

#include <array>
#include <utility>

#include "diagrams/messages.h"
#include "diagrams/nearest.h"

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
    known.reserve(kAllTypes.size());
    for (const ElementType type : kAllTypes) known.emplace_back(name_of(type));
    return nearest(name, known).value_or("");
}

}  // namespace

LineBody LineParser::parse() {
    const TokenKind kind = cursor_.peek().kind;
    switch (kind) {
    case TokenKind::Axis: cursor_.take(); return AxisLine{axis_items()};
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
LineBody LineParser::unnamed_line() {
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

std::vector<AxisItem> LineParser::axis_items() {
    std::vector<AxisItem> items;
    do {
        AxisItem item;
        item.name = cursor_.expect_name("the name of an axis");
        if (cursor_.expect_assign("an axis has a default size: `axis q = 4096`"))
            item.size = expressions_.parse();
        item.dynamic = cursor_.accept(TokenKind::Dynamic);
        items.push_back(std::move(item));
    } while (cursor_.peek_second().kind == TokenKind::Assign ? cursor_.accept_comma()
                                                             : cursor_.accept(TokenKind::Comma));
    return items;
}

InputLine LineParser::input_line() {
    cursor_.take();
    InputLine line{targets("the name of an input", true)};
    // A type holds for the arrays before it that have none.
    for (std::size_t i = line.arrays.size(); i-- > 1;) {
        if (line.arrays[i - 1].type) continue;
        line.arrays[i - 1].type = line.arrays[i].type;
        line.arrays[i - 1].type_span = line.arrays[i].type_span;
    }
    return line;
}

ParamLine LineParser::param_line() {
    cursor_.take();
    ParamLine line;
    line.param.name = cursor_.expect_name("the name of a parameter");
    type_of(line.param);
    if (cursor_.expect_assign("a parameter has a default: `param eps : f32 = 1e-6`"))
        line.value = expressions_.parse();
    if (cursor_.at(TokenKind::Comma))
        cursor_.fail(messages::expected(cursor_.here(), "the end of the line", cursor_.found(),
                                        "each parameter has a line of its own"));
    return line;
}

WeaveLine LineParser::weave_line() {
    cursor_.take();
    WeaveLine line;
    line.axes = axis_items();
    if (cursor_.accept(TokenKind::Over)) line.over = names(TokenKind::End, "the name of an input");
    return line;
}

LetLine LineParser::let_line() {
    cursor_.take();
    LetLine line;
    line.target = target("the name of an index value", false);
    if (cursor_.expect_assign("an index value is `let lo[i] = max(i - 3, 0)`"))
        line.value = expressions_.parse();
    return line;
}

LineBody LineParser::output_line() {
    cursor_.take();
    if (cursor_.at(TokenKind::Opaque)) return opaque(true);
    return statement(true);
}

StatementLine LineParser::statement(bool output) {
    StatementLine line;
    line.output = output;
    line.targets = targets("the name of an array", false);
    std::string help = "a statement is `target[axes] = expression`";
    if (cursor_.at(TokenKind::EqualEqual)) help = "`=` defines, `==` compares";
    if (cursor_.expect_assign(std::move(help))) line.value = expressions_.parse();
    return line;
}

OpaqueLine LineParser::opaque(bool output) {
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
            } while (cursor_.accept_comma());
        }
        cursor_.expect_close(open, "`,` or ");
    }
    if (cursor_.expect(TokenKind::Arrow, "`->`", std::string(kForm)))
        line.outputs = targets("the name of an array", true);
    return line;
}

Target LineParser::target(std::string_view what, bool with_type) {
    Target result;
    result.name = cursor_.expect_name(what);
    if (cursor_.at(TokenKind::LeftBracket))
        result.axes = cursor_.expect_axes(result.name.text, "in the brackets of a target");
    if (with_type) type_of(result);
    return result;
}

void LineParser::type_of(Target& target) {
    if (!cursor_.accept(TokenKind::Colon)) {
        if (cursor_.at(TokenKind::Identifier) && element_type_named(cursor_.text(cursor_.peek())))
            cursor_.fail(messages::expected(cursor_.here(), "`:`", cursor_.found(),
                                            "a type stands after a colon, `X[q] : f32`"));
        return;
    }
    const Name name = cursor_.expect_name("the name of a type");
    if (cursor_.failed()) return;
    target.type = element_type_named(name.text);
    target.type_span = name.span;
    if (target.type) return;
    cursor_.report(messages::unknown_type(name.span, name.text, type_meant_by(name.text)));
}

std::vector<Target> LineParser::targets(std::string_view what, bool at_end) {
    std::vector<Target> list;
    do {
        list.push_back(target(what, true));
    } while (at_end ? cursor_.accept_comma() : cursor_.accept(TokenKind::Comma));
    return list;
}

std::vector<Name> LineParser::names(TokenKind end, std::string_view what) {
    std::vector<Name> list;
    do {
        list.push_back(cursor_.expect_name(what));
    } while (!cursor_.failed() && !cursor_.at(end) && cursor_.accept_comma());
    return list;
}

}  // namespace napkin::syntax
