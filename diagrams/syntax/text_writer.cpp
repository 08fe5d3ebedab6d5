#include "diagrams/syntax/text_writer.h"

namespace napkin::syntax {

namespace {

constexpr int kTightnessOfBracket = 16;
constexpr std::size_t kContinuationIndent = 4;

}  // namespace

void TextWriter::space(int tightness, std::size_t group) {
    breaks_.push_back({text_.size(), depth_ * kTightnessOfBracket + tightness, group});
    text_ += ' ';
}

void TextWriter::open_bracket(std::string_view bracket) {
    text_ += bracket;
    ++depth_;
}

void TextWriter::close_bracket(std::string_view bracket) {
    text_ += bracket;
    --depth_;
}

/// The last of the loosest breaks that leave the line within `room`, or the first of its group; the
/// first one where none does; breaks_.size() where there is none at all.
std::size_t TextWriter::choose_break(std::size_t first, std::size_t begin, std::size_t room) const {
    std::size_t best = first;
    for (std::size_t i = first; i < breaks_.size() && breaks_[i].at <= begin + room; ++i)
        if (breaks_[i].tightness <= breaks_[best].tightness) best = i;
    if (best < breaks_.size() && breaks_[best].group != 0)
        for (std::size_t i = best; i-- > first;)
            if (breaks_[i].group == breaks_[best].group) best = i;
    return best;
}

std::string TextWriter::str() const {
    std::string result;
    std::size_t begin = 0;
    std::size_t first = 0;  // the first break that is still ahead
    std::size_t indent = indent_;
    std::vector<bool> broken(groups_ + 1);
    while (true) {
        const std::size_t room = kLineWidth > indent ? kLineWidth - indent : 1;
        std::size_t forced = first;
        while (forced < breaks_.size() && !broken[breaks_[forced].group]) ++forced;
        const std::size_t end = forced < breaks_.size() ? breaks_[forced].at : text_.size();
        const std::size_t chosen = end - begin <= room ? forced : choose_break(first, begin, room);
        if (chosen == breaks_.size()) break;
        if (breaks_[chosen].group != 0) broken[breaks_[chosen].group] = true;
        result.append(indent, ' ');
        result.append(text_, begin, breaks_[chosen].at - begin);
        result += '\n';
        begin = breaks_[chosen].at + 1;
        first = chosen + 1;
        indent = indent_ + kContinuationIndent;
    }
    result.append(indent, ' ');
    result.append(text_, begin);
    return result;
}

}  // namespace napkin::syntax
