// The words of the language, out of its own tables: what editors complete, and colour.
#pragma once

#include <string>
#include <vector>

namespace napkin::lsp {

/// That begin a line of a file or of a diagram.
[[nodiscard]] std::vector<std::string> words_of_items();
/// That stand inside an expression.
[[nodiscard]] std::vector<std::string> words_of_expressions();
/// That arrays are declared with.
[[nodiscard]] std::vector<std::string> types();
/// That fold an axis, user's own aside.
[[nodiscard]] std::vector<std::string> reductions();

}  // namespace napkin::lsp
