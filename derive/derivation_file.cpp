// Derivation files: one command a line, the commands a person would type.
//
//   RULE NAME (, NAME)* [as NAME (, NAME)*] [by SIZE | = SIZE] [at LEVEL] [to TYPE] [in REGION] [#
//   comment]
//   layout NAME [AXIS (, AXIS)*] [as NAME] [in REGION] [# comment], with those brackets
//   schedule CHOICE [of WORDS] = VALUE [in REGION] [# comment]
#include <algorithm>
#include <cctype>
#include <charconv>

#include "derive/messages.h"
#include "derive/state.h"

namespace napkin {

namespace {

struct Word {
    std::string text;
    Span span;
};

bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '\'' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Where the command that begins here ends: at a semicolon, or, with its comment, at the line's
/// end.
std::size_t end_of_command(const std::string& text, std::size_t begin) {
    const std::size_t end = std::min(text.find_first_of(";#\n", begin), text.size());
    return end < text.size() && text[end] == '#' ? std::min(text.find('\n', end), text.size())
                                                 : end;
}

bool is_mark(char c) {
    return c == ',' || c == '=' || c == '[' || c == ']';
}

/// Splits one command into words and marks; a `#` ends it. An unexpected character is reported.
std::vector<Word> words_of(std::string_view line, Span start, std::string& comment,
                           Diagnostics& errors) {
    std::vector<Word> words;
    std::size_t at = 0;
    while (at < line.size()) {
        const char c = line[at];
        const std::uint32_t place = start.begin + static_cast<std::uint32_t>(at);
        if (c == ' ' || c == '\t' || c == '\r') {
            ++at;
        } else if (c == '#') {
            comment = std::string(line.substr(at));
            while (!comment.empty() &&
                   std::isspace(static_cast<unsigned char>(comment.back())) != 0)
                comment.pop_back();
            break;
        } else if (is_mark(c)) {
            words.push_back({std::string(1, c), {place, place + 1, start.file}});
            ++at;
        } else if (is_word_character(c)) {
            std::size_t end = at;
            while (end < line.size() && is_word_character(line[end])) ++end;
            words.push_back({std::string(line.substr(at, end - at)),
                             {place, place + static_cast<std::uint32_t>(end - at), start.file}});
            at = end;
        } else {
            errors.add(messages::unexpected_character({place, place + 1, start.file}, c));
            return {};
        }
    }
    return words;
}

/// Reads words in order, noting the first thing that is wrong.
class CommandReader {
public:
    CommandReader(const std::vector<Word>& words, Diagnostics& errors)
        : words_(words), errors_(errors) {}

