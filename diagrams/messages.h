// The catalogue of what the lexer and the parser say: one factory a code, E01xx. Each code has an
// input and its rendered message under tests/golden/errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

// The text as a whole.
[[nodiscard]] Diagnostic not_utf8(Span place, unsigned char byte);  // E0101
[[nodiscard]] Diagnostic file_too_large(const std::string& name, std::size_t size,
                                        std::size_t most);               // E0102
[[nodiscard]] Diagnostic empty_file(Span place);                         // E0103
[[nodiscard]] Diagnostic too_many_errors(Span place, std::size_t most);  // E0104

// Words.
[[nodiscard]] Diagnostic unknown_character(Span place, std::string_view text);  // E0105
[[nodiscard]] Diagnostic malformed_number(Span place, std::string_view text);   // E0106
[[nodiscard]] Diagnostic number_too_large(Span place, std::string_view text);   // E0107
[[nodiscard]] Diagnostic reserved_word(Span place, std::string_view word);      // E0108

// The shape of an item.
[[nodiscard]] Diagnostic expected(Span place, std::string_view what, std::string_view found,
                                  std::string help = "");  // E0109
[[nodiscard]] Diagnostic expected_expression(Span place, std::string_view found,
                                             std::string help = "");  // E0110
[[nodiscard]] Diagnostic missing_assign(Span place, std::string_view found,
                                        std::string help);  // E0111
[[nodiscard]] Diagnostic unclosed_bracket(Span place, std::string_view opener, Span opened,
                                          std::string_view found);               // E0112
[[nodiscard]] Diagnostic unopened_bracket(Span place, std::string_view closer);  // E0113
[[nodiscard]] Diagnostic empty_brackets(Span place, std::string_view name);      // E0114
[[nodiscard]] Diagnostic unknown_item(Span place, std::string_view word,
                                      std::string_view meant);  // E0115
[[nodiscard]] Diagnostic unknown_type(Span place, std::string_view name,
                                      std::string_view meant);  // E0116

// Expressions.
[[nodiscard]] Diagnostic chained_comparison(Span place, Span first, std::string help);  // E0117
[[nodiscard]] Diagnostic missing_branch(Span place, std::string_view word, Span opened,
                                        std::string_view found);  // E0118
[[nodiscard]] Diagnostic missing_operator(Span place, std::string_view found,
                                          std::string help);               // E0119
[[nodiscard]] Diagnostic nested_too_deep(Span place, std::size_t most);    // E0120
[[nodiscard]] Diagnostic too_many_in_a_row(Span place, std::size_t most);  // E0127
[[nodiscard]] Diagnostic not_an_axis(Span place, std::string_view where);  // E0121

// The file's outline.
[[nodiscard]] Diagnostic missing_brace(Span place, Span opened, std::string_view diagram);  // E0122
[[nodiscard]] Diagnostic second_diagram(Span place, Span first);                            // E0123
[[nodiscard]] Diagnostic text_outside(Span place, std::string_view found,
                                      bool after_diagram);                      // E0124
[[nodiscard]] Diagnostic definition_inside(Span place, std::string_view word);  // E0125
[[nodiscard]] Diagnostic component_mismatch(Span place, std::string_view what, std::size_t count,
                                            std::size_t components,
                                            std::string_view monoid);  // E0126

}  // namespace napkin::messages
