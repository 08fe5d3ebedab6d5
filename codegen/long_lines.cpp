#include "codegen/long_lines.h"

#include <algorithm>
#include <array>
#include <optional>

namespace napkin::kernel {
namespace {

/// Where `word` stands in a text outside parentheses.
std::optional<std::size_t> outside(const std::string& text, std::string_view word) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
        if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
        if (depth == 0 && text.compare(i, word.size(), word) == 0) return i;
    }
    return std::nullopt;
}

/// `head(a, b, c)tail`, its parts packed into lines and aligned after the parenthesis. A choice
/// that is too long for a line stands on three.
void print_list(SourceWriter& writer, const std::string& head,
                const std::vector<std::string>& parts, const std::string& tail) {
    std::vector<std::string> ended = parts;
    for (std::size_t i = 0; i < ended.size(); ++i) ended[i] += i + 1 < parts.size() ? "," : tail;
    if (ended.empty()) return writer.line(head + tail);
    const std::string margin(head.size(), ' ');
    for (const std::string& line : packed(head, ended, writer.columns())) {
        const auto question = outside(line.substr(std::min(head.size(), line.size())), " ? ");
        const auto colon = outside(line.substr(std::min(head.size(), line.size())), " : ");
        if (writer.columns() + line.size() <= kColumns || !question || !colon) {
            writer.line(line);
            continue;
        }
        const std::string text = line.substr(head.size());
        writer.line(line.substr(0, head.size()) + text.substr(0, *question));
        writer.line(margin + "    " + text.substr(*question + 1, *colon - *question - 1));
        writer.line(margin + "    " + text.substr(*colon + 1));
    }
}

/// `f(a, b)` as `f(` and its arguments, where the call is the whole text; nothing otherwise.
struct CallParts {
    std::string head;
    std::vector<std::string> arguments;
};
std::optional<CallParts> call_in(const std::string& text) {
    const std::size_t open = text.find('(');
    if (open == std::string::npos || text.back() != ')') return std::nullopt;
    // The name may have template arguments; anything else before the parenthesis is an operator.
    const std::string name = text.substr(0, open);
    if (name.substr(0, name.find('<')).find(' ') != std::string::npos) return std::nullopt;
    CallParts parts{name + "(", {}};
    int depth = 0;
    std::size_t from = open + 1;
    for (std::size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        if (depth == 0 && i + 1 < text.size()) return std::nullopt;
        if ((c != ',' || depth != 1) && depth != 0) continue;
        parts.arguments.push_back(text.substr(from, i - from));
        from = i + 2;
    }
    return parts;
}

/// Positions after which a text may be broken: its loosest operators outside parentheses.
std::vector<std::size_t> operators_of(const std::string& text) {
    constexpr std::array<std::string_view, 4> kOperators = {"||", "&&", "+", "-"};
    std::array<std::vector<std::size_t>, 3> ends;
    int depth = 0;
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
        if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
        if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
        if (depth != 0 || text[i] != ' ') continue;
        const std::size_t end = text.find(' ', i + 1);
        const std::string_view word =
            std::string_view(text).substr(i + 1, end == std::string::npos ? 0 : end - i - 1);
        for (std::size_t kind = 0; kind < kOperators.size(); ++kind)
            if (word == kOperators[kind]) ends[std::min<std::size_t>(kind, 2)].push_back(end);
    }
    for (const std::vector<std::size_t>& loosest : ends)
        if (!loosest.empty()) return loosest;
    return {};
}

}  // namespace

void print_comment(SourceWriter& writer, std::string text) {
    const std::size_t indent = writer.columns() + 3;
    const std::size_t room = kColumns - std::min(indent, kColumns / 2);
    while (text.size() > room) {
        std::size_t cut = text.rfind(' ', room);
        if (cut == std::string::npos || cut == 0) cut = text.find(' ', room);
        if (cut == std::string::npos) break;
        writer.line("// " + text.substr(0, cut));
        text.erase(0, cut + 1);
    }
    writer.line(text.empty() ? "//" : "// " + text);
}

std::vector<std::string> packed(const std::string& head, const std::vector<std::string>& parts,
                                std::size_t indent) {
    std::vector<std::string> lines{head};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string& line = lines.back();
        const std::string space = i == 0 ? "" : " ";
        if (i > 0 && indent + line.size() + 1 + parts[i].size() > kColumns)
            lines.push_back(std::string(head.size(), ' ') + parts[i]);
        else
            line += space + parts[i];
    }
    return lines;
}

std::vector<std::string> filled(const std::string& head, const std::string& text,
                                std::size_t indent) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    std::vector<std::size_t> ends = operators_of(text);
    ends.push_back(text.size());
    for (const std::size_t end : ends) {
        parts.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return packed(head, parts, indent);
}

void print_call(SourceWriter& writer, const std::string& text) {
    constexpr std::string_view kReturn = "return ";
    const std::size_t indent = writer.columns();
    if (indent + text.size() + 1 <= kColumns) return writer.line(text + ";");
    if (text.starts_with(kReturn)) {
        const std::string value = text.substr(kReturn.size()) + ";";
        for (const std::string& line : filled(std::string(kReturn), value, indent))
            writer.line(line);
        return;
    }
    const std::optional<CallParts> parts = call_in(text);
    if (!parts) return writer.line(text + ";");
    print_list(writer, parts->head, parts->arguments, ");");
}

void print_assignment(SourceWriter& writer, const std::string& head, const std::string& value) {
    const std::size_t indent = writer.columns();
    if (indent + head.size() + 1 + value.size() <= kColumns) return writer.line(head + " " + value);
    const bool fits_alone = indent + 4 + value.size() <= kColumns;
    if (const auto call = call_in(value.substr(0, value.size() - 1)); call && !fits_alone)
        return print_list(writer, head + " " + call->head, call->arguments, ");");
    const std::vector<std::string> beside = filled(head + " ", value, indent);
    const std::vector<std::string> below = filled("", value, indent + 4);
    if (beside.size() > 1 && beside.size() <= below.size() + 1 && !fits_alone) {
        for (const std::string& line : beside) writer.line(line);
        return;
    }
    writer.line(head);
    const auto deeper = writer.indent();
    for (const std::string& line : below) writer.line(line);
}

}  // namespace napkin::kernel
