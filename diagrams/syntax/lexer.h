// From text to tokens.
#pragma once

#include "diagrams/diagnostic.h"
#include "diagrams/syntax/token.h"

namespace napkin::syntax {

/// A file with more errors is read no further than the first of them that is too many.
inline constexpr std::size_t kMostErrors = 100;

/// Splits a file into tokens. Errors (a text that is not UTF-8 or too large, characters that mean
/// nothing) go to `errors`; the tokens are usable all the same.
[[nodiscard]] Lexed lex(const SourceMap& sources, std::uint32_t file, Diagnostics& errors);

/// Whether arrays and axes can be called this: letters, digits and `_`, not beginning with a digit,
/// and no reserved word.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace napkin::syntax
