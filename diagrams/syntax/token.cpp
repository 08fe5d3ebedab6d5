#include "diagrams/syntax/token.h"

#include <algorithm>
#include <array>

namespace napkin::syntax {

namespace {

struct Spelling {
    TokenKind kind;
    std::string_view text;
};

// clang-format off
constexpr std::array kWords = {
    Spelling{TokenKind::And, "and"},           Spelling{TokenKind::Or, "or"},
    Spelling{TokenKind::Diagram, "diagram"},   Spelling{TokenKind::Def, "def"},
    Spelling{TokenKind::Monoid, "monoid"},     Spelling{TokenKind::Axis, "axis"},
    Spelling{TokenKind::Input, "input"},       Spelling{TokenKind::Output, "output"},
    Spelling{TokenKind::Param, "param"},       Spelling{TokenKind::Weave, "weave"},
    Spelling{TokenKind::Layout, "layout"},     Spelling{TokenKind::Let, "let"},
    Spelling{TokenKind::Opaque, "opaque"},     Spelling{TokenKind::Over, "over"},
    Spelling{TokenKind::Scan, "scan"},         Spelling{TokenKind::If, "if"},
    Spelling{TokenKind::Then, "then"},         Spelling{TokenKind::Else, "else"},
    Spelling{TokenKind::Not, "not"},           Spelling{TokenKind::Inf, "inf"},
    Spelling{TokenKind::Dynamic, "dynamic"},   Spelling{TokenKind::Glyph, "glyph"},
    Spelling{TokenKind::Identity, "identity"}, Spelling{TokenKind::Noncommutative, "noncommutative"},
    Spelling{TokenKind::ExclusiveScan, "exclusive_scan"},
};
constexpr std::array kSigns = {
    Spelling{TokenKind::LeftParen, "("},    Spelling{TokenKind::RightParen, ")"},
    Spelling{TokenKind::LeftBracket, "["},  Spelling{TokenKind::RightBracket, "]"},
    Spelling{TokenKind::LeftBrace, "{"},    Spelling{TokenKind::RightBrace, "}"},
    Spelling{TokenKind::Comma, ","},        Spelling{TokenKind::Semicolon, ";"},
    Spelling{TokenKind::Colon, ":"},        Spelling{TokenKind::Assign, "="},
    Spelling{TokenKind::Arrow, "->"},       Spelling{TokenKind::Plus, "+"},
    Spelling{TokenKind::Minus, "-"},        Spelling{TokenKind::Star, "*"},
    Spelling{TokenKind::Slash, "/"},        Spelling{TokenKind::SlashSlash, "//"},
    Spelling{TokenKind::Percent, "%"},      Spelling{TokenKind::Caret, "^"},
    Spelling{TokenKind::Less, "<"},         Spelling{TokenKind::LessEqual, "<="},
    Spelling{TokenKind::Greater, ">"},      Spelling{TokenKind::GreaterEqual, ">="},
    Spelling{TokenKind::EqualEqual, "=="},  Spelling{TokenKind::NotEqual, "!="},
};
// clang-format on

}  // namespace

std::string_view spelling(TokenKind kind) {
    const auto has_kind = [kind](const Spelling& entry) { return entry.kind == kind; };
    const auto* const word = std::find_if(kWords.begin(), kWords.end(), has_kind);
    if (word != kWords.end()) return word->text;
    const auto* const sign = std::find_if(kSigns.begin(), kSigns.end(), has_kind);
    return sign != kSigns.end() ? sign->text : std::string_view();
}

TokenKind kind_of_word(std::string_view word) {
    const auto* const entry = std::find_if(
        kWords.begin(), kWords.end(), [word](const Spelling& known) { return known.text == word; });
    return entry != kWords.end() ? entry->kind : TokenKind::Identifier;
}

TokenKind kind_of_sign(std::string_view sign) {
    const auto* const entry = std::find_if(
        kSigns.begin(), kSigns.end(), [sign](const Spelling& known) { return known.text == sign; });
    return entry != kSigns.end() ? entry->kind : TokenKind::Unknown;
}

bool begins_item(TokenKind kind) {
    return kind >= TokenKind::Diagram && kind <= TokenKind::Opaque;
}

bool is_reserved(TokenKind kind) {
    return kind >= TokenKind::And;
}

bool is_binary_operator(TokenKind kind) {
    return kind >= TokenKind::Plus && kind <= TokenKind::Or;
}

}  // namespace napkin::syntax
