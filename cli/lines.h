// Texts in the lines of a terminal.
#pragma once

#include <string>

#include "cli/console.h"

namespace napkin::cli {

/// A text with breaks between words, so that no line is longer.
[[nodiscard]] std::string broken(const std::string& text, std::size_t columns = kColumns);

/// Lines that are too long go on below: below their last column where it has room, else below their
/// second. Columns are two blanks apart.
[[nodiscard]] std::string fitted(const std::string& text, std::size_t columns);
/// Data, in lines that fit the terminal.
void print_lines(const std::string& text);

}  // namespace napkin::cli
