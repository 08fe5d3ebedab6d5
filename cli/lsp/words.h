// The words of a text: names and keywords with their places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/lsp/workspace.h"

namespace napkin::lsp {

struct Word {
    std::string text;
    Span span;
    bool is_name = true;  ///< what people chose, or a function: no keyword of the text's language
    bool first = false;   ///< of its line, in a derivation: the rule
};
/// Of a diagram's text or a derivation's; comments have none.
[[nodiscard]] std::vector<Word> words_of(const std::string& uri, const Text& text);
/// The word that covers or touches an offset.
[[nodiscard]] std::optional<Word> word_at(const std::vector<Word>& words, std::size_t offset);

}  // namespace napkin::lsp
