#include "diagrams/syntax/comments.h"

namespace napkin::syntax {

std::vector<std::string> Comments::before(std::uint32_t offset, bool at_start) {
    std::vector<std::string> lines;
    for (; at_ < trivia_.size() && trivia_[at_].begin < offset; ++at_) {
        const bool blank = trivia_[at_].kind == Trivia::Kind::BlankLine;
        const bool redundant = lines.empty() ? at_start : lines.back().empty();
        if (!blank || !redundant) lines.push_back(text_of(trivia_[at_]));
    }
    return lines;
}

void Comments::inside(std::uint32_t end, std::vector<std::string>& comments_before) {
    for (; at_ < trivia_.size() && trivia_[at_].begin < end; ++at_)
        if (trivia_[at_].kind != Trivia::Kind::BlankLine)
            comments_before.push_back(text_of(trivia_[at_]));
}

std::string Comments::after(std::uint32_t next_token) {
    const bool there = at_ < trivia_.size() && trivia_[at_].kind == Trivia::Kind::Trailing &&
                       trivia_[at_].begin < next_token;
    return there ? text_of(trivia_[at_++]) : std::string();
}

void drop_trailing_blanks(std::vector<std::string>& comments) {
    while (!comments.empty() && comments.back().empty()) comments.pop_back();
}

}  // namespace napkin::syntax
