// Seeded mutations of texts: of bytes, of tokens and of lines. Tokens are exchanged for others of
// their kind, so that much of what comes out still parses and reaches the stages after the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagrams/random.h"

namespace napkin::test {

class Mutator {
public:
    explicit Mutator(std::vector<std::string> corpus);
    /// A text of the corpus with up to six mutations; the same one for the same seed.
    [[nodiscard]] std::string text(std::uint64_t seed) const;

private:
    enum class Kind { Word, Number, Symbol };
    struct Token {
        std::size_t begin = 0;
        std::size_t end = 0;
        Kind kind = Kind::Symbol;
    };
    [[nodiscard]] static std::vector<Token> tokens_of(std::string_view text);
    void mutate_bytes(std::string& text, Random& random) const;
    void mutate_token(std::string& text, Random& random) const;
    void mutate_line(std::string& text, Random& random) const;
    [[nodiscard]] std::string other(Kind kind, const std::string& text, Random& random) const;

    std::vector<std::string> corpus_;
    std::vector<std::string> words_;    ///< of the whole corpus
    std::vector<std::string> symbols_;  ///< likewise
};

/// The contents of every file below the folders that has this ending, in order of their paths.
[[nodiscard]] std::vector<std::string> texts_below(const std::vector<std::string>& folders,
                                                   std::string_view ending);

}  // namespace napkin::test
