#include "cli/lsp/vocabulary.h"

#include <algorithm>
#include <array>

#include "diagrams/check/functions.h"
#include "diagrams/diagram.h"
#include "diagrams/element_type.h"
#include "diagrams/syntax/token.h"

namespace napkin::lsp {

using syntax::TokenKind;

std::vector<std::string> words_of_items() {
    std::vector<std::string> words;
    for (auto kind = TokenKind::Diagram; begins_item(kind);
         kind = static_cast<TokenKind>(static_cast<int>(kind) + 1))
        words.emplace_back(spelling(kind));
    return words;
}

std::vector<std::string> words_of_expressions() {
    std::vector<std::string> words;
    for (const TokenKind kind :
         {TokenKind::If, TokenKind::Then, TokenKind::Else, TokenKind::And, TokenKind::Or,
          TokenKind::Not, TokenKind::Inf, TokenKind::Scan, TokenKind::ExclusiveScan})
        words.emplace_back(spelling(kind));
    return words;
}

std::vector<std::string> types() {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(ElementType::Bool); ++i) {
        const std::string_view name = name_of(static_cast<ElementType>(i));
        if (element_type_named(name)) names.emplace_back(name);
    }
    return names;
}

std::vector<std::string> reductions() {
    std::vector<std::string> names;
    for (const Monoid& monoid : builtin_monoids()) names.push_back(monoid.name);
    names.insert(names.end(), checking::kSelections.begin(), checking::kSelections.end());
    return names;
}

}  // namespace napkin::lsp
