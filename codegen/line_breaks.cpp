#include "codegen/line_breaks.h"

#include <algorithm>
#include <optional>

namespace napkin::kernel {
namespace {

/// A text cut at breaks of one depth.
std::vector<std::string> cut(const Text& text, std::size_t from, std::size_t to,
                             const std::vector<Break>& breaks) {
    std::vector<std::string> parts;
    for (const Break& place : breaks) {
        parts.push_back(text.text.substr(from, place.at - from));
        from = place.at + 1;
    }
    parts.push_back(text.text.substr(from, to - from));
    return parts;
}

/// The loosest operators outside parentheses.
std::vector<Break> loosest(const Text& text) {
    std::vector<Break> found;
    for (const Break& place : text.breaks) {
        if (place.depth != 0 || place.kind > Break::Kind::Sum) continue;
        if (!found.empty() && place.kind < found.front().kind) found.clear();
        if (found.empty() || place.kind == found.front().kind) found.push_back(place);
    }
    return found;
}

std::vector<std::string> filled(const std::string& head, const Text& text, const std::string& tail,
                                std::size_t indent) {
    std::vector<std::string> parts = cut(text, 0, text.text.size(), loosest(text));
    parts.back() += tail;
    return packed(head, parts, indent);
}

/// `head(a, b, c);`, its parts packed into lines and aligned after the parenthesis. A choice that
/// is too long for a line stands on three.
void print_list(SourceWriter& writer, const std::string& head, const Text& call) {
    const std::string open = head + call.text.substr(0, call.arguments);
    const auto inside = [&](Break::Kind kind) {
        std::vector<Break> found;
        for (const Break& place : call.breaks)
            if (place.depth == 1 && place.at > call.arguments && place.kind == kind)
                found.push_back(place);
        return found;
    };
    const std::vector<Break> commas = inside(Break::Kind::Argument);
    std::vector<std::string> parts = cut(call, call.arguments, call.text.size(), commas);
    parts.back() += ";";
    // Under the head, where that saves a line.
    const std::vector<std::string> below = packed("", parts, writer.columns() + 4);
    const bool fits = std::all_of(below.begin(), below.end(), [&](const std::string& line) {
        return writer.columns() + 4 + line.size() <= kColumns;
    });
    if (fits && packed(open, parts, writer.columns()).size() > below.size() + 1) {
        writer.line(open);
        const auto deeper = writer.indent();
        for (const std::string& line : below) writer.line(line);
        return;
    }
    const std::string margin(open.size(), ' ');
    std::size_t begin = call.arguments;  // of the line in the call's text
    for (const std::string& line : packed(open, parts, writer.columns())) {
        const std::string text = line.substr(open.size());
        const std::size_t end = begin + text.size();
        const auto first = [&](Break::Kind kind) -> std::optional<std::size_t> {
            for (const Break& place : inside(kind))
                if (place.at >= begin && place.at < end) return place.at - begin;
            return std::nullopt;
        };
        const std::optional<std::size_t> question = first(Break::Kind::Question);
        const std::optional<std::size_t> colon = first(Break::Kind::Colon);
        begin = end + 1;
        if (writer.columns() + line.size() <= kColumns || !question || !colon) {
            writer.line(line);
            continue;
        }
        writer.line(line.substr(0, open.size()) + text.substr(0, *question));
        writer.line(margin + "    " + text.substr(*question + 1, *colon - *question - 1));
        writer.line(margin + "    " + text.substr(*colon + 1));
    }
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

void print_filled(SourceWriter& writer, const std::string& head, const Text& text,
                  const std::string& tail) {
    const std::size_t indent = writer.columns();
    if (indent + head.size() + text.text.size() + tail.size() <= kColumns)
        return writer.line(head + text.text + tail);
    for (const std::string& line : filled(head, text, tail, indent)) writer.line(line);
}

void print_call(SourceWriter& writer, const Text& text) {
    const bool fits = writer.columns() + text.text.size() + 1 <= kColumns;
    if (fits || text.arguments == std::string::npos) return writer.line(text.text + ";");
    print_list(writer, "", text);
}

void print_assignment(SourceWriter& writer, const std::string& head, const Text& value) {
    const std::size_t indent = writer.columns();
    const std::size_t length = value.text.size() + 1;
    if (indent + head.size() + 1 + length <= kColumns)
        return writer.line(head + " " + value.text + ";");
    const bool fits_alone = indent + 4 + length <= kColumns;
    if (value.arguments != std::string::npos && !fits_alone)
        return print_list(writer, head + " ", value);
    const std::vector<std::string> beside = filled(head + " ", value, ";", indent);
    const std::vector<std::string> below = filled("", value, ";", indent + 4);
    if (beside.size() > 1 && beside.size() <= below.size() + 1 && !fits_alone) {
        for (const std::string& line : beside) writer.line(line);
        return;
    }
    writer.line(head);
    const auto deeper = writer.indent();
    for (const std::string& line : below) writer.line(line);
}

}  // namespace napkin::kernel
