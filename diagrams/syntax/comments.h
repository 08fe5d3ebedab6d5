// Comments and blank lines, and the items that they belong to.
#pragma once

#include <string>
#include <vector>

#include "diagrams/syntax/token.h"

namespace napkin::syntax {

/// Hands out the comments of a text in order, each once.
class Comments {
public:
    Comments(const std::string& text, const std::vector<Trivia>& trivia)
        : text_(text), trivia_(trivia) {}

    /// What stands before `offset` and belongs to nothing yet; blank lines that have nothing
    /// before them are dropped where `at_start`.
    [[nodiscard]] std::vector<std::string> before(std::uint32_t offset, bool at_start);
    /// Adds the comments between the first and the last word of an item to those before it.
    void inside(std::uint32_t end, std::vector<std::string>& comments_before);
    /// The comment at the end of an item's line, if nothing else stands between.
    [[nodiscard]] std::string after(std::uint32_t next_token);

private:
    [[nodiscard]] std::string text_of(const Trivia& trivia) const {
        return text_.substr(trivia.begin, trivia.end - trivia.begin);
    }

    const std::string& text_;
    const std::vector<Trivia>& trivia_;
    std::size_t at_ = 0;
};

void drop_trailing_blanks(std::vector<std::string>& comments);

}  // namespace napkin::syntax
