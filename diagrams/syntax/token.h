// The words of a source text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagrams/source.h"

namespace napkin::syntax {

enum class TokenKind : std::uint8_t {
    Identifier,
    Number,
    Newline,  // ends an item; line ends inside brackets or where an item must go on are no tokens
    End,
    Unknown,  // characters that mean nothing, already reported
    // punctuation
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    Assign,
    Arrow,
    // operators
    Plus,
    Minus,
    Star,
    Slash,
    SlashSlash,
    Percent,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    And,
    Or,
    // words that begin an item
    Diagram,
    Def,
    Monoid,
    Axis,
    Input,
    Output,
    Param,
    Weave,
    Layout,
    Let,
    Opaque,
    // words inside an item
    Over,
    Scan,
    ExclusiveScan,
    If,
    Then,
    Else,
    Not,
    Inf,
    Dynamic,
    Glyph,
    Identity,
    Noncommutative,
};

inline constexpr std::uint32_t kNoMatch = 0xFFFFFFFF;

/// One word, with its place as byte offsets.
struct Token {
    TokenKind kind = TokenKind::End;
    bool has_comma = false;  ///< of a left bracket: a comma stands directly inside
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t match = kNoMatch;  ///< of a left bracket that is closed: the index of its partner
};

/// What is not part of the grammar but must survive formatting.
struct Trivia {
    enum class Kind : std::uint8_t { BlankLine, OwnLine, Trailing };
    Kind kind = Kind::BlankLine;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;  ///< without trailing blanks
};

/// A lexed text: tokens closed by End, comments and blank lines in order.
struct Lexed {
    std::vector<Token> tokens;
    std::vector<Trivia> trivia;
};

/// The word or sign that a kind of token is written as; empty for kinds of many spellings.
[[nodiscard]] std::string_view spelling(TokenKind kind);
/// The kind of a reserved word; Identifier for every other word.
[[nodiscard]] TokenKind kind_of_word(std::string_view word);
/// The kind of a sign; Unknown for every other text.
[[nodiscard]] TokenKind kind_of_sign(std::string_view sign);
/// Words with which a line of a file or of a diagram begins.
[[nodiscard]] bool begins_item(TokenKind kind);
/// Reserved words: no array, axis or definition can have their names.
[[nodiscard]] bool is_reserved(TokenKind kind);
/// Operators that stand between two expressions.
[[nodiscard]] bool is_binary_operator(TokenKind kind);

}  // namespace napkin::syntax