    std::optional<Command> read() {
        Command command;
        command.rule = words_.front().text;
        command.span = cover(words_.front().span, words_.back().span);
        at_ = 1;
        if (at_ < words_.size() && !opens_clause()) command.names = names();
        if (!failed_ && words_.front().text == "layout" && stands("[")) command.axes = axes();
        while (at_ < words_.size() && !failed_) clause(command);
        if (failed_) return std::nullopt;
        return command;
    }

private:
    [[nodiscard]] bool stands(std::string_view mark) const {
        return at_ < words_.size() && words_[at_].text == mark;
    }
    [[nodiscard]] bool is_schedule() const { return words_.front().text == "schedule"; }
    [[nodiscard]] bool is_keyword(const std::string& text) const {
        return (text == "of" && is_schedule()) || text == "as" || text == "by" || text == "=" ||
               text == "at" || text == "to" || text == "in" || text == "over";
    }
    /// Whether a clause stands here rather than a name: of `stream in by 4` the axis is `in`.
    [[nodiscard]] bool opens_clause() const {
        const bool alone = at_ + 1 == words_.size() || is_keyword(words_[at_ + 1].text);
        return is_keyword(words_[at_].text) && !(at_ == 1 && alone);
    }
    void clause(Command& command) {
        const Word keyword = words_[at_++];
        if (keyword.text == "of" && is_schedule() && command.of.empty()) {
            command.of = words_before_value(keyword);
        } else if (keyword.text == "=" && is_schedule() && command.value.empty()) {
            command.value = name(keyword);
        } else if (keyword.text == "as" && command.as.empty()) {
            command.as = names();
        } else if ((keyword.text == "by" || keyword.text == "=") && !command.size) {
            command.size = size(keyword);
        } else if (keyword.text == "at" && command.at.empty()) {
            command.at = name(keyword);
        } else if (keyword.text == "to" && command.to.empty()) {
            command.to = name(keyword);
        } else if (keyword.text == "in" && command.in.empty()) {
            command.in = name(keyword);
        } else {
            fail(messages::unexpected_word(keyword.span, keyword.text));
        }
    }
    std::vector<std::string> names() {
        std::vector<std::string> list;
        while (!failed_) {
            list.push_back(name(words_[at_ - 1]));
            if (!stands(",")) break;
            ++at_;
        }
        return list;
    }
    /// `[c, i, k]`
    std::vector<std::string> axes() {
        const Word open = words_[at_++];
        std::vector<std::string> list = names();
        if (failed_) return {};
        if (!stands("]")) fail(messages::bracket_left_open(open.span));
        ++at_;
        return list;
    }
    /// `fetch the first operands of S`.
    std::string words_before_value(const Word& after) {
        std::string text;
        while (at_ < words_.size() && words_[at_].text != "=")
            text += (text.empty() ? "" : " ") + words_[at_++].text;
        if (text.empty()) fail(messages::missing_name(after.span, after.text));
        return text;
    }
    std::string name(const Word& after) {
        if (at_ >= words_.size() || is_mark(words_[at_].text.front())) {
            fail(messages::missing_name(after.span, after.text));
            return {};
        }
        return words_[at_++].text;
    }
    std::optional<std::int64_t> size(const Word& after) {
        if (at_ >= words_.size()) {
            fail(messages::missing_size(after.span));
            return std::nullopt;
        }
        const Word& word = words_[at_++];
        std::int64_t value = 0;
        const auto [end, code] =
            std::from_chars(word.text.data(), word.text.data() + word.text.size(), value);
        if (code != std::errc() || end != word.text.data() + word.text.size() || value < 1) {
            fail(messages::bad_size(word.span, word.text));
            return std::nullopt;
        }
        return value;
    }
    void fail(Diagnostic diagnostic) {
        if (!failed_) errors_.add(std::move(diagnostic));
        failed_ = true;
    }

    const std::vector<Word>& words_;
    Diagnostics& errors_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

std::string print(const Command& command) {
    std::string text = command.rule;
    if (!command.names.empty()) text += " " + joined(command.names);
    if (!command.axes.empty()) text += "[" + joined(command.axes) + "]";
    if (!command.of.empty()) text += " of " + command.of;
    if (!command.value.empty()) text += " = " + command.value;
    if (!command.as.empty()) text += " as " + joined(command.as);
    if (command.size)
        text += (command.rule == "set" ? " = " : " by ") + std::to_string(*command.size);
    if (!command.at.empty()) text += " at " + command.at;
    if (!command.to.empty()) text += " to " + command.to;
    if (!command.in.empty()) text += " in " + command.in;
    if (!command.comment.empty()) text += "  " + command.comment;
    return text;
}

Result<std::vector<Command>> parse_derivation(const SourceMap& sources, std::uint32_t file) {
    const std::string& text = sources.files[file].text;
    std::vector<Command> commands;
    Diagnostics errors;
    std::size_t begin = begin_of(text);
    while (begin < text.size()) {
        const std::size_t end = end_of_command(text, begin);
        std::string comment;
        const Span start{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), file};
        const std::vector<Word> words =
            words_of(std::string_view(text).substr(begin, end - begin), start, comment, errors);
        if (!words.empty())
            if (std::optional<Command> command = CommandReader(words, errors).read()) {
                command->comment = comment;
                commands.push_back(std::move(*command));
            }
        begin = end + 1;
    }
    if (errors.has_errors()) return errors;
    return commands;
}

Result<Command> parse_command(const SourceMap& sources, std::uint32_t file) {
    const Result<std::vector<Command>> commands = parse_derivation(sources, file);
    if (!commands) return commands.error();
    if (commands->size() != 1)
        return plain_error("E0605", "expected one command", "write it as `group q by 64`");
    return commands->front();
}

Sizes sizes_in(std::span<const Command> commands) {
    Sizes sizes;
    for (const Command& command : commands)
        if (command.rule == "set" && command.names.size() == 1 && command.size)
            sizes[command.names.front()] = *command.size;
    return sizes;
}

}  // namespace napkin
